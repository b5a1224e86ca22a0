"""``dtvqa doctor``: hosts, hook and data in one screen, with the cure for each fault.

Without ``--deep`` only files and metadata are looked at, and no host is imported. ``--deep`` tries
what is reported, in a child process for each host.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, entry_points, version
from pathlib import Path
from typing import TYPE_CHECKING

import click
from packaging.version import InvalidVersion, Version
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dtvqa_plugin._version import __version__
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.hosts import lmms_eval, vlmevalkit
from dtvqa_plugin.hosts.task_configs import task_configs_dir
from dtvqa_plugin.utils.text import visible

if TYPE_CHECKING:
    from dtvqa_plugin.data.status import FileStatus

LMMS_EXTRA = 'pip install "dtvqa-plugin[lmms]"'
VLM_EXTRA = 'pip install "dtvqa-plugin[vlmeval]"'
OLD_FILELOCK = 'pip install "filelock<4"'
WHOLE_LMMS_EVAL = 'pip install "lmms-eval==0.7.3"'
TRY_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. ``ok`` None means "not there, and that is a matter of choice"."""

    what: str
    state: str
    ok: bool | None
    cure: str = ""


@click.command("doctor")
@click.option(
    "--deep",
    is_flag=True,
    help="Also import the hosts and build lmms-eval's task index, in child processes "
    "(10 to 60 seconds).",
)
def doctor(deep: bool) -> None:
    """Show what is installed, whether the hosts load the plugin, and which data are in the store.

    Exit status 0 when nothing is wrong, else 1.
    """
    findings = list(_findings(deep))
    console = Console()
    console.print(_table(findings))
    console.print(Text(_legend(findings)))
    if any(not finding.ok and finding.cure.startswith(_FETCH) for finding in findings):
        console.print(Text(_COPY))
    if any(finding.ok is False for finding in findings):
        raise SystemExit(1)


def _findings(deep: bool) -> Iterator[Finding]:
    yield Finding("dtvqa-plugin", __version__, True)
    lmms, vlm = _lmms_eval(), _vlmevalkit()
    yield from (lmms, vlm)
    if lmms.ok is None and vlm.ok is None:
        cure = 'pip install "dtvqa-plugin[lmms]" or "dtvqa-plugin[vlmeval]"'
        yield Finding("evaluation host", "none installed", False, cure)
    if lmms.ok is not None:
        yield from _hook(deep)
        yield from _shadowing_folders()
    if vlm.ok is not None:
        yield from _vlm_parts(deep)
    yield _ocr()
    yield from _data()


# --- hosts ---------------------------------------------------------------------------------------


def _lmms_eval() -> Finding:
    found = _host("lmms-eval", ("lmms_eval", "lmms-eval"), lmms_eval.SUPPORTED, LMMS_EXTRA)
    number = found.state.partition(" ")[0].rstrip(",")
    if number in lmms_eval.BROKEN and not _is_checkout("lmms_eval"):
        state = f"{number} from the package index cannot index any task: its wheel is incomplete"
        return Finding("lmms-eval", state, False, WHOLE_LMMS_EVAL)
    return found


def _vlmevalkit() -> Finding:
    for name, supported in vlmevalkit.SUPPORTED.items():
        found = _host("VLMEvalKit", (name,), supported, VLM_EXTRA)
        if found.ok is not None:
            return found
    return Finding("VLMEvalKit", "not installed", None, VLM_EXTRA)


def _host(
    name: str, distributions: tuple[str, ...], supported: tuple[str, str], cure: str
) -> Finding:
    for candidate in distributions:
        try:
            found = version(candidate)
        except PackageNotFoundError:
            continue
        label = f"{name} ({candidate})" if candidate.replace("_", "-") != name else name
        low, high = supported
        wanted = f"{low} <= version < {high}"
        try:
            inside = Version(low) <= Version(found) < Version(high)
        except InvalidVersion:
            inside = False
        if inside:
            return Finding(label, f"{found} (supported: {wanted})", True)
        return Finding(label, f"{found}, not tested ({wanted})", False, cure)
    return Finding(name, "not installed", None, cure)


