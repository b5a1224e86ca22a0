"""Decisions: what holds, what reviewers come to together, and the merge of two machines."""

from __future__ import annotations

import itertools
import json
import random
import shutil
from pathlib import Path
from typing import Any, cast

import pytest
from annotate.conftest import held
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.export import export
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review.agreement import agreements, cohen_kappa
from dtvqa_plugin.annotate.review.decisions import Decisions, Verdict
from dtvqa_plugin.annotate.review.merging import merge
from dtvqa_plugin.cli import cli

Reviewed = tuple[Project, Decisions, list[dict[str, Any]]]


def test_outcomes_of_one_and_two_reviewers(
    reviewed: Reviewed,
) -> None:
    _, decisions, pairs = reviewed

    def say(pair: int, who: str, verdict: Verdict, *answers: str) -> None:
        record = pairs[pair]
        texts = answers or record["answers"]
        decisions.record(record, who, verdict, record["question"], texts)

    def outcome(pair: int, adjudicator: str | None = None) -> str | None:
        return decisions.outcome(pairs[pair]["pair"], adjudicator)

    assert outcome(0) is None
    say(0, "Ada", "accept")
    assert outcome(0) == "accepted"
    say(0, "Ben", "accept")
    assert outcome(0) == "accepted"
    say(0, "Ben", "accept", "Blue Bird", "The Blue Bird")
    assert outcome(0) == "variants", "they accept different answers to the same question"
    say(0, "Ada", "accept", "The Blue Bird", "Blue Bird")
    assert outcome(0) == "accepted", "the order of answers does not matter"
    say(0, "Ben", "reject")
    assert outcome(0) == "disputed"
    assert outcome(0, adjudicator="Ben") == "rejected"
    assert outcome(0, adjudicator="Ada") == "accepted"
    decisions.undo("Ben")
    decisions.undo("Ben")
    assert outcome(0) == "variants", "what Ben said before holds again"
    decisions.undo("Ben")
    assert outcome(0) == "accepted"
    assert decisions.undo("Ben") is None


def test_other_process_decisions_are_seen(
    reviewed: Reviewed,
) -> None:
    project, decisions, pairs = reviewed
    decisions.refresh()
    other = Decisions(Project.open(project.root))
    other.record(pairs[0], "Ben", "reject", "q", ["a"])
    decisions.refresh()
    assert decisions.outcome(pairs[0]["pair"]) == "rejected"


@pytest.mark.parametrize(
    "change",
    [
        {"action": "approve"},
        {"question": None},
        {"answers": "text"},
        {"replaces": "x"},
        {"joins": 3},
        {"note": "another, under the same id"},
    ],
    ids=str,
)
def test_decision_edited_by_hand_into_nonsense_is_one_error(
    reviewed: Reviewed, change: dict[str, Any]
) -> None:
    project, decisions, pairs = reviewed
    entry = decisions.record(pairs[0], "Ada", "accept", "q", ["a"])
    project.decisions.append({**entry, **change})
    again = Decisions(project)
    for _ in range(2):  # it is not passed over the second time
        with pytest.raises(AnnotateError, match=f"decisions.jsonl: .*{entry['id']}"):
            again.refresh()


