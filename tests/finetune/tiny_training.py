"""Supervised fine-tuning of the tiny Qwen2.5-VL with the Hugging Face Trainer, on a CPU."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MIN_PIXELS, MAX_PIXELS = 56 * 56, 112 * 112


@dataclass(frozen=True)
class Tuning:
    """The checkpoint, the loss of each logged step, the metrics on the training set."""

    checkpoint: Path
    losses: list[float]
    before: dict[str, float]
    after: dict[str, float]


def load_examples(processor: Any, export: Path) -> list[dict[str, Any]]:
    """Rows of a ``messages`` export as tensors, with the loss on the answers alone."""
    from PIL import Image

    examples = []
    for line in export.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        image = Image.open(row["images"][0]).convert("RGB")
        whole = processor.apply_chat_template(row["messages"], tokenize=False)
        asked = processor.apply_chat_template(
            row["messages"][:-1], tokenize=False, add_generation_prompt=True
        )
        assert whole.startswith(asked)
        whole = whole.rstrip("\n")
        both, prompt = (
            processor(text=[text], images=[image], return_tensors="pt") for text in (whole, asked)
        )
        labels = both["input_ids"][0].clone()
        labels[: prompt["input_ids"].shape[1]] = -100
        examples.append({**both, "labels": labels})
    return examples


def collate(examples: list[dict[str, Any]], pad: int) -> dict[str, Any]:
    import torch
    from torch.nn.utils.rnn import pad_sequence

    batch = {
        key: pad_sequence([e[key][0] for e in examples], batch_first=True, padding_value=fill)
        for key, fill in (("input_ids", pad), ("attention_mask", 0), ("mm_token_type_ids", 0))
        if key in examples[0]
    }
    labels = [example["labels"] for example in examples]
    batch["labels"] = pad_sequence(labels, batch_first=True, padding_value=-100)
    for key in ("pixel_values", "image_grid_thw"):
        batch[key] = torch.cat([example[key] for example in examples])
    return batch


def tune(model_dir: Path, export: Path, out: Path, *, steps: int, rate: float) -> Tuning:
    """Train all weights for ``steps`` steps of 16 samples and save the model to ``out``."""
    import torch
    from transformers import (
        AutoProcessor,
        Qwen2_5_VLForConditionalGeneration,
        Trainer,
        TrainingArguments,
    )

    from dtvqa_plugin.torchmetrics import argmax_logits, make_compute_metrics

    size = {"shortest_edge": MIN_PIXELS, "longest_edge": MAX_PIXELS}
    processor = AutoProcessor.from_pretrained(model_dir, size=size)
    model = Qwen2_5_VLForConditionalGeneration.from_pretrained(model_dir, dtype=torch.float32)
    examples = load_examples(processor, export)
    trainer = Trainer(
        model=model,
        args=TrainingArguments(
            output_dir=str(out / "trainer"),
            max_steps=steps,
            learning_rate=rate,
            lr_scheduler_type="cosine",
            warmup_steps=steps // 20,
            per_device_train_batch_size=16,
            per_device_eval_batch_size=16,
            logging_steps=steps // 10,
            save_strategy="no",
            report_to=[],
            seed=0,
            use_cpu=True,
            remove_unused_columns=False,
            label_names=["labels"],
            disable_tqdm=True,
        ),
        data_collator=lambda rows: collate(rows, processor.tokenizer.pad_token_id),
        train_dataset=examples,
        eval_dataset=examples,
        compute_metrics=make_compute_metrics(processor),
        preprocess_logits_for_metrics=argmax_logits,
    )
    before = trainer.evaluate()
    with torch.enable_grad():  # a host that ran in this process before may have switched it off
        trainer.train()
    after = trainer.evaluate()
    checkpoint = out / "checkpoint"
    model.save_pretrained(checkpoint)
    AutoProcessor.from_pretrained(model_dir).save_pretrained(checkpoint)
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    return Tuning(checkpoint, losses, before, after)
