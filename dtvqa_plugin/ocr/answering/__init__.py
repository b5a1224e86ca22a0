"""A short answer picked out of recognised boxes: what a question asks for, and where it stands."""

from dtvqa_plugin.ocr.answering.pick import pick_answer

__all__ = ["pick_answer"]
