"""The recognised text of an image, from any source, and its form in a prompt."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.config import Source
from dtvqa_plugin.annotate.project.inventory import ImageFile
from dtvqa_plugin.annotate.project.journal import Journal, Rewritten
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.ocr import OCRReader, TextBox
from dtvqa_plugin.ocr.boxes import Quad
from dtvqa_plugin.ocr.layout import reading_order
from dtvqa_plugin.ocr.recognised import FOLDER, engines, read_text
from dtvqa_plugin.ocr.text_files import image_name, read_ocr_file
from dtvqa_plugin.ocr.text_files.icdar import text_files
from dtvqa_plugin.utils.images import load_rgb
from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)

_READER = 2
"""The version of the readers of OCR files: what an older one read is read again."""


class TextReader:
    """Boxes of an image by its source's rule; ``None`` where its text is not known.

    Text from a file is first brought into ``ocr/SOURCE.jsonl`` (again when the file changes), so
    that one image's text is read at a time. RapidOCR's results are kept in ``ocr/``.
    """

    def __init__(self, project: Project, *, read_images: bool = True) -> None:
        self.project = project
        self.read_images = read_images
        self._files: dict[str, _FileText] = {}
        self._reader: OCRReader | None = None
        self._lock = threading.Lock()
        home = project.root / "ocr"
        self._kept_folders = [home / FOLDER / name for name in reversed(engines(home))]
        for source in project.config.sources:
            if source.ocr.origin == "file":
                self._files[source.name] = _FileText(project, source)
            elif source.ocr.origin == "rapidocr":
                # Made here so that a missing extra is one error before anything is paid for.
                self._reader = self._reader or OCRReader("dump", project.root / "ocr" / "cache")

    def boxes(self, image: ImageFile, pixels: Image.Image | None = None) -> list[TextBox] | None:
        """The image's text in reading order. Raises DataError when the image cannot be decoded."""
        source = self.project.source(image.source)
        if source is None or source.ocr.origin == "none":
            return None
        if source.ocr.origin == "file":
            found = self._files[source.name].boxes(image.file)
        else:
            found = self._kept(image)
            if found is None and self.read_images:
                assert self._reader is not None
                with self._lock:
                    found = list(self._reader.boxes(pixels or load_rgb(image.path)))
        return None if found is None else reading_order(found)

    def _kept(self, image: ImageFile) -> list[TextBox] | None:
        """The text that 'dtvqa annotate recognise' kept, by the newest engine that has it."""
        for folder in self._kept_folders:
            text = read_text(folder / f"{image.sha256}.json")
            if text is not None:
                return [line.as_text_box() for line in text.lines]
        return None

    def summary(self) -> list[str]:
        """What files had and lacked, a sentence each."""
        return [text.summary() for text in self._files.values()]

    def check_matches(self, images: Sequence[ImageFile]) -> None:
        """Raise `AnnotateError` when an OCR file has text for none of its source's images."""
        for name, text in self._files.items():
            mine = [image for image in images if image.source == name]
            if mine and not any(text.boxes(image.file) is not None for image in mine):
                raise AnnotateError(
                    f"{text.path}: an OCR file of other images: it has text for none of the first "
                    f"{len(mine)} images of source {name!r} (it knows {text.example()}, the first "
                    f"image is {mine[0].file!r}); names are compared without folder, ending and gt_"
                )


class _FileText:
    def __init__(self, project: Project, source: Source) -> None:
        assert source.ocr.file is not None
        assert source.ocr.format is not None
        self.source = source
        self.path = project.file(source.ocr.file)
        self.journal = Journal(project.root / "ocr" / f"{source.name}.jsonl", frozenset({"name"}))
        self._offsets: dict[str, int] = {}
        self.lacking: set[str] = set()
        self._bring(source.ocr.format)

    def _bring(self, format: str) -> None:
        stamp = _stamp(self.path, format)
        for offset, record in self.journal.read():
            if "stamp" in record:
                if record["stamp"] != stamp:
                    break
                continue
            self._offsets[record["name"]] = offset
        else:
            if self._offsets:
                return
        self._offsets.clear()
        self.journal.path.parent.mkdir(parents=True, exist_ok=True)
        with Rewritten(self.journal.path) as target:
            target.write({"name": "", "stamp": stamp})
            for name, boxes in read_ocr_file(format, self.path):
                lines = [[box.text, list(box.quad)] for box in boxes]
                target.write({"name": image_name(name), "lines": lines})
        for offset, record in self.journal.read():
            if "stamp" not in record:
                self._offsets[record["name"]] = offset

    def boxes(self, file: str) -> list[TextBox] | None:
        offset = self._offsets.get(image_name(file))
        if offset is None:
            self.lacking.add(file) if len(self.lacking) < 100_000 else None
            return None
        lines = self.journal.at(offset)["lines"]
        return [TextBox(text, _as_quad(quad)) for text, quad in lines]

    def example(self) -> str:
        return repr(next(iter(self._offsets), "nothing"))

    def summary(self) -> str:
        lacking = f"; it lacks {len(self.lacking)} images" if self.lacking else ""
        return f"OCR file {self.path.name}: text of {len(self._offsets)} images{lacking}"


def _as_quad(numbers: list[float]) -> Quad:
    a, b, c, d, e, f, g, h = numbers
    return (a, b, c, d, e, f, g, h)


def _stamp(path: Path, format: str) -> list[list[object]]:
    """What tells that an OCR file, or a folder of them, has changed."""
    files = text_files(path) if path.is_dir() else [path] if path.exists() else []
    seen = [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    return [["reader", _READER, format], *seen]


def describe(boxes: Sequence[TextBox], width: int, height: int, max_lines: int) -> str:
    """Text for a prompt: a line each, with its edges in thousandths of the image's size."""
    lines = []
    for box in boxes[:max_lines]:
        edges = (box.left / width, box.top / height, box.right / width, box.bottom / height)
        place = ", ".join(str(min(1000, max(0, round(1000 * edge)))) for edge in edges)
        lines.append(f"[{place}] {' '.join(box.text.split())}")
    if len(boxes) > max_lines:
        lines.append(f"(and {len(boxes) - max_lines} more lines)")
    return "\n".join(lines)


def plain_text(boxes: Sequence[TextBox]) -> str:
    """All text on one line, in the order given."""
    return " ".join(" ".join(box.text.split()) for box in boxes)
