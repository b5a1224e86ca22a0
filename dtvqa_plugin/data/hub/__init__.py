"""The Hugging Face hub: addresses, requests, members of a remote archive."""

from __future__ import annotations

from dtvqa_plugin.data.hub.client import Hub, HubFile, Patience
from dtvqa_plugin.data.hub.download import download
from dtvqa_plugin.data.hub.faults import FetchError, OfflineError, RangeIgnoredError
from dtvqa_plugin.data.hub.redaction import secrets_unlogged
from dtvqa_plugin.data.hub.remote_zip import RemoteZip

__all__ = [
    "FetchError",
    "Hub",
    "HubFile",
    "OfflineError",
    "Patience",
    "RangeIgnoredError",
    "RemoteZip",
    "download",
    "secrets_unlogged",
]
