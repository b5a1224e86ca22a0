"""`dtvqa export`: the training splits in a trainer's format, without the test images.

The annotation files are read twice, record by record: once to choose (missing, leaked, faulty),
once to write in the final order. In between, numbers are held, not texts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import mimetypes
import shutil
import uuid
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from dtvqa_plugin._version import __version__
from dtvqa_plugin.benchmark.prompts import get_prompt
from dtvqa_plugin.benchmark.records import Problem, TrainRecord
from dtvqa_plugin.data.splits import get_split
from dtvqa_plugin.data.store import Store
from dtvqa_plugin.errors import DataError, DTVQAError
from dtvqa_plugin.finetune.leakage import BenchmarkImages, ImageMatch, fingerprints
from dtvqa_plugin.finetune.source import Sample, SampleSource, Source, TrainSource
from dtvqa_plugin.finetune.trainers import Format, dataset_info, get_format
from dtvqa_plugin.utils.files import explained
from dtvqa_plugin.utils.progress import Progress

PAPER_SUBSETS = ("DTScene", "DTNutrCap", "DTTabShot")
"""What the paper tuned on (section 4): DTProdCap's generated pairs mix languages."""

GPT4V_SOURCE = "DTScene_train_gpt-4v"
EXPORT_SPLITS = ("train", "val", "mini")
TURNS = ("all", "one")
CHECKS = ("full", "names")
MANIFEST = "manifest.json"
TRAIN, HELD_OUT = "train", "held_out"

_BATCH = 64
_WROTE = "dtvqa export"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """What to export, and how.

    ``subsets`` ``None`` means the paper's three (all four of ``mini``). ``turns``: one sample a
    record with all its turns, or one a turn. ``seed`` shuffles; ``held_out`` is the share of
    images (0 to below 1) whose samples go to a file of their own. ``embed`` puts the images into
    the file; otherwise their paths stand there, below ``image_root`` if given (default: absolute
    paths into the store). ``shard_size`` is the most samples a file. ``check``: compare with the
    test images by name and picture (``full``) or by name alone (``names``).
    """

    format: str
    splits: tuple[str, ...] = ("train",)
    subsets: tuple[str, ...] | None = None
    gpt4v: bool = True
    turns: str = "all"
    prompt: str = "none"
    seed: int | None = None
    held_out: float = 0.0
    embed: bool = False
    image_root: str | None = None
    shard_size: int | None = None
    check: str = "full"


