"""``dtvqa data recognise``: the text on the images, recognised once and kept in the store."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from dtvqa_plugin.benchmark.subsets import SAMPLE_SUBSETS, SUBSETS
from dtvqa_plugin.cli.options import Whole
from dtvqa_plugin.cli.output import say, say_json
from dtvqa_plugin.data import records
from dtvqa_plugin.data.splits import SPLITS, get_split
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.ocr.recognising import Recognition, keep_file_text
from dtvqa_plugin.ocr.recognising import recognise as recognise_images
from dtvqa_plugin.ocr.text_files import FORMATS, image_name, read_ocr_file
from dtvqa_plugin.utils.progress import progress_bar
from dtvqa_plugin.utils.text import counted

_SHOWN = 20


@click.command()
@click.option(
    "--split",
    "splits",
    multiple=True,
    type=click.Choice(SPLITS),
    default=("test",),
    show_default=True,
    help="Split whose images are read; give it again for more.",
)
@click.option(
    "--subset",
    "subsets",
    multiple=True,
    type=click.Choice((*SUBSETS, *SAMPLE_SUBSETS)),
    help="Only this subset; give it again for more.",
)
@click.option(
    "--workers",
    type=Whole(min=1),
    help="Processes, each with its own engine (about 1 GB). Default: one for each CPU core.",
)
@click.option(
    "--ocr-file",
    type=click.Path(path_type=Path),
    help="Take text and boxes from this file, or folder of the ICDAR family, instead of reading "
    "the images.",
)
@click.option("--ocr-format", type=click.Choice(tuple(FORMATS)), help="Format of --ocr-file.")
@click.option(
    "--ocr-name",
    help="Name and version of the engine that made --ocr-file, for example paddleocr-3.1; it "
    "appears in signatures as file-NAME.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def recognise(
    splits: tuple[str, ...],
    subsets: tuple[str, ...],
    workers: int | None,
    ocr_file: Path | None,
    ocr_format: str | None,
    ocr_name: str | None,
    as_json: bool,
) -> None:
    """Recognise the text on the images of a split and keep it in the store.

    Reads every image once with RapidOCR (extra: ocr), several images at a time. An interrupted
    run continues where it stopped. The result is kept by image content and engine version;
    'dtvqa data export' takes it along. Exit status 1 when an image cannot be decoded.
    """
    if (ocr_file is None) != (ocr_format is None) or (ocr_file is None) != (ocr_name is None):
        raise click.UsageError("--ocr-file, --ocr-format and --ocr-name go together")
    images, missing = _images(splits, subsets)
    if ocr_file is not None and ocr_format is not None and ocr_name is not None:
        found = _from_file(images, ocr_file, ocr_format, ocr_name)
    else:
        with progress_bar("images", unit="image") as progress:
            found = recognise_images(images, workers=workers, progress=progress)
    if as_json:
        say_json({**asdict(found), "missing": missing})
    else:
        for line in _lines(found, missing):
            say(line)
    if found.unreadable:
        sys.exit(1)


def _images(splits: tuple[str, ...], subsets: tuple[str, ...]) -> tuple[list[Path], int]:
    """The image files of the chosen splits, and how many others are not in the store."""
    paths: dict[Path, None] = {}
    missing = 0
    for split in splits:
        store = get_split(split).store()
        names = {record.image for record in records(split, subsets or None)}
        there = store.present(names)
        missing += len(names) - len(there)
        paths.update(dict.fromkeys(store.image_path(name) for name in sorted(there)))
    if not paths:
        raise DataError(
            f"the store has no image of {', '.join(splits)}; 'dtvqa data status' lists what it has"
        )
    return list(paths), missing


def _from_file(images: list[Path], file: Path, ocr_format: str, name: str) -> Recognition:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", name):
        raise click.UsageError(
            f"--ocr-name {name!a}: use up to 80 letters, digits, '.', '_' and '-'"
        )
    by_name: dict[str, Path] = {}
    for path in images:
        other = by_name.setdefault(image_name(path.name), path)
        if other is not path:
            raise DataError(
                f"{file}: {other} and {path} have one name, and OCR files are matched by name; "
                "choose --split and --subset so that names differ"
            )
    texts = ((image_name(title), boxes) for title, boxes in read_ocr_file(ocr_format, file))
    return keep_file_text(by_name, texts, f"file-{name}")


def _lines(found: Recognition, missing: int) -> Iterator[str]:
    yield (
        f"{found.engine}: text of {counted(found.recognised, 'image')} added, "
        f"{found.known} known already"
    )
    if found.without_text:
        yield f"not in the OCR file: {counted(found.without_text, 'image')}"
    if missing:
        yield f"not in the store: {counted(missing, 'image')} ('dtvqa data fetch' downloads them)"
    if found.unreadable:
        yield f"cannot be decoded: {counted(len(found.unreadable), 'image')}"
        yield from (f"  {text}" for text in found.unreadable[:_SHOWN])
        if len(found.unreadable) > _SHOWN:
            yield f"  and {len(found.unreadable) - _SHOWN} more (--json lists them)"
