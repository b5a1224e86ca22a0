"""Import what `export_archive` wrote.

What comes in is not trusted: every member is looked at before anything is written, nothing is
unpacked under a member's own name, and every image is checked against its checksum.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dtvqa_plugin.benchmark.records import raise_problems
from dtvqa_plugin.benchmark.release import COMBINED_TEST
from dtvqa_plugin.data.archives import TarSource
from dtvqa_plugin.data.splits import released_split
from dtvqa_plugin.data.store import Store
from dtvqa_plugin.data.transfer.annotation_files import parse_annotations, write_annotations
from dtvqa_plugin.data.transfer.choice import Wanted
from dtvqa_plugin.data.transfer.mover import Mover, offers
from dtvqa_plugin.data.transfer.report import ImportReport, count_present, write_manifest
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.progress import Progress


def import_archive(
    path: str | Path,
    splits: Sequence[str] | None = None,
    subsets: Sequence[str] | None = None,
    *,
    home: str | Path | None = None,
    strict: bool = False,
    skip_bad: bool = False,
    lock_timeout: float | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import what `export_archive` wrote: all of it, or only some splits and subsets.

    The whole archive is looked at before anything is written; then as `import_release` does.
    Raises `DataError` for an archive that is no such export, with nothing written.
    """
    store = Store(home)
    store.manifest()
    report = ImportReport(store.home)
    for split in splits or ():
        released_split(split)
    source = TarSource(Path(path).expanduser().absolute())
    try:
        wanted: Wanted = {}
        for file, content in source.annotations():
            if splits is not None and file.split not in splits:
                continue
            path = source.path / file.path
            part = parse_annotations(file, content, path, origin=source.label)
            there = released_split(part.file.split).subsets
            names = [name for name in there if not subsets or name in subsets]
            if strict:
                raise_problems(Path(part.origin), part.reading.problems)
            report.files.append(part)
            for image, subset in part.images(names).items():
                if part.file is not COMBINED_TEST or subset in source.subsets:
                    wanted.setdefault(image, (part.file.split, subset))
        if not wanted:
            raise DataError(f"{source.label}: contains none of the chosen files")
        revision = source.revision()
        offered = offers([source], wanted)
        with store.lock(lock_timeout):
            mover = Mover(store, report, wanted, skip_bad, progress)
            mover.plan(offered)
            mover.move()
            write_annotations(store, report.files)
            count_present(store, report, wanted)
            _take_recognised(store, source)
            write_manifest(store, report, revision, source.label)
    finally:
        source.close()
    return report


def _take_recognised(store: Store, source: TarSource) -> None:
    """Recognised text is taken as it is, and never replaces what the store has."""
    for name, content in source.recognised():
        target = store.home / name
        if not target.exists():
            with store.writing(target) as handle:
                handle.write(content)
