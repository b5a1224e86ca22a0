"""A marked block at the end of the host's ``vlmeval/dataset/__init__.py``, and its removal.

For those who want plain ``python run.py --data DTVQA``. It is the one place where this plugin
touches another package's file, and only on request. The block is plain Python 3 and does nothing
but call `dtvqa_plugin.hosts.vlmevalkit.register`; if that fails, the host prints one warning and
goes on. Seen working on ms-vlmeval 0.0.20 and nvidia-vlmeval 26.3.
"""

from __future__ import annotations

import difflib
import errno
import hashlib
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from dtvqa_plugin.errors import HostError
from dtvqa_plugin.hosts.vlmevalkit.host import need_host
from dtvqa_plugin.utils.files import whole_file

_BEGIN = "# >>> dtvqa-plugin: added by 'dtvqa vlmeval-enable', removed by 'dtvqa vlmeval-disable'"
_END = "# <<< dtvqa-plugin"
_BLOCK = re.compile(
    rb"\r?\n"
    + re.escape(_BEGIN.encode())
    + rb"[^\n]*\n(?:(?!# >>> dtvqa)[^\n]*\n)*?"
    + re.escape(_END.encode())
    + rb"(?:\r?\n|\Z)"
)
"""Found as well where an editor has changed the file's line ends or taken off the last one."""
_ORIGINAL = re.compile(rb"original sha256: ([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Change:
    """What was done to ``path``; ``diff`` is empty if nothing had to be done.

    ``restored`` says, after a removal, whether the file has its original bytes again (None: not a
    removal, or nothing to remove).
    """

    path: Path
    diff: str
    restored: bool | None = None


def enable() -> Change:
    """Append the block to the installed host; a second call changes nothing.

    Raises HostError when there is no host, when its file cannot be written, or when it is not of
    the expected form.
    """
    path = need_host().dataset_module
    before = _read(path)
    if _BLOCK.search(before):
        return Change(path, "")
    if b"DATASET_CLASSES" not in before:
        raise HostError(f"{path}: no list of dataset classes here: this VLMEvalKit is too old")
    after = before + _block(before)
    _write(path, after)
    return Change(path, _diff(path, before, after))


def disable() -> Change:
    """Remove the block and nothing else; without one, nothing changes. Raises as `enable`."""
    path = need_host().dataset_module
    before = _read(path)
    found = _BLOCK.search(before)
    if found is None:
        return Change(path, "")
    after = _BLOCK.sub(b"", before)
    original = _ORIGINAL.search(found[0])
    restored = original is not None and original[1].decode() == hashlib.sha256(after).hexdigest()
    _write(path, after)
    return Change(path, _diff(path, before, after), restored)


def _block(original: bytes) -> bytes:
    lines = (
        f"{_BEGIN} (original sha256: {hashlib.sha256(original).hexdigest()})",
        "try:",
        "    from dtvqa_plugin.hosts.vlmevalkit import register as _dtvqa_register",
        "",
        "    _dtvqa_register()",
        "except Exception as _dtvqa_error:",
        "    import warnings as _dtvqa_warnings",
        "",
        "    _dtvqa_warnings.warn(",
        "        'DT-VQA is not available: %s: %s (dtvqa vlmeval-disable removes this block)'",
        "        % (type(_dtvqa_error).__name__, _dtvqa_error)",
        "    )",
        _END,
    )
    # The leading newline is the block's own, so that removal needs no knowledge of the ending.
    return ("\n" + "\n".join(lines) + "\n").encode()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise HostError(f"{path}: cannot be read: {error.strerror or error}") from error


def _write(path: Path, content: bytes) -> None:
    path = path.resolve()
    try:
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        with whole_file(path) as partial:
            partial.write_bytes(content)
            shutil.copymode(path, partial)
    except OSError as error:
        raise HostError(
            f"{path}: cannot be written ({error.strerror or error}); nothing was changed. Use an "
            "environment that you may write to, or 'dtvqa vlmeval ...', which changes no host file"
        ) from error


def _diff(path: Path, before: bytes, after: bytes) -> str:
    old, new = (text.decode("utf-8", "replace").splitlines() for text in (before, after))
    return "\n".join(difflib.unified_diff(old, new, str(path), str(path), lineterm="", n=2))
