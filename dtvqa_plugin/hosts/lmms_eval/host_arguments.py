"""What the host's command line and environment say, for what the host does not hand to a task.

Read from ``sys.argv`` (or the ``--config`` file that it names) and the environment; in a program
that calls ``simple_evaluate`` itself there is nothing to read. Option names are those of lmms-eval
0.6.0 to 0.7.3; ``LMMS_IMAGE_*`` exist in 0.7 and newer.
"""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path

FORMAT_VARIABLE = "LMMS_IMAGE_ENCODE_FORMAT"
QUALITY_VARIABLE = "LMMS_IMAGE_JPEG_QUALITY"
ENCODER = "lmms_eval.models.model_utils.media_encoder"
"""The host's module that obeys them. 0.6.0 and 0.6.1 lack it and send PNG."""
DEFAULT_QUALITY = "85"
"""The host's, where the format has a quality (0.7, 0.7.3)."""


def requested_tasks() -> list[str]:
    """``--tasks`` of the lmms-eval command that this process runs, one string a run."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--tasks")
    parser.add_argument("--config")
    try:
        given, _ = parser.parse_known_args(sys.argv[1:])
    except (argparse.ArgumentError, SystemExit):
        return []
    if given.tasks is not None:
        return [given.tasks]
    return [] if given.config is None else _config_tasks(given.config)


def _config_tasks(path: str) -> list[str]:
    """``tasks`` of the runs in a ``--config`` file; none in a file that the host will refuse."""
    import yaml

    try:
        found = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return []
    runs = found if isinstance(found, list) else [found]
    tasks = [run.get("tasks") for run in runs if isinstance(run, dict)]
    return [task for task in tasks if isinstance(task, str)]


def image_path_to_model() -> dict[str, str]:
    """The host's settings for encoding pictures: plain strings by name, empty where nothing is.

    The host's chat runners for endpoints obey it. Bounds such as ``max_pixels`` are arguments of
    the model, which results.json holds (``config.model_args``).
    """
    encoding = os.environ.get(FORMAT_VARIABLE, "").strip().upper()
    if not encoding or find_spec(ENCODER) is None:
        return {}
    if encoding not in ("JPEG", "JPG", "WEBP"):
        return {"encode_format": encoding}
    quality = os.environ.get(QUALITY_VARIABLE, DEFAULT_QUALITY)
    return {"encode_format": encoding, "encode_quality": quality}
