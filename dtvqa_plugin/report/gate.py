"""A gate's decision as text, JSON values and JUnit XML."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from xml.etree import ElementTree

from dtvqa_plugin.analysis.audits import audit
from dtvqa_plugin.analysis.gate import Check, Decision, Verdict
from dtvqa_plugin.runs.remarks import left_out
from dtvqa_plugin.runs.run import Run
from dtvqa_plugin.utils.text import plain


def gate_text(decision: Decision) -> str:
    """One line a check, what was left out of the runs, the verdict last."""
    lines = [
        plain(f"{check.verdict.value}: {check.name}: {check.sentence}") for check in decision.checks
    ]
    lines += _notes(decision)
    lines += [str(run.signature()) for run in _runs(decision)]
    return "\n".join([*lines, f"gate: {decision.verdict.value}"]) + "\n"


def gate_document(decision: Decision, exit_status: int) -> dict[str, Any]:
    """The decision as JSON values; figures and differences times 100.

    ``bootstrap.level`` is that of the two-sided interval whose lower end decides about a drop.
    """
    rules = asdict(decision.rules)
    resamples, seed = rules.pop("resamples"), rules.pop("seed")
    return {
        "verdict": decision.verdict.value,
        "exit_status": exit_status,
        "reason": decision.reason,
        "run": _run_document(decision.run),
        "baseline": _run_document(decision.baseline),
        "rules": rules,
        "bootstrap": {
            "resamples": resamples,
            "seed": seed,
            "level": round(2.0 * decision.rules.confidence - 1.0, 12),
            "clustered_by": "image",
        },
        "checks": [_check_document(check) for check in decision.checks],
    }


def _run_document(run: Run | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "name": run.name,
        "condition": run.condition,
        "signature": str(run.signature()),
        "remarks": _remarks(run),
    }


def _check_document(check: Check) -> dict[str, Any]:
    return {**asdict(check), "verdict": check.verdict.value}


def gate_junit(decision: Decision) -> str:
    """JUnit XML: a test case a check; what failed is a failure, what cannot be told an error."""
    verdicts = [check.verdict for check in decision.checks]
    counts = {
        "tests": str(len(verdicts)),
        "failures": str(verdicts.count(Verdict.FAILED)),
        "errors": str(verdicts.count(Verdict.CANNOT_TELL)),
        "skipped": "0",
        "time": "0",
    }
    root = ElementTree.Element("testsuites", {"name": "dtvqa gate", **counts})
    name = "no run" if decision.run is None else plain(decision.run.name)
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **counts})
    properties = ElementTree.SubElement(suite, "properties")
    for name, run in zip(("signature", "baseline"), _runs(decision), strict=False):
        value = {"name": name, "value": plain(str(run.signature()))}
        ElementTree.SubElement(properties, "property", value)
    for check in decision.checks:
        case = {"classname": "dtvqa.gate", "name": plain(check.name), "time": "0"}
        element = ElementTree.SubElement(suite, "testcase", case)
        said = plain(check.sentence)
        if check.verdict is Verdict.PASSED:
            ElementTree.SubElement(element, "system-out").text = said
        else:
            kind = "failure" if check.verdict is Verdict.FAILED else "error"
            found = {"message": said, "type": check.verdict.value}
            ElementTree.SubElement(element, kind, found).text = said
    notes = _notes(decision)
    if notes:
        ElementTree.SubElement(suite, "system-out").text = "\n".join(notes)
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _notes(decision: Decision) -> list[str]:
    """What was left out or overridden and what the audits warn of, one line each."""
    named = zip(("the run", "the baseline"), _runs(decision), strict=False)
    return [plain(f"note: {whose}: {line}") for whose, run in named for line in _remarks(run)]


def _remarks(run: Run) -> list[str]:
    return [*left_out(run), *audit(run).every_warning()]


def _runs(decision: Decision) -> list[Run]:
    return [run for run in (decision.run, decision.baseline) if run is not None]
