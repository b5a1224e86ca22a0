"""What the plugin adds to lmms-eval's start-up, as a share of it, in one run.

    python benchmarks/startup.py

Times, each in fresh processes: importing the evaluator and building the task index, as every
``lmms-eval`` command does; and inside such a process the entry point and the extra folder alone.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

ROUNDS = 5

PROBE = """
import json, time
began = time.perf_counter()
import dtvqa_plugin.hosts.lmms_eval.plugin as plugin
own = time.perf_counter() - began
import lmms_eval.evaluator, lmms_eval.models
from lmms_eval.tasks import TaskManager
hooked = TaskManager.initialize_tasks
manager = TaskManager()
whole = time.perf_counter() - began
from dtvqa_plugin.hosts.task_configs import task_configs_dir
folder = str(task_configs_dir("lmms_eval"))
began = time.perf_counter()
hooked.__wrapped__(manager, include_path=[folder], include_defaults=False)
own += time.perf_counter() - began
began = time.perf_counter()
plugin.manifests()
own += time.perf_counter() - began
print(json.dumps([own, whole]))
"""


def main() -> None:
    """Print the share of each round and their median."""
    shares = []
    for _ in range(ROUNDS):
        done = subprocess.run(
            [sys.executable, "-c", PROBE], capture_output=True, text=True, check=True
        )
        own, whole = json.loads(done.stdout.splitlines()[-1])
        shares.append(own / whole)
        print(f"plugin {1000 * own:6.1f} ms of {whole:5.2f} s: {100 * shares[-1]:.2f} %")
    print(f"median share of lmms-eval's start-up: {100 * statistics.median(shares):.2f} %")


if __name__ == "__main__":
    main()
