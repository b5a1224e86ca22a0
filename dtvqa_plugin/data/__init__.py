"""The benchmark's data: annotation readers, the local store, and splits built on them."""

from __future__ import annotations

from dtvqa_plugin.benchmark.records import Problem, Reading, Record, TrainRecord
from dtvqa_plugin.data.loading import load_split, records
from dtvqa_plugin.data.splits import (
    SPLITS,
    Coverage,
    annotation_sha,
    content_digest,
    coverage,
    data_signature,
    get_split,
    partial_allowed,
    read_split,
    sample_dir,
)
from dtvqa_plugin.data.store import Store, read_test, read_train
from dtvqa_plugin.utils.environment import default_home

__all__ = [
    "SPLITS",
    "Coverage",
    "Problem",
    "Reading",
    "Record",
    "Store",
    "TrainRecord",
    "annotation_sha",
    "content_digest",
    "coverage",
    "data_signature",
    "default_home",
    "get_split",
    "load_split",
    "partial_allowed",
    "read_split",
    "read_test",
    "read_train",
    "records",
    "sample_dir",
]
