"""Images in a folder tree."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from pathlib import Path

from dtvqa_plugin.data.archives.members import (
    CHUNK,
    MAX_IMAGE_BYTES,
    Member,
    MemberError,
    ambiguous,
    too_big,
)
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import kind, open_regular
from dtvqa_plugin.utils.text import counted, escaped_logger

logger = escaped_logger(__name__)

_DEPTH = 5
_NAMED = 3
MAX_FOLDERS = 20_000
"""More folders than that are no release."""


class FolderSource:
    """Images in a folder tree: any ``.../SUBSET/SPLIT/FILE`` up to five folders down.

    Links to files are followed (a hub snapshot is made of them), and links to folders inside the
    tree, also where they form a loop. A link to a folder outside is followed if it has a name of
    the layout (``image``, a subset, a split); the others are counted in a warning. Only regular
    files are images.
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
                if image not in wanted:
                    continue
                if kind(path) != "file":
                    logger.warning("%s: not a regular file; this image is left out", path)
                    continue
                if image in found and not found[image].samefile(path):
                    raise DataError(ambiguous(self.label, image, str(found[image]), str(path)))
                found.setdefault(image, path)
        sizes = {image: path.stat().st_size for image, path in found.items()}
        return {i: Member(i, str(path), sizes[i], packed=sizes[i]) for i, path in found.items()}

    def read(self, members: Iterable[Member]) -> Iterator[tuple[Member, Iterable[bytes]]]:
        for member in members:
            yield member, self._chunks(member)

    def _chunks(self, member: Member) -> Iterator[bytes]:
        if member.size > MAX_IMAGE_BYTES:
            raise MemberError(too_big(member.name, member.size))
        taken = 0
        try:
            with open_regular(Path(member.name)) as handle:
                while chunk := handle.read(CHUNK):
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
    """Folders under ``root`` whose last two names are one of ``places``, each real one once.

    Links may lead back up. A real folder is listed once for each subset's name that it is reached
    by, and once for all other names, because only a subset's name can make its subfolders match.
    The nearest comes first, so that the depth limit cuts off nothing that a shorter way reaches.
    """
    subsets = {place.partition("/")[0] for place in places}
    found: dict[tuple[int, int], Path] = {}
    seen: set[tuple[int, int, str]] = set()
    outside = _Outside(root, {"image", *chain.from_iterable(p.split("/") for p in places)})
    level = [root]
    for _ in range(_DEPTH + 1):
        below: list[Path] = []
        for here in level:
            real = _real(here)
            name = here.name if here.name in subsets else ""
            if real is None:
                continue
            if "/".join(here.parts[-2:]) in places:
                found.setdefault(real, here)
            if (*real, name) not in seen:
                seen.add((*real, name))
                below += _subfolders(here, outside)
            if len(seen) > MAX_FOLDERS:
                raise DataError(
                    f"{root}: over {MAX_FOLDERS:,} folders; name the folder that holds the images"
                )
        level = below
    outside.warn()
    return list(found.values())


class _Outside:
    """Links to folders outside a tree: which are followed, and how many are not."""

    def __init__(self, root: Path, names: set[str]) -> None:
        self._root = Path(os.path.realpath(root))
        self._names = names
        self._left: list[str] = []

    def leaves_out(self, entry: os.DirEntry[str]) -> bool:
        """Whether a folder is reached by a link that is not followed."""
        if not entry.is_symlink() or entry.name in self._names:
            return False
        inside = Path(os.path.realpath(entry.path)).is_relative_to(self._root)
        if not inside:
            self._left.append(entry.path)
        return not inside

    def warn(self) -> None:
        if self._left:
            logger.warning(
                "%s: %s to folders outside of it not followed (%s); name the folder with the "
                "images itself if they are there",
                self._root,
                counted(len(self._left), "link"),
                ", ".join(self._left[:_NAMED]) + ", ..." * (len(self._left) > _NAMED),
            )


def _real(folder: Path) -> tuple[int, int] | None:
    try:
        stat = folder.stat()
    except OSError as error:
        _cannot_list(folder, error)
        return None
    return stat.st_dev, stat.st_ino


def _subfolders(folder: Path, outside: _Outside) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            there = [e for e in entries if e.name[0] != "." and e.is_dir()]
            names = sorted(e.name for e in there if not outside.leaves_out(e))
    except OSError as error:
        _cannot_list(folder, error)
        return []
    return [folder / name for name in names]


def _cannot_list(folder: Path, error: OSError) -> None:
    logger.warning("%s: cannot be listed (%s); its images are skipped", folder, error.strerror)
