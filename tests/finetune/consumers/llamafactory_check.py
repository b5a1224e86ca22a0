"""LLaMA-Factory's own code on an export: dataset_info.json, loader, converter, tokenisation.

    python llamafactory_check.py EXPORT_FOLDER MODEL_DIR OUT_DIR

Prints one JSON line: versions, each sample's turns and images after its converter, and the text
and labels after its processor, with the template ``qwen2_vl``.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version

from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
from llamafactory.data.loader import _get_merged_dataset
from llamafactory.hparams import get_train_args
from llamafactory.model import load_tokenizer


def main(folder: str, model_dir: str, out: str) -> None:
    model_args, data_args, training_args, _, _ = get_train_args(
        {
            "stage": "sft",
            "do_train": True,
            "finetuning_type": "lora",
            "model_name_or_path": model_dir,
            "dataset": "dtvqa_train",
            "dataset_dir": folder,
            "template": "qwen2_vl",
            "output_dir": f"{out}/run",
            "cutoff_len": 4096,
            "use_cpu": True,
            "report_to": "none",
            "overwrite_cache": True,
        }
    )
    aligned = _get_merged_dataset(["dtvqa_train"], model_args, data_args, training_args, "sft")
    rows = [
        {
            "turns": [
                [turn["role"], turn["content"]] for turn in row["_prompt"] + row["_response"]
            ],
            "images": row["_images"],
        }
        for row in aligned
    ]
    loaded = load_tokenizer(model_args)
    template = get_template_and_fix_tokenizer(loaded["tokenizer"], data_args)
    module = get_dataset(template, model_args, data_args, training_args, stage="sft", **loaded)
    texts, answers = [], []
    for row in module["train_dataset"]:
        kept = [label for label in row["labels"] if label != -100]
        texts.append(loaded["tokenizer"].decode(row["input_ids"], skip_special_tokens=True))
        answers.append(loaded["tokenizer"].decode(kept, skip_special_tokens=True))
    found = {"rows": rows, "texts": texts, "answers": answers}
    print("\n" + json.dumps({"versions": {"llamafactory": version("llamafactory")}, **found}))


if __name__ == "__main__":
    main(*sys.argv[1:])
