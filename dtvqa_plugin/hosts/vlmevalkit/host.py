"""Where VLMEvalKit is and which of its distributions, found without importing it.

Three distributions are imported as ``vlmeval``: ms-vlmeval and nvidia-vlmeval from the package
index, and a git checkout of VLMEvalKit.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

from dtvqa_plugin.errors import HostError

INSTALL = (
    'pip install "dtvqa-plugin[vlmeval]" (the ms-vlmeval build), or in a checkout of VLMEvalKit: '
    "pip install -e ."
)


@dataclass(frozen=True, slots=True)
class Host:
    """An importable VLMEvalKit. ``distribution`` is "checkout" where no package is installed."""

    package: Path
    distribution: str
    version: str

    @property
    def dataset_module(self) -> Path:
        """The file whose lists hold the dataset classes."""
        return self.package / "dataset" / "__init__.py"

    @property
    def honours_dataset_prompt(self) -> bool:
        """Whether local inference asks ``force_use_dataset_prompt`` before a model's own builder.

        ms-vlmeval 0.0.20 and a checkout of August 2026 do; nvidia-vlmeval 26.3 does not.
        """
        return self._mentions("inference.py", "force_use_dataset_prompt")

    @property
    def honours_pred_format(self) -> bool:
        """Whether predictions go to the format that ``PRED_FORMAT`` names (nvidia: xlsx always)."""
        return self._mentions("smp/file.py", "def get_pred_file_path")

    def _mentions(self, file: str, text: str) -> bool:
        try:
            return text in (self.package / file).read_text(encoding="utf-8")
        except OSError:
            return False


def find_host() -> Host | None:
    """Return the VLMEvalKit that ``import vlmeval`` would import, or None."""
    spec = importlib.util.find_spec("vlmeval")
    if spec is None or not spec.submodule_search_locations:
        return None
    package = Path(next(iter(spec.submodule_search_locations))).resolve()
    name = _distribution(package)
    return Host(package, name or "checkout", version(name) if name else _own_version(package))


def need_host() -> Host:
    """Return the host, or raise HostError saying how to install one."""
    host = find_host()
    if host is None:
        raise HostError(f"VLMEvalKit is not installed for {sys.executable}; {INSTALL}")
    return host


def _distribution(package: Path) -> str | None:
    for name in packages_distributions().get("vlmeval", []):
        try:
            version(name)
        except PackageNotFoundError:
            continue
        return name
    return None


def _own_version(package: Path) -> str:
    text = (package / "__init__.py").read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^__version__\s*=\s*['\"]([^'\"]+)['\"]", text, re.MULTILINE)
    return found[1] if found else "unknown"


def process_rank() -> int:
    """This process's rank under torchrun, 0 otherwise."""
    return int(os.environ.get("RANK", "0"))
