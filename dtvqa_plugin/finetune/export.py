"""`dtvqa export`: the training splits in a trainer's format, without the test images.

The annotation files are read twice, record by record: once to choose (missing, leaked, faulty),
once to write in the final order. In between, numbers are held, not texts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Protocol

from dtvqa_plugin.errors import DataError
from dtvqa_plugin.finetune.image_match import BenchmarkImages
from dtvqa_plugin.finetune.options import MANIFEST, WRITTEN_BY, ExportOptions, ExportReport
from dtvqa_plugin.finetune.selection import choose, open_sources
from dtvqa_plugin.finetune.writing import write_files, write_json
from dtvqa_plugin.utils.files import explained, whole_folder
from dtvqa_plugin.utils.progress import Progress


class Progresses(Protocol):
    """Makes the progress function of one stage."""

    def __call__(self, what: str, unit: str = ...) -> AbstractContextManager[Progress]: ...


@contextmanager
def no_progress(what: str, unit: str = "") -> Iterator[Progress]:
    """No progress shown."""
    yield lambda done, total: None


def export(
    target: str | Path,
    options: ExportOptions,
    *,
    home: str | Path | None = None,
    force: bool = False,
    progresses: Progresses = no_progress,
) -> ExportReport:
    """Write the chosen samples, and ``manifest.json``, to the folder ``target``.

    The folder appears complete or not at all; the same data and options give the same bytes.

    Args:
        target: The folder.
        options: What to export.
        home: The store (default: ``DTVQA_HOME``).
        force: Whether an earlier export is replaced; never another folder.
        progresses: Makes the progress of each stage.

    Returns:
        What was written and what was left out.

    Raises:
        DTVQAError: Options do not fit together, data are missing, nothing is left to write, or
            the folder cannot be written.
    """
    form = options.checked()
    folder = Path(target).expanduser().absolute()
    with explained(folder, "write", in_store=False):
        _check_target(folder, force)
        report = ExportReport(options)
        with ExitStack() as stack:
            store, sources = open_sources(report, home)
            for source in sources:
                stack.callback(source.close)
            tests = _test_images(report, home, progresses)
            with progresses("annotations read", "B") as progress:
                index = choose(form, store, sources, tests, report, progress)
            partial = stack.enter_context(whole_folder(folder, replace=True))
            with progresses("samples written", "") as progress:
                write_files(form, store, sources, index, partial, report, progress)
            write_json(partial / MANIFEST, report.as_json())
    return report


def _test_images(
    report: ExportReport, home: str | Path | None, progresses: Progresses
) -> BenchmarkImages | None:
    if not report.options.released:
        return None
    names_only = report.options.check == "names"
    with progresses("test images", "") as progress:
        tests = BenchmarkImages.from_store(home, names_only=names_only, progress=progress)
    report.test_images, report.compared = len(tests.names), len(tests.hashed)
    return tests


def _check_target(folder: Path, force: bool) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise DataError(f"{folder}: exists and is not a folder; choose another name")
    if not any(folder.iterdir()):
        return
    if not _is_export(folder):
        raise DataError(f"{folder}: holds other files than an export; choose a new folder")
    if not force:
        raise DataError(f"{folder}: holds an earlier export; --force replaces it")


def _is_export(folder: Path) -> bool:
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("written_by") == WRITTEN_BY
