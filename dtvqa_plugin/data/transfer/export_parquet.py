"""A split as sharded Parquet that `datasets.load_dataset` reads, images inside.

Rows are written as they are read, a few megabytes at a time, so memory does not grow with the
split. An image asked about several times is stored once a row group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dtvqa_plugin._version import __version__
from dtvqa_plugin.benchmark.records import Record
from dtvqa_plugin.benchmark.release import REPO_ID
from dtvqa_plugin.data.splits import SplitReading, read_split, released_split
from dtvqa_plugin.data.store import Store
from dtvqa_plugin.errors import DataError
from dtvqa_plugin.utils.files import explained, whole_folder
from dtvqa_plugin.utils.images import check_image
from dtvqa_plugin.utils.progress import Progress

if TYPE_CHECKING:
    import pyarrow as pa

from dtvqa_plugin.utils.text import escaped_logger

logger = escaped_logger(__name__)

SHARD_BYTES = 500_000_000
"""Image bytes in one shard, each image counted once (about)."""

_GROUP_ROWS = 100
_GROUP_BYTES = 32 * 2**20
# A row group's images all go into its dictionary page, so that a repeated one costs nothing.
_DICTIONARY = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Part:
    """One split of one subset: its shards (paths relative to the folder) and number of rows."""

    subset: str
    split: str
    rows: int
    shards: tuple[str, ...]


def to_parquet(
    target: str | Path,
    splits: Sequence[str] = ("test",),
    subsets: Sequence[str] | None = None,
    *,
    sources: Sequence[str] | None = None,
    home: str | Path | None = None,
    shard_bytes: int = SHARD_BYTES,
    progress: Progress | None = None,
) -> list[Part]:
    """Write the chosen splits and a dataset card to the new folder ``target``.

    Columns as `load_split` has them; ``image`` is the `datasets` Image feature with the file's
    own bytes. One config a subset, and ``all``. The folder appears complete or not at all.
    Raises `DataError` when it exists and is not empty, or when data are missing.
    """
    folder = Path(target).expanduser().absolute()
    readings = [_reading(split, subsets, sources, home) for split in dict.fromkeys(splits)]
    with explained(folder, "write", in_store=False):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise DataError(f"{folder}: exists and is no empty folder; name a new one")
        with whole_folder(folder, replace=True) as partial:
            parts = _write(partial, readings, shard_bytes, progress)
            card = _card(parts, readings, sources)
            (partial / "README.md").write_text(card, encoding="utf-8")
    return parts


def _reading(
    split: str,
    subsets: Sequence[str] | None,
    sources: Sequence[str] | None,
    home: str | Path | None,
) -> SplitReading:
    released_split(split)
    reading = read_split(split, subsets, sources=sources, home=home)
    images = {record.image for record in reading.records}
    gone = len(images) - len(reading.store.present(images))
    if gone:
        raise DataError(
            f"{reading.store.image_root}: {gone} images of split {split} are missing; "
            f"{reading.split.cure(() if subsets is None else reading.subsets)}"
        )
    if reading.problems:
        logger.warning(
            "%s: %d unusable records or turns left out (first: %s)",
            split,
            len(reading.problems),
            reading.problems[0],
        )
    return reading


def _write(
    folder: Path,
    readings: Sequence[SplitReading],
    shard_bytes: int,
    progress: Progress | None,
) -> list[Part]:
    parts: list[Part] = []
    total = sum(len(reading.records) for reading in readings)
    done = 0
    for reading in readings:
        for subset in reading.subsets:
            chosen = [record for record in reading.records if record.subset == subset]
            shards = _sharded(chosen, reading.store, shard_bytes)
            names: list[str] = []
            for number, rows in enumerate(shards):
                name = f"{subset}/{reading.split.name}-{number:05d}-of-{len(shards):05d}.parquet"
                (folder / "data" / subset).mkdir(parents=True, exist_ok=True)
                _write_shard(folder / "data" / name, rows, reading.store)
                names.append(f"data/{name}")
                done += len(rows)
                if progress is not None:
                    progress(done, total)
            if names:
                parts.append(Part(subset, reading.split.name, len(chosen), tuple(names)))
    return parts


def _sharded(records: Sequence[Record], store: Store, shard_bytes: int) -> list[list[Record]]:
    shards: list[list[Record]] = []
    seen: set[str] = set()
    size = shard_bytes
    for record in records:
        new = 0 if record.image in seen else store.image_path(record.image).stat().st_size
        if size + new > shard_bytes and (new or not shards):
            shards.append([])
            seen, size = set(), 0
        shards[-1].append(record)
        seen.add(record.image)
        size += new
    return shards


def _write_shard(path: Path, records: Sequence[Record], store: Store) -> None:
    import pyarrow.parquet as pq

    schema = _schema()
    with pq.ParquetWriter(
        path,
        schema,
        compression="snappy",
        use_dictionary=["image.bytes", "subset", "source", "image.path"],
        dictionary_pagesize_limit=_DICTIONARY,
        write_page_index=True,
    ) as writer:
        for group in _groups(records, store):
            writer.write_table(group, row_group_size=_GROUP_ROWS)


def _groups(records: Sequence[Record], store: Store) -> Iterator[pa.Table]:
    import pyarrow as pa

    rows: list[dict[str, Any]] = []
    size = 0
    held: tuple[str, bytes] | None = None
    for record in records:
        if held is None or held[0] != record.image:
            held = record.image, _content(store, record.image)
        content = held[1]
        if rows and (len(rows) >= _GROUP_ROWS or size + len(content) > _GROUP_BYTES):
            yield pa.Table.from_pylist(rows, schema=_schema())
            rows, size = [], 0
        rows.append(
            {
                "question_id": record.question_id,
                "subset": record.subset,
                "image": {"bytes": content, "path": Path(record.image).name},
                "question": record.question,
                "answers": list(record.answers),
                "source": record.source,
            }
        )
        size += len(content)
    if rows:
        yield pa.Table.from_pylist(rows, schema=_schema())


def _content(store: Store, image: str) -> bytes:
    path = store.image_path(image)
    check_image(path, str(path))
    with explained(path, "read"):
        return path.read_bytes()


def _schema() -> pa.Schema:
    import datasets

    text = datasets.Value("string")
    features = datasets.Features(
        {
            "question_id": text,
            "subset": text,
            "image": datasets.Image(),
            "question": text,
            "answers": [text],
            "source": text,
        }
    )
    return features.arrow_schema


# --- the dataset card ----------------------------------------------------------------------------


def _card(
    parts: Sequence[Part], readings: Sequence[SplitReading], sources: Sequence[str] | None
) -> str:
    subsets = [name for r in readings for name in r.split.subsets]
    names = [n for n in dict.fromkeys(subsets) if any(part.subset == n for part in parts)]
    lines = ["---", "pretty_name: DT-VQA", "language:", "- en", "task_categories:"]
    lines += ["- visual-question-answering", "configs:"]
    lines += _config("all", parts, default=True)
    for name in names:
        lines += _config(name, [part for part in parts if part.subset == name])
    lines += ["---", "", "# DT-VQA", ""]
    lines += [
        f"Made from `{REPO_ID}` by dtvqa-plugin {__version__} "
        "(`dtvqa data to-parquet`): the questions",
        "and answers verbatim, the image files as they are. The release states no licence; this",
        "copy adds none, so share it only where you may.",
        "",
        "```python",
        "import datasets",
        "",
        f'datasets.load_dataset("THIS_FOLDER", "{names[0]}", split="{parts[0].split}")',
        "```",
        "",
        "| subset | split | questions |",
        "|---|---|---:|",
        *(f"| {part.subset} | {part.split} | {part.rows} |" for part in parts),
        "",
    ]
    if sources is not None:
        lines += [f"Only these sources: {', '.join(sources)}.", ""]
    lines += ["Annotation files:", ""]
    for reading in readings:
        lines += _provenance(reading)
    return "\n".join(lines) + "\n"


def _config(name: str, parts: Sequence[Part], *, default: bool = False) -> list[str]:
    lines = [f"- config_name: {name}", *(["  default: true"] if default else []), "  data_files:"]
    for split in dict.fromkeys(part.split for part in parts):
        lines += [f"  - split: {split}", "    path:"]
        for part in parts:
            if part.split == split:
                lines.append(f"    - data/{part.subset}/{split}-*.parquet")
    return lines


def _provenance(reading: SplitReading) -> list[str]:
    manifest = reading.store.manifest()
    lines = []
    for path, found in reading.readings.items():
        entry = manifest.files.get(path)
        revision = f", revision {entry.revision}" if entry and entry.revision else ""
        left = f", {len(found.problems)} unusable records or turns left out"
        lines.append(f"- `{path}`: SHA-256 `{found.sha256}`{revision}{left * bool(found.problems)}")
    return lines
