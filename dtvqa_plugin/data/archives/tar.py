"""Archives that ``dtvqa data export`` wrote: plain tars of the store's layout."""

from __future__ import annotations

import re
import tarfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from dtvqa_plugin.benchmark.image_paths import EscapingPathError, UnsafePathError, safe_components
from dtvqa_plugin.benchmark.release import FILES, MAX_ANNOTATION_BYTES, AnnotationFile
from dtvqa_plugin.data.archives.members import CHUNK, MAX_IMAGE_BYTES, Member, MemberError
from dtvqa_plugin.data.store import (
    CHECKSUMS,
    IMAGES,
    MANIFEST,
    MAX_RECOGNISED_BYTES,
    Checks,
    is_recognised,
    parse_checks,
    parse_manifest,
)
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import explained, open_regular

_BY_PATH = {file.path: file for file in FILES}


def is_tar(path: str | Path) -> bool:
    """Whether the file begins as a tar archive does, compressed or not."""
    path = Path(path)
    with explained(path, "read", in_store=False):
        return path.is_file() and path.stat().st_size > 0 and tarfile.is_tarfile(path)


class TarSource:
    """The members of an exported archive; a `MemberSource` for its images."""

    def __init__(self, path: Path) -> None:
        """Open the archive and look at every member. Raises `DataError` unless all belong."""
        self.path = path
        self._members: dict[str, tarfile.TarInfo] = {}
        with explained(path, "read", in_store=False):
            self._file = open_regular(path)
            try:
                self._tar = tarfile.open(fileobj=self._file, mode="r:")  # noqa: SIM115  # by close()
            except tarfile.TarError as error:
                self._file.close()
                raise DataError(
                    f"{path}: no plain tar ({error}); unpack a compressed one first "
                    "(gunzip and the like) and import the .tar"
                ) from None
            try:
                self._look()
            except BaseException:
                self.close()
                raise

    @property
    def label(self) -> str:
        return str(self.path)

    @property
    def subsets(self) -> set[str]:
        """The subsets that images are there of."""
        return {name.split("/")[1] for name in self._members if name.startswith(f"{IMAGES}/")}

    def _look(self) -> None:
        try:
            for info in self._tar:
                if not info.isdir():
                    self._check(info)
        except tarfile.TarError as error:
            raise DataError(f"{self.path}: cut off or damaged ({error}); copy it again") from None
        end = max((i.offset_data + i.size for i in self._members.values()), default=0)
        if not self._members or end > self.path.stat().st_size:
            raise DataError(f"{self.path}: cut off, or no export of 'dtvqa data export'")

    def _check(self, info: tarfile.TarInfo) -> None:
        refused = f"{self.path}: refused: the member {info.name[:200]!a}"
        try:
            name = "/".join(safe_components(info.name))
        except EscapingPathError as error:
            raise DataError(f"{refused} {error}") from None
        except UnsafePathError as error:
            raise DataError(f"{refused} {error}") from None
        if not info.isreg() or info.issparse():
            kind = "a link" if info.issym() or info.islnk() else "no regular file"
            raise DataError(f"{refused} is {kind}")
        limit = _limit(name)
        if limit is None:
            raise DataError(f"{refused} is no part of an export of 'dtvqa data export'")
        if info.size > limit:
            raise DataError(f"{refused} has {info.size} bytes, over the limit of {limit}")
        if name in self._members:
            raise DataError(f"{refused} occurs in it twice")
        self._members[name] = info

    def annotations(self) -> Iterator[tuple[AnnotationFile, bytes]]:
        """The annotation files with their bytes, unchanged. Raises `DataError`."""
        for name, file in _BY_PATH.items():
            if name in self._members:
                yield file, self._content(name)

    def recognised(self) -> Iterator[tuple[str, bytes]]:
        """The files of recognised text, by name in the store's layout."""
        for name in self._members:
            if is_recognised(name):
                yield name, self._content(name)

    def revision(self) -> str | None:
        """The commit that all of it came from, if its manifest names one."""
        if MANIFEST not in self._members:
            return None
        manifest = parse_manifest(self._content(MANIFEST), self.path / MANIFEST)
        named = {entry.revision for entry in manifest.files.values()}
        (commit,) = named if len(named) == 1 else (None,)
        return commit if commit and re.fullmatch("[0-9a-f]{40}", commit) else None

    def _content(self, name: str) -> bytes:
        return b"".join(self._chunks_of(name, self._members[name]))

    def find(self, wanted: Collection[str]) -> dict[str, Member]:
        checks: Checks = {}
        for name in self._members:
            if name.startswith(f"{CHECKSUMS}/"):
                folder = name.removeprefix(f"{CHECKSUMS}/").removesuffix(".json")
                part = parse_checks(self._content(name), f"{self.path}: {name}")
                checks.update((f"{folder}/{file}", check) for file, check in part.items())
        found: dict[str, Member] = {}
        for image in wanted:
            info = self._members.get(f"{IMAGES}/{image}")
            if info is None:
                continue
            if image not in checks:
                raise DataError(f"{self.path}: the image {image} has no checksum in the archive")
            size, crc32 = checks[image]
            if size != info.size:
                raise DataError(f"{self.path}: the image {image} is not as long as recorded")
            found[image] = Member(image, info.name, size, crc32, info.offset, size)
        return found

    def read(self, members: Iterable[Member]) -> Iterator[tuple[Member, Iterable[bytes]]]:
        for member in sorted(members, key=lambda member: member.offset):
            yield member, self._image(member)

    def _image(self, member: Member) -> Iterator[bytes]:
        crc32 = 0
        name = f"{IMAGES}/{member.image}"
        for chunk in self._chunks_of(name, self._members[name]):
            crc32 = zlib.crc32(chunk, crc32)
            yield chunk
        if crc32 != member.crc32:
            raise MemberError(f"{self.path}: {member.name}: damaged (its CRC-32 differs)")

    def _chunks_of(self, name: str, info: tarfile.TarInfo) -> Iterator[bytes]:
        left = info.size
        try:
            handle = self._tar.extractfile(info)
            assert handle is not None, "only regular files are members"
            while left and (chunk := handle.read(min(CHUNK, left))):
                left -= len(chunk)
                yield chunk
        except (tarfile.TarError, OSError) as error:
            raise MemberError(f"{self.path}: {name}: cannot be read: {error}") from error
        if left:
            raise MemberError(f"{self.path}: {name}: cut off")

    def close(self) -> None:
        self._tar.close()
        self._file.close()


def _limit(name: str) -> int | None:
    """Most bytes a member of this name may have; ``None`` where no export has such a member."""
    if name == MANIFEST or name in _BY_PATH:
        return MAX_ANNOTATION_BYTES
    if re.fullmatch(rf"{CHECKSUMS}/[^/]+/[^/]+\.json", name):
        return MAX_ANNOTATION_BYTES
    if is_recognised(name):
        return MAX_RECOGNISED_BYTES
    return MAX_IMAGE_BYTES if re.fullmatch(rf"{IMAGES}/[^/]+/[^/]+/[^/]+", name) else None