@dataclass(slots=True)
class ExportReport:
    """What an export read, left out and wrote; `as_json` is its ``manifest.json``."""

    options: ExportOptions
    sources: list[dict[str, Any]] = field(default_factory=list)
    pairs: int = 0
    samples: int = 0
    images: int = 0
    by_subset: Counter[str] = field(default_factory=Counter)
    faulty: Counter[str] = field(default_factory=Counter)
    shown: list[Problem] = field(default_factory=list)
    missing: Counter[str] = field(default_factory=Counter)
    missing_pairs: int = 0
    unreadable: list[str] = field(default_factory=list)
    unreadable_pairs: int = 0
    leaks: list[ImageMatch] = field(default_factory=list)
    leaked_pairs: int = 0
    marked: int = 0
    compared: int | None = None
    test_images: int | None = None
    files: list[dict[str, Any]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Plain values; nothing in them depends on the time or on the target folder."""
        options = {f.name: getattr(self.options, f.name) for f in fields(self.options)}
        return {
            "written_by": _WROTE,
            "version": __version__,
            "options": options,
            "sources": self.sources,
            "written": {
                "pairs": self.pairs,
                "samples": self.samples,
                "images": self.images,
                "pairs_by_subset": dict(self.by_subset),
            },
            "left_out": {
                "unusable": dict(sorted(self.faulty.items())),
                "missing_images": dict(self.missing),
                "missing_image_pairs": self.missing_pairs,
                "unreadable_images": self.unreadable,
                "unreadable_image_pairs": self.unreadable_pairs,
                "leaked_images": [
                    {
                        "image": leak.image,
                        "test_image": leak.test_image,
                        "how": leak.how,
                        "bits": leak.bits,
                    }
                    for leak in self.leaks
                ],
                "leaked_image_pairs": self.leaked_pairs,
                "pairs_with_image_mark": self.marked,
            },
            "test_images": {"named": self.test_images, "compared": self.compared},
            "files": self.files,
        }


class Progresses(Protocol):
    """Makes the progress function of one stage."""

    def __call__(self, what: str, unit: str = ...) -> AbstractContextManager[Progress]: ...


@contextmanager
def no_progress(what: str, unit: str = "") -> Iterator[Progress]:
    """No progress shown."""
    yield lambda done, total: None


def export(
    target: str | Path,
    options: ExportOptions,
    *,
    home: str | Path | None = None,
    force: bool = False,
    progresses: Progresses = no_progress,
) -> ExportReport:
    """Write the chosen samples, and ``manifest.json``, to the folder ``target``.

    The folder appears complete or not at all; the same data and options give the same bytes.
    ``force`` replaces an earlier export, never another folder. Raises `DTVQAError` for options
    that do not fit together, for data that are missing, and when nothing is left to write.
    """
    form = _checked(options)
    folder = Path(target).expanduser().absolute()
    with explained(folder, "write", in_store=False):
        _check_target(folder, force)
        report = ExportReport(options)
        with ExitStack() as stack:
            store, sources = _open_sources(options, home)
            for source in sources:
                stack.callback(source.close)
            index = _choose(form, store, sources, report, home, progresses)
            partial = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.partial")
            partial.mkdir(parents=True)
            stack.callback(shutil.rmtree, partial, ignore_errors=True)
            _write(form, store, sources, index, partial, report, progresses)
            _write_json(partial / MANIFEST, report.as_json())
            _move(partial, folder)
    return report


# --- what is asked for -----------------------------------------------------------------------


def _checked(options: ExportOptions) -> Format:
    form = get_format(options.format)
    for split in options.splits:
        if split not in EXPORT_SPLITS:
            raise DTVQAError(
                f"split {split!r} is not for training; there are {', '.join(EXPORT_SPLITS)}"
            )
    if not options.splits or (len(set(options.splits)) > 1 and not _released(options)):
        raise DTVQAError("choose train, val or both; the sample (mini) is exported on its own")
    if not 0 <= options.held_out < 1:
        raise DTVQAError(f"held-out share {options.held_out} is not from 0 to below 1")
    if options.turns not in TURNS or options.check not in CHECKS:
        raise DTVQAError(f"turns are {' or '.join(TURNS)}, checks {' or '.join(CHECKS)}")
    if options.embed and not form.embeds:
        raise DTVQAError(f"format {form.name} holds paths of images only; leave --embed away")
    if options.embed and options.image_root is not None:
        raise DTVQAError("embedded images have no paths: leave --embed or --image-root away")
    if options.shard_size is not None and (options.shard_size < 1 or not form.shards):
        why = "is no number of samples" if form.shards else f"does not fit {form.name}: one file"
        raise DTVQAError(f"--shard-size {options.shard_size} {why}")
    try:
        get_prompt(options.prompt)
    except ValueError as error:
        raise DTVQAError(str(error)) from None
    return form


def _released(options: ExportOptions) -> bool:
    return all(get_split(split).released for split in options.splits)


def _check_target(folder: Path, force: bool) -> None:
    if not folder.exists():
        return
    if not folder.is_dir():
        raise DataError(f"{folder}: exists and is no folder; name another one")
    if not any(folder.iterdir()):
        return
    if not _is_export(folder):
        raise DataError(f"{folder}: holds something other than an export; name a new folder")
    if not force:
        raise DataError(f"{folder}: holds an earlier export; --force replaces it")


def _is_export(folder: Path) -> bool:
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("written_by") == _WROTE


def _open_sources(options: ExportOptions, home: str | Path | None) -> tuple[Store, list[Source]]:
    store = get_split(options.splits[0]).store(home)
    sources: list[Source] = []
    for split in dict.fromkeys(options.splits):
        chosen = get_split(split)
        subsets = _subsets(split, options.subsets)
        if not subsets:
            continue
        files = [
            (file, wanted)
            for file, wanted in chosen.choose(subsets)
            if options.gpt4v or file.name != GPT4V_SOURCE
        ]
        missing = [file for file, _ in files if not store.has_annotations(file)]
        if missing:
            raise chosen.missing(store, missing)
        for file, wanted in files:
            path = store.annotation_path(file)
            sources.append(
                TrainSource(path) if file.kind == "train" else SampleSource(path, wanted)
            )
    if not sources:
        raise DataError(
            f"none of {', '.join(options.subsets or PAPER_SUBSETS)} has questions in "
            f"{', '.join(options.splits)}"
        )
    return store, sources


def _subsets(split: str, chosen: tuple[str, ...] | None) -> tuple[str, ...]:
    found = get_split(split)
    if not found.released:
        return found.check_subsets(chosen)
    for name in chosen or ():
        if all(name not in get_split(other).subsets for other in ("train", "val")):
            found.check_subsets([name])
    return tuple(name for name in found.subsets if name in (chosen or PAPER_SUBSETS))


# --- first reading: choose -------------------------------------------------------------------


class _Index:
    """The chosen samples as numbers: source, record, turn (0: all), image; then their order."""

    def __init__(self) -> None:
        self.source = array("B")
        self.record = array("L")
        self.turn = array("H")
        self.image = array("Q")

    def add(self, source: int, record: int, turn: int, image: int) -> None:
        self.source.append(source)
        self.record.append(record)
        self.turn.append(turn)
        self.image.append(image)

    def __len__(self) -> int:
        return len(self.turn)


def _digest(*parts: object) -> int:
    text = "\0".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


class _Verdicts:
    """Which images may be exported; each is looked at once."""

    def __init__(self, store: Store, tests: BenchmarkImages | None, report: ExportReport) -> None:
        self._store = store
        self._tests = tests
        self._report = report
        self._seen: dict[int, str] = {}

    def judge(self, images: Sequence[str]) -> None:
        """Look at those of the images that are new."""
        new = [i for i in dict.fromkeys(images) if _digest(i) not in self._seen]
        wanted: list[tuple[str, Path | bytes]] = []
        for image in new:
            verdict = self._by_name(image)
            self._seen[_digest(image)] = verdict
            if verdict == "" and self._tests is not None and self._tests.hashed:
                wanted.append((image, self._store.image_path(image)))
        for image, found in fingerprints(wanted) if wanted else ():
            if isinstance(found, DataError):
                self._report.unreadable.append(str(found))
                self._seen[_digest(image)] = "unreadable"
                continue
            assert self._tests is not None
            match = self._tests.by_print(image, found)
            if match is not None:
                self._report.leaks.append(match)
                self._seen[_digest(image)] = "leaked"

    def _by_name(self, image: str) -> str:
        match = None if self._tests is None else self._tests.by_name(image)
        if match is not None:
            self._report.leaks.append(match)
            return "leaked"
        if not self._store.image_path(image).is_file():
            self._report.missing[image.split("/")[0]] += 1
            return "missing"
        return ""

    def verdict(self, image: str) -> str:
        """Why the image is left out, or nothing."""
        return self._seen[_digest(image)]


def _choose(
    form: Format,
    store: Store,
    sources: Sequence[Source],
    report: ExportReport,
    home: str | Path | None,
    progresses: Progresses,
) -> _Index:
    options = report.options
    tests: BenchmarkImages | None = None
    if _released(options):
        with progresses("test images", "") as progress:
            tests = BenchmarkImages.from_store(
                home, names_only=options.check == "names", progress=progress
            )
        report.test_images, report.compared = len(tests.names), len(tests.hashed)
    verdicts = _Verdicts(store, tests, report)
    index = _Index()
    images: set[int] = set()
    total = sum(source.size for source in sources)
    before = 0
    with progresses("annotations read", "B") as progress:
        for number, source in enumerate(sources):
            for batch in _batches(source.scan()):
                verdicts.judge([sample.image for _, sample in batch])
                for record, sample in batch:
                    _choose_sample(form, number, record, sample, verdicts, report, index, images)
                progress(before + source.position, total)
            before += source.size
            report.faulty.update(source.counts)
            report.shown.extend(source.shown)
            report.sources.append(
                {"file": source.name, "sha256": source.sha256, "records": source.total}
            )
    report.samples, report.images = len(index), len(images)
    if not len(index):
        gone = sum(report.missing.values())
        raise DataError(
            f"{store.image_root}: nothing is left to export: {gone} images are missing, "
            f"{len(report.leaks)} are test images, {len(report.unreadable)} unreadable; "
            f"{get_split(options.splits[0]).cure(_subsets(options.splits[0], options.subsets))}"
        )
    return index


def _batches(
    samples: Iterable[tuple[int, Sample]],
) -> Iterator[list[tuple[int, Sample]]]:
    batch: list[tuple[int, Sample]] = []
    for item in samples:
        batch.append(item)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _choose_sample(
    form: Format,
    source: int,
    record: int,
    sample: Sample,
    verdicts: _Verdicts,
    report: ExportReport,
    index: _Index,
    images: set[int],
) -> None:
    verdict = verdicts.verdict(sample.image)
    if verdict:
        name = f"{verdict}_pairs"
        setattr(report, name, getattr(report, name) + len(sample.turns))
        return
    turns = _exportable(form, sample.turns)
    report.marked += len(sample.turns) - len(turns)
    if not turns:
        return
    report.pairs += len(turns)
    report.by_subset[turns[0].subset] += len(turns)
    image = _digest(sample.image)
    images.add(image)
    if report.options.turns == "all":
        index.add(source, record, 0, image)
    else:
        for turn in turns:
            index.add(source, record, turn.turn, image)


def _exportable(form: Format, turns: Sequence[TrainRecord]) -> list[TrainRecord]:
    mark = form.mark
    if mark is None:
        return list(turns)
    return [turn for turn in turns if mark not in turn.question and mark not in turn.answer]


# --- second reading: write -------------------------------------------------------------------


def _parts(options: ExportOptions, index: _Index) -> dict[str, npt.NDArray[np.int64]]:
    """The samples' numbers in their final order, for each part of the export."""
    order: npt.NDArray[np.int64] = np.arange(len(index), dtype=np.int64)
    if options.seed is not None:
        keys = (
            _digest(options.seed, *place)
            for place in zip(index.source, index.record, index.turn, strict=True)
        )
        order = np.argsort(np.fromiter(keys, np.uint64, len(index)), kind="stable")
    if not options.held_out:
        return {TRAIN: order}
    images = np.frombuffer(index.image, dtype=np.uint64)
    ranks = {i: _digest("held out", options.seed or 0, i) for i in np.unique(images).tolist()}
    count = round(options.held_out * len(ranks))
    held = set(sorted(ranks, key=lambda image: (ranks[image], image))[:count])
    is_held = np.fromiter((i in held for i in images[order].tolist()), np.bool_, len(index))
    if is_held.all() or not is_held.any():
        raise DTVQAError(
            f"a held-out share of {options.held_out} of {len(ranks)} images leaves one side "
            "empty; choose another share"
        )
    return {TRAIN: order[~is_held], HELD_OUT: order[is_held]}


def _write(
    form: Format,
    store: Store,
    sources: Sequence[Source],
    index: _Index,
    folder: Path,
    report: ExportReport,
    progresses: Progresses,
) -> None:
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

    with progresses("samples written", "") as progress:
        for part, order in _parts(options, index).items():
            shards = _shards(form, part, len(order), options.shard_size)
            names[part] = part if len(shards) > 1 or options.shard_size else shards[0][0]
            for name, start, end in shards:
                rows = _rows(form, store, sources, index, order[start:end], options)
                entry = _write_rows(folder / name, counted(rows), lines=name.endswith(".jsonl"))
                report.files.append({"file": name, "samples": end - start, **entry})
    if form.name == "llava":
        _write_json(folder / "dataset_info.json", dataset_info(names))


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
    index: _Index,
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
        chosen = [t for t in _exportable(form, sample.turns) if turn in (0, t.turn)]
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


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def _move(partial: Path, folder: Path) -> None:
    """Put the finished folder in place of an earlier export, if there is one."""
    if not folder.exists():
        partial.rename(folder)
        return
    old = partial.with_name(f"{partial.name}.old")
    folder.rename(old)
    try:
        partial.rename(folder)
    except OSError:
        old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)
