"""ms-swift's own code on an export: its data set loader, its template, its image loader.

    python ms_swift_check.py EXPORT_FILE MODEL_DIR OUT_DIR

Prints one JSON line: versions, each sample's turns and image as the loader made them, and the
text and the labels that the model's template made of it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import swift
from swift.dataset import load_dataset
from swift.template.vision_utils import load_image


def main(file: str, model_dir: str, out: str) -> None:
    rows, _ = load_dataset([file], strict=True, load_from_cache_file=False)
    found: list[dict[str, Any]] = []
    for row in rows:
        (image,) = row["images"]
        value = image.get("bytes") or image["path"] if isinstance(image, dict) else image
        turns = [[turn["role"], turn["content"]] for turn in row["messages"]]
        found.append({"turns": turns, "image": str(value), "size": load_image(value).size})
    encoded = encode(rows, model_dir)
    print(
        "\n" + json.dumps({"versions": {"ms-swift": swift.__version__}, "rows": found, **encoded})
    )


def encode(rows: Any, model_dir: str) -> dict[str, Any]:
    """Every row through the template of Qwen2.5-VL, as training does it."""
    from swift.model import get_processor
    from swift.template import get_template

    processor = get_processor(model_dir, model_type="qwen2_5_vl")
    template = get_template(processor, template_type="qwen2_5_vl")
    template.set_mode("train")
    texts, answers = [], []
    for row in rows:
        inputs = template.encode(dict(row))
        ids, labels = inputs["input_ids"], inputs["labels"]
        texts.append(processor.tokenizer.decode(ids, skip_special_tokens=True))
        kept = [label for label in labels if label != -100]
        answers.append(processor.tokenizer.decode(kept, skip_special_tokens=True))
    return {"texts": texts, "answers": answers}


if __name__ == "__main__":
    main(*sys.argv[1:])
