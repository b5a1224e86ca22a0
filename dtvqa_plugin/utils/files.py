"""Files: looking at them, and writing them whole or not at all.

`whole_file` and `whole_folder` are the only ways in which this package puts a finished file or
folder under its final name. Both write to a temporary name beside it and rename. They raise
`OSError`; callers say what they were doing, mostly with `explained`.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from dtvqa_plugin.errors import DataError, DTVQAError
from dtvqa_plugin.utils.environment import HOME_VARIABLE

PARTIAL_SUFFIX = ".partial"

MAX_SMALL_FILE = 256 * 1024 * 1024
"""Most bytes of a file that is read whole (annotations, a manifest, checksums)."""


@contextmanager
def whole_file(path: Path, *, scratch: Path | None = None) -> Iterator[Path]:
    """Yield a temporary path; the file written there replaces ``path`` when the block ends.

    If the block raises, or the rename fails, ``path`` is as it was and the temporary file is
    gone.

    Args:
        path: The final name. A symbolic link is replaced, not followed.
        scratch: Folder for the temporary file, on the same file system (default: the folder of
            ``path``). It must exist.

    Raises:
        OSError: The file cannot be written or moved into place.
    """
    partial = (scratch or path.parent) / f".{uuid.uuid4().hex}{PARTIAL_SUFFIX}"
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def whole_folder(
    path: Path, *, replace: bool = False, scratch: Path | None = None
) -> Iterator[Path]:
    """Yield an empty temporary folder; it takes the name ``path`` when the block ends.

    If the block raises, or a rename fails, the folder that was at ``path`` is restored
    and the temporary folder is gone.

    Args:
        path: The final name. Its parent is made if it is missing.
        replace: Whether a folder that stands at ``path`` is replaced.
        scratch: Folder for the temporary folder, on the same file system (default: the parent of
            ``path``). It must exist.

    Raises:
        FileExistsError: ``path`` exists and ``replace`` is false.
        OSError: The folder cannot be written or moved into place.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    base = scratch or path.parent
    token = uuid.uuid4().hex
    partial = base / f".{path.name[:100]}.{token}{PARTIAL_SUFFIX}"
    partial.mkdir()
    try:
        yield partial
        _move_folder(partial, path, base / f".{path.name[:100]}.{token}.old", replace=replace)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _move_folder(partial: Path, path: Path, old: Path, *, replace: bool) -> None:
    if not os.path.lexists(path):
        partial.rename(path)
        return
    if not replace:
        raise FileExistsError(errno.EEXIST, "it exists already", str(path))
    path.rename(old)
    try:
        partial.rename(path)
    except BaseException:
        old.rename(path)
        raise
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def written(path: Path, *, make_folder: bool = False) -> Iterator[Path]:
    """A path to write to; what stands there takes the place of ``path`` once all went well.

    A link keeps being one, its target is replaced. A device or pipe is written to as it is.
    ``make_folder`` makes the folder of ``path`` first, where there is none.
    Raises DTVQAError when that cannot be.
    """
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise IsADirectoryError(21, "it is a folder; name a file")
        if make_folder:
            target.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            yield path
            return
        with whole_file(target) as partial:
            yield partial
    except OSError as error:
        raise DTVQAError(f"{path}: cannot be written ({error.strerror})") from error


def kind(path: Path) -> str | None:
    """``"file"``, ``"folder"``, ``"other"`` (a device, say), or ``None`` when nothing is there.

    Links are followed. Raises `OSError` when the path may not be looked at, which the tests of
    `Path` leave to the Python version.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "other"


class NotRegularError(OSError):
    """The path names a pipe, socket or device, which is never opened."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EINVAL, "it is a pipe or a device, not a regular file", str(path))


class TooLargeError(OSError):
    """The file is over the limit for its kind."""

    def __init__(self, path: Path, limit: int) -> None:
        super().__init__(errno.EFBIG, f"it is over the limit of {limit // 2**20} MiB", str(path))


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; links are followed.

    A pipe, socket or device is refused, and never waited for.

    Raises:
        NotRegularError: The path names no regular file.
        OSError: The file cannot be opened (`IsADirectoryError` for a folder).
    """
    if kind(path) == "other":
        raise NotRegularError(path)
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise NotRegularError(path)  # put there since we looked


def read_regular(path: Path, limit: int = MAX_SMALL_FILE) -> bytes:
    """Return the content of a regular file of at most ``limit`` bytes.

    Raises:
        TooLargeError: The file holds more, also where it grows while it is read.
        OSError: As `open_regular`.
    """
    with open_regular(path) as handle:
        size = os.fstat(handle.fileno()).st_size
        content = handle.read(min(size, limit) + 1)
        if len(content) > size:  # it grew, or is a file of the kernel's that names no size
            content += handle.read(limit + 1 - len(content))
    if len(content) > limit:
        raise TooLargeError(path, limit)
    return content


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hex. Raises OSError."""
    with path.open("rb") as handle:
        digest = hashlib.sha256()
        while chunk := handle.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


_CURES = {
    errno.EACCES: "no permission; change its owner or mode",
    errno.EPERM: "no permission; change its owner or mode",
    errno.EROFS: "the file system is read-only",
    errno.ENOTDIR: "a file has the name of a needed folder; move it away",
    errno.EEXIST: "a file has the name of a needed folder; move it away",
    errno.EISDIR: "a folder has the name of a needed file; move it away",
    errno.ENOENT: "no such file or folder",
    errno.ENAMETOOLONG: "the name is too long for this file system",
}
_FULL = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the disk quota is used up"}
_KEPT = "; complete files are kept; free some space and run the command again"
_NOT_KEPT = "; nothing was kept; free some space or write to another disk"


@contextmanager
def explained(path: Path, doing: str, *, in_store: bool = True) -> Iterator[None]:
    """Turn an `OSError` into one `DataError` naming the path, the act and the cure."""
    try:
        yield
    except OSError as error:
        where = error.filename if isinstance(error.filename, str) else str(path)
        cure = _CURES.get(error.errno or 0, error.strerror or str(error))
        if error.errno in _FULL:
            cure = _FULL[error.errno] + (_KEPT if in_store else _NOT_KEPT)
        other = f" (or set {HOME_VARIABLE} to another folder)" if in_store else ""
        raise DataError(f"{where}: cannot {doing} it: {cure}{other}") from error