def _is_checkout(name: str) -> bool:
    """Whether a distribution was installed from a folder or a repository."""
    try:
        return distribution(name).read_text("direct_url.json") is not None
    except PackageNotFoundError:
        return False


def _hook(deep: bool) -> Iterator[Finding]:
    if "dtvqa" not in {entry.name for entry in entry_points(group="lmms_eval.models")}:
        cure = "pip install --force-reinstall dtvqa-plugin"
        yield Finding("lmms-eval hook", "entry point missing", False, cure)
    elif _needs_old_filelock() and importlib.util.find_spec("filelock._api") is None:
        state = f"lmms-eval imports filelock._api, which filelock {version('filelock')} lacks"
        yield Finding("lmms-eval hook", state, False, OLD_FILELOCK)
    elif not deep:
        yield Finding("lmms-eval hook", "registered (--deep tries it)", True)
    else:
        yield _tried_hook()


def _needs_old_filelock() -> bool:
    """Whether the installed lmms-eval imports a module that filelock 4 no longer has."""
    folder = _package_folder("lmms_eval")
    source = folder / "evaluator.py" if folder else None
    return bool(source and source.is_file() and "filelock._api" in source.read_text("utf-8"))


def _package_folder(name: str) -> Path | None:
    """Where a package is, without importing it."""
    spec = importlib.util.find_spec(name)
    found = list(spec.submodule_search_locations or ()) if spec else []
    return Path(found[0]) if found else None


_TRY_LMMS_EVAL = """
import lmms_eval.evaluator, lmms_eval.models
from lmms_eval.tasks import TaskManager
print("HOOK", "dtvqa" in TaskManager().all_groups)
"""
_TRY_VLMEVALKIT = "import vlmeval.dataset, vlmeval.config"


def _tried_hook() -> Finding:
    status, output = _try(_TRY_LMMS_EVAL)
    if status != 0:
        return _broken("lmms-eval hook", "lmms-eval", output, LMMS_EXTRA)
    if "HOOK True" in output:
        return Finding("lmms-eval hook", "active: the task index contains dtvqa", True)
    cure = 'lmms-eval --include_path "$(dtvqa tasks-path)" ...'
    return Finding("lmms-eval hook", "not active: the task index lacks dtvqa", False, cure)


def _vlm_parts(deep: bool) -> Iterator[Finding]:
    if _is_checkout("vlmeval") and importlib.util.find_spec("rouge_score") is None:
        state = "a checkout needs rouge_score, which its requirements do not list"
        yield Finding("VLMEvalKit import", state, False, "pip install rouge_score")
    elif deep:
        status, output = _try(_TRY_VLMEVALKIT)
        if status == 0:
            yield Finding("VLMEvalKit import", "works", True)
        else:
            yield _broken("VLMEvalKit import", "VLMEvalKit", output, VLM_EXTRA)


