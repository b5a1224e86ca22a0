"""One question's scores in the two shapes that lmms-eval takes: for its log, for its statistics.

The host does two things with what ``process_results`` returns: ``sample.update(row)`` writes the
log, and ``for metric, value in row.items()`` collects what is averaged. Its clustered standard
error needs, for each value, a dict with the score and the cluster (task keys ``score_key`` and
``cluster_key``), while the log, ``--baseline`` and every reader of logs need plain numbers. A
`HostRow` gives each its own. Seen working on lmms-eval 0.6.0, 0.6.1, 0.7, 0.7.3 and a checkout of
August 2026.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, Sequence
from typing import Any

from dtvqa_plugin.metrics.names import HEADLINE_FIRST

CLUSTER_KEY = "image"
SCORE_KEY = "score"
"""The host's default for ``score_key``, and the name under which ``--baseline`` finds AccANLS."""


class HostRow(Mapping[str, Any]):
    """A scored record as ``process_results`` returns it.

    As a mapping it is the record plus ``score`` (AccANLS again, for ``--baseline``). Its
    ``items()`` are only what the host averages: the metrics, each as an `ImageScore`, and
    ``unanswered``.

    Args:
        record: What `dtvqa_plugin.predictions.record` made of the answer; scores are 0-1.
        image: The cluster: questions on the same image are not independent.
    """

    def __init__(self, record: Mapping[str, Any], image: str) -> None:
        self._logged = {**record, SCORE_KEY: record["accanls"]}
        self._averaged = {
            **{metric: ImageScore(record[metric], image) for metric in HEADLINE_FIRST},
            "unanswered": record["unanswered"],
        }

    def __getitem__(self, key: str) -> Any:
        return self._logged[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._logged)

    def __len__(self) -> int:
        return len(self._logged)

    def items(self) -> ItemsView[str, Any]:
        """What the host averages (not what it logs)."""
        return self._averaged.items()


class ImageScore(dict[str, Any]):
    """A score with its image: a dict for the host's clustered error, a number for its mean.

    The host's ``mean`` and the error beside it compute ``sum(scores) / len(scores)`` and
    ``score - mean``; both work, and give what they give for plain floats, to the last bit.
    """

    def __init__(self, score: float, image: str) -> None:
        super().__init__({SCORE_KEY: score, CLUSTER_KEY: image})

    def __reduce__(self) -> tuple[type[ImageScore], tuple[float, str]]:
        """Ranks send each other their scores."""
        return ImageScore, (self[SCORE_KEY], self[CLUSTER_KEY])

    def __radd__(self, zero: int) -> _Total:
        return _Total([self[SCORE_KEY]])

    def __sub__(self, mean: float) -> float:
        return float(self[SCORE_KEY] - mean)


class _Total:
    """A sum under way. The floats are added at once, since `sum` rounds floats in its own way."""

    def __init__(self, scores: list[float]) -> None:
        self._scores = scores

    def __add__(self, score: ImageScore) -> _Total:
        self._scores.append(score[SCORE_KEY])
        return self

    def __truediv__(self, count: int) -> float:
        return sum(self._scores) / count


def averaged(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One record for several responses to a question (``--repeats``).

    Scores are the means over the responses, ``unanswered`` the first reason, and
    ``dtvqa`` describes the first response; ``dtvqa.repeats`` holds the scores of each.
    """
    repeats = [
        {
            **{key: record[key] for key in (*HEADLINE_FIRST, "unanswered")},
            "prediction": record["dtvqa"]["prediction"],
        }
        for record in records
    ]
    means = {key: sum(record[key] for record in records) / len(records) for key in HEADLINE_FIRST}
    reasons = [record["unanswered"] for record in records if record["unanswered"]]
    return {
        **records[0],
        **means,
        "unanswered": reasons[0] if reasons else None,
        "dtvqa": {**records[0]["dtvqa"], "repeats": repeats},
    }
