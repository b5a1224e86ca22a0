"""The report page: up to four runs side by side in one HTML file that needs nothing else."""

from __future__ import annotations

from dtvqa_plugin.report.html.document import MAX_RUNS, page_document
from dtvqa_plugin.report.html.page import render_page, write_page

__all__ = ["MAX_RUNS", "page_document", "render_page", "write_page"]
