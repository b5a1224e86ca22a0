"""Images in a zip archive, on this machine or behind a file object.

`ZipSource` works on any seekable binary file, so an archive that is not on this machine needs only
a file object that fetches the ranges it is asked for (`Member.offset` and `Member.packed` tell
which, ahead of time).
"""

from __future__ import annotations

import contextlib
import io
import re
import stat
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dtvqa_plugin.benchmark.image_paths import (
    EscapingPathError,
    UnsafePathError,
    image_key,
    safe_components,
)
from dtvqa_plugin.benchmark.release import REPO_ID
from dtvqa_plugin.data.archives.members import (
    CHUNK,
    MAX_IMAGE_BYTES,
    Member,
    MemberError,
    ambiguous,
    too_big,
)
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import NotRegularError, kind

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_ZIP32 = 2**32
_SPLIT_MARK = b"PK\7\x08"
"""What the first part of a split archive begins with."""
_END_BYTES = 8 * 1024
"""Where the end record is searched; a long comment may follow it."""


class ZipSource:
    """Images in a zip archive (ZIP64 too), under any prefix.

    Nothing is ever written under a member's own name; still an archive with a member that would
    escape (``..``, absolute, a drive letter, NUL, a symbolic link) is refused whole.
    """

    def __init__(self, file: Path | IO[bytes], label: str | None = None) -> None:
        """Open the archive and read its directory. Raises `DataError` when it is no archive."""
        self._label = str(file) if label is None else label
        try:
            if isinstance(file, Path) and kind(file) == "other":
                raise NotRegularError(file)
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise DataError(_no_zip(file, self._label, error)) from None
        except OSError as error:
            raise DataError(f"{self._label}: cannot be read: {error.strerror or error}") from error
        self._infos: dict[str, zipfile.ZipInfo] = {}
        self._check_offsets(file)

    def _check_offsets(self, file: Path | IO[bytes]) -> None:
        """Refuse what zipfile opens though its offsets do not say where the members are."""
        ending = _ending(file)
        offsets = [info.header_offset for info in self._zip.infolist()]
        if ending.part:
            self._zip.close()
            raise DataError(_one_part(self._label))
        if offsets and min(offsets) >= _ZIP32 and not ending.zip64:
            self._zip.close()
            raise DataError(
                f"{self._label}: over 4 GiB and written without ZIP64, so its directory does not "
                "say where the members are; downloading it again does not help. Create it again "
                "with a "
                "tool that writes ZIP64 (Info-ZIP's zip 3.0, 7-Zip), or unpack it where it was "
                "made and import the folder"
            )

    @property
    def label(self) -> str:
        return self._label

    def find(self, wanted: Collection[str]) -> dict[str, Member]:
        self._infos = {}
        for info in self._zip.infolist():
            if not _is_plain(info):
                self._check_safe(info)
            elif "/".join(info.filename.rsplit("/", 3)[-3:]) not in wanted:
                continue
            for image in _images_named(info):
                if image not in wanted:
                    continue
                if image in self._infos:
                    other = self._infos[image].filename
                    raise DataError(ambiguous(self._label, image, other, info.filename))
                self._check_readable(info)
                self._infos[image] = info
        return {image: _zip_member(image, info) for image, info in self._infos.items()}

    def _check_safe(self, info: zipfile.ZipInfo) -> None:
        try:
            safe_components(info.orig_filename)
        except EscapingPathError as error:
            raise DataError(
                f"{self._label}: refused: the member {info.orig_filename!a} {error}"
            ) from None
        except UnsafePathError:
            pass  # no image can have such a name, so it is never read
        kind = stat.S_IFMT(info.external_attr >> 16) if info.create_system == 3 else 0
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            what = "a symbolic link" if stat.S_ISLNK(kind) else "no regular file"
            raise DataError(f"{self._label}: refused: the member {info.filename!a} is {what}")

    def _check_readable(self, info: zipfile.ZipInfo) -> None:
        name = f"{self._label}: the member {info.filename!a}"
        if info.flag_bits & _ENCRYPTED:
            raise DataError(f"{name} is encrypted; unpack the archive and import the folder")
        if info.compress_type not in _METHODS:
            raise DataError(
                f"{name} is compressed by method {info.compress_type}, not stored or deflated; "
                "unpack the archive and import the folder"
            )
        if info.file_size > MAX_IMAGE_BYTES:
            raise DataError(too_big(name, info.file_size))

    def read(self, members: Iterable[Member]) -> Iterator[tuple[Member, Iterable[bytes]]]:
        for member in sorted(members, key=lambda member: member.offset):
            yield member, self._chunks(member)

    def _chunks(self, member: Member) -> Iterator[bytes]:
        name = f"{self._label}: the member {member.name!a}"
        taken = 0
        try:
            with self._zip.open(self._infos[member.image]) as handle:
                while chunk := handle.read(CHUNK):
                    taken += len(chunk)
                    if taken > member.size:
                        break
                    yield chunk
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise MemberError(f"{name} is damaged: {error}; get the archive again") from error
        except (RuntimeError, NotImplementedError, ValueError) as error:
            raise MemberError(f"{name} cannot be unpacked: {error}") from error
        if taken != member.size:
            raise MemberError(
                f"{name} declares {member.size} bytes and unpacks to "
                f"{'more' if taken > member.size else taken}; get the archive again"
            )

    def close(self) -> None:
        self._zip.close()


