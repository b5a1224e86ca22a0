"""What answers cost, and the most that a question may cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dtvqa_plugin.annotate.project.config import Endpoint
from dtvqa_plugin.annotate.project.journal import Entry

_MARGIN = 1.25
"""Factor by which an endpoint's token count may exceed the estimate before its first count."""


def usd(endpoint: Endpoint, tokens_in: int, tokens_out: int) -> float | None:
    """US dollars for tokens; None without prices."""
    if endpoint.price is None:
        return None
    return (tokens_in * endpoint.price.input + tokens_out * endpoint.price.output) / 1e6


def spent(entry: Entry) -> float:
    """What a journal's record cost."""
    value = entry.get("usd")
    return float(value) if isinstance(value, (int, float)) else 0.0


@dataclass
class Worst:
    """The most a question may cost, by what the endpoint has counted so far.

    ``ratio`` is the largest of counted to estimated tokens of a prompt, ``longest`` the longest
    answer: an endpoint may ignore ``max_output_tokens``.
    """

    endpoint: Endpoint
    ratio: float = _MARGIN
    longest: int = 0
    counted: bool = False

    def usd(self, tokens_in: int) -> float:
        """US dollars for a prompt of about that many tokens and the longest answer."""
        tokens_out = max(self.endpoint.max_output_tokens, self.longest)
        return usd(self.endpoint, math.ceil(tokens_in * self.ratio), tokens_out) or 0.0

    def learn(self, estimated: int, tokens_in: int | None, tokens_out: int | None) -> None:
        """Take the endpoint's own counts of one answer into account."""
        self.counted = True
        if tokens_in is not None and estimated > 0:
            self.ratio = max(self.ratio, tokens_in / estimated)
        self.longest = max(self.longest, tokens_out or 0)
