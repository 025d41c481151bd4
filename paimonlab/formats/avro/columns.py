"""Columns of records that writers of several versions made: by name, missing ones filled."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from msgspec import Struct

from paimonlab.errors import CorruptMetadataError, UnsupportedError


class ColumnSource(Struct, frozen=True):
    """Where a column of ours comes from."""

    field: pa.Field
    """Name and type of the column; whether it is nullable says if nulls are allowed."""
    avro_path: tuple[str, ...]
    """Names of the nested fields that lead to it."""
    is_required: bool
    """Whether every version writes it."""


def conform(table: pa.Table, sources: Sequence[ColumnSource], *, path: str) -> pa.Table:
    """Pick, rename and cast columns.

    Raises
    ------
    CorruptMetadataError
        If a required column is missing, has nulls or is of another type.
    """
    flat = _flatten(table)
    columns = [_column(flat, source, table.num_rows, path) for source in sources]
    return pa.table(columns, schema=pa.schema([source.field for source in sources]))


def check_version(table: pa.Table, supported: int, what: str, *, path: str) -> None:
    """Refuse records of another version than the supported one."""
    if "_VERSION" not in table.column_names:
        raise CorruptMetadataError(path, "field _VERSION is missing")
    for version in table.column("_VERSION").unique().to_pylist():
        if version != supported:
            raise UnsupportedError(
                f"{what} of version {version}", f"{path} has it; version {supported} is supported"
            )


def _flatten(table: pa.Table) -> dict[tuple[str, ...], pa.ChunkedArray]:
    flat: dict[tuple[str, ...], pa.ChunkedArray] = {}
    pending: list[tuple[tuple[str, ...], pa.ChunkedArray]] = [
        ((name,), table.column(name)) for name in table.column_names
    ]
    while pending:
        name_path, column = pending.pop()
        flat[name_path] = column
        if pa.types.is_struct(column.type):
            names = [field.name for field in column.type]
            children = column.flatten()
            pending += [
                ((*name_path, name), child) for name, child in zip(names, children, strict=True)
            ]
    return flat


def _column(
    flat: dict[tuple[str, ...], pa.ChunkedArray], source: ColumnSource, rows: int, path: str
) -> pa.ChunkedArray:
    name = ".".join(source.avro_path)
    column = flat.get(source.avro_path)
    if column is None:
        if source.is_required:
            raise CorruptMetadataError(path, f"field {name} is missing")
        return pa.nulls(rows, source.field.type)
    if source.is_required and column.null_count:
        raise CorruptMetadataError(path, f"field {name} is null")
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms"))  # the unit of all times in metadata
    try:
        return column.cast(source.field.type)
    except pa.ArrowException as error:
        raise CorruptMetadataError(path, f"field {name}: {error}") from error
