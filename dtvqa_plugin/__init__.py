"""DT-VQA (Zhang et al. 2024, arXiv 2405.06706) for lmms-eval and VLMEvalKit.

Importing this package imports neither torch nor a host; the names below load on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from dtvqa_plugin._version import __version__

if TYPE_CHECKING:
    from dtvqa_plugin.data import load_split
    from dtvqa_plugin.metrics import score, score_corpus

__all__ = ["__version__", "load_split", "score", "score_corpus"]

_HOMES = {
    "load_split": "dtvqa_plugin.data",
    "score": "dtvqa_plugin.metrics",
    "score_corpus": "dtvqa_plugin.metrics",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
