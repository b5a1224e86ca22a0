"""Kinds of option values that several commands share."""

from __future__ import annotations

import math
from typing import Any

import click


class Share(click.FloatRange):
    """A number in a range; unlike click's own, NaN is in none."""

    name = "share"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number
