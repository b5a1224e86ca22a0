"""The drawings behind the embedded sample; used only by ``make_sample``."""
