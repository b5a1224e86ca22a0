"""OCR of many images into the store: several processes, each image once, safe to interrupt."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import wait as wait_for_end
from pathlib import Path

from dtvqa_plugin.errors import DataError, DTVQAError
from dtvqa_plugin.ocr.boxes import TextBox
from dtvqa_plugin.ocr.engine import OCREngine, available_cores
from dtvqa_plugin.ocr.layout import reading_order
from dtvqa_plugin.ocr.reader import OCRReader
from dtvqa_plugin.ocr.recognised import (
    from_boxes,
    image_key,
    read_text,
    recognised_folder,
    write_text,
)
from dtvqa_plugin.utils.environment import default_home
from dtvqa_plugin.utils.files import explained
from dtvqa_plugin.utils.images import load_rgb, open_image

Progress = Callable[[int, int], None]
"""Called with the number of images done and of all images to do."""

_IN_FLIGHT = 2
"""Images handed out for each process: one in work, one waiting."""


@dataclass(slots=True)
class Recognition:
    """What a run of recognition did. Images of equal bytes count as one.

    Attributes:
        engine: Name and version of the engine.
        known: Images whose text was in the store already.
        recognised: Images whose text was added.
        without_text: Images that the OCR file has no text for; 0 for an engine.
        unreadable: One message for each image that could not be decoded.
    """

    engine: str
    known: int = 0
    recognised: int = 0
    without_text: int = 0
    unreadable: list[str] = field(default_factory=list)


def recognise(
    images: Iterable[Path],
    *,
    workers: int | None = None,
    home: Path | None = None,
    progress: Progress | None = None,
) -> Recognition:
    """Recognise the text of images with RapidOCR and keep it in the store.

    Images of equal bytes are read once. What is in the store already is not read again, so a run
    that was interrupted or killed continues. Every process holds one image and one
    engine at a time.

    Args:
        images: Image files.
        workers: Number of processes (default: one for each core). The cores are shared out
            among them.
        home: The store's folder (default: ``DTVQA_HOME``).
        progress: Called after each image.

    Returns:
        Counts, and the images that could not be decoded.

    Raises:
        DTVQAError: ``workers`` is below 1, or the extra ``ocr`` is not installed.
        DataError: The store cannot be written, an image file cannot be read at all, or a process
            ended (for lack of memory, say).
    """
    cores = available_cores()
    if workers is not None and workers < 1:
        raise DTVQAError(f"OCR workers: {workers} is not a positive number; give 1 or more")
    count = workers or cores
    report = Recognition(OCREngine(1).fingerprint)
    folder = recognised_folder(home) / report.engine
    todo = _not_known(images, folder, report)
    if not todo:
        return report
    count = min(count, len(todo))
    with _pool(count, max(1, cores // count), home or default_home()) as pool:
        faults = _faults(pool, todo, folder, in_flight=_IN_FLIGHT * count)
        for done, fault in enumerate(faults, start=1):
            if fault is None:
                report.recognised += 1
            else:
                report.unreadable.append(fault)
            if progress is not None:
                progress(done, len(todo))
    report.unreadable.sort()
    return report


def keep_file_text(
    images: Mapping[str, Path],
    texts: Iterable[tuple[str, list[TextBox]]],
    engine: str,
    *,
    home: Path | None = None,
) -> Recognition:
    """Keep text that was read from a user's OCR file in the store.

    Args:
        images: Image files by the names that ``texts`` uses.
        texts: Image names and their boxes; names that ``images`` lacks are passed over.
        engine: The name under which the text is kept.
        home: The store's folder (default: ``DTVQA_HOME``).

    Returns:
        Counts, and the images that could not be opened.

    Raises:
        DataError: The store cannot be written, or an image file cannot be read at all.
    """
    report = Recognition(engine)
    folder = recognised_folder(home) / engine
    left = dict(images)
    for name, boxes in texts:
        path = left.pop(name, None)
        if path is None:
            continue
        try:
            width, height = _upright_size(path)
        except DataError as error:
            report.unreadable.append(str(error))
            continue
        target = folder / f"{image_key(path)}.json"
        text = from_boxes(reading_order(boxes), width, height, confidence=False)
        if read_text(target) == text:
            report.known += 1
            continue
        with explained(target, "write"):
            write_text(target, text)
        report.recognised += 1
    report.without_text = len(left)
    return report


def _not_known(images: Iterable[Path], folder: Path, report: Recognition) -> dict[str, Path]:
    """Files by content key, of images without text in ``folder``."""
    by_key: dict[str, Path] = {}
    for path in images:
        by_key.setdefault(image_key(path), path)
    todo = {key: path for key, path in by_key.items() if read_text(folder / f"{key}.json") is None}
    report.known = len(by_key) - len(todo)
    return todo


def _upright_size(path: Path) -> tuple[int, int]:
    with open_image(path) as image:
        width, height = image.size
        turned = image.getexif().get(0x0112, 1) in (5, 6, 7, 8)
    return (height, width) if turned else (width, height)


# --- processes -----------------------------------------------------------------------------------


@contextmanager
def _pool(workers: int, threads: int, home: Path) -> Iterator[ProcessPoolExecutor]:
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start,
        initargs=(threads, home),
    )
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _faults(
    pool: ProcessPoolExecutor, todo: Mapping[str, Path], folder: Path, *, in_flight: int
) -> Iterator[str | None]:
    """What was wrong with each image, or None, in the order in which they are done."""
    left = iter(todo.items())
    running: set[Future[str | None]] = set()
    try:
        while True:
            for key, path in left:
                running.add(pool.submit(_recognise_one, path, folder / f"{key}.json"))
                if len(running) >= in_flight:
                    break
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    except BrokenProcessPool:
        raise DataError(
            "a process of the text recognition ended unexpectedly, mostly for lack of memory; "
            "run the command again with fewer --workers (finished images are kept)"
        ) from None


_reader: OCRReader | None = None


def _start(threads: int, home: Path) -> None:
    """Set up a worker process: its reader, and an end when the parent process ends."""
    global _reader
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the pool
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _reader = OCRReader("dump", home / "ocr-cache", threads=threads)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for_end([parent.sentinel])
        os._exit(1)


def _recognise_one(path: Path, target: Path) -> str | None:
    """Recognise one image in a worker process; a message where it cannot be decoded."""
    assert _reader is not None, "the pool's initializer makes it"
    try:
        image = load_rgb(path)
    except DataError as error:
        return str(error)
    boxes = reading_order(_reader.boxes(image))
    with explained(target, "write"):
        write_text(target, from_boxes(boxes, image.width, image.height))
    return None
