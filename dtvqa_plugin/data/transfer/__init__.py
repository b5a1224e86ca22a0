"""Getting data into the store and out of it."""

from __future__ import annotations

from dtvqa_plugin.data.transfer.auto_fetch import ensure
from dtvqa_plugin.data.transfer.export_archive import ExportReport, export_archive
from dtvqa_plugin.data.transfer.export_parquet import to_parquet
from dtvqa_plugin.data.transfer.fetch import fetch_release
from dtvqa_plugin.data.transfer.import_archive import import_archive
from dtvqa_plugin.data.transfer.import_custom import import_custom
from dtvqa_plugin.data.transfer.import_release import import_release
from dtvqa_plugin.data.transfer.report import ImportReport

__all__ = [
    "ExportReport",
    "ImportReport",
    "ensure",
    "export_archive",
    "fetch_release",
    "import_archive",
    "import_custom",
    "import_release",
    "to_parquet",
]
