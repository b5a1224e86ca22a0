"""``dtvqa annotate recognise``: the text of a project's images, in several processes.

What it writes is the benchmark's recognised text (`dtvqa_plugin.ocr.recognised`): one small file
for each image's content, in ``ocr/recognised/ENGINE`` of the project. An image is read once, so a
run that was killed continues. The parts of an array job divide the images by their
content and may write to one shared project or each to a copy; `merge` joins copies and checks the
result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dtvqa_plugin.annotate.errors import AnnotateError
from dtvqa_plugin.annotate.project.inventory import ImageFile, Inventory
from dtvqa_plugin.annotate.project.project import Project
from dtvqa_plugin.ocr.recognised import FOLDER, read_text, write_text
from dtvqa_plugin.ocr.recognising import recognise as recognise_images
from dtvqa_plugin.utils.files import explained


@dataclass(slots=True)
class RecogniseReport:
    """Counts of one run, or of a merge; ``lacking`` images of the project have no text yet."""

    engine: str = ""
    images: int = 0
    known: int = 0
    recognised: int = 0
    merged: int = 0
    lacking: int = 0
    unreadable: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Part:
    """Part ``number`` of ``count``: images are divided by their content, the same everywhere."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Part:
        """Read ``i/n``. Raises `AnnotateError` unless 1 <= i <= n."""
        match = re.fullmatch(r"([1-9]\d{0,5})/([1-9]\d{0,5})", text.strip())
        if match is None or int(match[1]) > int(match[2]):
            raise AnnotateError(f"--part {text}: give i/n with 1 <= i <= n, for example 3/16")
        return cls(int(match[1]), int(match[2]))

    def holds(self, image: ImageFile) -> bool:
        """Whether the image belongs to this part."""
        return int(image.sha256[:12], 16) % self.count == self.number - 1


def recognise(
    project: Project,
    *,
    workers: int | None = None,
    part: Part | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RecogniseReport:
    """Read the images of every source with ``ocr.from: rapidocr`` that are not read yet.

    Args:
        project: The project.
        workers: Processes (default: one for each core).
        part: Only these images.
        progress: Called with the number of images done and of all to do.

    Returns:
        Counts, and the images that could not be decoded.

    Raises:
        AnnotateError: No source recognises text.
        DTVQAError: The extra ``ocr`` is missing, or a process ended.
    """
    images = [image for image in _images(project) if part is None or part.holds(image)]
    done = recognise_images(
        [image.path for image in images],
        workers=workers,
        home=project.root / "ocr",
        progress=progress,
    )
    return RecogniseReport(
        engine=done.engine,
        images=len(images),
        known=done.known,
        recognised=done.recognised,
        unreadable=done.unreadable,
    )


def merge(project: Project, others: Sequence[Path]) -> RecogniseReport:
    """Take over the recognised text of other copies of the project, and check that all is there.

    Every file is read before it counts; text of images that the project does not have is left out.

    Raises:
        AnnotateError: A copy has no recognised text, copies used different engines, or two of
            them hold different text of one image.
    """
    wanted = {image.sha256 for image in _images(project)}
    folders = [_engine_folders(project.root), *(_engine_folders(path) for path in others)]
    for path, found in zip(others, folders[1:], strict=True):
        if not found:
            raise AnnotateError(
                f"{path}: no recognised text there (ocr/{FOLDER}); is it a project?"
            )
    names = sorted({name for found in folders for name in found})
    if len(names) != 1:
        raise AnnotateError(
            f"the copies used different engines ({', '.join(names) or 'none'}); recognise all "
            "parts with one version of rapidocr"
        )
    target = project.root / "ocr" / FOLDER / names[0]
    report = RecogniseReport(names[0], len(wanted))
    for found in folders[1:]:
        for path in sorted(found[names[0]].glob("*.json")):
            if path.stem in wanted:
                _take(path, target / path.name, report)
    report.lacking = sum(read_text(target / f"{sha256}.json") is None for sha256 in wanted)
    report.known = len(wanted) - report.lacking - report.merged
    return report


def _take(source: Path, target: Path, report: RecogniseReport) -> None:
    text = read_text(source)
    if text is None:
        return
    mine = read_text(target)
    if mine is not None and mine != text:
        raise AnnotateError(
            f"{source} and {target}: different text of one image; remove the one that is wrong"
        )
    if mine is None:
        with explained(target, "write", in_store=False):
            write_text(target, text)
        report.merged += 1


def _engine_folders(root: Path) -> dict[str, Path]:
    folder = root.expanduser() / "ocr" / FOLDER
    found = folder.iterdir() if folder.is_dir() else ()
    return {path.name: path for path in found if path.is_dir() and not path.name.startswith(".")}


def _images(project: Project) -> list[ImageFile]:
    sources = {s.name for s in project.config.sources if s.ocr.origin == "rapidocr"}
    if not sources:
        raise AnnotateError(
            f"{project.root / 'config.yaml'}: no source has ocr.from: rapidocr, so that there is "
            "nothing to recognise"
        )
    return [image for image in Inventory(project).scan() if image.source in sources]
