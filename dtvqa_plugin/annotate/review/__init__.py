"""``dtvqa annotate review``: people decide, in a page that only this machine can reach."""

from __future__ import annotations

from dtvqa_plugin.annotate.review.server import ReviewServer

__all__ = ["ReviewServer"]
