"""What ``dtvqa stats`` leaves, as the tests read it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple


class Written(NamedTuple):
    """Folder, content of ``stats.json``, and what the command said."""

    folder: Path
    statistics: dict[str, Any]
    says: str
