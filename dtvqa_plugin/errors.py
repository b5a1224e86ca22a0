"""Errors meant for the user: what is wrong, where, and what cures it."""

from __future__ import annotations


class DTVQAError(Exception):
    """A fault the user can mend. The message names the place and the cure; no traceback is due."""


class DataError(DTVQAError):
    """The benchmark's data are missing, damaged or not what they claim to be."""


class HostError(DTVQAError):
    """An evaluation host is missing, outside the supported range, or cannot be driven."""
