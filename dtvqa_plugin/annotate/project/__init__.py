"""The project folder: its config, its journals, its images.

Contract: `Project`, `Config` with `read_config`, `Journal` with `Damage`, `Entry`, `Follower` and
`Rewritten`, `Inventory`, `ImageFile` and `ImageIndex`.
"""

from __future__ import annotations

from dtvqa_plugin.annotate.project.config import Config, read_config
from dtvqa_plugin.annotate.project.inventory import ImageFile, ImageIndex, Inventory
from dtvqa_plugin.annotate.project.journal import Damage, Entry, Follower, Journal, Rewritten
from dtvqa_plugin.annotate.project.project import Project

__all__ = [
    "Config",
    "Damage",
    "Entry",
    "Follower",
    "ImageFile",
    "ImageIndex",
    "Inventory",
    "Journal",
    "Project",
    "Rewritten",
    "read_config",
]
