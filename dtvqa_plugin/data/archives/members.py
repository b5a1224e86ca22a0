"""What a source of images is, behind one small interface.

`MemberSource` is all that importing knows of a folder, a zip, a tar, or an archive on the hub.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from dtvqa_plugin.errors import DataError

MAX_IMAGE_BYTES = 256 * 1024 * 1024
"""Most bytes one image file may hold; a larger one is refused as a decompression bomb."""

CHUNK = 1024 * 1024
"""Bytes that are read at a time."""


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


def ambiguous(label: str, image: str, first: str, second: str) -> str:
    return (
        f"{label}: two members match the image {image}: {first!a} and {second!a}; "
        "remove the wrong one"
    )


def too_big(name: str, size: int) -> str:
    return (
        f"{name} claims {size} bytes, over the limit of "
        f"{MAX_IMAGE_BYTES // (1024 * 1024)} MiB for an image; refused as a decompression bomb"
    )
