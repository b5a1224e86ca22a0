"""TRL's own code on an export: load, collate, two steps of `SFTTrainer`.

    python trl_check.py EXPORT_FILE MODEL_DIR OUT_DIR

Prints one JSON line: versions, the decoded text of each sample as the collator made it, the number
of image patches, and the logged losses.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import datasets
import transformers
import trl
from transformers import AutoProcessor, Qwen2_5_VLForConditionalGeneration
from trl.trainer.sft_trainer import DataCollatorForVisionLanguageModeling

# As the published Qwen templates do it: by the part's type.
TEMPLATE = (
    "{% for turn in messages %}<|im_start|>{{ turn['role'] }}\n"
    "{% for part in turn['content'] %}{% if part['type'] == 'image' %}"
    "<|vision_start|><|image_pad|><|vision_end|>"
    "{% else %}{% if turn['role'] == 'assistant' %}"
    "{% generation %}{{ part['text'] }}<|im_end|>{% endgeneration %}"
    "{% else %}{{ part['text'] }}{% endif %}{% endif %}{% endfor %}"
    "{% if turn['role'] != 'assistant' %}<|im_end|>{% endif %}\n{% endfor %}"
)


def save_with_template(model_dir: str, out: str) -> None:
    """A copy of the model whose chat template is the one above."""
    shutil.copytree(model_dir, out)
    processor = AutoProcessor.from_pretrained(out)
    processor.chat_template = processor.tokenizer.chat_template = TEMPLATE
    processor.save_pretrained(out)


def main(file: str, model_dir: str, out: str) -> None:
    rows = datasets.load_dataset("json", data_files=file, split="train", cache_dir=f"{out}/cache")
    processor = AutoProcessor.from_pretrained(model_dir)
    processor.chat_template = processor.tokenizer.chat_template = TEMPLATE
    collator = DataCollatorForVisionLanguageModeling(processor, assistant_only_loss=True)
    texts, answers, patches = [], [], []
    for row in rows:
        batch = collator([dict(row)])
        kept = batch["labels"][0][batch["labels"][0] != -100]
        answers.append(processor.tokenizer.decode(kept, skip_special_tokens=False))
        texts.append(processor.tokenizer.decode(batch["input_ids"][0], skip_special_tokens=True))
        patches.append(int(batch["image_grid_thw"].prod(dim=1).sum()))
    trainer = trl.SFTTrainer(
        model=Qwen2_5_VLForConditionalGeneration.from_pretrained(model_dir),
        args=trl.SFTConfig(
            output_dir=f"{out}/run",
            max_steps=2,
            per_device_train_batch_size=2,
            logging_steps=1,
            save_strategy="no",
            report_to=[],
            use_cpu=True,
            bf16=False,
            max_length=None,
            assistant_only_loss=True,
        ),
        train_dataset=rows,
        processing_class=processor,
    )
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    versions = {"trl": trl.__version__, "transformers": transformers.__version__}
    found = {"texts": texts, "answers": answers, "patches": patches, "losses": losses}
    print("\n" + json.dumps({"versions": versions, **found}))


if __name__ == "__main__":
    main(*map(str, map(Path, sys.argv[1:])))
