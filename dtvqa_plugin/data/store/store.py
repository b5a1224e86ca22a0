"""The local store: one copy of annotations and images on disk, whichever host reads it.

Layout, the published one plus a manifest, so that an unpacked release is a readable store too::

    HOME/test/*.json  HOME/train/*.json  HOME/image/SUBSET/SPLIT/FILE  HOME/manifest.json

Writers hold ``HOME/.lock``; readers take no lock, because every file appears complete
(written under ``HOME/.partial/`` and moved into place with ``os.replace``).
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from dtvqa_plugin._version import __version__
from dtvqa_plugin.benchmark.image_paths import UnsafePathError, image_key
from dtvqa_plugin.benchmark.release import AnnotationFile
from dtvqa_plugin.data.store.manifest import Manifest, dump_manifest, parse_manifest
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.environment import HOME_VARIABLE, default_home
from dtvqa_plugin.utils.files import explained, kind, read_regular, whole_file
from dtvqa_plugin.utils.text import escaped_logger, now

if TYPE_CHECKING:
    from filelock import FileLock

logger = escaped_logger(__name__)

LOCK_VARIABLE = "DTVQA_LOCK_TIMEOUT"
DEFAULT_LOCK_TIMEOUT = 1800.0

IMAGES = "image"
MANIFEST = "manifest.json"
LOCK = ".lock"
PARTIAL = ".partial"


class Store:
    """The store at ``home`` (default: `default_home`). Making one touches no disk."""

    def __init__(self, home: str | Path | None = None) -> None:
        self.home = default_home() if home is None else Path(home).expanduser().absolute()
        self.image_root = self.home / IMAGES
        self.manifest_path = self.home / MANIFEST

    def __repr__(self) -> str:
        return f"Store({str(self.home)!r})"

    # --- reading ---------------------------------------------------------------------------------

    def annotation_path(self, file: AnnotationFile) -> Path:
        """Where the store keeps this annotation file, present or not.

        Args:
            file: The annotation file.

        Returns:
            Its path in the store.
        """
        return self.home / file.path

    def has_annotations(self, file: AnnotationFile) -> bool:
        """Whether the annotation file is in the store.

        Args:
            file: The annotation file.

        Returns:
            True if it is a regular file.

        Raises:
            DataError: A folder, a pipe or a device has the file's name.
        """
        path = self.annotation_path(file)
        with explained(path, "look at"):
            self.check_home()
            there = kind(path)
        if there in ("folder", "other"):
            what = "a folder" if there == "folder" else "a pipe or a device"
            raise DataError(f"{path}: this is {what}, not an annotation file")
        return there == "file"

    def image_path(self, relative: str) -> Path:
        """Absolute path of an image, present or not.

        Args:
            relative: ``SUBSET/SPLIT/FILE``.

        Returns:
            Its path in the store.

        Raises:
            DataError: The path could leave the store.
        """
        try:
            key = image_key(relative)
        except UnsafePathError as error:
            raise DataError(f"image path {relative!a} {error}") from None
        return self.image_root / key

    def present(self, images: Iterable[str]) -> set[str]:
        """The images that are in the store; each folder is listed once.

        Args:
            images: ``SUBSET/SPLIT/FILE`` of each image.

        Returns:
            Those that are present.
        """
        wanted: defaultdict[str, set[str]] = defaultdict(set)
        for image in images:
            folder, _, name = image.rpartition("/")
            wanted[folder].add(name)
        there: set[str] = set()
        for folder, names in wanted.items():
            there.update(f"{folder}/{name}" for name in names & self._listing(folder))
        return there

    def _listing(self, folder: str) -> set[str]:
        path = self.image_root / folder
        with explained(path, "list"):
            self.check_home()
            try:
                with os.scandir(path) as entries:
                    return {entry.name for entry in entries if entry.is_file()}
            except FileNotFoundError:
                return set()

    def manifest(self) -> Manifest:
        """The manifest, or an empty one if there is none (an unpacked release).

        Returns:
            Sources, revisions and hashes of the files.

        Raises:
            DataError: It is damaged, or a newer version of the plugin wrote it.
        """
        path = self.manifest_path
        with explained(path, "read"):
            self.check_home()
            try:
                content = read_regular(path)
            except FileNotFoundError:
                return Manifest()
        return parse_manifest(content, path)

    def check_home(self) -> None:
        """Check that ``home`` is a folder or absent.

        Raises:
            DataError: It is something else.
        """
        with explained(self.home, "look at"):
            there = kind(self.home)
        if there not in (None, "folder"):
            raise DataError(
                f"{self.home}: this is a file, not a folder for the store; "
                f"move it away or set {HOME_VARIABLE} to another folder"
            )

    # --- writing (under the lock) ----------------------------------------------------------------

    @contextmanager
    def lock(self, timeout: float | None = None) -> Iterator[None]:
        """Hold the store for writing and remove leftovers of a writer that died.

        The operating system releases the lock of a process that died.

        Args:
            timeout: Seconds to wait (default: ``DTVQA_LOCK_TIMEOUT`` or 1800).

        Yields:
            Nothing; the lock is held inside the block.

        Raises:
            DataError: Another process held the lock for longer, or the file system has no locks.
        """
        from filelock import FileLock  # imports asyncio and ssl: readers do without

        limit = lock_timeout() if timeout is None else timeout
        self.check_home()
        with explained(self.home, "write to"):
            self.home.mkdir(parents=True, exist_ok=True)
        path = self.home / LOCK
        held = FileLock(path, mode=0o666)
        with explained(path, "lock"):
            _check_locks(path)
            self._acquire(held, limit)
        try:
            self._clear_partial()
            yield
            self._clear_partial()
        finally:
            held.release()

    def _acquire(self, held: FileLock, limit: float) -> None:
        from filelock import Timeout

        started = time.monotonic()
        try:
            held.acquire(timeout=min(limit, 2.0))
        except Timeout:
            logger.warning("waiting for another process to finish with the store %s", self.home)
        else:
            return
        left = max(0.0, limit - (time.monotonic() - started))
        try:
            held.acquire(timeout=left, poll_interval=0.2)
        except Timeout:
            raise DataError(
                f"{self.home / LOCK}: another process has held the store for over {limit:g} s; "
                f"wait for it, end it, or raise {LOCK_VARIABLE} (seconds)"
            ) from None

    def _clear_partial(self) -> None:
        partial = self.home / PARTIAL
        if partial.is_symlink() or partial.is_file():
            partial.unlink()
        shutil.rmtree(partial, ignore_errors=True)

    @contextmanager
    def writing(
        self, target: Path, *, sync: bool = False, check: Callable[[Path], None] | None = None
    ) -> Iterator[BinaryIO]:
        """Write a file completely or not at all; an exception discards it.

        Args:
            target: The file.
            sync: Whether to flush the content to disk first.
            check: Called with the finished file before it is moved into place.

        Yields:
            A binary handle to write to.

        Raises:
            DataError: The file cannot be written.
        """
        with explained(target, "write"):
            scratch = self.home / PARTIAL
            scratch.mkdir(parents=True, exist_ok=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            if kind(target) == "folder":
                raise DataError(f"{target}: cannot write the file: a folder has its name")
            with whole_file(target, scratch=scratch) as partial:
                with partial.open("xb") as handle:
                    yield handle
                    if sync:
                        handle.flush()
                        os.fsync(handle.fileno())
                if check is not None:
                    check(partial)

    def write_manifest(self, manifest: Manifest) -> None:
        """Write the manifest, stamped with this plugin's version and the time.

        Args:
            manifest: What to write; version and time are set here.
        """
        manifest.plugin_version = __version__
        manifest.updated = now()
        with self.writing(self.manifest_path, sync=True) as handle:
            handle.write(dump_manifest(manifest))


_NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL)


def _check_locks(path: Path) -> None:
    """Raise `DataError` where the file system has no locks; filelock would continue without.

    Its way out, a file that exists while the lock is held, does not keep processes of several
    machines apart, and a killed process leaves it behind.
    """
    try:
        import fcntl
    except ImportError:  # Windows, whose locks every file system has
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # another process holds it
    except OSError as error:
        if error.errno in _NO_LOCKS:
            raise DataError(
                f"{path}: this file system has no file locks ({error.strerror}), so several "
                "processes could write at once. Fetch on a file system that has locks (set "
                f"{HOME_VARIABLE} to a local disk), then copy the folder here; a complete store "
                "is read without locks"
            ) from None
        raise
    finally:
        os.close(descriptor)


def lock_timeout() -> float:
    """Seconds to wait for the store's lock: ``DTVQA_LOCK_TIMEOUT`` or 1800."""
    named = os.environ.get(LOCK_VARIABLE, "").strip()
    if not named:
        return DEFAULT_LOCK_TIMEOUT
    try:
        seconds = float(named)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise DataError(f"{LOCK_VARIABLE}={named!r} is not a number of seconds")
    return seconds
