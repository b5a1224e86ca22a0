"""``python -m dtvqa_plugin.hosts.vlmevalkit``: ``dtvqa vlmeval`` as torchrun needs it."""

from __future__ import annotations

import sys

from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.hosts.vlmevalkit.launcher import run_host
from dtvqa_plugin.utils.text import visible

if __name__ == "__main__":
    try:
        run_host(sys.argv[1:])
    except DTVQAError as error:
        print(f"dtvqa vlmeval: error: {visible(str(error))}", file=sys.stderr)
        sys.exit(1)
