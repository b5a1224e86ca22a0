"""Journals survive kills and hands; killed stages continue."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from annotate.annotate_server import Endpoint
from annotate.conftest import ANSWER, MakeProject, draw, fill

from dtvqa_plugin.annotate.check import check
from dtvqa_plugin.annotate.expand import expand
from dtvqa_plugin.annotate.export import export
from dtvqa_plugin.annotate.extract import extract
from dtvqa_plugin.annotate.project.journal import Damage, Journal, Rewritten
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.annotate.review.decisions import Decisions
from dtvqa_plugin.annotate.run import Bounds, run


def records(journal: Journal, damage: Damage | None = None) -> list[object]:
    return [entry["n"] for _, entry in journal.read(damage=damage)]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    made = Journal(tmp_path / "j.jsonl", frozenset({"n"}))
    for number in range(3):
        made.append({"n": number, "text": "blå\n\u2028\ud800"})
    return made


@pytest.mark.parametrize("keep", range(1, 20, 3))
def test_a_line_cut_off_by_a_kill_costs_that_line_and_is_reported(
    journal: Journal, keep: int
) -> None:
    whole = journal.path.read_bytes()
    last = whole.rindex(b"\n", 0, len(whole) - 1) + 1
    journal.path.write_bytes(whole[: last + keep])
    damage = Damage(journal.path)
    assert records(journal, damage) == [0, 1]
    assert (damage.count, damage.first) == (1, 3)
    assert "cut off" in str(damage)
    journal.append({"n": 3})
    assert records(journal) == [0, 1, 3]
    assert journal.path.read_bytes().startswith(whole[: last + keep]), "nothing is taken away"


def test_a_whole_last_line_without_its_line_break_counts(journal: Journal) -> None:
    journal.path.write_bytes(journal.path.read_bytes().rstrip(b"\n"))
    assert records(journal) == [0, 1, 2]
    journal.append({"n": 3})
    assert records(journal) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"not json", "not JSON"),
        (b"[1, 2]", "no object"),
        (b'{"m": 1}', "without n"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_lines_damaged_by_hand_are_skipped_and_reported(
    journal: Journal, line: bytes, reason: str
) -> None:
    lines = journal.path.read_bytes().splitlines(keepends=True)
    journal.path.write_bytes(b"".join([lines[0], line + b"\n", b"\n", *lines[1:]]))
    damage = Damage(journal.path)
    assert records(journal, damage) == [0, 1, 2]
    assert (damage.count, damage.first) == (1, 2)
    assert reason in str(damage)


def test_offsets_lead_back_to_records(journal: Journal) -> None:
    places = [offset for offset, _ in journal.read()]
    assert [journal.at(place)["n"] for place in places] == [0, 1, 2]
    assert journal.at(journal.append({"n": 9}))["n"] == 9
    assert [entry["n"] for _, entry in journal.read(places[2])] == [2, 9]


def test_many_writers_in_threads_and_processes_lose_nothing(journal: Journal) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from dtvqa_plugin.annotate.project.journal import Journal\n"
        "for n in range(40): Journal(Path(sys.argv[1])).append({'n': n}, sync=False)"
    )
    others = [subprocess.Popen([sys.executable, "-c", code, str(journal.path)]) for _ in range(2)]
    threads = [
        threading.Thread(target=lambda: [journal.append({"n": n}, sync=False) for n in range(40)])
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [other.wait() for other in others] == [0, 0]
    damage = Damage(journal.path)
    assert len(records(journal, damage)) == 3 + 5 * 40
    assert damage.count == 0


def test_a_derived_file_is_whole_or_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    with Rewritten(path) as target:
        target.write({"n": 1})

    def give_up() -> None:
        with Rewritten(path) as target:
            target.write({"n": 2})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        give_up()
    assert path.read_bytes() == b'{"n":1}\n'
    assert {entry.name for entry in tmp_path.iterdir()} == {".locks", "pairs.jsonl"}


# --- kill -9 in each stage -----------------------------------------------------------------------


def start(project: Project, *arguments: str, slow: str = "") -> subprocess.Popen[str]:
    """The command in a separate process; ``slow`` is code that delays the stage."""
    code = f"{slow}\nfrom dtvqa_plugin.cli import main; main()"
    command = [sys.executable, "-c", code, "annotate", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until(condition: object, limit: float = 30) -> None:
    end = time.monotonic() + limit
    while not condition():  # type: ignore[operator]  # a function of no arguments
        assert time.monotonic() < end, "never came true"
        time.sleep(0.02)


def test_killed_run_continues_and_pays_at_most_for_what_was_in_flight(
    make: MakeProject, images: Path
) -> None:
    for number in range(26):
        draw(images / f"more{number:02}.png", f"shop {number}")
    with Endpoint(lambda number, request: ANSWER, delay=0.08) as server:
        project = make(server.url, concurrency=3)
        child = start(project, "run", str(project.root))
        until(lambda: server.count >= 12)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        kept = sum(1 for _ in project.raw.read())
        assert 6 <= kept < 30
        report = run(Project.open(project.root), Bounds())
    assert report.known == kept
    assert report.answered == 30 - kept
    assert server.count - 30 <= 3, "only the questions on their way are asked twice"
    answered = [entry["image"] for _, entry in project.raw.read()]
    assert len(answered) == len(set(answered)) == 30


def test_interrupted_run_waits_for_what_is_in_flight(make: MakeProject, images: Path) -> None:
    for number in range(16):
        draw(images / f"more{number:02}.png", f"shop {number}")
    with Endpoint(lambda number, request: ANSWER, delay=0.3) as server:
        project = make(server.url, concurrency=3)
        child = start(project, "run", str(project.root))
        until(lambda: server.count >= 4)
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate(timeout=30)
    assert child.returncode == 1
    assert "stopped: interrupted" in output
    assert sum(1 for _ in project.raw.read()) == server.count


SLOW_WRITES = (
    "import time; from dtvqa_plugin.annotate.project.journal import Rewritten\n"
    "w = Rewritten.write\n"
    "Rewritten.write = lambda self, record: (w(self, record), self._handle.flush(), "
    "time.sleep(0.2))[0]"
)


@pytest.mark.parametrize("stage", ["extract", "check", "expand"])
def test_killed_stage_leaves_the_last_whole_result(make: MakeProject, stage: str) -> None:
    project = make()
    fill(project, ["Q: How much are pears?\nA: 1,250 g"] * 4)
    stages = {"extract": extract, "check": check, "expand": expand}
    for work in stages.values():
        work(project)
    path = {"extract": "pairs", "check": "flags", "expand": "proposals"}[stage]
    before = (project.root / f"{path}.jsonl").read_bytes()
    child = start(project, stage, str(project.root), slow=SLOW_WRITES)
    until(lambda: list(project.root.glob(f".locks/{path}.jsonl.partial/*")))
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert (project.root / f"{path}.jsonl").read_bytes() == before
    stages[stage](Project.open(project.root))
    assert not list(project.root.glob(".locks/*.partial/*")), "what the killed one left is cleared"
    assert (project.root / f"{path}.jsonl").read_bytes() == before


def test_killed_text_only_check_continues(make: MakeProject) -> None:
    with Endpoint(lambda number, request: "unknown", delay=0.1) as server:
        project = make(
            config=lambda values: values["check"].update(
                text_only={"model": "blind", "base_url": server.url, "concurrency": 1}
            )
        )
        fill(project, [f"Q: How much are pears {n}?\nA: {n} g\nQ: Who?\nA: Bo" for n in range(4)])
        extract(project)
        child = start(project, "check", str(project.root), "--text-only")
        until(lambda: server.count >= 4)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        again = start(project, "check", str(project.root), "--text-only")
        assert again.wait() == 0
    assert len({entry["pair"] for _, entry in project.textonly.read()}) == 8
    assert server.count <= 9, "only the question on its way is asked twice"


def test_killed_export_leaves_the_earlier_export(make: MakeProject, tmp_path: Path) -> None:
    project = make()
    fill(project, [ANSWER] * 4)
    extract(project)
    decisions = Decisions(project)
    for _, pair in project.pairs.read():
        decisions.record(pair, "Ada", "accept", pair["question"], pair["answers"])
    target = tmp_path / "out"
    export(project, target)
    before = (target / "test" / "DT_custom.json").read_bytes()
    slow = (
        "import shutil, time; c = shutil.copyfile\n"
        "shutil.copyfile = lambda *a, **k: (time.sleep(0.5), c(*a, **k))[1]"
    )
    child = start(project, "export", str(project.root), "--to", str(target), slow=slow)
    until(lambda: list(tmp_path.glob(".out.*.partial")))
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert (target / "test" / "DT_custom.json").read_bytes() == before
    export(project, target)
    assert (target / "test" / "DT_custom.json").read_bytes() == before
    assert not list(tmp_path.glob(".out.*")), "what the killed one left is cleared away"


def test_decision_cut_off_by_a_kill_is_reported_and_costs_no_other(
    make: MakeProject, caplog: pytest.LogCaptureFixture
) -> None:
    project = make()
    fill(project, [ANSWER] * 4)
    extract(project)
    pairs = [entry for _, entry in project.pairs.read()]
    decisions = Decisions(project)
    for pair in pairs[:3]:
        decisions.record(pair, "Ada", "accept", pair["question"], pair["answers"])
    path = project.decisions.path
    path.write_bytes(path.read_bytes()[:-20])
    again = Decisions(Project.open(project.root))
    again.refresh()
    assert caplog.text.count("decisions.jsonl: 1 line is no record") == 1
    assert [again.outcome(pair["pair"]) for pair in pairs[:3]] == ["accepted", "accepted", None]
    again.record(pairs[3], "Ada", "reject", pairs[3]["question"], pairs[3]["answers"])
    assert again.outcome(pairs[3]["pair"]) == "rejected"
    whole = [json.loads(line) for line in path.read_bytes().splitlines() if line.endswith(b"}")]
    assert len(whole) == 3
