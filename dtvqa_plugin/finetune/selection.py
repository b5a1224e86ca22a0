"""The first reading of an export: which samples are written, as numbers.

Of each chosen sample the index holds source, record, turn and image, not the text.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dtvqa_plugin.benchmark.records import TrainRecord
from dtvqa_plugin.data import Store, get_split, partial_allowed
from dtvqa_plugin.data.splits import PARTIAL_VARIABLE
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.finetune.image_match import BenchmarkImages
from dtvqa_plugin.finetune.options import PAPER_SUBSETS, ExportOptions, ExportReport
from dtvqa_plugin.finetune.source import Sample, SampleSource, Source, TrainSource
from dtvqa_plugin.finetune.trainers import Format
from dtvqa_plugin.utils.progress import Progress

GPT4V_SOURCE = "DTScene_train_gpt-4v"

_BATCH = 64


class Index:
    """The chosen samples as numbers: source, record, turn (0: all), image; then their order."""

    def __init__(self) -> None:
        self.source = array("B")
        self.record = array("L")
        self.turn = array("H")
        self.image = array("Q")

    def add(self, source: int, record: int, turn: int, image: int) -> None:
        """Add a sample."""
        self.source.append(source)
        self.record.append(record)
        self.turn.append(turn)
        self.image.append(image)

    def __len__(self) -> int:
        return len(self.turn)


def digest(*parts: object) -> int:
    """A 64-bit number that depends on the parts alone."""
    text = "\0".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


def exportable(form: Format, turns: Sequence[TrainRecord]) -> list[TrainRecord]:
    """The turns whose text does not hold the format's image mark."""
    mark = form.mark
    if mark is None:
        return list(turns)
    return [turn for turn in turns if mark not in turn.question and mark not in turn.answer]


def open_sources(report: ExportReport, home: str | Path | None) -> tuple[Store, list[Source]]:
    """The store and the annotation files to export.

    Raises:
        DataError: Files are missing (with ``DTVQA_ALLOW_PARTIAL=1``: all of them), or no chosen
            subset has questions in the chosen splits.
    """
    options = report.options
    store = get_split(options.splits[0]).store(home)
    sources: list[Source] = []
    missing: list[tuple[str, str]] = []
    for split in dict.fromkeys(options.splits):
        subsets = options.subsets_of(split)
        for file, wanted in get_split(split).choose(subsets) if subsets else ():
            if file.name == GPT4V_SOURCE and not options.gpt4v:
                continue
            path = store.annotation_path(file)
            if not store.has_annotations(file):
                missing.append((split, file.path))
            elif file.kind == "train":
                sources.append(TrainSource(path))
            else:
                sources.append(SampleSource(path, wanted))
    report.absent = [path for _, path in missing]
    if missing and not (sources and partial_allowed()):
        raise _missing_files(store, options, missing, partly=bool(sources))
    if not sources:
        raise DataError(
            f"none of {', '.join(options.subsets or PAPER_SUBSETS)} has questions in "
            f"{', '.join(options.splits)}"
        )
    return store, sources


def _missing_files(
    store: Store, options: ExportOptions, missing: Sequence[tuple[str, str]], *, partly: bool
) -> DataError:
    splits = list(dict.fromkeys(split for split, _ in missing))
    cures = "; ".join(get_split(s).cure(options.subsets_of(s)) for s in splits)
    rest = f", or set {PARTIAL_VARIABLE}=1 to export the files that are there" if partly else ""
    return DataError(
        f"{store.home}: the {' and '.join(splits)} annotations are missing "
        f"({', '.join(path for _, path in missing)}); {cures}{rest}"
    )


def choose(
    form: Format,
    store: Store,
    sources: Sequence[Source],
    tests: BenchmarkImages | None,
    report: ExportReport,
    progress: Progress,
) -> Index:
    """Read all sources once and choose the samples to write.

    Args:
        form: The format that is written.
        store: The store that holds the images.
        sources: The annotation files.
        tests: The test images; None where nothing is compared.
        report: Gets the counts, and what was left out.
        progress: Called with the bytes read.

    Raises:
        DataError: Nothing is left.
    """
    verdicts = _Verdicts(store, tests, report)
    index = Index()
    images: set[int] = set()
    total = sum(source.size for source in sources)
    before = 0
    for number, source in enumerate(sources):
        for batch in _batches(source.scan()):
            verdicts.judge([sample.image for _, sample in batch])
            for record, sample in batch:
                verdict = verdicts.of(sample.image)
                if verdict:
                    report.left_out_pairs[verdict] += len(sample.turns)
                elif turns := _written(form, sample, report):
                    image = digest(sample.image)
                    images.add(image)
                    for turn in turns:
                        index.add(number, record, turn, image)
            progress(before + source.position, total)
        before += source.size
        report.faulty.update(source.counts)
        report.shown.extend(source.shown)
        entry = {"file": source.name, "sha256": source.sha256, "records": source.total}
        report.sources.append(entry)
    report.samples, report.images = len(index), len(images)
    if not len(index):
        raise _nothing_left(store, report)
    return index


def _written(form: Format, sample: Sample, report: ExportReport) -> list[int]:
    """The turn numbers of the samples that a record gives; 0 stands for all of its turns."""
    turns = exportable(form, sample.turns)
    report.marked += len(sample.turns) - len(turns)
    if not turns:
        return []
    report.pairs += len(turns)
    report.by_subset[turns[0].subset] += len(turns)
    return [0] if report.options.turns == "all" else [turn.turn for turn in turns]


def _nothing_left(store: Store, report: ExportReport) -> DataError:
    split = report.options.splits[0]
    return DataError(
        f"{store.image_root}: nothing to export: {sum(report.missing.values())} images are "
        f"missing, {len(report.leaks)} are or look like test images, {len(report.unreadable)} are "
        f"unreadable; {get_split(split).cure(report.options.subsets_of(split))}"
    )


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


class _Verdicts:
    """Which images may be exported; each is looked at once."""

    def __init__(self, store: Store, tests: BenchmarkImages | None, report: ExportReport) -> None:
        self._store = store
        self._tests = tests
        self._report = report
        self._seen: dict[int, str] = {}

    def judge(self, images: Sequence[str]) -> None:
        """Look at those of the images that are new."""
        new = [i for i in dict.fromkeys(images) if digest(i) not in self._seen]
        wanted = []
        for image in new:
            verdict = self._by_name(image)
            self._seen[digest(image)] = verdict
            if verdict == "" and self._tests is not None and self._tests.hashed:
                wanted.append((image, self._store.image_path(image)))
        if not wanted or self._tests is None:
            return
        bar = self._report.options.min_likeness
        for image, found in self._tests.by_picture(wanted, min_likeness=bar):
            if isinstance(found, DataError):
                self._report.unreadable.append(str(found))
                self._seen[digest(image)] = "unreadable"
            elif found is not None:
                self._report.leaks.append(found)
                self._seen[digest(image)] = "leaked"

    def _by_name(self, image: str) -> str:
        match = None if self._tests is None else self._tests.by_name(image)
        if match is not None:
            self._report.leaks.append(match)
            return "leaked"
        if not self._store.image_path(image).is_file():
            self._report.missing[image.split("/")[0]] += 1
            return "missing"
        return ""

    def of(self, image: str) -> str:
        """Why the image is left out, or nothing."""
        return self._seen[digest(image)]
