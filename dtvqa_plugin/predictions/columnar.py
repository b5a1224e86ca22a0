"""Records of Parquet files and of folders saved by ``datasets``, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dtvqa_plugin.predictions.rows import PredictionFileError, stands_twice
from dtvqa_plugin.utils.text import plain

_BATCH = 1_000


def parquet_records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Stream (place, record) from a Parquet file; bytes (pictures) are left out.

    Raises PredictionFileError for a damaged file.
    """
    import pyarrow  # heavy
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            _check_names(path, file.schema_arrow)
            columns = [name for field in file.schema_arrow for name in _readable(field)]
            number = 0
            for batch in file.iter_batches(_BATCH, columns=columns):
                for record in batch.to_pylist():
                    number += 1
                    yield f"row {number}", record
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise PredictionFileError(
            f"{path}: not a readable Parquet file ({plain(str(error)).strip()}). "
            "Copy it again, or write it again."
        ) from error


def columns_of_bytes(path: Path) -> list[str]:
    """Names of the columns of a Parquet file that hold bytes, which are not read."""
    from pyarrow import parquet

    schema = parquet.read_schema(path)
    return [field.name for field in schema if _holds_bytes(field.type) and not _readable(field)]


def dataset_records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Stream (place, record) from a folder that ``save_to_disk`` wrote, split after split.

    Pictures are not decoded: of each its path is kept. Raises PredictionFileError for a folder
    that cannot be read.
    """
    import datasets  # heavy
    import pyarrow

    try:
        loaded = datasets.load_from_disk(str(path))
        splits = loaded.items() if isinstance(loaded, datasets.DatasetDict) else [("", loaded)]
        for name, split in splits:
            number = 0
            _check_names(path, split.data.schema)
            for batch in split.with_format("arrow").iter(_BATCH):
                for record in _without_bytes(batch).to_pylist():
                    number += 1
                    yield f"{name} row {number}".lstrip(), record
    except (pyarrow.ArrowException, OSError, ValueError, KeyError, TypeError) as error:
        raise PredictionFileError(
            f"{path}: not a readable folder of datasets ({plain(str(error)).strip()}). "
            "Save it again."
        ) from error


def _check_names(path: Path, fields: Iterable[Any], within: str = "") -> None:
    """Raise where a column, or a field of a nested one, stands twice: a record keeps the last."""
    import pyarrow.types as types

    seen: set[str] = set()
    for field in fields:
        name = within + field.name
        if name in seen:
            raise stands_twice(path, name)
        seen.add(name)
        kind = field.type
        while types.is_list(kind) or types.is_large_list(kind):
            kind = kind.value_type
        if types.is_struct(kind):
            _check_names(path, kind, f"{name}.")


def _readable(field: Any) -> list[str]:
    """A column's name; of a picture stored with its bytes, that of its path."""
    if not _holds_bytes(field.type):
        return [field.name]
    return [f"{field.name}.path"] if _has_path(field.type) else []


def _without_bytes(table: Any) -> Any:
    """A table without bytes; of pictures stored with their bytes, the path is kept."""
    import pyarrow.compute as compute

    for place, field in reversed(list(enumerate(table.schema))):
        if _holds_bytes(field.type):
            path = _has_path(field.type)
            column = compute.struct_field(table.column(place), "path") if path else None
            table = table.remove_column(place)
            if column is not None:
                table = table.append_column(field.name, column)
    return table


def _has_path(kind: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_struct(kind)) and kind.get_field_index("path") >= 0


def _holds_bytes(kind: Any) -> bool:
    import pyarrow.types as types

    if types.is_struct(kind):
        return any(_holds_bytes(field.type) for field in kind)
    if types.is_list(kind) or types.is_large_list(kind):
        return _holds_bytes(kind.value_type)
    return bool(types.is_binary(kind) or types.is_large_binary(kind))
