"""qwen-vl-finetune's own code on an export: its annotation reader and its message builder.

    PYTHONPATH=CHECKOUT/qwen-vl-finetune python qwen_finetune_check.py EXPORT_FILE MODEL_DIR OUT_DIR

Prints one JSON line: each sample's turns and images as `LazySupervisedDataset` and
`_build_messages` make them. The token ids that it looks for are those of the published models,
so that with a tiny model nothing can be said of its labels.
"""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

from qwenvl.data import data_dict, data_processor
from transformers import AutoProcessor


def main(file: str, model_dir: str, out: str) -> None:
    data_dict["dtvqa"] = {"annotation_path": file, "data_path": ""}
    arguments = SimpleNamespace(
        dataset_use="dtvqa",
        model_type="qwen2.5vl",
        data_packing=False,
        min_pixels=784,
        max_pixels=12544,
        video_min_pixels=784,
        video_max_pixels=12544,
        video_min_frames=1,
        video_max_frames=2,
        video_fps=1,
    )
    processor = AutoProcessor.from_pretrained(model_dir)
    rows = data_processor.LazySupervisedDataset(processor, arguments)
    found, texts = [], []
    for row in rows.list_data_dict:
        messages = data_processor._build_messages(row, data_processor.Path(row["data_path"]))
        parts = [part for message in messages for part in message["content"]]
        turns = [
            [m["role"], "".join(p["text"] for p in m["content"] if p["type"] == "text")]
            for m in messages
        ]
        images = [part["image"] for part in parts if part["type"] == "image"]
        found.append({"turns": turns, "images": images})
        whole = data_processor.preprocess_qwen_visual([row], processor)
        texts.append(processor.tokenizer.decode(whole["input_ids"][0], skip_special_tokens=True))
    print("\n" + json.dumps({"versions": {}, "rows": found, "texts": texts}))


if __name__ == "__main__":
    main(*sys.argv[1:])
