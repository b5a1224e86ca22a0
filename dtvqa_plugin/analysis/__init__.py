"""Statistics and findings over runs.

Each public module is one question asked of runs; nothing is imported here.
"""

__all__ = [
    "audits",
    "bootstrap",
    "comparison",
    "failures",
    "gate",
    "hedging",
    "power",
    "published",
    "ranking",
    "refusals",
    "repeated",
    "seeds",
    "significance",
    "tables",
]
