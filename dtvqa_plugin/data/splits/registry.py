"""All splits by name. The only place that lists them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dtvqa_plugin.benchmark.release import RELEASED_SPLITS
from dtvqa_plugin.data.splits.base import Split
from dtvqa_plugin.data.splits.custom import CUSTOM_SPLIT, CustomSplit
from dtvqa_plugin.data.splits.released import ReleasedSplit
from dtvqa_plugin.data.splits.sample import SAMPLE_SPLIT, SampleSplit
from dtvqa_plugin.errors import DataError

_OTHERS: dict[str, Callable[[], Split]] = {
    SAMPLE_SPLIT: SampleSplit,
    CUSTOM_SPLIT: CustomSplit,
}

SPLITS = (*RELEASED_SPLITS, *_OTHERS)
"""The names of all splits."""


def get_split(name: str, allowed: Sequence[str] = SPLITS) -> Split:
    """The split called ``name``.

    Look a split up once per operation and pass the object on: ``custom`` reads its environment
    variable at each look-up.

    Args:
        name: A name of `SPLITS`.
        allowed: The names to accept.

    Returns:
        Its files, subsets, titles, and the cure for missing data.

    Raises:
        DataError: ``name`` is not one of ``allowed``.
    """
    if name not in allowed or name not in SPLITS:
        raise DataError(f"no split {name!r}; there are {', '.join(allowed)}")
    return ReleasedSplit(name) if name in RELEASED_SPLITS else _OTHERS[name]()


def released_split(name: str) -> Split:
    """The released split called ``name``. Raises `DataError` for any other name."""
    return get_split(name, RELEASED_SPLITS)
