"""Kinds of option values that several commands share."""

from __future__ import annotations

import math
import re
from typing import Any

import click

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)


def is_number(text: str) -> bool:
    """Whether text is a number as files hold it: no ``6_0``, no digits of other scripts."""
    return _NUMBER.fullmatch(text.strip()) is not None


class Share(click.FloatRange):
    """A number in a range; unlike click's own, NaN is in none."""

    name = "share"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, str) and not is_number(value):
            self.fail(f"{value!r} is not a number", param, ctx)
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


class Points(Share):
    """A number of points, 0 to 100."""

    name = "points"


class Whole(click.IntRange):
    """A whole number in a range, written in the digits 0 to 9."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, str) and not re.fullmatch(r"[-+]?[0-9]+", value.strip()):
            self.fail(f"{value!r} is not a whole number", param, ctx)
        return int(super().convert(value, param, ctx))
