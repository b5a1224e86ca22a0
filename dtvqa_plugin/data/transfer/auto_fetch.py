"""The automatic fetch of a host's run, where data are missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dtvqa_plugin.data.splits import Split, partial_allowed
from dtvqa_plugin.data.store import Store
from dtvqa_plugin.data.transfer.choice import Choice, holdings
from dtvqa_plugin.data.transfer.fetch import fetch_release
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.environment import offline, switch
from dtvqa_plugin.utils.progress import progress_bar
from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)

AUTO_VARIABLE = "DTVQA_AUTO_FETCH"

_given_up: set[Path] = set()


def ensure(
    split: Split,
    subsets: Sequence[str],
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
    images: bool = True,
    allow_partial: bool | None = None,
) -> None:
    """Fetch what the split lacks, unless ``DTVQA_AUTO_FETCH=0`` or ``HF_HUB_OFFLINE`` is set.

    Where partial runs are allowed a fetch that fails is a warning; else it raises `DataError`.
    """
    if not split.released or not auto_fetch():
        return
    choice = Choice.of((split.name,), subsets, sources, images=images)
    store = Store(home)
    held = holdings(store, choice)
    if held.complete or store.home in _given_up or offline():
        return
    partial = partial_allowed() if allow_partial is None else allow_partial
    logger.warning("%s: fetching what split %s lacks: %s", store.home, split.name, held.lack)
    try:
        with progress_bar() as progress:
            report = fetch_release(
                (split.name,),
                subsets,
                sources=sources,
                images=images,
                home=home,
                recheck=False,
                progress=progress,
                note=logger.warning,
            )
    except DataError as error:
        if not partial:
            named = () if set(subsets) >= set(split.subsets) else subsets
            cure = "" if "dtvqa data " in str(error) else f"; {split.cure(named)}"
            raise DataError(
                f"{store.home}: {held.lack} of split {split.name} are missing and could not be "
                f"fetched: {error}{cure}"
            ) from None
        _given_up.add(store.home)
        logger.warning("not fetched, continuing with the data in the store: %s", error)
    else:
        if any(count.present < count.expected for count in report.images.values()):
            _given_up.add(store.home)  # the release has no more; do not ask for every subset


def auto_fetch() -> bool:
    """Whether data that a run lacks are fetched: yes, unless ``DTVQA_AUTO_FETCH=0``."""
    return switch(AUTO_VARIABLE, default=True)
