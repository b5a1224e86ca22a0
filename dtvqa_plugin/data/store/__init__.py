"""The local store: annotations, images, manifest and checksums, and how each is read."""

from __future__ import annotations

from dtvqa_plugin.data.store.annotation_files import (
    read_bytes,
    read_file,
    read_test,
    read_train,
)
from dtvqa_plugin.data.store.checksums import (
    CHECKSUMS,
    Checks,
    dump_checks,
    file_crc32,
    parse_checks,
    read_checks,
    record_checks,
)
from dtvqa_plugin.data.store.manifest import (
    SCHEMA,
    FileEntry,
    ImageEntry,
    Manifest,
    dump_manifest,
    parse_manifest,
)
from dtvqa_plugin.data.store.recognised import (
    MAX_RECOGNISED_BYTES,
    is_recognised,
    recognised_files,
)
from dtvqa_plugin.data.store.store import (
    IMAGES,
    LOCK_VARIABLE,
    MANIFEST,
    PARTIAL,
    Store,
    lock_timeout,
)

__all__ = [
    "CHECKSUMS",
    "IMAGES",
    "LOCK_VARIABLE",
    "MANIFEST",
    "MAX_RECOGNISED_BYTES",
    "PARTIAL",
    "SCHEMA",
    "Checks",
    "FileEntry",
    "ImageEntry",
    "Manifest",
    "Store",
    "dump_checks",
    "dump_manifest",
    "file_crc32",
    "is_recognised",
    "lock_timeout",
    "parse_checks",
    "parse_manifest",
    "read_bytes",
    "read_checks",
    "read_file",
    "read_test",
    "read_train",
    "recognised_files",
    "record_checks",
]
