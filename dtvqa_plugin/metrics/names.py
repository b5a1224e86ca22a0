"""The paper's three metrics: their keys, their column headings, their orders."""

from __future__ import annotations

__all__ = ["HEADINGS", "HEADLINE", "HEADLINE_FIRST", "METRICS"]

METRICS = ("anls", "acc", "accanls")
"""The keys in the order of the paper's columns."""

HEADLINE = "accanls"
"""The metric by which the paper ranks models."""

HEADLINE_FIRST = ("accanls", "anls", "acc")
"""The keys in the order in which hosts print and log them."""

HEADINGS = {"anls": "ANLS", "acc": "Acc", "accanls": "AccANLS"}
"""Column headings by key, as the paper prints them."""
