"""Which subset and which image each question of a run belongs to, and means over them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

OVERALL = "overall"

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


class Design:
    """Which subset and which image each question belongs to; fixed for all runs that share it.

    ``subsets`` and ``images`` have one entry a question. ``parts`` is ``"overall"`` followed by
    the subsets in order of first appearance.
    """

    def __init__(self, subsets: Sequence[str], images: Sequence[str]) -> None:
        if len(subsets) != len(images):
            raise ValueError(f"{len(subsets)} subsets for {len(images)} images: one a question")
        if not subsets:
            raise ValueError("no questions: nothing to resample")
        self.names = tuple(dict.fromkeys(subsets))
        self.parts = (OVERALL, *self.names)
        self.questions = len(subsets)
        numbers: dict[tuple[str, str], int] = {}
        codes = [
            numbers.setdefault(pair, len(numbers)) for pair in zip(subsets, images, strict=True)
        ]
        self.cluster: Ints = np.asarray(codes, dtype=np.intp)
        self.clusters = len(numbers)
        stratum = np.asarray([self.names.index(subset) for subset, _ in numbers], dtype=np.intp)
        self.members: dict[str, Ints] = {
            name: np.flatnonzero(stratum == place) for place, name in enumerate(self.names)
        }
        self.sizes: Floats = np.bincount(self.cluster, minlength=self.clusters).astype(np.float64)
        of_question = stratum[self.cluster]
        self.rows: dict[str, Ints] = {
            name: np.flatnonzero(of_question == place) for place, name in enumerate(self.names)
        }
        self.rows[OVERALL] = np.arange(self.questions)

    def with_one_more(self) -> Design:
        """The design with one more question, the last, on a new image of the largest subset."""
        subsets = [""] * self.questions
        for name in self.names:
            for row in self.rows[name].tolist():
                subsets[row] = name
        largest = max(self.names, key=self.size)
        images = [*map(str, self.cluster.tolist()), str(self.clusters)]
        return Design([*subsets, largest], images)

    def size(self, part: str) -> int:
        """Number of questions of a part."""
        return len(self.rows[part])

    def images(self, part: str) -> int:
        """Number of images of a part."""
        return self.clusters if part == OVERALL else len(self.members[part])

    def sums(self, values: Floats) -> Floats:
        """Sums of ``values`` (questions, columns) over each image: (images, columns)."""
        columns = as_columns(values, self.questions)
        result = np.zeros((self.clusters, columns.shape[1]))
        np.add.at(result, self.cluster, columns)
        return result

    def means(self, values: Floats) -> dict[str, Floats]:
        """Mean of each column over each part's questions.

        The built-in sum over the questions in order, as the scorer and the hosts compute it, so
        that a table shows the very same figure.
        """
        columns = as_columns(values, self.questions)
        return {
            part: np.asarray(
                [sum(column.tolist()) / len(rows) for column in columns[rows].T], dtype=np.float64
            )
            for part, rows in ((part, self.rows[part]) for part in self.parts)
        }


@lru_cache(maxsize=16)
def shared_design(subsets: tuple[str, ...], images: tuple[str, ...]) -> Design:
    """The design of these questions: one object for all runs over them."""
    return Design(subsets, images)


def as_columns(values: Floats, questions: int) -> Floats:
    """Scores as (questions, columns). ValueError if there is not one row a question."""
    columns = np.asarray(values, dtype=np.float64)
    columns = columns[:, None] if columns.ndim == 1 else columns
    if columns.shape[0] != questions:
        raise ValueError(f"{columns.shape[0]} rows of scores for {questions} questions")
    return columns