_PLAIN_NAME = re.compile(r"(?:\./)?(?:[\w-][\w. -]*/)*[\w-][\w. -]*/?", re.ASCII)


def _is_plain(info: zipfile.ZipInfo) -> bool:
    """Whether a member is surely harmless: a regular file of a plain name. Most are."""
    kind = info.external_attr >> 16 & 0o170000
    regular = kind in (0, stat.S_IFREG)
    name = info.orig_filename
    return regular and len(name) < 255 and _PLAIN_NAME.fullmatch(name) is not None


def _zip_member(image: str, info: zipfile.ZipInfo) -> Member:
    return Member(
        image, info.filename, info.file_size, info.CRC, info.header_offset, info.compress_size
    )


def _images_named(info: zipfile.ZipInfo) -> set[str]:
    """The image a member's name may mean; some archivers write UTF-8 without saying so."""
    names = {info.orig_filename}
    if not info.flag_bits & 0x800 and not info.orig_filename.isascii():
        with contextlib.suppress(UnicodeError):  # not UTF-8, then: the name stands as it is
            names.add(info.orig_filename.encode("cp437").decode())
    images = set()
    for name in names:
        try:
            images.add(image_key(name))
        except UnsafePathError:
            continue
    return images


@dataclass(frozen=True, slots=True)
class _Ending:
    """What an archive's last record says: which ``part`` it is (0: a whole one), if ZIP64."""

    part: int = 0
    zip64: bool = False


def _ending(file: Path | IO[bytes]) -> _Ending:
    """Read an archive's end; an empty answer where there is none."""
    try:
        with contextlib.ExitStack() as stack:
            handle = stack.enter_context(file.open("rb")) if isinstance(file, Path) else file
            size = handle.seek(0, io.SEEK_END)
            handle.seek(max(0, size - _END_BYTES))
            tail = handle.read(_END_BYTES)
    except OSError:
        return _Ending()
    at = tail.rfind(b"PK\5\6")
    if at < 0 or at + 6 > len(tail):
        return _Ending()
    part = int.from_bytes(tail[at + 4 : at + 6], "little")
    return _Ending(0 if part == 0xFFFF else part, tail[max(0, at - 20) :].startswith(b"PK\6\7"))


def _one_part(label: str) -> str:
    return (
        f"{label}: one part of a split archive (zip -s); join the parts where all of them are "
        "('zip -s 0 NAME.zip --out WHOLE.zip') and import the result"
    )


def _no_zip(file: Path | IO[bytes], label: str, error: Exception) -> str:
    start = b""
    if isinstance(file, Path) and file.is_file():
        with file.open("rb") as handle:
            start = handle.read(64)
    if start.startswith(_SPLIT_MARK) or _ending(file).part:
        return _one_part(label)
    if start.startswith(b"version https://git-lfs"):
        return f"{label}: this is a git-LFS pointer, not the archive; run 'git lfs pull' there"
    if start.lstrip().startswith(b"<"):
        return f"{label}: this is a web page (HTML), not the archive; download the raw file"
    if start.startswith(b"PK"):
        return f"{label}: the archive is cut off or damaged ({error}); get it again from {REPO_ID}"
    return f"{label}: not a zip archive ({error}); get it again from {REPO_ID}"
