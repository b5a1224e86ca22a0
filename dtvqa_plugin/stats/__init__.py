"""What a split is made of: words, lengths and image sizes, as JSON values and as figures.

Needs the extra ``stats`` (matplotlib, wordcloud, jieba), which is imported when it is used.
"""

from __future__ import annotations

from dtvqa_plugin.stats.extra import require_stats
from dtvqa_plugin.stats.measures import split_statistics

__all__ = ["require_stats", "split_statistics"]
