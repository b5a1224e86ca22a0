"""The benchmark's data: annotation readers, the local store, and splits built on them."""

from __future__ import annotations

from dtvqa_plugin.benchmark.annotations import (
    Problem,
    Reading,
    Record,
    TrainRecord,
    read_test,
    read_train,
)
from dtvqa_plugin.data.splits.reading import (
    Coverage,
    annotation_sha,
    coverage,
    data_signature,
    load_split,
    partial_allowed,
    read_split,
    records,
    sample_dir,
)
from dtvqa_plugin.data.store.store import Store
from dtvqa_plugin.utils.environment import default_home

__all__ = [
    "Coverage",
    "Problem",
    "Reading",
    "Record",
    "Store",
    "TrainRecord",
    "annotation_sha",
    "coverage",
    "data_signature",
    "default_home",
    "load_split",
    "partial_allowed",
    "read_split",
    "read_test",
    "read_train",
    "records",
    "sample_dir",
]
