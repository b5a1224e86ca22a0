"""``dtvqa annotate check``: flags for triage. It drops nothing.

Each flag has a code to count by and a sentence for people. A pair's score is 1 without flags and
falls with each; reviewers see high scores first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.config import Check
from dtvqa_plugin.annotate.project.inventory import ImageIndex
from dtvqa_plugin.annotate.project.journal import Damage, Entry, Rewritten
from dtvqa_plugin.annotate.project.project import Project, report_damage
from dtvqa_plugin.annotate.text.reader import TextReader, plain_text
from dtvqa_plugin.annotate.text.scripts import count_words, letters, plain, weighted_script
from dtvqa_plugin.errors import DataError

WEIGHTS: dict[str, float] = {
    "not-in-ocr": 0.4,
    "duplicate": 0.4,
    "without-image": 0.5,
    "too-long": 0.3,
    "mixed-languages": 0.2,
    "yes-no": 0.4,
    "answer-in-question": 0.4,
    "cut": 0.5,
}
"""How far each flag lowers the score. The order of reviewing hangs on it, nothing else."""


@dataclass(frozen=True, slots=True)
class Flag:
    """One remark on a pair."""

    code: str
    reason: str


@dataclass(slots=True)
class CheckReport:
    """Counts of one check; ``no_text`` pairs are of images whose text is not known."""

    pairs: int = 0
    flagged: int = 0
    no_text: int = 0
    no_image: int = 0
    codes: Counter[str] = field(default_factory=Counter)


def check(
    project: Project,
    *,
    recognise: bool = True,
    without_image: dict[str, str] | None = None,
    show: Callable[[CheckReport], None] | None = None,
) -> CheckReport:
    """Flag every pair and write ``flags.jsonl`` anew.

    ``without_image``: what a text-only model answered, by pair id (see `textonly`). ``recognise``:
    whether images not read before are recognised by RapidOCR now, if their source asks for it.
    """
    from dtvqa_plugin.annotate.extract import pairs_by_image

    report = CheckReport()
    texts = _Texts(project, recognise, report)
    damage = Damage(project.pairs.path)
    groups = pairs_by_image(project, damage)
    with project.working("check"), Rewritten(project.flags.path) as target:
        for group in groups:
            text = texts.of(str(group[0]["image"]))
            for place, pair in enumerate(group):
                flags = flags_of(pair, group[:place], text, project.config.check)
                flags += _text_only_flag(pair, (without_image or {}).get(pair["pair"]))
                _count(report, flags, text)
                target.write(
                    {
                        "pair": pair["pair"],
                        "flags": [[flag.code, flag.reason] for flag in flags],
                        "score": score(flags),
                    }
                )
            if show:
                show(report)
    report_damage(damage)
    return report


def score(flags: Sequence[Flag]) -> float:
    """0-1: 1 without flags, lowered by each kind of flag once."""
    return round(max(0.0, 1.0 - sum(WEIGHTS[code] for code in {f.code for f in flags})), 3)


def flags_of(pair: Entry, earlier: Sequence[Entry], text: str | None, limits: Check) -> list[Flag]:
    """Flags of a pair, given the pairs before it on the same image and the image's text."""
    question, answers = str(pair["question"]), [str(answer) for answer in pair["answers"]]
    found = [
        _not_in_text(answers, text, limits.ocr_threshold),
        _duplicate(pair, earlier, limits.duplicate_threshold),
        _too_long(answers, limits.max_answer_words),
        _mixed(question, answers),
        _yes_no(question, answers),
        _given_away(question, answers),
    ]
    if pair.get("cut"):
        found.append(Flag("cut", "the model's answer was cut off here (token limit)"))
    return [flag for flag in found if flag is not None]


def containment(answer: str, text: str) -> float:
    """0-100: how much of ``answer`` stands in ``text``, blanks and currency signs (which are
    often misread) aside, misreadings allowed.
    """
    wanted, there = (re.sub(r"[\s$€£¥]", "", plain(side)) for side in (answer, text))
    if not wanted:
        return 0.0
    if wanted in there:
        return 100.0
    if len(wanted) < 4 or len(there) < len(wanted):
        # Of so few characters a partial match says nothing.
        return 0.0
    return float(fuzz.partial_ratio(wanted, there))


