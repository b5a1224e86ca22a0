"""A fetch in a separate process: options as one JSON argument, the outcome as one JSON line."""

from __future__ import annotations

import json
import logging
import resource
import sys
from pathlib import Path

from dtvqa_plugin.data.hub.client import Patience
from dtvqa_plugin.data.transfer.fetch import fetch_release
from dtvqa_plugin.errors import DTVQAError


def peak_megabytes() -> float:
    """This process's own peak (ru_maxrss would count what its parent held at the fork)."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main() -> int:
    options = json.loads(sys.argv[1])
    logging.basicConfig(level=options.pop("level", "WARNING"))
    limit = options.pop("file_limit", None)
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    patience = Patience(options.pop("retries", 4), first=0.02, longest=0.1)
    notes: list[str] = []
    try:
        report = fetch_release(**options, patience=patience, note=notes.append)
    except DTVQAError as error:
        print(json.dumps({"error": str(error), "kind": type(error).__name__, "notes": notes}))
        return 1
    counts = {
        f"{subset}/{split}": [count.present, count.expected, count.added, count.replaced]
        for (split, subset), count in report.images.items()
    }
    print(
        json.dumps(
            {
                "files": [part.file.path for part in report.files],
                "images": counts,
                "bad": report.bad,
                "warnings": report.warnings,
                "notes": notes,
                "peak_mb": peak_megabytes(),
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
