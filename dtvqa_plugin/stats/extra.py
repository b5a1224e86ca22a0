"""The libraries of the extra ``stats``, or one error that names it."""

from __future__ import annotations

from importlib.util import find_spec

from dtvqa_plugin.errors import DTVQAError

LIBRARIES = ("matplotlib", "wordcloud", "jieba")


def require_stats() -> None:
    """Raise DTVQAError with the command that installs what is missing."""
    lacking = [name for name in LIBRARIES if find_spec(name) is None]
    if lacking:
        raise DTVQAError(
            f"statistics need {', '.join(lacking)}, not installed here; "
            "run: pip install 'dtvqa-plugin[stats]'"
        )
