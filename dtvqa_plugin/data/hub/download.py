"""The whole archive on disk, for servers that ignore byte ranges; a partial one is continued."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from pathlib import Path

from dtvqa_plugin.data.hub.client import HubFile
from dtvqa_plugin.data.hub.faults import FetchError, RangeIgnoredError
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import explained, file_sha256, kind
from dtvqa_plugin.utils.progress import Note, Progress, progress_bar

_ZIP = b"PK"


def download(file: HubFile, target: Path, folder: Path, note: Note) -> Path:
    """Download the whole file to ``target``, checked against the hub's SHA-256.

    Args:
        file: The file on the hub.
        target: Where it is kept. A complete file there is not fetched again.
        folder: Where the part that has come is kept until all has.
        note: Called with one line on what happens.

    Returns:
        ``target``.

    Raises:
        DataError: It does not fit on the disk, or cannot be written.
        FetchError: The hub does not deliver it, or other bytes.
    """
    if target.is_file() and target.stat().st_size == file.size and _sha_agrees(target, file):
        return target
    key = hashlib.sha256(f"{file.tag} {file.size}".encode()).hexdigest()[:16]
    partial = folder / f"{key}.part"
    with explained(partial, "write"):
        partial.parent.mkdir(parents=True, exist_ok=True)
        if kind(partial) == "other":
            partial.unlink()
        try:
            _download(file, partial, note)
        finally:
            if partial.stat().st_size == 0:
                partial.unlink()
        if not _sha_agrees(partial, file):
            partial.unlink()
            raise FetchError(
                f"{file.label}: damaged in transfer (its digest differs); downloading it again"
            )
        partial.replace(target)
    note(f"{target}: kept for further splits; delete it to free {file.size / 1e9:.2f} GB")
    return target


def _download(file: HubFile, partial: Path, note: Note) -> None:
    with partial.open("ab") as handle, progress_bar(file.name) as progress:
        done = min(handle.tell(), file.size) if _begins_as_zip(partial) else 0
        free = shutil.disk_usage(partial.parent).free
        if file.size - done > free:
            raise DataError(
                f"{partial}: {(file.size - done) / 1e9:.2f} GB do not fit, {free / 1e9:.2f} GB "
                "are free; free some space or set DTVQA_HOME to another folder"
            )
        for last in (False, False, True):
            try:
                handle.truncate(done)
                _append(file, handle.fileno(), done, progress)
            except RangeIgnoredError:
                if last:
                    raise
                note(f"{file.label}: the server cannot continue a broken download; starting again")
                done = 0
            else:
                return


def _append(file: HubFile, descriptor: int, done: int, progress: Progress) -> None:
    progress(done, file.size)
    for chunk in file.stream(done, file.size):
        if done == 0 and not chunk.startswith(_ZIP):
            raise FetchError(
                f"{file.label}: the server did not send a zip archive; nothing was kept"
            )
        view = memoryview(chunk)
        while view:
            view = view[os.write(descriptor, view) :]
        done += len(chunk)
        progress(done, file.size)


def _begins_as_zip(path: Path) -> bool:
    """Whether a begun download may be gone on with: what an earlier version kept may be a page."""
    with path.open("rb") as handle:
        return handle.read(len(_ZIP)) == _ZIP


def _sha_agrees(path: Path, file: HubFile) -> bool:
    """Whether the file has the SHA-256 that is the ETag; true where the ETag is no SHA-256."""
    if not re.fullmatch("[0-9a-f]{64}", file.tag or ""):
        return True
    return file_sha256(path) == file.tag
