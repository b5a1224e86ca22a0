"""The paper's metrics inside training: a `torchmetrics.Metric`, and helpers for Trainer and TRL.

Needs the extra ``train``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.utilities import dim_zero_cat

from dtvqa_plugin.benchmark.subsets import SAMPLE_SUBSETS, SUBSETS
from dtvqa_plugin.metrics import DEFAULT_TAU, Aggregate, prepare, score, score_corpus
from dtvqa_plugin.metrics.names import HEADLINE_FIRST

__all__ = ["DTVQAScore", "argmax_logits", "make_compute_metrics"]

_NO_INDEX = -1
_COLUMNS = 5  # index, subset, anls, acc, failed


class DTVQAScore(Metric):  # type: ignore[misc]  # torchmetrics is not followed by the type checker
    """AccANLS, ANLS and Acc, each 0 to 1, over all questions and over each subset.

    The state is one row of five float64 a question, gathered across processes. `compute` takes
    the means as `score_corpus` does, so that with ``indices`` its values are those of
    `score_corpus` over the questions in the order of their indices, to the last bit, however many
    processes there were. An index seen twice counts once: samplers repeat questions to fill
    the last batch. Without indices nothing is known of repetition, and the order is that of the
    processes: the counts and Acc are still exact, the other means may differ in the last bits.

    Args:
        subsets: names that `update` may be given, the same in every process.
        tau: ANLS threshold, above 0 and up to 1.
        kwargs: of `torchmetrics.Metric`.

    Needs a device with float64 (Apple's MPS has none: keep the metric on the CPU there).
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    rows: list[Tensor]

    def __init__(
        self,
        subsets: Iterable[str] = (*SUBSETS, *SAMPLE_SUBSETS),
        tau: float = DEFAULT_TAU,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        score("", ["-"], tau)  # raises for a tau out of range
        self.subsets = tuple(dict.fromkeys(subsets))
        self.tau = tau
        self.add_state("rows", default=[], dist_reduce_fx="cat")
        self._begin()

    def _begin(self) -> None:
        """A process that is given no question must still gather a table of the right shape."""
        self.rows.append(torch.zeros((0, _COLUMNS), dtype=torch.float64, device=self.device))

    def reset(self) -> None:
        """Forget all questions."""
        super().reset()
        self._begin()

    def update(
        self,
        preds: Sequence[object],
        target: Sequence[Sequence[str]],
        subsets: Sequence[str] | None = None,
        indices: Sequence[int] | Tensor | None = None,
    ) -> None:
        """Score a batch of n outputs.

        Args:
            preds: n model outputs as text; None is a failed question. Reasoning and outer white
                space are removed first, as in the hosts.
            target: n lists of reference answers.
            subsets: n subset names, or None.
            indices: n places of the questions in their data set, each 0 or above, or None.

        Raises:
            ValueError: for arguments that differ in length, an unknown subset, a negative
                index, or as `score_corpus` does.
        """
        places = [_NO_INDEX] * len(preds) if indices is None else [int(i) for i in indices]
        parts = [len(self.subsets)] * len(preds) if subsets is None else self._numbers(subsets)
        if not len(preds) == len(target) == len(parts) == len(places):
            raise ValueError(
                f"{len(preds)} preds, {len(target)} target, {len(parts)} subsets and "
                f"{len(places)} indices: each question needs one of each"
            )
        if indices is not None and min(places, default=0) < 0:
            raise ValueError(f"index {min(places)} is below 0")
        if not len(preds):
            return
        scores = score_corpus([prepare(text) for text in preds], target, tau=self.tau)
        table = np.stack(
            [
                np.array(places, dtype=np.float64),
                np.array(parts, dtype=np.float64),
                scores.anls,
                scores.acc,
                scores.failed.astype(np.float64),
            ],
            axis=1,
        )
        self.rows.append(torch.from_numpy(table).to(self.device))

    def _numbers(self, subsets: Sequence[str]) -> list[int]:
        for name in subsets:
            if name not in self.subsets:
                raise ValueError(f"no subset {name!r}; the metric knows {', '.join(self.subsets)}")
        return [self.subsets.index(name) for name in subsets]

    def aggregates(self) -> dict[str, Aggregate]:
        """Means and counts by subset, and of all questions under ``overall``.

        Of this process alone, unless called between `sync` and `unsync`; `compute` is synced.

        Returns:
            Aggregates (0-1) by subset name.

        Raises:
            ValueError: There are no questions.
        """
        table = _in_order(dim_zero_cat(self.rows).cpu().numpy())
        if not len(table):
            raise ValueError("there are no questions to score")
        found = {"overall": _aggregate(table)}
        for number, name in enumerate(self.subsets):
            part = table[table[:, 1] == number]
            if len(part):
                found[name] = _aggregate(part)
        return found

    def compute(self) -> dict[str, Tensor]:
        """The figures over all processes.

        Returns:
            ``accanls``, ``anls``, ``acc`` (float64 scalars, 0-1), ``n`` and ``failed`` (int64
            scalars), and the same as ``SUBSET/accanls`` and so on for each subset with a question.

        Raises:
            ValueError: There are no questions.
        """
        values: dict[str, Tensor] = {}
        for name, found in self.aggregates().items():
            prefix = "" if name == "overall" else f"{name}/"
            for key in HEADLINE_FIRST:
                value = torch.tensor(getattr(found, key), dtype=torch.float64, device=self.device)
                values[f"{prefix}{key}"] = value
            for key in ("n", "failed"):
                values[f"{prefix}{key}"] = torch.tensor(getattr(found, key), device=self.device)
        return values


def _in_order(table: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    """Rows by index, each index once; rows without one stay last, in the order given."""
    known = table[:, 0] != _NO_INDEX
    _, first = np.unique(table[known, 0], return_index=True)
    return np.concatenate([table[known][first], table[~known]])


def _aggregate(table: Any) -> Aggregate:
    anls, acc, failed = table[:, 2], table[:, 3], table[:, 4]
    n = len(table)
    # As in the corpus scorer: the built-in sum over the count, one value a question.
    return Aggregate(
        n=n,
        failed=int(failed.sum()),
        anls=sum(anls.tolist()) / n,
        acc=float(acc.sum()) / n,
        accanls=sum(np.where(acc > 0, acc, anls).tolist()) / n,
    )


def argmax_logits(logits: Any, labels: Any) -> Any:
    """For ``preprocess_logits_for_metrics``: keep the most likely token, not the whole vocabulary.

    Args:
        logits: Shape (batch, length, vocabulary), or a tuple that begins with it.
        labels: Not used; the trainer passes them.

    Returns:
        Token ids, shape (batch, length).
    """
    first = logits[0] if isinstance(logits, (tuple, list)) else logits
    return first.argmax(dim=-1)


def make_compute_metrics(
    tokenizer: Any,
    *,
    answers: Sequence[Sequence[str]] | None = None,
    subsets: Sequence[str] | None = None,
    generated: bool = False,
    tau: float = DEFAULT_TAU,
) -> Callable[[Any], dict[str, float]]:
    """``compute_metrics`` for the Hugging Face `Trainer` and TRL's `SFTTrainer`.

    Without ``generated`` the predictions are those made under teacher forcing (logits, or ids from
    `argmax_logits`). Each contiguous run of labels other than -100 is an answer, compared with the
    tokens predicted for it. This is faster than generation and scores higher, because each token is
    predicted from the correct preceding ones. The loss must be on the answers alone (TRL:
    ``assistant_only_loss=True``). With ``generated`` the predictions are ids as `generate` returns
    them (``Seq2SeqTrainer`` with ``predict_with_generate``), without the prompt.

    Args:
        tokenizer: a tokenizer, or a processor that has one.
        answers: reference answers of each answer, in order; default: the labels' own text.
        subsets: subset of each answer, in order, for figures by subset.
        generated: predictions come from `generate`.
        tau: ANLS threshold.

    Returns:
        A function that gives ``accanls``, ``anls``, ``acc``, ``DTScene_accanls`` and so on (0-1).
        It raises ValueError if the number of answers does not match.
    """
    decoder = getattr(tokenizer, "tokenizer", tokenizer)

    def compute_metrics(prediction: Any) -> dict[str, float]:
        ids, labels = np.asarray(_first(prediction.predictions)), _first(prediction.label_ids)
        if ids.ndim == 3:
            ids = ids.argmax(axis=-1)
        spans = _generated(ids, labels) if generated else _forced(ids, np.asarray(labels))
        texts = _decode(decoder, [guess for guess, _ in spans])
        references = answers or [[text] for text in _decode(decoder, [true for _, true in spans])]
        blank = [i for i, reference in enumerate(references) if not "".join(reference).strip()]
        if blank:
            raise ValueError(f"answer {blank[0]} is blank: the labels hold no text")
        aggregates = score_corpus(texts, references, subsets, tau)
        found = {"": aggregates.overall}
        found.update((f"{name}_", part) for name, part in aggregates.by_subset.items())
        return {
            f"{p}{key}": getattr(part, key) for p, part in found.items() for key in HEADLINE_FIRST
        }

    return compute_metrics


def _first(values: Any) -> Any:
    return values[0] if isinstance(values, (tuple, list)) else values


Spans = list[tuple[list[int], list[int]]]


def _forced(ids: Any, labels: Any) -> Spans:
    """Predicted and true ids of each answer: logits at a place predict the token after it."""
    spans: Spans = []
    for guess, true in zip(ids[:, :-1], labels[:, 1:], strict=True):
        inside = np.flatnonzero(true != -100)
        if not len(inside):
            continue
        for places in np.split(inside, np.flatnonzero(np.diff(inside) > 1) + 1):
            spans.append((guess[places].tolist(), true[places].tolist()))
    return spans


def _generated(ids: Any, labels: Any) -> Spans:
    rows = ids if labels is None else labels
    return [
        (row[row >= 0].tolist(), true[true >= 0].tolist())
        for row, true in zip(np.asarray(ids), np.asarray(rows), strict=True)
    ]


def _decode(tokenizer: Any, ids: list[list[int]]) -> list[str]:
    texts = tokenizer.batch_decode(ids, skip_special_tokens=True)
    return [prepare(text).text for text in texts]
