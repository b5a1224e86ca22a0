"""Axolotl's own code on an export: its processing strategy for Qwen2-VL and its kin.

    python axolotl_check.py EXPORT_FILE MODEL_DIR OUT_DIR

Prints one JSON line: versions, each sample's turns, and the size of the image it put into them.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version

import datasets
from axolotl.processing_strategies import Qwen2VLProcessingStrategy
from transformers import AutoProcessor


def main(file: str, model_dir: str, out: str) -> None:
    rows = datasets.load_dataset("json", data_files=file, split="train", cache_dir=f"{out}/cache")
    strategy = Qwen2VLProcessingStrategy(AutoProcessor.from_pretrained(model_dir))
    found = []
    for row in strategy(list(rows)):
        turns, images = [], []
        for message in row["messages"]:
            texts = [part["text"] for part in message["content"] if part["type"] == "text"]
            turns.append([message["role"], "".join(texts)])
            images += [part["image"] for part in message["content"] if part["type"] == "image"]
        found.append({"turns": turns, "sizes": [list(image.size) for image in images]})
    print("\n" + json.dumps({"versions": {"axolotl": version("axolotl")}, "rows": found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
