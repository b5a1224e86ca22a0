"""``dtvqa doctor``: hosts, hook and data in one screen, with the cure for each thing amiss."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import TYPE_CHECKING

import click
from packaging.version import InvalidVersion, Version
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dtvqa_plugin._version import __version__
from dtvqa_plugin.errors import DTVQAError

if TYPE_CHECKING:
    from dtvqa_plugin.data.status import FileStatus


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. ``ok`` None means "not there, and that is a matter of choice"."""

    what: str
    state: str
    ok: bool | None
    cure: str = ""


@click.command("doctor")
def doctor() -> None:
    """Say what is installed, whether the hosts see the plugin, and which data are there.

    Exit status 0 when nothing is amiss, else 1.
    """
    findings = list(_findings())
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(_table(findings))
    if any(not finding.ok and finding.cure.startswith(_FETCH) for finding in findings):
        console.print(Text(_COPY))
    if any(finding.ok is False for finding in findings):
        raise SystemExit(1)


def _findings() -> Iterator[Finding]:
    yield Finding("dtvqa-plugin", __version__, True)
    hosts = [_lmms_eval(), _vlmevalkit()]
    yield from hosts
    if all(host.ok is None for host in hosts):
        yield Finding(
            "evaluation host",
            "none installed",
            False,
            'pip install "dtvqa-plugin[lmms]" or "dtvqa-plugin[vlmeval]"',
        )
    if hosts[0].ok is not None:
        yield _guarded("lmms-eval hook", _hook)
    yield _ocr()
    yield from _data()


def _lmms_eval() -> Finding:
    from dtvqa_plugin.hosts.lmms_eval import SUPPORTED

    return _host("lmms-eval", ("lmms_eval", "lmms-eval"), SUPPORTED, "dtvqa-plugin[lmms]")


def _vlmevalkit() -> Finding:
    from dtvqa_plugin.hosts.vlmevalkit import SUPPORTED

    for distribution, supported in SUPPORTED.items():
        found = _host("VLMEvalKit", (distribution,), supported, "dtvqa-plugin[vlmeval]")
        if found.ok is not None:
            return found
    return Finding("VLMEvalKit", "not installed", None, 'pip install "dtvqa-plugin[vlmeval]"')


def _host(
    name: str, distributions: tuple[str, ...], supported: tuple[str, str], extra: str
) -> Finding:
    for distribution in distributions:
        try:
            found = version(distribution)
        except PackageNotFoundError:
            continue
        label = f"{name} ({distribution})" if distribution.replace("_", "-") != name else name
        low, high = supported
        wanted = f"{low} <= version < {high}"
        try:
            inside = Version(low) <= Version(found) < Version(high)
        except InvalidVersion:
            inside = False
        if inside:
            return Finding(label, f"{found} (supported: {wanted})", True)
        return Finding(
            label, f"{found}, not seen working ({wanted})", False, f'pip install "{extra}"'
        )
    return Finding(name, "not installed", None, f'pip install "{extra}"')


def _guarded(what: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except Exception as error:  # a broken host is a finding, not a crash of the doctor
        return Finding(
            what,
            f"cannot be checked: {type(error).__name__}: {error}",
            False,
            'pip install --upgrade "dtvqa-plugin[lmms]" mends a host whose parts do not fit',
        )


def _hook() -> Finding:
    names = {entry.name for entry in entry_points(group="lmms_eval.models")}
    if "dtvqa" not in names:
        return Finding(
            "lmms-eval hook",
            "entry point missing",
            False,
            "pip install --force-reinstall dtvqa-plugin",
        )
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from dtvqa_plugin.hosts.lmms_eval.plugin import hook_is_active

    if hook_is_active():
        return Finding("lmms-eval hook", "active: --tasks dtvqa is known", True)
    cure = 'lmms-eval --include_path "$(dtvqa tasks-path)" ...'
    return Finding("lmms-eval hook", "not active", False, cure)


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
    yield from map(_row_finding, found.files)


_FETCH = "dtvqa data fetch"
_COPY = f"'{_FETCH}' loads from the hub; with a copy at hand: dtvqa data import FOLDER --split NAME"


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
    table = Table(show_header=True, header_style="bold", box=None, pad_edge=False)
    for column in ("", "what", "state", "cure"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        mark, style = _MARKS[finding.ok]
        cure = "" if finding.ok else finding.cure
        cells = (finding.what, finding.state, cure)
        table.add_row(Text(mark, style=style), *(Text(cell) for cell in cells))
    return table


_MARKS: dict[bool | None, tuple[str, str]] = {
    True: ("ok", "green"),
    False: ("!!", "bold red"),
    None: ("--", "dim"),
}
