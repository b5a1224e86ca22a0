"""Draw the embedded sample ``dtvqa_mini``: ``python tools/make_sample.py --out DIR``.

The output is the released layout: ``test/DT_mini.json`` and ``image/<subset>/test/*``, with
``transcripts.json`` (the words drawn on each image) and a notice beside them. The same fonts,
Pillow and numpy give the same bytes. Beside its own drawings the script imports only Pillow, numpy
and the standard library.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from PIL import Image
from sample_art import nutrition, products, street, tables
from sample_art.fonts import PACKAGES, FontBook, MissingFontsError
from sample_art.page import Page

DEFAULT_FONTS = Path("/usr/share/fonts")
PAGES: tuple[Page, ...] = (*street.PAGES, *nutrition.PAGES, *products.PAGES, *tables.PAGES)


def records(pages: Iterable[Page] = PAGES) -> list[dict[str, object]]:
    """The annotation records in the released test format; ids count from 1 in each subset."""
    counts: dict[str, int] = {}
    out: list[dict[str, object]] = []
    for page in pages:
        for question in page.questions:
            counts[page.subset] = counts.get(page.subset, 0) + 1
            out.append(
                {
                    "dataset_name": page.subset,
                    "id": counts[page.subset],
                    "image_path": f"./{page.image_path}",
                    "question": question.text,
                    "answers": list(question.answers),
                    "type": page.kind,
                }
            )
    return out


def _save_image(image: Image.Image, path: Path, quality: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    if path.suffix == ".png":
        flat = image.convert("RGB").quantize(128, dither=Image.Dither.NONE)
        flat.save(temporary, "PNG", optimize=True)
    else:
        image.convert("RGB").save(temporary, "JPEG", quality=quality, optimize=True)
    temporary.replace(path)


def _save_text(text: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    temporary.replace(path)


def _save_json(value: object, path: Path) -> None:
    _save_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", path)


def notice() -> str:
    """The text that travels with the sample: its licence, its fonts, what it is not."""
    rows = "\n".join(f"| {p.family} | {p.licence} | `{p.name}` |" for p in PACKAGES)
    return f"""# The embedded sample, `dtvqa_mini`

The images, questions and answers in this folder were made by the dtvqa-plugin project and are
licensed under Apache-2.0, like its code. They hold nothing of DT-VQA. Every shop, brand, team,
person, place and number in them is invented; a likeness to a real one is chance.

The sample is for trying and testing a set-up. **Its score is never a DT-VQA score.**

The images are drawn by `python tools/make_sample.py --out DIR` with these fonts (no
font file is shipped):

| Font | Licence | Debian package |
|---|---|---|
{rows}

How the sample was made, and its limits: `docs/sample.md` in the project's repository.
"""


def make(out: Path, fonts: FontBook, only: str = "") -> int:
    """Draw the pages whose path contains ``only`` below ``out``; return the bytes of images.

    Annotations, transcripts and the notice are written only when all pages are drawn.
    """
    pages = [page for page in PAGES if only in page.image_path]
    transcripts: dict[str, list[str]] = {}
    size = 0
    for page in pages:
        sheet = page.draw(fonts)
        path = out / page.image_path
        _save_image(sheet.image, path, page.quality)
        transcripts[page.image_path] = " ".join(sheet.texts).split()
        size += path.stat().st_size
        print(f"{page.image_path}: {path.stat().st_size / 1000:.0f} kB")
    if len(pages) == len(PAGES):
        _save_json(records(), out / "test" / "DT_mini.json")
        _save_json(transcripts, out / "transcripts.json")
        _save_text(notice(), out / "README.md")
    return size


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit status: 0, or 1 when a font is missing."""
    parser = argparse.ArgumentParser(prog="make_sample", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--fonts", type=Path, default=DEFAULT_FONTS, help="folder of font files")
    parser.add_argument("--only", default="", help="draw only images whose path contains this")
    options = parser.parse_args(arguments)
    try:
        fonts = FontBook(options.fonts)
    except MissingFontsError as error:
        print(f"make_sample: {error}", file=sys.stderr)
        return 1
    print(f"{make(options.out, fonts, options.only) / 1000:.0f} kB of images in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