def _not_in_text(answers: list[str], text: str | None, threshold: float) -> Flag | None:
    if text is None:
        return None
    best = max(containment(answer, text) for answer in answers)
    if best >= threshold:
        return None
    return Flag(
        "not-in-ocr",
        f"{best:.0f} of 100 of the answer found in the recognised text (counted, computed, "
        "misread, or made up)",
    )


def _duplicate(pair: Entry, earlier: Sequence[Entry], threshold: float) -> Flag | None:
    """Like an earlier pair in its wording; numbers must agree, since rows differ by them."""
    mine = plain(str(pair["question"]))
    for other in earlier:
        theirs = plain(str(other["question"]))
        if re.findall(r"\d+", mine) != re.findall(r"\d+", theirs):
            continue
        likeness = fuzz.ratio(mine, theirs)
        same = {plain(a) for a in pair["answers"]} & {plain(a) for a in other["answers"]}
        if likeness >= threshold or (same and likeness >= threshold - 15):
            return Flag(
                "duplicate", f"like {other['pair']} ({likeness:.0f} of 100): {other['question']}"
            )
    return None


def _too_long(answers: list[str], limit: int) -> Flag | None:
    words = min(count_words(answer) for answer in answers)
    return Flag("too-long", f"{words} words, over {limit}") if words > limit else None


def _mixed(question: str, answers: list[str]) -> Flag | None:
    asked, said = weighted_script(question), weighted_script(answers[0])
    if asked and said and asked != said and sum(letters(answers[0]).values()) > 1:
        return Flag(
            "mixed-languages", f"question in {asked.title()}, answer in {said.title()} letters"
        )
    # Names and units in Latin letters within Chinese are usual; other mixtures are not.
    counts = letters(question)
    several = {name for name, count in counts.items() if count > 2} - {"Latin", "Han"}
    if several and len({name for name, count in counts.items() if count > 2}) > 1:
        return Flag("mixed-languages", f"the question mixes {', '.join(sorted(counts)).title()}")
    return None


_YES_NO = {"yes", "no", "true", "false", "是", "否", "不是", "有", "没有", "对", "不对"}
_ASKS_YES_NO = re.compile(
    r"(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|should)\b.*[?？]\s*\Z|.*吗\s*[?？]?\s*\Z",
    re.IGNORECASE | re.DOTALL,
)


def _yes_no(question: str, answers: list[str]) -> Flag | None:
    if all(plain(answer) in _YES_NO for answer in answers):
        return Flag("yes-no", "answered with yes or no")
    offers_choice = re.search(r"\bor\b|还是", question)
    if _ASKS_YES_NO.match(question.strip()) and not offers_choice:
        return Flag("yes-no", "asked for yes or no")
    return None


def _given_away(question: str, answers: list[str]) -> Flag | None:
    asked = f" {plain(question)} "
    for answer in answers:
        said = plain(answer)
        if len(said) > 1 and f" {said} " in asked and not re.search(r"\bor\b|还是", question):
            return Flag("answer-in-question", f"{answer!r} occurs in the question")
    return None


def _text_only_flag(pair: Entry, answer: str | None) -> list[Flag]:
    if answer is None:
        return []
    from dtvqa_plugin.metrics import prepare
    from dtvqa_plugin.metrics import score as metric

    result = metric(prepare(answer).text, [str(a) for a in pair["answers"]])
    if not (result.acc or result.anls >= 0.9):
        return []
    how = "contains an answer" if result.acc else f"ANLS {result.anls:.2f} with an answer"
    shown = " ".join(answer.split())[:80]
    return [Flag("without-image", f"answered without the image: {shown} ({how})")]


def _count(report: CheckReport, flags: Sequence[Flag], text: str | None) -> None:
    report.pairs += 1
    report.flagged += bool(flags)
    report.no_text += text is None
    report.codes.update({flag.code for flag in flags})


class _Texts:
    """The recognised text of images by SHA-256; ``None`` where there is none."""

    def __init__(self, project: Project, recognise: bool, report: CheckReport) -> None:
        self._index = ImageIndex(project)
        self._reader = TextReader(project, read_images=recognise)
        self._report = report

    def of(self, sha256: str) -> str | None:
        try:
            boxes = self._reader.boxes(self._index.find(sha256))
        except (AnnotateError, DataError):
            self._report.no_image += 1
            return None
        return None if boxes is None else plain_text(boxes)
