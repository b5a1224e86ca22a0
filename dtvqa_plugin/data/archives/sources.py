"""Where images come from: a folder tree or a zip archive, behind one small interface.

`MemberSource` is all that importing knows. `ZipSource` works on any seekable binary file, so an
archive that is not on this machine needs only a file object that fetches the ranges it is asked
for (`Member.offset` and `Member.packed` tell which, ahead of time).
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from dtvqa_plugin.benchmark.image_paths import (
    EscapingPathError,
    UnsafePathError,
    image_key,
    safe_components,
)
from dtvqa_plugin.benchmark.release import REPO_ID
from dtvqa_plugin.errors import DataError

logger = logging.getLogger(__name__)

MAX_IMAGE_BYTES = 256 * 1024 * 1024
"""Most bytes one image file may hold; what claims or yields more is taken for a bomb."""

_CHUNK = 1024 * 1024
_DEPTH = 5


class MemberError(DataError):
    """One image cannot be had from its source; the others may be sound."""


@dataclass(frozen=True, slots=True)
class Member:
    """One image in a source.

    ``image`` is its place in the store (``SUBSET/SPLIT/FILE``), ``name`` the source's own name
    for it, ``size`` its bytes when unpacked. ``crc32`` is ``None`` where it is not known without
    reading. ``offset`` and ``packed`` are where its local header starts in an archive and the
    bytes of its compressed data (0 and ``size`` outside one).
    """

    image: str
    name: str
    size: int
    crc32: int | None = None
    offset: int = 0
    packed: int = 0


class MemberSource(Protocol):
    """Images by name. ``label`` names the source in messages and in the manifest."""

    @property
    def label(self) -> str: ...

    def find(self, wanted: Collection[str]) -> dict[str, Member]:
        """The wanted images that are here, by image; reads no image.

        Raises `DataError` when the source as a whole cannot be trusted: unsafe member names,
        two members for one image, members that no reader here can unpack.
        """
        ...

    def read(self, members: Iterable[Member]) -> Iterator[tuple[Member, Iterable[bytes]]]:
        """Each member with its content in chunks, in any order; take all chunks before the next.

        A list holds all of a content that has been checked, and may be taken later. Taking chunks
        from anything else raises `MemberError` for a member that is damaged or not as declared.
        """
        ...

    def close(self) -> None: ...


# --- folders -------------------------------------------------------------------------------------


class FolderSource:
    """Images in a folder tree: any ``.../SUBSET/SPLIT/FILE`` up to five folders down.

    Symbolic links are followed (a hub snapshot is made of them).
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def label(self) -> str:
        return str(self.root)

    def find(self, wanted: Collection[str]) -> dict[str, Member]:
        places = {image.rpartition("/")[0] for image in wanted}
        found: dict[str, Path] = {}
        for folder in _folders(self.root, places):
            prefix = "/".join(folder.parts[-2:])
            for path in sorted(folder.iterdir()):
                image = f"{prefix}/{path.name}"
                if image not in wanted or not path.is_file():
                    continue
                if image in found and not found[image].samefile(path):
                    raise DataError(_ambiguous(self.label, image, str(found[image]), str(path)))
                found.setdefault(image, path)
        sizes = {image: path.stat().st_size for image, path in found.items()}
        return {i: Member(i, str(path), sizes[i], packed=sizes[i]) for i, path in found.items()}

    def read(self, members: Iterable[Member]) -> Iterator[tuple[Member, Iterable[bytes]]]:
        for member in members:
            yield member, self._chunks(member)

    def _chunks(self, member: Member) -> Iterator[bytes]:
        if member.size > MAX_IMAGE_BYTES:
            raise MemberError(_too_big(member.name, member.size))
        taken = 0
        try:
            with Path(member.name).open("rb") as handle:
                while chunk := handle.read(_CHUNK):
                    taken += len(chunk)
                    yield chunk
        except OSError as error:
            raise MemberError(
                f"{member.name}: cannot be read: {error.strerror or error}"
            ) from error
        if taken != member.size:
            raise MemberError(f"{member.name}: changed while it was read; import again")

    def close(self) -> None:
        return None


def _folders(root: Path, places: set[str]) -> list[Path]:
    """Folders under ``root`` whose last two names are one of ``places``, each real one once."""
    found: dict[Path, Path] = {}
    for top, folders, _ in os.walk(root, followlinks=True, onerror=_cannot_list):
        here = Path(top)
        depth = len(here.relative_to(root).parts)
        if "/".join(here.parts[-2:]) in places:
            found.setdefault(here.resolve(), here)
        folders[:] = [] if depth >= _DEPTH else sorted(n for n in folders if n[0] != ".")
    return list(found.values())


def _cannot_list(error: OSError) -> None:
    logger.warning("%s: cannot be listed (%s); images in it are not seen", error.filename, error)


# --- zip archives --------------------------------------------------------------------------------

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1


class ZipSource:
    """Images in a zip archive (ZIP64 too), under any prefix.

    Nothing is ever written under a member's own name; still an archive with a member that would
    escape (``..``, absolute, a drive letter, NUL, a symbolic link) is refused whole.
    """

    def __init__(self, file: Path | IO[bytes], label: str | None = None) -> None:
        """Open the archive and read its directory. Raises `DataError` when it is no archive."""
        self._label = str(file) if label is None else label
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise DataError(_no_zip(file, self._label, error)) from None
        except OSError as error:
            raise DataError(f"{self._label}: cannot be read: {error.strerror or error}") from error
        self._infos: dict[str, zipfile.ZipInfo] = {}

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
                    raise DataError(_ambiguous(self._label, image, other, info.filename))
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
            raise DataError(_too_big(name, info.file_size))

    def read(self, members: Iterable[Member]) -> Iterator[tuple[Member, Iterable[bytes]]]:
        for member in sorted(members, key=lambda member: member.offset):
            yield member, self._chunks(member)

    def _chunks(self, member: Member) -> Iterator[bytes]:
        name = f"{self._label}: the member {member.name!a}"
        taken = 0
        try:
            with self._zip.open(self._infos[member.image]) as handle:
                while chunk := handle.read(_CHUNK):
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


# --- messages ------------------------------------------------------------------------------------


def _ambiguous(label: str, image: str, first: str, second: str) -> str:
    return (
        f"{label}: two members match the image {image}: {first!a} and {second!a}; "
        "remove the wrong one"
    )


def _too_big(name: str, size: int) -> str:
    return (
        f"{name} is {size} bytes by its own account, over the limit of "
        f"{MAX_IMAGE_BYTES // (1024 * 1024)} MiB for an image; refused as a decompression bomb"
    )


def _no_zip(file: Path | IO[bytes], label: str, error: Exception) -> str:
    start = b""
    if isinstance(file, Path) and file.is_file():
        with file.open("rb") as handle:
            start = handle.read(64)
    if start.startswith(b"version https://git-lfs"):
        return f"{label}: this is a git-LFS pointer, not the archive; run 'git lfs pull' there"
    if start.lstrip().startswith(b"<"):
        return f"{label}: this is a web page (HTML), not the archive; download the raw file"
    if start.startswith(b"PK"):
        return f"{label}: the archive is cut off or damaged ({error}); get it again from {REPO_ID}"
    return f"{label}: not a zip archive ({error}); get it again from {REPO_ID}"
