"""lmms-eval adapter. Seen working on lmms-eval 0.6.0, 0.6.1, 0.7 and 0.7.3 (``SUPPORTED``).

``plugin``          the entry point: makes our tasks and our OCR model known to the host
``task``            the functions of the tasks: question to request, output to scores
``task_values``     values that task YAMLs name and that exist only once a task is loaded
``tables``          the folders of questions that the host loads
``scores``          a scored record as the host logs it and as it averages it
``host_arguments``  what the host's command line and environment say
``ranks``           how many processes take part
``ocr_model``       the model class behind ``--model dtvqa_ocr``

Importing this package imports no host.
"""

from __future__ import annotations

__all__ = ["BROKEN", "SUPPORTED"]

SUPPORTED = ("0.6.0", "0.8")
"""Supported lmms-eval versions: from the first, below the second."""

BROKEN = ("0.7.1", "0.7.2")
"""Versions whose wheels lack task templates: they cannot index any task."""
