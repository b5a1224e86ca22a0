"""Errors of a project that its user can fix."""

from __future__ import annotations

from dtvqa_plugin.errors import DTVQAError


class AnnotateError(DTVQAError):
    """A project, its config, its images or its endpoint cannot be used as they are."""
