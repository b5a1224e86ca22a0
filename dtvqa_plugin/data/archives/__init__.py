"""Folders and archives as sources of images; what they hold is not trusted."""

from __future__ import annotations

from dtvqa_plugin.data.archives.folder import FolderSource
from dtvqa_plugin.data.archives.members import MAX_IMAGE_BYTES, Member, MemberError, MemberSource
from dtvqa_plugin.data.archives.tar import TarSource, is_tar
from dtvqa_plugin.data.archives.zip import ZipSource

__all__ = [
    "MAX_IMAGE_BYTES",
    "FolderSource",
    "Member",
    "MemberError",
    "MemberSource",
    "TarSource",
    "ZipSource",
    "is_tar",
]
