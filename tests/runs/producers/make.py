"""Writes the logs of this folder with the real programs: ``make.py inspect|evalscope|swift``.

Each runs in an environment of its own with this repository's tests on the path:
``pip install inspect-ai openai`` (0.3.285), ``evalscope`` (1.14.1), ``ms-swift`` (4.6.0). Six
questions of the embedded sample are asked, of a loopback server, or by ms-swift of a tiny LLaVA
with random weights. Only what a reader needs is kept.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
QUESTIONS = json.loads((HERE / "questions.json").read_text(encoding="utf-8"))
sys.path.insert(0, str(HERE.parents[1]))


def reply(request: dict[str, Any]) -> str:
    """The reference answer, thought aloud for every second question, wrong for the last."""
    from loopback import text_of

    text = text_of(request)
    place, asked = max(
        ((i, q) for i, q in enumerate(QUESTIONS) if text.endswith(q["question"])),
        key=lambda pair: len(pair[1]["question"]),
    )
    if place == len(QUESTIONS) - 1:
        return "no idea"
    answer = str(asked["answer"])
    return f"<think>perhaps nothing</think>{answer}" if place % 2 else answer


def picture(folder: Path, name: str) -> Path:
    from PIL import Image

    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (30, 20), (200, 20, 20)).save(path)
    return path


def make_inspect(folder: Path) -> None:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
    from inspect_ai.scorer import includes
    from loopback import LoopbackOpenAI

    samples = [
        Sample(
            id=asked["question_id"],
            input=[
                ChatMessageUser(
                    content=[
                        ContentImage(image=str(picture(folder, f"{place}.png"))),
                        ContentText(text=asked["question"]),
                    ]
                )
            ],
            target=asked["answer"],
        )
        for place, asked in enumerate(QUESTIONS)
    ]
    with LoopbackOpenAI(reply) as server:
        for style in ("eval", "json"):
            eval(
                Task(dataset=MemoryDataset(samples), scorer=includes(), name="dtvqa"),
                model="openai-api/loop/tiny",
                model_base_url=server.url,
                model_args={"api_key": "none"},
                log_dir=str(folder / style),
                log_format=style,
                log_images=False,
                epochs=2,
                display="none",
                max_tokens=50,
                temperature=0,
            )
            (log,) = (folder / style).glob(f"*.{style}")
            shutil.copy(log, HERE / f"inspect.{style}")
    document = json.loads((HERE / "inspect.json").read_text(encoding="utf-8"))
    for sample in document["samples"]:
        sample.update(events=[], attachments={}, events_data={})
    text = json.dumps(document, indent=2).replace(str(folder), "/data")
    (HERE / "inspect.json").write_text(text, encoding="utf-8")


def make_evalscope(folder: Path) -> None:
    from evalscope import TaskConfig, run_task
    from loopback import LoopbackOpenAI

    (folder / "data").mkdir()
    rows = [
        {
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "image_url",
                            "image_url": {"url": str(picture(folder, asked["image"]))},
                        },
                        {"type": "text", "text": f"Please answer. {asked['question']}"},
                    ],
                }
            ],
            "answer": asked["answer"],
        }
        for asked in QUESTIONS
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "data" / "dtvqa.jsonl").write_text(lines, encoding="utf-8")
    with LoopbackOpenAI(reply) as server:
        run_task(
            TaskConfig(
                model="loop",
                api_url=server.url,
                api_key="none",
                eval_type="openai_api",
                datasets=["general_vqa"],
                dataset_args={
                    "general_vqa": {"local_path": str(folder / "data"), "subset_list": ["dtvqa"]}
                },
                work_dir=str(folder / "out"),
                repeats=2,
                generation_config={"max_tokens": 20, "temperature": 0},
            )
        )
    (run,) = (folder / "out").iterdir()
    target = HERE / "evalscope"
    shutil.rmtree(target, ignore_errors=True)
    for name in ("predictions", "reviews", "configs"):
        shutil.copytree(run / name, target / name)
    for file in filter(Path.is_file, target.rglob("*.*")):
        text = file.read_text(encoding="utf-8").replace(str(folder), "/data")
        text = re.sub(r'"metric_errors": \{"BLEU": "[^"]*"\}', "", text)  # NLTK data are not there
        file.write_text(text.replace(str(Path.home()), "/home"), encoding="utf-8")


def make_swift(folder: Path) -> None:
    import tiny_vlm
    from swift.pipelines import infer_main

    rows = [
        {
            "messages": [
                {"role": "user", "content": f"<image>{asked['question']}"},
                {"role": "assistant", "content": asked["answer"]},
            ],
            "images": [str(picture(folder, asked["image"]))],
        }
        for asked in QUESTIONS
    ]
    data, result = folder / "dtvqa.jsonl", folder / "result.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    model = tiny_vlm.make_tiny_llava(folder / "model")
    arguments = ["--model", str(model), "--model_type", "llava1_5_hf", "--template", "llava1_5_hf"]
    arguments += ["--val_dataset", str(data), "--result_path", str(result)]
    arguments += ["--max_new_tokens", "8", "--temperature", "0", "--torch_dtype", "float32"]
    infer_main([*arguments, "--attn_impl", "eager"])
    text = result.read_text(encoding="utf-8").replace(str(folder), "/data")
    (HERE / "swift.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    makers = {"inspect": make_inspect, "evalscope": make_evalscope, "swift": make_swift}
    with tempfile.TemporaryDirectory() as scratch:
        makers[sys.argv[1]](Path(scratch))
