"""The signature: one line that says how a figure was made, and that can be read back.

The idea is sacreBLEU's (Post, 2018): a figure without its settings cannot be compared. Fields stand
in a fixed order as ``key:value`` joined by ``|``; white space, ``%``, ``|``, ``:`` and what else
could be taken for part of the form is percent-encoded, so that a model name can hold anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from dtvqa_plugin.metrics.checks import check_tau

BENCHMARK = "DTVQA"
SAMPLE = "DTVQA-SAMPLE"
"""First word of a signature over the embedded sample: such a figure is no DT-VQA score."""

CUSTOM = "DTVQA-CUSTOM"
"""First word over a custom set; its name and hash are in ``rev``."""

ACC_RULE = "containment-lower"
UNKNOWN = "unknown"

_OPTIONAL = ("input", "runner", "answers", "repeats")
_REASONING = re.compile(r"(?:stripped|kept)(?:-[0-9]+)?")
_PLAIN = "/+-_.~@()[]*'!"


@dataclass(frozen=True, slots=True)
class Signature:
    """What a figure was made with.

    ``subsets`` maps each subset to its number of scored questions; ``partial`` is how many
    questions of those subsets the run lacks. ``annotations`` is the first 16 hex digits of the
    SHA-256 over questions and answers; ``revision`` the dataset repository's commit if known.
    ``tau`` is the ANLS threshold, ``failed`` the number of questions without any output.
    ``reasoning`` is ``stripped-2``: thoughts were removed, by the second list of notations
    (``stripped`` in lines of 0.1.0). ``image`` says what is known to have been done to the
    picture on its way to the model; ``given`` (field ``input``) which recognised text the model
    was given, as ``text(ENGINE)`` or ``image+text(ENGINE)``. ``given``, ``runner``, ``answers`` and
    ``repeats`` are in the line only where something is known of them, or where there are several
    responses to each question.
    """

    version: str
    split: str
    subsets: Mapping[str, int]
    annotations: str
    revision: str
    prompt: str
    tau: float
    reasoning: str
    host: str
    host_version: str
    model: str
    generation: str
    failed: int
    partial: int
    acc: str = ACC_RULE
    image: str = "original"
    given: str = ""
    runner: str = ""
    answers: str = ""
    repeats: int = 1
    benchmark: str = field(default=BENCHMARK)

    def __str__(self) -> str:
        subsets = ",".join(f"{_encode(name)}={count}" for name, count in self.subsets.items())
        fields = {
            "v": _encode(self.version),
            "split": _encode(self.split),
            "subsets": subsets,
            "n": str(sum(self.subsets.values())),
            "ann": _encode(self.annotations),
            "rev": _encode(self.revision),
            "prompt": _encode(self.prompt),
            "image": _encode(self.image, "=,"),
            "input": _encode(self.given),
            "tau": repr(self.tau),
            "acc": _encode(self.acc),
            "reasoning": self.reasoning,
            "host": f"{_encode(self.host)}={_encode(self.host_version)}",
            "model": _encode(self.model, "=,"),
            "runner": _encode(self.runner),
            "gen": _encode(self.generation, "=,"),
            "answers": _encode(self.answers, "=,"),
            "repeats": str(self.repeats) if self.repeats > 1 else "",
            "failed": str(self.failed),
            "partial": f"missing={self.partial}" if self.partial else "no",
        }
        shown = (f"{k}:{value}" for k, value in fields.items() if value or k not in _OPTIONAL)
        return "|".join((self.benchmark, *shown))


def parse_signature(line: str) -> Signature:
    """Read a signature line: ``parse_signature(str(s)) == s``. Lines of version 0.1.0 are read too.

    Args:
        line: The line that a report printed.

    Returns:
        Its fields.

    Raises:
        ValueError: The line is not a signature; the message names the field.
    """
    first, *parts = line.strip().split("|")
    if first not in (BENCHMARK, SAMPLE, CUSTOM):
        raise ValueError(
            f"a signature begins {BENCHMARK}|, {SAMPLE}| or {CUSTOM}|; this begins {first[:40]!r}"
        )
    values: dict[str, str] = {}
    for part in parts:
        key, colon, value = part.partition(":")
        if not colon or key in values:
            raise ValueError(f"signature field {part[:60]!r} is not KEY:VALUE, or occurs twice")
        values[key] = value
    try:
        return _from_fields(first, values)
    except KeyError as error:
        raise ValueError(f"the signature has no field {error.args[0]!r}") from None


def _from_fields(benchmark: str, values: Mapping[str, str]) -> Signature:
    host, _, host_version = values["host"].partition("=")
    reasoning = values["reasoning"]
    if not _REASONING.fullmatch(reasoning):
        raise ValueError(f"signature field reasoning is {reasoning!r}, not stripped or kept")
    subsets = _subsets(values["subsets"])
    if _number("n", values["n"]) != sum(subsets.values()):
        raise ValueError(f"signature says n:{values['n']} but its subsets add up otherwise")
    partial = values["partial"]
    return Signature(
        benchmark=benchmark,
        version=unquote(values["v"]),
        split=unquote(values["split"]),
        subsets=subsets,
        annotations=unquote(values["ann"]),
        revision=unquote(values["rev"]),
        prompt=unquote(values["prompt"]),
        image=unquote(values["image"]),
        given=unquote(values.get("input", "")),
        tau=_threshold(values["tau"]),
        acc=unquote(values["acc"]),
        reasoning=reasoning,
        host=unquote(host),
        host_version=unquote(host_version),
        model=unquote(values["model"]),
        generation=unquote(values["gen"]),
        runner=unquote(values.get("runner", "")),
        answers=unquote(values.get("answers", "")),
        repeats=_number("repeats", values.get("repeats", "1")),
        failed=_number("failed", values["failed"]),
        partial=0 if partial == "no" else _number("partial", partial.removeprefix("missing=")),
    )


def _subsets(text: str) -> dict[str, int]:
    pairs = [item.partition("=") for item in text.split(",") if item]
    return {unquote(name): _number(f"subsets {name}", count) for name, _, count in pairs}


def _threshold(text: str) -> float:
    try:
        tau = float(text)
        check_tau(tau)
        return tau
    except ValueError:
        raise ValueError(f"signature field tau is {text!r}, not above 0 and up to 1") from None


def _number(name: str, text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"signature field {name} is {text!r}, not a count")
    return int(text)


def _encode(text: str, plain: str = "") -> str:
    """Percent-encode everything but letters, digits and signs that separate nothing here."""
    return "".join(
        char if char in _PLAIN + plain or char.isalnum() else quote(char, safe="", errors="replace")
        for char in text
    )
