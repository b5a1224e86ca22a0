"""Three ratios of a fetch from a large archive, against a server on loopback.

``python benchmarks/fetch.py`` makes a ZIP64 archive of 30,000 members, fetches the test split out
of it, and prints

* bytes received over the compressed size of the members needed plus the archive's directory,
* wall time over one plain download (huggingface_hub's own) of the same number of bytes,
* the peak memory of the fetching process,

with the server's line unlimited (all of it is then computing time, of two processes on one
machine) and limited to a usual rate. Members needed stand together, as ``zip -r`` writes them, or
scattered over the archive.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent / "tests"
SUBSETS = ("DTNutrCap", "DTProdCap", "DTScene", "DTTabShot")
IMAGES = 940
HOLE = 4_400_000_000

FETCH = """
import json, time
from pathlib import Path
from huggingface_hub import get_hf_file_metadata, get_session, hf_hub_url
from huggingface_hub.utils import build_hf_headers, disable_progress_bars
get_session()
from dtvqa_plugin.data.transfer.fetch import fetch_release
began = time.perf_counter()
report = fetch_release()
wall = time.perf_counter() - began
counts = list(report.images.values())
print(json.dumps({
    "wall": wall,
    "peak_mb": int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024,
    "images": sum(count.present for count in counts),
}))
"""

PLAIN = """
import json, sys, time
from pathlib import Path
from huggingface_hub import get_hf_file_metadata, hf_hub_url
from huggingface_hub.file_download import http_get
from huggingface_hub.utils import disable_progress_bars
disable_progress_bars()
began = time.perf_counter()
found = get_hf_file_metadata(hf_hub_url("shuozhang2/DT-VQA", "plain.bin"))
with Path(sys.argv[1]).open("wb") as handle:
    http_get(found.location, handle, expected_size=found.size)
print(json.dumps({"wall": time.perf_counter() - began}))
"""


@dataclass(frozen=True)
class Archive:
    needed: int
    directory: int

    @property
    def least(self) -> int:
        return self.needed + self.directory


def pictures(megabytes: float) -> list[bytes]:
    """Sixteen JPEG files that hardly compress, of the mean size that the images are to have."""
    wanted = megabytes * 1e6 / IMAGES
    trial = len(picture(0, 300))
    side = int(300 * (wanted / trial) ** 0.5)
    return [picture(seed, side) for seed in range(16)]


def picture(seed: int, side: int) -> bytes:
    noise = random.Random(seed).randbytes(side * side * 3)
    buffer = io.BytesIO()
    Image.frombytes("RGB", (side, side), noise).save(buffer, "JPEG", quality=70)
    return buffer.getvalue()


def make_release(folder: Path, members: int, megabytes: float, scattered: bool) -> Archive:
    needed = [f"{SUBSETS[n % 4]}/test/{n:05d}.jpg" for n in range(IMAGES)]
    needed.sort()
    (folder / "test").mkdir(parents=True)
    for subset in SUBSETS:
        records = [
            {
                "dataset_name": subset,
                "id": image,
                "image_path": f"./image/{image}",
                "question": "What is it?",
                "answers": ["it"],
                "type": "benchmark",
            }
            for image in needed
            if image.startswith(subset)
        ]
        (folder / "test" / f"{subset}.json").write_text(json.dumps(records))
    others = [f"DTScene/train/{n:05d}.jpg" for n in range(members - IMAGES)]
    order = [*others[: len(others) // 2], *needed, *others[len(others) // 2 :]]
    if scattered:
        random.Random(0).shuffle(order)
    return write_archive(folder / "image.zip", order, set(needed), pictures(megabytes))


def write_archive(path: Path, order: list[str], needed: set[str], made: list[bytes]) -> Archive:
    filler = random.Random(1).randbytes(6000)
    with path.open("wb") as handle:
        handle.truncate(HOLE)  # a sparse file: offsets beyond 4 GB make it ZIP64
        handle.seek(HOLE)
    size = 0
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for place, name in enumerate(order):
            content = made[place % len(made)] if name in needed else filler
            info = zipfile.ZipInfo(f"image/{name}", (2024, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
            size += info.compress_size if name in needed else 0
    with zipfile.ZipFile(path) as archive:
        return Archive(size, path.stat().st_size - archive.start_dir)


@contextmanager
def serving(folder: Path, rate: float | None) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(TESTS / "loopback_hub.py"), str(folder), "--tag", "0" * 40]
    command += [] if rate is None else ["--rate", str(rate)]
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        yield server
    finally:
        assert server.stdin is not None
        server.stdin.close()
        server.wait(10)


def ask(server: subprocess.Popen[str]) -> dict[str, int]:
    """Body bytes and requests since the last time."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write("\n")
    server.stdin.flush()
    counts: dict[str, int] = json.loads(server.stdout.readline())
    return counts


def client(code: str, url: str, home: Path, *arguments: str) -> dict[str, float]:
    environment = {
        **os.environ,
        "HF_ENDPOINT": url,
        "HF_HUB_OFFLINE": "0",
        "DTVQA_HOME": str(home),
        "HF_HOME": str(home.parent / "hf"),
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def measure(folder: Path, archive: Archive, rate: float | None, repeats: int, what: str) -> None:
    fetches, plains, counts = [], [], {}
    with serving(folder, rate) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        for _ in range(repeats):
            home = folder.parent / "home"
            shutil.rmtree(home, ignore_errors=True)
            ask(server)
            fetches.append(client(FETCH, url, home))
            assert fetches[-1]["images"] == IMAGES
            counts = ask(server)
            with (folder / "plain.bin").open("wb") as handle:
                handle.write(os.urandom(1 << 20) * (counts["sent"] >> 20))
                handle.write(os.urandom(counts["sent"] % (1 << 20)))
            plains.append(client(PLAIN, url, home, str(folder.parent / "plain.out")))
    fetched = min(result["wall"] for result in fetches)
    plain = min(result["wall"] for result in plains)
    limit = "unlimited" if rate is None else f"{rate / 1e6:.0f} MB/s"
    print(
        f"{what}, line {limit}: bytes {counts['sent'] / archive.least:.4f} "
        f"({counts['sent'] / 1e6:.1f} MB, {counts['requests']} requests); "
        f"wall {fetched / plain:.2f} ({fetched:.2f} s against {plain:.2f} s); "
        f"peak memory {max(result['peak_mb'] for result in fetches):.0f} MB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a fetch against a loopback server.")
    parser.add_argument("--members", type=int, default=30_000)
    parser.add_argument("--megabytes", type=float, default=235.0, help="of the images needed")
    parser.add_argument("--rate", type=float, default=125.0, help="MB/s of the limited line")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for scattered in (False, True):
        what = "scattered" if scattered else "together"
        with tempfile.TemporaryDirectory(prefix="dtvqa-bench-") as place:
            folder = Path(place) / "release"
            began = time.perf_counter()
            archive = make_release(folder, options.members, options.megabytes, scattered)
            print(
                f"archive of {options.members} members, {IMAGES} needed ({what}): "
                f"{archive.needed / 1e6:.1f} MB and a directory of "
                f"{archive.directory / 1e6:.1f} MB; made in {time.perf_counter() - began:.0f} s",
                flush=True,
            )
            for rate in (None, options.rate * 1e6):
                measure(folder, archive, rate, options.repeats, what)


if __name__ == "__main__":
    main()
