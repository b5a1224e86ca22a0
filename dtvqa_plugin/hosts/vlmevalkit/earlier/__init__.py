"""Answers of an earlier run: recorded, compared with what would be asked now, kept or refused.

``asked``           the record beside the answers: what was asked, by which model and settings
``model_settings``  a model's class and settings as the host resolves them, without secrets
``kept``            the answers that the host would reuse, and moving them aside
``guard``           the comparison, put before the host's functions that take answers up
"""

from __future__ import annotations

__all__: list[str] = []
