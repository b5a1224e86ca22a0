"""The second reading of an export: the chosen samples are written in their final order."""

from __future__ import annotations

import base64
import hashlib
import json
import mimetypes
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from dtvqa_plugin.benchmark.prompts import get_prompt
from dtvqa_plugin.data import Store
from dtvqa_plugin.errors import DTVQAError
from dtvqa_plugin.finetune.options import ExportOptions, ExportReport
from dtvqa_plugin.finetune.selection import Index, digest, exportable
from dtvqa_plugin.finetune.source import Sample, Source
from dtvqa_plugin.finetune.trainers import Format, dataset_info
from dtvqa_plugin.utils.progress import Progress

TRAIN, HELD_OUT = "train", "held_out"

_BATCH = 64


def write_files(
    form: Format,
    store: Store,
    sources: Sequence[Source],
    index: Index,
    folder: Path,
    report: ExportReport,
    progress: Progress,
) -> None:
    """Read the chosen samples again and write them to ``folder``, in their final order."""
    options = report.options
    names: dict[str, str] = {}
    done = 0

    def counted(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        nonlocal done
        for row in rows:
            yield row
            done += 1
            if done % _BATCH == 0 or done == len(index):
                progress(done, len(index))

    for part, order in _parts(options, index).items():
        shards = _shards(form, part, len(order), options.shard_size)
        names[part] = part if len(shards) > 1 or options.shard_size else shards[0][0]
        for name, start, end in shards:
            rows = _rows(form, store, sources, index, order[start:end], options)
            entry = _write_rows(folder / name, counted(rows), lines=name.endswith(".jsonl"))
            report.files.append({"file": name, "samples": end - start, **entry})
    if form.name == "llava":
        write_json(folder / "dataset_info.json", dataset_info(names))


def _parts(options: ExportOptions, index: Index) -> dict[str, npt.NDArray[np.int64]]:
    """The samples' numbers in their final order, for each part of the export."""
    order: npt.NDArray[np.int64] = np.arange(len(index), dtype=np.int64)
    if options.seed is not None:
        keys = (
            digest(options.seed, *place)
            for place in zip(index.source, index.record, index.turn, strict=True)
        )
        order = np.argsort(np.fromiter(keys, np.uint64, len(index)), kind="stable")
    if not options.held_out:
        return {TRAIN: order}
    images = np.frombuffer(index.image, dtype=np.uint64)
    ranks = {i: digest("held out", options.seed or 0, i) for i in np.unique(images).tolist()}
    count = round(options.held_out * len(ranks))
    held = set(sorted(ranks, key=lambda image: (ranks[image], image))[:count])
    is_held = np.fromiter((i in held for i in images[order].tolist()), np.bool_, len(index))
    if is_held.all() or not is_held.any():
        raise DTVQAError(
            f"a held-out share of {options.held_out} of {len(ranks)} images leaves one side "
            "empty; choose another share"
        )
    return {TRAIN: order[~is_held], HELD_OUT: order[is_held]}


def _shards(form: Format, part: str, count: int, size: int | None) -> list[tuple[str, int, int]]:
    if size is None:
        return [(f"{part}.jsonl" if form.lines else f"{part}.json", 0, count)]
    starts = range(0, count, size)
    return [
        (f"{part}/{number:05d}.jsonl", start, min(start + size, count))
        for number, start in enumerate(starts)
    ]


def _rows(
    form: Format,
    store: Store,
    sources: Sequence[Source],
    index: Index,
    order: npt.NDArray[np.int64],
    options: ExportOptions,
) -> Iterator[dict[str, Any]]:
    prompt = get_prompt(options.prompt)
    last: tuple[tuple[int, int], Sample] | None = None
    for place in order.tolist():
        record, turn = (index.source[place], index.record[place]), index.turn[place]
        if last is None or last[0] != record:
            last = record, sources[record[0]].read(record[1])
        sample = last[1]
        chosen = [t for t in exportable(form, sample.turns) if turn in (0, t.turn)]
        pairs = [(prompt.render(t.question), t.answer) for t in chosen]
        name = sample.key if turn == 0 else chosen[0].question_id
        yield form.render(name, pairs, _image(store, sample.image, options))


def _image(store: Store, image: str, options: ExportOptions) -> str:
    if options.embed:
        kind = mimetypes.guess_type(image)[0] or "application/octet-stream"
        content = base64.b64encode(store.image_path(image).read_bytes()).decode("ascii")
        return f"data:{kind};base64,{content}"
    if options.image_root is None:
        return str(store.image_path(image))
    return f"{options.image_root.rstrip('/')}/{image}" if options.image_root else image


def _write_rows(path: Path, rows: Iterable[dict[str, Any]], *, lines: bool) -> dict[str, Any]:
    path.parent.mkdir(exist_ok=True)
    digest = hashlib.sha256()
    size = 0
    before, between, after = ("", "\n", "\n") if lines else ("[\n", ",\n", "\n]\n")
    with path.open("wb") as handle:
        for text in _texts(rows, before, between, after):
            content = text.encode()
            digest.update(content)
            size += handle.write(content)
    return {"bytes": size, "sha256": digest.hexdigest()}


def _texts(rows: Iterable[dict[str, Any]], before: str, between: str, after: str) -> Iterator[str]:
    start = before
    for row in rows:
        yield start + json.dumps(row, ensure_ascii=False)
        start = between
    yield after


def write_json(path: Path, value: object) -> None:
    """Write a value as indented JSON."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
