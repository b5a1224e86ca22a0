"""Throughput and peak memory of an export, over made-up pairs.

    python benchmarks/export.py [--pairs N] [--to FORMAT]

Each row is an export of its own process: a store of tiny images, five pairs a record, a tenth of
N pairs and N pairs. Peak memory is the process's own (VmHWM; Linux only); the growth from the
small to the large export over the extra pairs is what the index costs. Images are compared with
the test images by name alone here; by picture, decoding them is nearly all of the time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click
from PIL import Image
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from dtvqa_plugin.finetune import FORMATS

TURNS = 5
FILE, PLACE = "DTTabShot_train", "DTTabShot/train"

RUN = """
import json, re, sys, time
from pathlib import Path
from dtvqa_plugin.finetune import ExportOptions, export

def peak():  # of this program alone: ru_maxrss would begin at that of the parent process
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) / 1024

options = json.loads(sys.argv[2])
before = peak()
started, cpu = time.perf_counter(), time.process_time()
report = export(sys.argv[1], ExportOptions(subsets=("DTTabShot",), **options))
print(json.dumps({
    "pairs": report.pairs,
    "seconds": time.perf_counter() - started,
    "cpu": time.process_time() - cpu,
    "before": before,
    "peak": peak(),
    "bytes": sum(entry["bytes"] for entry in report.files),
}))
"""


def make_store(root: Path, pairs: int) -> Path:
    """A store of ``pairs`` training pairs; its images are hard links to one file."""
    (root / "test").mkdir(parents=True)
    for subset in ("DTNutrCap", "DTProdCap", "DTScene", "DTTabShot"):
        record = {
            "dataset_name": subset,
            "id": 0,
            "image_path": f"./image/{subset}/test/t.png",
            "question": "Which?",
            "answers": ["that"],
            "type": "made up",
        }
        (root / "test" / f"{subset}.json").write_text(json.dumps([record]))
    images = root / "image" / PLACE
    images.mkdir(parents=True)
    Image.new("RGB", (8, 8)).save(images / "first.png")
    (root / "train").mkdir()
    with (root / "train" / f"{FILE}.json").open("w", encoding="utf-8") as out:
        for number in range(pairs // TURNS):
            name = f"2-{number:08d}-1.png"
            os.link(images / "first.png", images / name)
            turns = []
            for turn in range(TURNS):
                start = f"<img>./image/{PLACE}/{name}</img> " if turn == 0 else " "
                asked = f"{start}What is the attendance of game {turn} in table {number}? Answer: "
                turns.append({"from": "user", "value": asked})
                turns.append({"from": "assistant", "value": f"{number * 7 + turn:,}"})
            record = {"id": f"./image/{PLACE}/{name}", "conversations": turns}
            out.write(("[\n" if number == 0 else ",\n") + json.dumps(record))
        out.write("\n]\n")
    return root


def run(store: Path, out: Path, options: dict[str, object]) -> dict[str, float]:
    """One export in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(out), json.dumps({"check": "names", **options})],
        env={**os.environ, "DTVQA_HOME": str(store)},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


@click.command()
@click.option("--pairs", default=170_000, show_default=True)
@click.option("--to", "formats", multiple=True, type=click.Choice(tuple(FORMATS)))
def main(pairs: int, formats: tuple[str, ...]) -> None:
    """Print throughput and memory of exports of a tenth of N pairs and of N pairs."""
    table = Table(title=f"dtvqa export, {TURNS} pairs a record", box=SIMPLE)
    for name in ("export", "pairs", "MB", "pairs a CPU s", "MiB at start", "peak", "bytes a pair"):
        table.add_column(name, justify="left" if name == "export" else "right", no_wrap=True)
    cases: list[tuple[str, dict[str, object]]] = [
        (name, {"format": name}) for name in formats or ("llava", "messages")
    ]
    cases.append(("ms-swift, one turn a sample", {"format": "ms-swift", "turns": "one"}))
    shuffled = {"format": "ms-swift", "turns": "one", "seed": 1, "held_out": 0.1}
    cases.append(("the same, shuffled, a tenth held out", shuffled))
    with tempfile.TemporaryDirectory() as folder:
        stores = [make_store(Path(folder) / f"s{n}", n) for n in (pairs // 10, pairs)]
        for place, (label, options) in enumerate(cases):
            small, large = (
                run(store, Path(folder) / f"{place}-{store.name}", options) for store in stores
            )
            for part, found in ((label, large), ("", small)):
                growth = (large["peak"] - small["peak"]) * 2**20 / (large["pairs"] - small["pairs"])
                table.add_row(
                    part,
                    f"{found['pairs']:,.0f}",
                    f"{found['bytes'] / 1e6:.1f}",
                    f"{found['pairs'] / found['cpu']:,.0f}",
                    f"{found['before']:.0f}",
                    f"{found['peak']:.0f}",
                    f"{growth:.0f}" if part else "",
                )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
