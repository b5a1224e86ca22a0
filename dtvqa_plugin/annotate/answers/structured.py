"""Pairs of an answer that keeps to the schema that was asked for: parsed, not guessed."""

from __future__ import annotations

from dtvqa_plugin.annotate.answers.json_pairs import Finder
from dtvqa_plugin.annotate.answers.labels import DEFAULT, Labels
from dtvqa_plugin.annotate.answers.reading import Pair, Reading, read_answer
from dtvqa_plugin.annotate.asking.structured import read_pairs


def read_structured(text: str, labels: Labels = DEFAULT) -> Reading:
    """Read an answer that was asked for by a schema; one that breaks it is read as any other.

    Values are taken as they are, blanks at their ends left out. A pair with an empty side is
    unread.
    """
    asked = read_pairs(text)
    if asked is None:
        return read_answer(text, labels)
    finder = Finder(text, (0, len(text)))
    pairs: list[Pair] = []
    unread: list[tuple[int, int]] = []
    for found in asked:
        question, answer = found.question.strip(), found.answer.strip()
        place = finder.find(found.question, None)
        said = finder.find(found.answer, place)
        if question and answer and place is not None and said is not None:
            pairs.append(Pair(question, (answer,), None, place, (said,)))
        else:
            unread += [span for span in (place, said) if span and span[0] < span[1]] or [
                (0, len(text))
            ]
    return Reading(text, tuple(pairs), tuple(unread), ((0, len(text)),))
