"""Errors meant for the user: what is wrong, where, and what cures it."""

from __future__ import annotations


class DTVQAError(Exception):
    """An error that the user can fix; the message names place and fix, without a traceback."""


class DataError(DTVQAError):
    """The benchmark's data are missing, damaged or not what they claim to be."""


class HostError(DTVQAError):
    """An evaluation host is missing, outside the supported range, or cannot be driven."""