@pytest.mark.parametrize(
    ("labels", "kappa"),
    [
        ([], None),
        ([("a", "a")] * 3, None),
        ([("a", "a"), ("r", "r")], 1.0),
        ([("a", "r"), ("r", "a")], -1.0),
        ([("a", "a"), ("a", "r"), ("r", "a"), ("r", "r")], 0.0),
        # Cohen's worked form: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no.
        ([("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15, 0.4),
    ],
)
def test_kappa(labels: list[tuple[str, str]], kappa: float | None) -> None:
    assert cohen_kappa(labels) == (None if kappa is None else pytest.approx(kappa))


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ar"), st.sampled_from("ar")), min_size=1, max_size=30))
def test_kappa_agrees_with_scikit_learn(labels: list[tuple[str, str]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    found = cohen_kappa(labels)
    if found is not None:
        assert found == pytest.approx(metrics.cohen_kappa_score(*zip(*labels, strict=True)))


def test_agreement_covers_what_both_decided(
    reviewed: Reviewed,
) -> None:
    _, decisions, pairs = reviewed
    for place, pair in enumerate(pairs[:6]):
        decisions.record(pair, "Ada", "accept", pair["question"], pair["answers"])
        if place < 4:
            texts = pair["answers"] if place else ["other"]
            decisions.record(pair, "Ben", "accept", pair["question"], texts)
    (part,) = agreements(decisions)
    assert (part.both, part.same_verdict, part.same_text, part.kappa) == (4, 4, 3, None)


# --- unsure, and variants ------------------------------------------------------------------------

Said = tuple[str, Verdict, list[str]]
A: Said = ("Ada", "accept", ["x"])
B: Said = ("Ben", "accept", ["x", "y"])
C: Said = ("Cy", "accept", ["z"])


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ([("Ada", "unsure", ["x"])], "unsure"),
        ([("Ada", "unsure", ["x"]), B], "accepted"),
        ([("Ada", "unsure", ["x"]), ("Ben", "reject", ["x"])], "rejected"),
        ([A, B], "variants"),
        ([A, B, C], "variants"),
        ([A, B, ("Cy", "reject", ["z"])], "disputed"),
        ([A, B, ("Ben", "reject", ["x"])], "disputed"),
        ([A, B, ("Ben", "unsure", ["x"])], "accepted"),
    ],
    ids=str,
)
def test_unsure_is_no_vote_and_other_variants_are_no_dispute(
    reviewed: Reviewed, said: list[Said], outcome: str
) -> None:
    _, decisions, pairs = reviewed
    for who, verdict, answers in said:
        decisions.record(pairs[0], who, verdict, "q", answers)
    assert decisions.outcome(pairs[0]["pair"]) == outcome


def test_one_key_joins_the_variants_until_somebody_decides_anew(reviewed: Reviewed) -> None:
    _, decisions, pairs = reviewed
    name = pairs[0]["pair"]
    for who, verdict, answers in (A, B, C):
        decisions.record(pairs[0], who, verdict, "q", answers)
    with pytest.raises(AnnotateError, match="no variants of this pair to join"):
        decisions.join(pairs[0], "Dan")
    decisions.join(pairs[0], "Ben")
    final = decisions.final(name)
    assert final is not None
    assert final["answers"] == ["x", "y", "z"]
    assert decisions.outcome(name) == "accepted"
    decisions.undo("Ben")
    assert decisions.outcome(name) == "variants"
    decisions.join(pairs[0], "Ada")
    decisions.record(pairs[0], "Cy", "accept", "q", ["other"])
    assert decisions.outcome(name) == "variants", "Ada has not seen that one"
    with pytest.raises(AnnotateError, match="no variants"):
        decisions.join(pairs[1], "Ada")


# --- the file ------------------------------------------------------------------------------------


def test_file_of_the_first_release_is_read(reviewed: Reviewed) -> None:
    """Its records name nothing that they replace: the order in the file says it."""
    project, _, pairs = reviewed
    one, two = pairs[0]["pair"], pairs[1]["pair"]
    carried = {"image": pairs[0]["image"], "source": "images", "style": "scene", "file": "f.png"}
    rows = [
        ("a1", one, "Ada", "accept", {"question": "q", "answers": ["x"], "edited": True}),
        ("a2", one, "Ada", "reject", {"question": "q", "answers": ["x"], "edited": True}),
        ("b1", one, "Ben", "accept", {"question": "q", "answers": ["x"], "edited": True}),
        ("a3", two, "Ada", "accept", {"question": "r", "answers": ["y"], "edited": True}),
        ("a4", one, "Ada", "undo", {"undoes": "a2"}),
    ]
    for name, pair, who, action, more in rows:
        record = {"id": name, "pair": pair, "reviewer": who, "at": "2026-01-02T03:04:05+00:00"}
        project.decisions.append({**record, "action": action, **more, **carried})
    decisions = Decisions(project)
    decisions.refresh()
    assert [h.id for h in decisions.heads(one)] == ["a1", "b1"]
    assert decisions.outcome(one) == decisions.outcome(two) == "accepted"
    decisions.record(pairs[0], "Ada", "reject", "q", ["x"])
    assert decisions.outcome(one) == "disputed"
    assert held(project)[-1]["replaces"] == ["a1"]


@pytest.mark.parametrize("cut", [1, 40, -1])
def test_line_that_is_being_written_counts_once_it_is_whole(reviewed: Reviewed, cut: int) -> None:
    project, decisions, pairs = reviewed
    decisions.record(pairs[0], "Ada", "accept", "q", ["a"])
    path = project.decisions.path
    line = path.read_bytes().replace(pairs[0]["pair"].encode(), pairs[1]["pair"].encode())
    line = line.replace(b'"id":"', b'"id":"2')
    with path.open("ab") as handle:
        handle.write(line[:cut])
    decisions.refresh()
    with path.open("ab") as handle:
        handle.write(line[cut:])
    decisions.refresh()
    assert decisions.outcome(pairs[1]["pair"]) == "accepted"
    assert decisions.count == 2


def test_record_appended_while_reading_is_applied_once(reviewed: Reviewed) -> None:
    project, decisions, pairs = reviewed
    for pair in pairs[:2]:
        decisions.record(pair, "Ada", "accept", "q", ["a"])
    reader = Decisions(Project.open(project.root))
    lines = reader.journal.lines
    reader.journal.lines = lambda start=0: (  # type: ignore[method-assign]  # a slow reader
        line for line in lines(start) if add_once() or True
    )
    waiting = [pairs[2]]

    def add_once() -> None:
        if waiting:
            decisions.record(waiting.pop(), "Ben", "reject", "q", ["a"])

    reader.refresh()
    reader.refresh()
    assert reader.count == 3
    assert reader.undo("Ben") is not None
    assert reader.undo("Ben") is None


# --- two machines --------------------------------------------------------------------------------


def copy(project: Project, name: str) -> Project:
    """The project as it is, on another machine."""
    root = project.root.with_name(name)
    shutil.copytree(project.root, root)
    return Project.open(root)


def state(project: Project) -> dict[str, Any]:
    decisions = Decisions(project)
    decisions.refresh()
    return {
        pair: (
            decisions.outcome(pair),
            [h.id for h in decisions.heads(pair)],
            decisions.twice(pair),
        )
        for pair in decisions.pairs()
    }


def act(project: Project, pairs: list[dict[str, Any]], chance: random.Random, steps: int) -> None:
    """What reviewers do on one machine; Ada works on all of them."""
    decisions = Decisions(project)
    decisions.refresh()
    for _ in range(steps):
        who, pair = chance.choice(["Ada", "Ben", project.root.name]), chance.choice(pairs)
        verdict = chance.choice(["accept", "accept", "reject", "unsure", "undo", "join"])
        if verdict == "undo":
            decisions.undo(who)
        elif verdict == "join":
            if decisions.outcome(pair["pair"]) == "variants" and who in decisions.of(pair["pair"]):
                decisions.join(pair, who)
        else:
            answers = chance.sample(["x", "y", "z"], chance.randint(1, 2))
            decisions.record(pair, who, cast(Verdict, verdict), pair["question"], answers)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("seed", range(4))
def test_merge_loses_nothing_and_its_order_does_not_matter(reviewed: Reviewed, seed: int) -> None:
    project, _, pairs = reviewed
    chance = random.Random(seed)
    act(project, pairs, chance, 12)
    # As the first release wrote them: nothing says what they replace.
    old = [{k: v for k, v in entry.items() if k != "replaces"} for entry in held(project)]
    project.decisions.path.write_text("".join(json.dumps(entry) + "\n" for entry in old))
    copies = [copy(project, name) for name in ("one", "two", "three")]
    for machine in copies:
        act(machine, pairs, chance, 12)
    before = {machine.root.name: held(machine) for machine in copies}
    records = {entry["id"]: entry for entries in before.values() for entry in entries}
    results = []
    for order in itertools.permutations(copies):
        first, *rest = (copy(machine, f"{machine.root.name}-merged") for machine in order)
        for other in rest:
            merge(first, [other.root])
        export(first, first.root / "export")
        results.append((state(first), held(first), contents(first.root / "export")))
        bytes_before = first.decisions.path.read_bytes()
        again = merge(first, [other.decisions.path for other in rest])
        assert again.added == 0
        assert first.decisions.path.read_bytes() == bytes_before
        for machine in order:
            shutil.rmtree(machine.root.with_name(f"{machine.root.name}-merged"))
    for outcome, merged, exported in results:
        assert outcome == results[0][0]
        assert exported == results[0][2]
        there = [entry for entry in merged if entry["action"] != "merged"]
        assert len(there) == len(records), "each record once"
        for entry in there:
            original = records[entry["id"]]
            assert {k: v for k, v in entry.items() if k in original} == original


def test_merge_shows_what_one_reviewer_decided_apart(reviewed: Reviewed) -> None:
    project, decisions, pairs = reviewed
    decisions.record(pairs[0], "Ada", "accept", "q", ["\x1b[31m"])
    away = copy(project, "away")
    decisions.record(pairs[0], "Ada", "reject", "q", ["a"])
    decisions.record(pairs[1], "Ada", "accept", "q", ["a"])
    others = Decisions(away)
    others.refresh()
    others.record(pairs[0], "Ada", "accept", "q", ["\x1b[31m", "b"])
    others.record(pairs[1], "Ada", "accept", "q", ["a"])
    done = CliRunner().invoke(cli, ["annotate", "merge", str(project.root), str(away.root)])
    assert done.exit_code == 0, done.output
    assert "2 decisions added, 1 were here already" in done.output
    assert f"pair {pairs[0]['pair']}, Ada decided apart: " in done.output
    assert "\x1b" not in done.output
    decisions.refresh()
    assert decisions.outcome(pairs[0]["pair"]) == "disputed"
    assert decisions.outcome(pairs[1]["pair"]) == "accepted", "the same twice is no conflict"
    assert decisions.outcome(pairs[0]["pair"], adjudicator="Ada") == "disputed"
    decisions.record(pairs[0], "Ada", "accept", "q", ["b"])
    assert decisions.outcome(pairs[0]["pair"]) == "accepted", "deciding again replaces both"
    assert merge(away, [project.root]).added == 3
    assert state(away) == state(project)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere", "no decisions there; name a project folder or its decisions.jsonl"),
        ("undecided", "no decisions there"),
        ("other", "about other images than those of this project"),
        ("edited", "one of them was edited by hand"),
    ],
)
def test_unusable_source_of_a_merge_is_one_error_and_changes_nothing(
    reviewed: Reviewed, name: str, message: str
) -> None:
    project, decisions, pairs = reviewed
    copy(project, "undecided")
    decisions.record(pairs[0], "Ada", "accept", "q", ["a"])
    good, other, edited = (copy(project, name) for name in ("good", "other", "edited"))
    Decisions(good).record(pairs[1], "Ben", "accept", "q", ["a"])
    (entry,) = held(project)
    other.decisions.path.write_text(json.dumps({**entry, "id": "z", "image": "0" * 64}))
    edited.decisions.path.write_text(json.dumps({**entry, "answers": ["b"]}))
    before = project.decisions.path.read_bytes()
    with pytest.raises(AnnotateError, match=message):
        merge(project, [good.root, project.root.with_name(name)])
    assert project.decisions.path.read_bytes() == before


def test_merge_counts_damage_and_images_that_are_elsewhere(
    reviewed: Reviewed, images: Path
) -> None:
    project, decisions, pairs = reviewed
    decisions.record(pairs[0], "Ada", "accept", "q", ["a"])
    away = copy(project, "away")
    new = {**pairs[1], "pair": "new", "image": "f" * 64}
    Decisions(away).record(new, "Ben", "accept", "q", ["a"])
    with away.decisions.path.open("ab") as handle:
        handle.write(b'{"id": "cut')
    report = merge(project, [away.root])
    assert (report.added, report.known, report.damaged, report.unknown_images) == (1, 1, 1, 1)
    done = export(project, project.root / "export")
    assert len(done.missing) == 1
