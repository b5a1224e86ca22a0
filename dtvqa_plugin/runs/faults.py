"""What was odd in a run's files, and the error for what cannot be read as a run."""

from __future__ import annotations

from dataclasses import dataclass

from dtvqa_plugin.errors import DTVQAError

EXAMPLES = 5
"""How many ids a remark shows of a longer list."""


class RunError(DTVQAError):
    """Predictions that cannot be read as one run of this benchmark."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A stored figure (0-1) that is not the recomputed one; ``question_id`` may name a task."""

    question_id: str
    metric: str
    stored: float
    recomputed: float


@dataclass(frozen=True, slots=True)
class Faults:
    """What was odd in a run's files. Nothing here is dropped without being counted.

    ``doubled`` holds ids answered more than once (the last answer counts, as in VLMEvalKit),
    ``contradictory`` how many of these had another text; ``unknown`` is the number of answers to
    questions that the benchmark does not have, ``unknown_ids`` the first few of them;
    ``unreadable`` the records left out, as (file, place, reason); ``doubles`` says which other
    other runs have the same signature.
    """

    doubled: tuple[str, ...] = ()
    contradictory: int = 0
    unknown: int = 0
    unknown_ids: tuple[str, ...] = ()
    unreadable: tuple[tuple[str, str, str], ...] = ()
    unreadable_count: int = 0
    differences: tuple[Difference, ...] = ()
    other_annotations: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    doubles: tuple[str, ...] = ()
