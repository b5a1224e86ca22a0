"""VLMEvalKit adapter. Seen working on ms-vlmeval 0.0.20, nvidia-vlmeval 26.3 and a checkout.

The checkout is of August 2026.

``names``         the dataset names and what each one asks
``registration``  makes them known to the host, in memory
``dataset``       the dataset classes: question to request (imports the host)
``images``        the image file that a model class is given
``evaluation``    predictions to scores, host-free
``earlier``       answers of an earlier run: recorded, compared, kept or refused
``launcher``      registers, then runs the host's own script
``run_options``   what the command line of that script says about our datasets
``enable``        the opt-in block in the installed host, and its removal
``host``          where the host is and which version it has

Importing this package imports no host.
"""

from __future__ import annotations

__all__ = ["SUPPORTED", "register"]

SUPPORTED = {
    "ms-vlmeval": ("0.0.20", "0.1"),
    "nvidia-vlmeval": ("26.3", "27"),
    "vlmeval": ("0.1", "1"),
}
"""Supported versions by distribution (``vlmeval``: a git checkout): from the first, below the
second. All three are imported as ``vlmeval``."""


def register() -> None:
    """Make the DT-VQA datasets known to VLMEvalKit in this process.

    Idempotent; lists are changed in place; other datasets are untouched. Imports the host.
    Raises HostError when VLMEvalKit is missing or too old.
    """
    from dtvqa_plugin.hosts.vlmevalkit.registration import register_datasets

    register_datasets()