def _try(code: str) -> tuple[int, str]:
    """Run Python code in a child process; its exit status and what it printed."""
    settings = {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=TRY_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 1, f"no answer within {TRY_SECONDS} seconds"
    return done.returncode, done.stdout


def _broken(what: str, host: str, output: str, cure: str) -> Finding:
    """A host that cannot be imported or cannot index its tasks: its error and the cure."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[\w.]*(Error|Exception)\b", line)]
    message = visible((errors or lines or ["no output"])[-1])
    missing = re.search(r"No module named '([\w.]+)'", message)
    if missing and missing[1].startswith("filelock"):
        cure = OLD_FILELOCK
    elif missing:
        cure = f"pip install {missing[1].partition('.')[0]}"
    elif "template" in message and host == "lmms-eval":
        cure = WHOLE_LMMS_EVAL
    return Finding(what, f"{host} itself fails: {message}", False, cure)


def _shadowing_folders() -> Iterator[Finding]:
    """Folders here that ``lmms-eval --tasks NAME`` takes for a folder of task files."""
    names = sorted(path.stem for path in task_configs_dir("lmms_eval").rglob("*.yaml"))
    for name in names:
        if Path(name).is_dir():
            state = f"the folder ./{name} hides the task: --tasks {name} reads the folder"
            yield Finding("lmms-eval tasks", state, False, "start lmms-eval in another directory")


# --- the OCR reader and data ---------------------------------------------------------------------


def _ocr() -> Finding:
    try:
        return Finding("OCR reader (rapidocr)", version("rapidocr"), True)
    except PackageNotFoundError:
        return Finding(
            "OCR reader (rapidocr)", "not installed", None, 'pip install "dtvqa-plugin[ocr]"'
        )


def _data() -> Iterator[Finding]:
    from dtvqa_plugin.data import coverage
    from dtvqa_plugin.data.status import store_status

    try:
        yield Finding("data: embedded sample", f"{coverage('mini')['overall']} questions", True)
        found = store_status()
    except DTVQAError as error:
        yield Finding("data", str(error), False, "see the message")
        return
    yield Finding("data: store", str(found.home), True)
    for split in dict.fromkeys(row.split for row in found.files):
        yield from _split_findings(split, [row for row in found.files if row.split == split])


_FETCH = "dtvqa data fetch"
_COPY = f"'{_FETCH}' downloads them; for a local copy: dtvqa data import FOLDER --split NAME"


def _split_findings(split: str, rows: Sequence[FileStatus]) -> Iterator[Finding]:
    """A line for each subset; one line for those of which nothing was downloaded."""
    missing = [row for row in rows if row.state == "missing"]
    begun = split == "test" and len(missing) < len(rows)
    yield from (_row_finding(row) for row in rows if begun or row.state != "missing")
    if missing and not begun:
        names = ", ".join(dict.fromkeys(row.subset for row in missing))
        cure = f"{_FETCH} --split {split}"
        yield Finding(f"data: {split}", f"not downloaded: {names}", None, cure)


def _row_finding(row: FileStatus) -> Finding:
    what = f"data: {row.split} {row.subset}"
    cure = f"{_FETCH} --split {row.split}"
    lacking = False if row.split == "test" else None  # the others are a matter of choice
    if row.state == "missing":
        return Finding(what, f"not there ({row.file})", lacking, cure)
    if row.error is not None:
        return Finding(what, row.error, False, cure)
    state = f"{row.questions} questions, {row.images_present} of {row.images} images"
    if row.problems:
        state += f", {len(row.problems)} unusable"
    if row.state == "differs":
        return Finding(what, f"{state}; {row.file} is not the released file", False, cure)
    if row.changed:
        return Finding(what, f"{state}; {row.file} changed since its import", False, cure)
    return Finding(what, state, row.complete or lacking, cure)


def _table(findings: list[Finding]) -> Table:
    """Mark, what, and its state; below a state that is not fine, the command that changes it."""
    table = Table(show_header=False, box=None, pad_edge=False)
    for _ in range(3):
        table.add_column(overflow="fold")
    for finding in findings:
        mark, style = _MARKS[finding.ok]
        state = Text(finding.state)
        if finding.cure and not finding.ok:
            state.append(f"\n{finding.cure}", style="bold")
        table.add_row(Text(mark, style=style), Text(finding.what), state)
    return table


def _legend(findings: Sequence[Finding]) -> str:
    """What the marks that stand in the table mean."""
    there = {finding.ok for finding in findings}
    return "; ".join(
        f"{_MARKS[ok][0]} {meaning}" for ok, meaning in _MEANINGS.items() if ok in there
    )


_MARKS: dict[bool | None, tuple[str, str]] = {
    True: ("ok", "green"),
    False: ("!!", "bold red"),
    None: ("--", "dim"),
}
_MEANINGS: dict[bool | None, str] = {
    True: "fine",
    False: "wrong: the command below it is the cure",
    None: "not there, which is a matter of choice: the command below it adds it",
}
