"""LoRA on a `dtvqa export --to messages --held-out SHARE` with TRL, then a merged checkpoint.

python trl_lora.py MODEL EXPORT_FOLDER OUT_FOLDER
"""

from __future__ import annotations

import sys

import datasets
import torch
import trl
from peft import LoraConfig, PeftModel
from transformers import AutoModelForImageTextToText, AutoProcessor

from dtvqa_plugin.torchmetrics import argmax_logits, make_compute_metrics


def main(model_name: str, folder: str, out: str) -> None:
    parts = {part: f"{folder}/{part}.jsonl" for part in ("train", "held_out")}
    rows = datasets.load_dataset("json", data_files=parts)
    processor = AutoProcessor.from_pretrained(model_name)
    on_gpu = torch.cuda.is_available()
    trainer = trl.SFTTrainer(
        model=model_name,
        args=trl.SFTConfig(
            output_dir=out,
            num_train_epochs=1,
            per_device_train_batch_size=1,
            per_device_eval_batch_size=1,
            gradient_accumulation_steps=16,
            learning_rate=1e-4,
            max_length=None,  # a cut would fall into the image tokens
            assistant_only_loss=True,  # the metrics below need it
            eval_strategy="epoch",
            report_to="none",
            bf16=on_gpu,
            use_cpu=not on_gpu,
        ),
        train_dataset=rows["train"],
        eval_dataset=rows["held_out"],
        processing_class=processor,
        peft_config=LoraConfig(r=16, lora_alpha=32, target_modules="all-linear"),
        compute_metrics=make_compute_metrics(processor),
        preprocess_logits_for_metrics=argmax_logits,
    )
    trainer.train()
    trainer.save_model(f"{out}/adapter")
    base = AutoModelForImageTextToText.from_pretrained(model_name, dtype=torch.bfloat16)
    merged = PeftModel.from_pretrained(base, f"{out}/adapter").merge_and_unload()
    merged.save_pretrained(f"{out}/merged")
    processor.save_pretrained(f"{out}/merged")


if __name__ == "__main__":
    main(*sys.argv[1:])
