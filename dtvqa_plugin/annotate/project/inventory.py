"""The images of a project: found, identified by content, and reported once if unusable."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.config import Source
from dtvqa_plugin.annotate.project.journal import Damage, Entry
from dtvqa_plugin.annotate.project.project import Project, report_damage
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import file_sha256
from dtvqa_plugin.utils.images import open_image
from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)

IMAGE_ENDINGS = frozenset(
    {".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm", ".jp2", ".avif"}
)
_ORIENTATION = 0x0112


@dataclass(frozen=True, slots=True)
class ImageFile:
    """One image: ``file`` is relative to its source's folder, the size is that when upright."""

    source: str
    style: str
    file: str
    path: Path
    sha256: str
    width: int
    height: int


@dataclass(slots=True)
class Counts:
    """What a scan found. ``told`` are faults that this scan met for the first time."""

    usable: int = 0
    unreadable: int = 0
    same_content: int = 0
    other_files: int = 0
    told: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """The counts as sentences, faults first told here one by one (at most ten)."""
        yield f"images: {self.usable} usable"
        if self.unreadable:
            yield f"  {self.unreadable} unreadable, left out (images.jsonl says why)"
        if self.same_content:
            yield f"  {self.same_content} with the content of another, sent once"
        if self.other_files:
            yield f"  {self.other_files} other files"


class Inventory:
    """Walks a project's folders in a fixed order; remembers what it has read before.

    Memory: some 150 bytes for each image known (digests), no paths and no pixels.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.counts = Counts()
        self._known: dict[bytes, int] = {}
        damage = Damage(project.images.path)
        for offset, entry in project.images.read(damage=damage):
            key = _key(entry["source"], entry["file"], entry["size"], entry["mtime_ns"])
            self._known[key] = offset
        report_damage(damage)

    def scan(self) -> Iterator[ImageFile]:
        """Every usable image once, source by source, in the order of names."""
        self.counts = Counts()
        seen: set[bytes] = set()
        for source in self.project.config.sources:
            folder = self.project.folder(source)
            for relative in self._files(folder):
                found = self._identify(source, folder, relative)
                if found is None:
                    continue
                digest = bytes.fromhex(found.sha256)[:16]
                if digest in seen:
                    self.counts.same_content += 1
                    continue
                seen.add(digest)
                self.counts.usable += 1
                yield found

    def mark_unreadable(self, image: ImageFile, reason: str) -> None:
        """Record that decoding failed, so that the file is left out from now on; reported once."""
        self.counts.usable -= 1
        self._refuse(image.source, image.file, image.path, reason)

    def _files(self, folder: Path) -> Iterator[str]:
        for top, folders, names in os.walk(folder, followlinks=True):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if name.startswith("."):
                    continue
                if Path(name).suffix.lower() not in IMAGE_ENDINGS:
                    self.counts.other_files += 1
                    continue
                yield (Path(top) / name).relative_to(folder).as_posix()

    def _identify(self, source: Source, folder: Path, relative: str) -> ImageFile | None:
        path = folder / relative
        try:
            stat = path.stat()
        except OSError as error:
            self.counts.unreadable += 1
            self._tell(f"{path}: cannot be read: {error.strerror}")
            return None
        key = _key(source.name, relative, stat.st_size, stat.st_mtime_ns)
        if key not in self._known:
            entry = self._look(source.name, relative, path, stat)
            self._known[key] = self.project.images.append(entry, sync=False)
        else:
            entry = self.project.images.at(self._known[key])
        if "error" in entry:
            self.counts.unreadable += 1
            return None
        sizes = (int(entry["width"]), int(entry["height"]))
        return ImageFile(source.name, source.style, relative, path, entry["sha256"], *sizes)

    def _look(self, source: str, relative: str, path: Path, stat: os.stat_result) -> Entry:
        entry: Entry = {
            "source": source,
            "file": relative,
            "size": stat.st_size,
            "mtime_ns": stat.st_mtime_ns,
        }
        try:
            with open_image(path) as opened:
                width, height = upright_size(opened)
            return {**entry, "sha256": file_sha256(path), "width": width, "height": height}
        except DataError as error:
            reason = str(error)
        except OSError as error:
            reason = f"{path}: cannot be read: {error.strerror}"
        self._tell(reason)
        return {**entry, "error": reason.removeprefix(f"{path}: ")}

    def _refuse(self, source: str, relative: str, path: Path, reason: str) -> None:
        self.counts.unreadable += 1
        self._tell(reason)
        stat = path.stat()
        entry = {
            "source": source,
            "file": relative,
            "size": stat.st_size,
            "mtime_ns": stat.st_mtime_ns,
            "error": reason.removeprefix(f"{path}: "),
        }
        offset = self.project.images.append(entry)
        self._known[_key(source, relative, stat.st_size, stat.st_mtime_ns)] = offset

    def _tell(self, reason: str) -> None:
        logger.warning("left out: %s", reason)
        self.counts.told.append(reason)
        del self.counts.told[10:]


class ImageIndex:
    """Images by SHA-256, for the stages after `run`: a path that still holds that content."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._offsets: dict[bytes, list[int]] = {}
        for offset, entry in project.images.read():
            if "sha256" in entry:
                self._offsets.setdefault(bytes.fromhex(entry["sha256"]), []).append(offset)

    def entry(self, sha256: str) -> Entry | None:
        """The last record of an image, None when it was never seen."""
        offsets = self._offsets.get(bytes.fromhex(sha256))
        return self.project.images.at(offsets[-1]) if offsets else None

    def find(self, sha256: str) -> ImageFile:
        """Where the image is now. Raises `AnnotateError` naming the file when it is nowhere."""
        missing = ""
        for offset in reversed(self._offsets.get(bytes.fromhex(sha256), [])):
            entry = self.project.images.at(offset)
            source = self.project.source(entry["source"])
            if source is None:
                missing = f"source {entry['source']!r} is no longer in the config"
                continue
            path = self.project.folder(source) / entry["file"]
            if path.is_file() and path.stat().st_size == entry["size"]:
                sizes = (int(entry["width"]), int(entry["height"]))
                return ImageFile(source.name, source.style, entry["file"], path, sha256, *sizes)
            missing = f"{path} is not there, or has changed"
        raise AnnotateError(
            f"image {sha256[:12]}: {missing or 'not in images.jsonl'}; put it back, or run "
            "'dtvqa annotate status --scan' after moving files"
        )


def upright_size(image: Image.Image) -> tuple[int, int]:
    """Width and height once the EXIF orientation is applied, without decoding."""
    width, height = image.size
    try:
        turned = image.getexif().get(_ORIENTATION, 1) in (5, 6, 7, 8)
    except Exception:  # damaged metadata raise anything; the image is then taken as it is
        turned = False
    return (height, width) if turned else (width, height)


def _key(source: str, file: str, size: int, mtime_ns: int) -> bytes:
    text = f"{source}\0{file}\0{size}\0{mtime_ns}"
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
