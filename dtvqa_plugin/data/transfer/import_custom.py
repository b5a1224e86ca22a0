"""Import a question set that ``dtvqa annotate export`` wrote."""

from __future__ import annotations

import shutil
from pathlib import Path

from dtvqa_plugin.benchmark.records import Problem, raise_problems
from dtvqa_plugin.data.splits import INFO_FILE, CustomSet
from dtvqa_plugin.data.splits.custom import CUSTOM_FILE, IMPORTED, read_custom
from dtvqa_plugin.data.store import PARTIAL, Store, read_test
from dtvqa_plugin.utils.files import explained, open_regular, whole_folder
from dtvqa_plugin.utils.images import check_image


def import_custom(
    path: Path, home: str | Path | None = None, *, strict: bool = False
) -> tuple[CustomSet, tuple[Problem, ...]]:
    """Copy an exported set into the store, under its name; a set of that name is replaced.

    Everything is read and every image looked at before it appears.

    Args:
        path: The exported folder.
        home: The store (default: ``DTVQA_HOME``).
        strict: Whether an unusable record is an error.

    Returns:
        The set in the store, and its unusable records, which are left out when it is read.

    Raises:
        DataError: No record is usable, under ``strict`` one is not, or an image is missing or
            damaged.
    """
    root = path.expanduser().absolute()
    annotations = root / CUSTOM_FILE.path
    reading = read_test(annotations)
    if strict or not reading.records:
        raise_problems(annotations, reading.problems)
    described = read_custom(root)
    images = sorted({record.image for record in reading.records})
    source, store = Store(root), Store(home)
    for image in images:
        place = source.image_path(image)
        with explained(place, "read", in_store=False):
            open_regular(place).close()  # a pipe would be waited for without end
        check_image(place, str(place))
    copied = [INFO_FILE, CUSTOM_FILE.path, *(f"image/{image}" for image in images)]
    copied += [name for name in ("DATA_CARD.md", "statistics.json") if (root / name).is_file()]
    target = store.home / IMPORTED / described.name
    with store.lock(), explained(target, "write"):
        scratch = store.home / PARTIAL
        scratch.mkdir(exist_ok=True)
        with whole_folder(target, replace=True, scratch=scratch) as partial:
            for name in copied:
                (partial / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(root / name, partial / name)
    return read_custom(target), reading.problems
