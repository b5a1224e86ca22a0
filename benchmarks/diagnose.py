"""``dtvqa diagnose``: confusion matrix of the outcomes, and time of 4 runs x 1,200 questions.

    python benchmarks/diagnose.py [RELEASED_DATA_FOLDER]

The matrix is over the labelled outputs of ``tests/failures``, the timed runs over made-up tables
of 120 lines each, 1,200 questions on 940 images, as many as the test set has. With a folder of
released data, outputs made from its questions are tried too, over the images whose recognised text
is in the store.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from pathlib import Path

from dtvqa_plugin.analysis.failures.diagnosis import diagnose
from dtvqa_plugin.analysis.failures.outcomes import OUTCOMES, outcome
from dtvqa_plugin.analysis.failures.placing import Page
from dtvqa_plugin.data import Record, records
from dtvqa_plugin.metrics.scored import score_answer
from dtvqa_plugin.ocr.recognised import Line, RecognisedText, recognised_texts
from dtvqa_plugin.report.diagnosis import diagnosis_document, to_markdown
from dtvqa_plugin.runs.context import Context
from dtvqa_plugin.runs.references import AnnotationStamp
from dtvqa_plugin.runs.run import Run

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "failures"))

QUESTIONS, IMAGES, LINES, RUNS = 1_200, 940, 120, 4


def show_confusion() -> None:
    """Print precision and the matrix, rows the labels, of the part scored last."""
    from outcome_labels import PARTS, confusion, labelled

    for part in PARTS:
        counts = confusion(labelled(part))
        right = sum(count for (label, found), count in counts.items() if label == found)
        print(f"{part}: {right} of {sum(counts.values())}")
    names = [name for name in OUTCOMES if any(name in pair for pair in counts)]
    print(f"{'label':10}" + "".join(f"{name:>9}" for name in names))
    for label in names:
        print(f"{label:10}" + "".join(f"{counts[label, name]:9}" for name in names))
    for name in names:
        found = sum(counts[label, name] for label in names)
        wanted = sum(counts[name, other] for other in names)
        if found and wanted:
            right = counts[name, name]
            print(f"{name:10} precision {right / found:.2f}, recall {right / wanted:.2f}")


INVENTED = ("Zanzibar Otter Trading", "Professor Quickly", "Hotel Vesuvio")


def show_released(folder: Path) -> None:
    """Outcomes of outputs made from released questions and real recognised text."""
    images = {r.image: folder / "image" / r.image for r in records("test", home=folder)}
    texts = recognised_texts({name: path for name, path in images.items() if path.is_file()})
    pages = {name: Page(text) for name, text in texts.texts.items()}
    chosen = [r for r in records("test", home=folder) if r.image in pages]
    on_image = [r for r in chosen if pages[r.image].best(r.answers) is not None]
    print(f"{len(pages)} images, reference found for {len(on_image)} of {len(chosen)} questions")
    rng = random.Random(5)
    cases = [("right", r.answers[0], r) for r in chosen]
    cases += [("inside", f"The answer is {r.answers[0]}.", r) for r in chosen]
    cases += [("hedged", f"{r.answers[0]} or something else", r) for r in chosen]
    cases += [("invented", rng.choice(INVENTED), r) for r in on_image]
    for record in on_image:
        answer = record.answers[0]
        letters = [place for place, char in enumerate(answer) if char.isalpha()]
        if len(letters) > 5:
            place = rng.choice(letters)
            other = "z" if answer[place].lower() == "q" else "q"
            cases.append(("near", answer[:place] + other + answer[place + 1 :], record))
    counts: Counter[tuple[str, str]] = Counter()
    for label, output, record in cases:
        scored = score_answer(output, record.answers, record.question_id)
        counts[label, outcome(record, scored, pages[record.image]).name] += 1
    for (label, found), count in sorted(counts.items()):
        print(f"{label:10} found {found:10} {count}")


def _word(rng: random.Random) -> str:
    return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(4, 9)))


def _table(rng: random.Random) -> RecognisedText:
    lines = []
    for number in range(LINES):
        text = f"{rng.randint(1, 99_999):,}" if number % 3 == 0 else f"{_word(rng)} {_word(rng)}"
        left, top = 200.0 * (number % 5), 30.0 * (number // 5)
        lines.append(Line(text, (left, top, left + 150, top + 20), 0.9))
    return RecognisedText(1_000, 720, tuple(lines))


def _output(record: Record, text: RecognisedText, rng: random.Random) -> str | None:
    answer = record.answers[0]
    return rng.choice(
        [answer, answer, f"The answer is {answer}.", answer[:-1] + "x", rng.choice(text.lines).text,
         _word(rng), "I cannot tell", f"{answer} or {_word(rng)}", "", None]
    )  # fmt: skip


def _made() -> tuple[dict[str, RecognisedText], list[Run]]:
    rng = random.Random(0)
    images = {f"Made/test/{number}.png": _table(rng) for number in range(IMAGES)}
    names = list(images)
    records = []
    for number in range(QUESTIONS):
        image = names[number % IMAGES]
        line = rng.choice(images[image].lines)
        answers = (line.text, line.text + ".")
        records.append(Record(f"Made/{number}", f"Made{number % 4}", image, f"What is {number}?",
                              answers, "made"))  # fmt: skip
    runs = []
    for number in range(RUNS):
        scored = tuple(
            score_answer(_output(r, images[r.image], rng), r.answers, r.question_id)
            for r in records
        )
        runs.append(
            Run(
                name=f"model {number}",
                kind="plain",
                paths=(),
                split="test",
                context=Context("made"),
                records=tuple(records),
                answers=scored,
                missing=(),
                annotations=AnnotationStamp("0" * 64, None, {}, ()),
            )
        )
    return images, runs


def time_diagnosis() -> None:
    """Print the CPU time of a diagnosis, with Markdown and JSON."""
    images, runs = _made()
    start = time.process_time()
    diagnosis = diagnose(runs, images, "made")
    between = time.process_time()
    to_markdown(diagnosis, 2)
    diagnosis_document(diagnosis)
    end = time.process_time()
    print(
        f"{RUNS} runs x {QUESTIONS} questions: {between - start:.1f} CPU s, "
        f"and {end - between:.1f} to write (limit 10)"
    )


if __name__ == "__main__":
    time_diagnosis()
    show_confusion()
    if len(sys.argv) > 1:
        show_released(Path(sys.argv[1]))
