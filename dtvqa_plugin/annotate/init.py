"""``dtvqa annotate init``: the project folder with a config that explains itself."""

from __future__ import annotations

import importlib.resources
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.config import read_config, read_style
from dtvqa_plugin.annotate.project.inventory import IMAGE_ENDINGS
from dtvqa_plugin.annotate.project.project import CONFIG, Project
from dtvqa_plugin.ocr.text_files import FORMATS
from dtvqa_plugin.utils.files import whole_file

BUILT_IN = ("scene", "nutrition", "product", "table")


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user asks for at the start; all of it can be edited in the config later."""

    name: str
    images: Path
    style: str
    model: str = "MODEL-NAME"
    base_url: str = "http://127.0.0.1:8000/v1"
    key_env: str = "OPENAI_API_KEY"
    ocr: str = "none"
    ocr_file: Path | None = None
    target: int = 300


def make_project(root: Path, wish: Wish) -> Project:
    """Make the folder with ``config.yaml`` and ``styles/``; an existing project is never touched.

    Raises `AnnotateError` for a folder that is a project already, for images that are not there,
    for an unknown style, and for values the config would refuse.
    """
    root = root.expanduser().absolute()
    if (root / CONFIG).exists():
        raise AnnotateError(
            f"{root / CONFIG}: the folder already holds a project; edit it or choose another folder"
        )
    images = wish.images.expanduser().absolute()
    if not images.is_dir():
        raise AnnotateError(f"{images}: no such folder of images")
    if not _holds_images(images):
        raise AnnotateError(f"{images}: holds no image ({', '.join(sorted(IMAGE_ENDINGS))})")
    style, content = _style(wish.style)
    text = _config_text(root, images, style, wish)
    (root / "styles").mkdir(parents=True, exist_ok=True)
    with whole_file(root / "styles" / f"{style}.yaml") as partial_style:
        partial_style.write_bytes(content)
    with whole_file(root / CONFIG) as partial:
        partial.write_text(text, encoding="utf-8")
        read_config(partial)
        read_style(root / "styles" / f"{style}.yaml")
    return Project.open(root)


def _holds_images(folder: Path) -> bool:
    return any(
        Path(name).suffix.lower() in IMAGE_ENDINGS
        for _, _, names in os.walk(folder, followlinks=True)
        for name in names
    )


def _style(wanted: str) -> tuple[str, bytes]:
    """The style's name and file: a built-in one, or the user's own file."""
    if wanted in BUILT_IN:
        place = (
            importlib.resources.files("dtvqa_plugin.annotate.project") / "styles" / f"{wanted}.yaml"
        )
        return wanted, place.read_bytes()
    path = Path(wanted).expanduser()
    if not path.is_file():
        raise AnnotateError(
            f"style {wanted!r} is none of {', '.join(BUILT_IN)} and no file; give one of these, or "
            "a YAML file with title, instruction and with_ocr"
        )
    read_style(path)
    name = re.sub(r"[^A-Za-z0-9_.-]", "-", path.stem).strip("-.") or "own"
    return name, path.read_bytes()


def _from_project(root: Path, path: Path) -> str:
    """Relative where the path is in or beside the project, so that both can move together."""
    if path.is_relative_to(root.parent) and root.parent != Path(root.anchor):
        return Path(os.path.relpath(path, root)).as_posix()
    return path.as_posix()


def _config_text(root: Path, images: Path, style: str, wish: Wish) -> str:
    def quoted(value: str) -> str:
        return json.dumps(value, ensure_ascii=False)

    if wish.ocr in FORMATS:
        if wish.ocr_file is None:
            raise AnnotateError(f"--ocr {wish.ocr} needs --ocr-file")
        file = _from_project(root, wish.ocr_file.expanduser().absolute())
        ocr = f"file\n      format: {wish.ocr}\n      file: {quoted(file)}"
    else:
        ocr = wish.ocr
    return _TEMPLATE.format(
        name=quoted(wish.name),
        images=quoted(_from_project(root, images)),
        style=quoted(style),
        model=quoted(wish.model),
        base_url=quoted(wish.base_url),
        key_env=quoted(wish.key_env),
        ocr=ocr,
        formats=" | ".join(FORMATS),
        target=wish.target,
    )


_TEMPLATE = """\
# A dtvqa annotate project. A misspelt field is an error, so nothing here is silently ignored.
# Paths are relative to this file's folder.
schema: 1

# Titles the question set: its subsets, its scores, its data card. Must not sound like DT-VQA.
name: {name}
description: ""

# Where images come from. A style names styles/STYLE.yaml, the instruction given to the model.
sources:
  - name: images
    images: {images}
    style: {style}
    type: custom            # what the exported records say under 'type'
    ocr:
      # none, rapidocr (pip install "dtvqa-plugin[ocr]"), or file with
      #   format: {formats}
      #   file: PATH (icdar and its relatives: a folder)
      from: {ocr}
      in_prompt: true       # false: known to the checks and the reviewer only
      max_lines: 300        # of text in a prompt

# Who writes questions. Rounds run one after the other, each over all images (or some styles).
# Any OpenAI-compatible endpoint: OpenAI, Gemini's compatible one, vLLM, SGLang, Ollama.
rounds:
  - name: first
    model: {model}
    base_url: {base_url}
    key_env: {key_env}      # the NAME of an environment variable; keys are written nowhere
    pairs: 5
    # styles: [scene]       # only these
    # price: {{input: 2.50, output: 10.00}}   # USD per million tokens; --max-usd needs it
    concurrency: 4
    # requests_per_minute: 60
    timeout: 120            # seconds for one answer
    retries: 5              # after 429, 5xx, time-outs, answers that are no answers
    max_output_tokens: 1000
    token_limit_field: max_tokens   # some models want max_completion_tokens
    # temperature: 0.7
    structured: auto        # ask for JSON by schema or tool call where the endpoint can; off: text
    image_side: 2048        # larger images are scaled down to this longest side
    # extra: {{reasoning_effort: low}}        # sent unchanged

# labels:                 # more words that mark questions and answers in the models' answers
#   questions: [Ceist]
#   answers: [Freagra]

check:
  ocr_threshold: 85         # 0-100: how much of an answer must be found in the recognised text
  duplicate_threshold: 90   # 0-100: from which likeness two questions count as the same
  max_answer_words: 10
  # text_only:              # asked each question without its image (check --text-only)
  #   model: MODEL-NAME
  #   base_url: http://127.0.0.1:8000/v1
  #   key_env: OPENAI_API_KEY

review:
  target: {target}               # accepted questions wanted of each style
"""
