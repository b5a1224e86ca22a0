"""Why runs fail: outcomes, scores against density, and difficulty over runs, put together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dtvqa_plugin.analysis.bootstrap import LEVEL, SEED
from dtvqa_plugin.analysis.failures.curves import RESAMPLES, Binning, Curve, binning, curves
from dtvqa_plugin.analysis.failures.density import features
from dtvqa_plugin.analysis.failures.difficulty import Answered, Difficulty, difficulty
from dtvqa_plugin.analysis.failures.outcomes import OUTCOMES, Outcome, outcomes
from dtvqa_plugin.analysis.failures.placing import Page
from dtvqa_plugin.analysis.tables import FEW_IMAGES
from dtvqa_plugin.data import Record
from dtvqa_plugin.ocr.recognised import RecognisedText
from dtvqa_plugin.runs.design import OVERALL, Floats
from dtvqa_plugin.runs.faults import RunError
from dtvqa_plugin.runs.run import Run


@dataclass(frozen=True, slots=True)
class RunDiagnosis:
    """One run.

    Attributes:
        name: Its name.
        condition: Its condition.
        signature: Its signature.
        outcomes: One outcome a question, in the run's order.
        texts: The outputs as scored, cut for display, in the same order.
        counts: Number of questions by part (``overall`` and the subsets) and outcome.
        curves: One curve a feature.
    """

    name: str
    condition: str
    signature: str
    outcomes: tuple[Outcome, ...]
    texts: tuple[str, ...]
    counts: Mapping[str, Mapping[str, int]]
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Several runs over one split.

    Attributes:
        split: The split.
        runs: The runs.
        difficulty: Over the questions that all runs answer; None for a single run.
        engine: Name and version of what recognised the images' text; None without any.
        images: Number of images.
        without_text: How many of them have no recognised text.
        level: Share that the intervals cover.
        resamples: Bootstrap resamples behind them.
        seed: Of the drawing.
        question_ids: The questions of all runs.
        binnings: For each feature, in the order of the curves, the bin of each question.
        sizes: Width and height of the upright images with recognised text, by image.
    """

    split: str
    runs: tuple[RunDiagnosis, ...]
    difficulty: Difficulty | None
    engine: str | None
    images: int
    without_text: int
    level: float
    resamples: int
    seed: int
    question_ids: tuple[str, ...] = ()
    binnings: tuple[Binning, ...] = ()
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def lacking_text(self) -> str | None:
        """How many images have no recognised text and what to do; None if all have."""
        if not self.without_text:
            return None
        return (
            f"{self.without_text} of {self.images} images have no recognised text: wrong "
            "outputs there are 'unplaced' unless near, and sizes and places are not known. "
            f"Run 'dtvqa data recognise --split {self.split}'."
        )

    def notes(self) -> list[str]:
        """What a reader must know: what is ours, how figures were made, what is lacking."""
        lines = [
            "Outcomes, curves and difficulty are diagnostics of this plugin, not metrics of the "
            "paper.",
            f"AccANLS times 100, {self.level:.0%} interval from {self.resamples:,} bootstrap "
            f"resamples of images (seed {self.seed}); a trend is the change per doubling.",
        ]
        if any(item.thin for run in self.runs for curve in run.curves for item in curve.bins):
            lines.append(f"(thin): fewer than {FEW_IMAGES} images, the interval is rough.")
        if lacking := self.lacking_text():
            lines.append(lacking)
        if self.engine is not None:
            lines.append(
                f"Text recognised by {self.engine}; it has errors, so 'computed' and "
                "'invented' are upper bounds."
            )
        return lines


def diagnose(
    runs: Sequence[Run],
    texts: Mapping[str, RecognisedText],
    engine: str | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> Diagnosis:
    """Diagnose runs over one split.

    Args:
        runs: At least one run; all over the same split.
        texts: Recognised text by the records' ``image``; images may be missing.
        engine: Name and version of what recognised it.
        resamples: Bootstrap resamples of images.
        seed: Of the drawing.
        level: Share that the intervals cover.

    Raises:
        RunError: The runs are over different splits.
    """
    splits = list(dict.fromkeys(run.split for run in runs))
    if len(splits) != 1:
        raise RunError(f"runs over different splits: {', '.join(splits)}; diagnose them separately")
    records = list({record.question_id: record for run in runs for record in run.records}.values())
    pages = {image: Page(text) for image, text in texts.items()}
    known = features(records, pages)
    images = [record.image for record in records]
    cuts = [binning(feature, images) for feature in known]
    found = [outcomes(run.records, run.answers, pages) for run in runs]

    scores = np.column_stack([_scores(run, records) for run in runs])
    by_feature = [
        curves(feature, cut, records, scores, resamples=resamples, seed=seed, level=level)
        for feature, cut in zip(known, cuts, strict=True)
    ]
    return Diagnosis(
        split=splits[0],
        runs=tuple(
            RunDiagnosis(
                run.name,
                run.condition,
                str(run.signature()),
                of_run,
                tuple(answer.text for answer in run.answers),
                outcome_counts(run.records, of_run),
                of_features,
            )
            for run, of_run, of_features in zip(
                runs, found, zip(*by_feature, strict=True), strict=True
            )
        ),
        difficulty=difficulty(
            records,
            [
                Answered(run.name, {item.question_id: item for item in of_run}, run.by_question)
                for run, of_run in zip(runs, found, strict=True)
            ],
            pages,
        ),
        engine=engine,
        images=len(set(images)),
        without_text=len(set(images) - set(texts)),
        level=level,
        resamples=resamples,
        seed=seed,
        question_ids=tuple(record.question_id for record in records),
        binnings=tuple(cuts),
        sizes={image: (page.width, page.height) for image, page in pages.items()},
    )


def _scores(run: Run, records: Sequence[Record]) -> Floats:
    """AccANLS of each question, 0-1; NaN where the run does not answer it."""
    by_id = run.by_question
    found = (by_id.get(record.question_id) for record in records)
    return np.asarray([np.nan if answer is None else answer.accanls for answer in found])


def outcome_counts(
    records: Sequence[Record], found: Sequence[Outcome]
) -> dict[str, dict[str, int]]:
    """Number of questions by part and outcome, in the order of `OUTCOMES`."""
    counts: dict[str, Counter[str]] = {OVERALL: Counter()}
    for record, item in zip(records, found, strict=True):
        counts[OVERALL][item.name] += 1
        counts.setdefault(record.subset, Counter())[item.name] += 1
    return {part: {name: of[name] for name in OUTCOMES} for part, of in counts.items()}
