"""Where VLMEvalKit is and which of its distributions, found without importing it.

Three distributions are imported as ``vlmeval``: ms-vlmeval and nvidia-vlmeval from the package
index, and a git checkout of VLMEvalKit.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import (
    Distribution,
    PackageNotFoundError,
    distribution,
    packages_distributions,
)
from pathlib import Path
from types import ModuleType

from dtvqa_plugin.errors import HostError
from dtvqa_plugin.hosts.vlmevalkit import SUPPORTED
from dtvqa_plugin.utils.checkout import commit_at

INSTALL = (
    'pip install "dtvqa-plugin[vlmeval]" (the ms-vlmeval build), or in a checkout of VLMEvalKit: '
    "pip install -e ."
)


@dataclass(frozen=True, slots=True)
class Host:
    """An importable VLMEvalKit.

    ``distribution`` is "checkout" where no package is installed; ``commit`` is that of a git
    checkout, None for a package from the index.
    """

    package: Path
    distribution: str
    version: str
    commit: str | None = None

    @property
    def dataset_module(self) -> Path:
        """The file whose lists hold the dataset classes."""
        return self.package / "dataset" / "__init__.py"

    @property
    def identity(self) -> dict[str, str]:
        """What a summary says of the host: its name, distribution, version and commit if known."""
        said = {"name": "VLMEvalKit", "distribution": self.distribution, "version": self.version}
        return said if self.commit is None else {**said, "commit": self.commit}

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
    found = _distribution(package)
    if found is None:
        return Host(package, "checkout", _own_version(package), commit_at(package.parent))
    return Host(package, found.metadata["Name"], found.version, commit_at(package.parent))


def need_host() -> Host:
    """Return the host, or raise HostError saying how to install one."""
    host = find_host()
    if host is None:
        raise HostError(f"VLMEvalKit is not installed for {sys.executable}; {INSTALL}")
    return host


def import_host(name: str) -> ModuleType:
    """Import a module of the host. Raises HostError, with a cure, when the host cannot import it.

    A checkout does not list all that it needs (``rouge_score`` in August 2026), and filelock 4
    lacks a module that some packages of the hosts import.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        missing = error.name or ""
        if missing.startswith("filelock"):
            cure = "pip install 'filelock<3.25'"
        elif isinstance(error, ModuleNotFoundError) and not missing.startswith("vlmeval"):
            cure = f"pip install {missing.partition('.')[0].replace('_', '-')}"
        else:
            cure = INSTALL
        raise HostError(
            f"VLMEvalKit is installed for {sys.executable}, but cannot be imported ({error}); "
            f"{cure}"
        ) from error


@functools.cache
def _distribution(package: Path) -> Distribution | None:
    """The installed distribution that this package folder belongs to.

    A checkout may stand before an installed distribution on the path; an editable installation
    names the checkout's folder.
    """
    for name in _distribution_names():
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue
        if Path(str(found.locate_file("vlmeval"))).resolve() == package:
            return found
        if package.parent.as_uri() in (found.read_text("direct_url.json") or ""):
            return found
    return None


def _distribution_names() -> Iterator[str]:
    """The known names first: to find others, the metadata of every installed package is read."""
    yield from SUPPORTED
    yield from packages_distributions().get("vlmeval", [])


def _own_version(package: Path) -> str:
    text = (package / "__init__.py").read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^__version__\s*=\s*['\"]([^'\"]+)['\"]", text, re.MULTILINE)
    return found[1] if found else "unknown"


def process_rank() -> int:
    """This process's rank under torchrun, 0 otherwise."""
    return int(os.environ.get("RANK") or 0)


def process_count() -> int:
    """How many processes torchrun started, 1 without it."""
    return int(os.environ.get("WORLD_SIZE") or 1)
