"""Splits: what each holds, how it is read, how much of it is there, what results say of it."""

from __future__ import annotations

from dtvqa_plugin.data.splits.base import Split
from dtvqa_plugin.data.splits.coverage import (
    PARTIAL_VARIABLE,
    Coverage,
    coverage,
    partial_allowed,
    split_coverage,
)
from dtvqa_plugin.data.splits.custom import (
    CUSTOM_FILE,
    CUSTOM_VARIABLE,
    INFO_FILE,
    SET_NAME,
    CustomSet,
    taken_name,
)
from dtvqa_plugin.data.splits.provenance import (
    annotation_sha,
    benchmark_title,
    content_digest,
    data_signature,
)
from dtvqa_plugin.data.splits.reading import SplitReading, read_split, stored_file
from dtvqa_plugin.data.splits.registry import SPLITS, get_split, released_split
from dtvqa_plugin.data.splits.sample import sample_dir

__all__ = [
    "CUSTOM_FILE",
    "CUSTOM_VARIABLE",
    "INFO_FILE",
    "PARTIAL_VARIABLE",
    "SET_NAME",
    "SPLITS",
    "Coverage",
    "CustomSet",
    "Split",
    "SplitReading",
    "annotation_sha",
    "benchmark_title",
    "content_digest",
    "coverage",
    "data_signature",
    "get_split",
    "partial_allowed",
    "read_split",
    "released_split",
    "sample_dir",
    "split_coverage",
    "stored_file",
    "taken_name",
]
