"""Options that several ``dtvqa data`` commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from dtvqa_plugin.benchmark.release import RELEASED_SPLITS, TEST_FILES, TRAIN_FILES
from dtvqa_plugin.benchmark.subsets import SUBSETS

_SOURCES = tuple(file.name for file in (*TEST_FILES, *TRAIN_FILES))

_F = TypeVar("_F", bound=Callable[..., Any])

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
strict = click.option("--strict", is_flag=True, help="Any unusable record is an error.")
skip_bad = click.option("--skip-bad", is_flag=True, help="Leave out images that cannot be read.")
subset = click.option(
    "--subset",
    "subsets",
    multiple=True,
    type=click.Choice(tuple(SUBSETS)),
    help="Only this subset; give it again for more.",
)
source = click.option(
    "--source",
    "sources",
    multiple=True,
    type=click.Choice(_SOURCES),
    help="Only this annotation file; give it again for more. "
    "Without DTScene_train_gpt-4v the GPT-4V round is left out.",
)


def split(what: str) -> Callable[[_F], _F]:
    """The option that chooses splits to ``what``."""
    return click.option(
        "--split",
        "splits",
        multiple=True,
        type=click.Choice(RELEASED_SPLITS),
        default=("test",),
        show_default=True,
        help=f"Split to {what}; give it again for more.",
    )


def choosing(what: str) -> Callable[[_F], _F]:
    """The options that choose splits, subsets and annotation files."""

    def add(command: _F) -> _F:
        return split(what)(subset(source(command)))

    return add
