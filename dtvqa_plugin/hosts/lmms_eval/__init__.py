"""lmms-eval adapter. Seen working on lmms-eval 0.7.3 (``SUPPORTED``: 0.6.0 to 0.7.x).

``plugin``  the entry point: makes our tasks and our OCR model known (touches the host's registry)
``task_values`` values that task YAMLs name and that exist only once a task is loaded
``task``    the functions of the tasks: question to request, output to scores
``ocr_model``  the model class behind ``--model dtvqa_ocr``
"""

from __future__ import annotations

SUPPORTED = ("0.6.0", "0.8")
"""Supported lmms-eval versions: from the first, below the second."""
