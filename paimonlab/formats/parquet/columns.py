"""Columns of Parquet files of all writers, brought to the types of the table.

Timestamps come as INT64 of several units or as INT96, decimals in four physical types,
small integers and texts with and without annotation.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from paimonlab.errors import CorruptDataError, DataError, UnsupportedError
from paimonlab.formats.parquet.fields import has_variant
from paimonlab.formats.parquet.footers import Footer
from paimonlab.formats.parquet.int96 import signed
from paimonlab.formats.parquet.narrow_ends import narrowed
from paimonlab.spec import variant
from paimonlab.spec.types.data_types import AtomicType, DataField, DataType, TypeRoot


class Reading(Struct, frozen=True):
    """Columns that are read in one go."""

    fields: tuple[DataField, ...]
    """The columns of the result."""
    checked: tuple[DataField, ...] = ()
    """Columns with INT96 timestamps, read once more in another unit."""
    int96_unit: str | None = None
    """Unit that INT96 is read in."""

    @property
    def column_names(self) -> list[str]:
        """What to read."""
        return [field.name for field in (*self.fields, *self.checked)]


def readings(footer: Footer, fields: Sequence[DataField], path: str) -> tuple[Reading, ...]:
    """Decide in how many goes columns are read; INT96 is read in two units.

    Raises
    ------
    CorruptDataError
        If a column is not in the file.
    """
    for field in fields:
        if field.name not in footer.column_names and field.name not in footer.leaf_columns:
            raise CorruptDataError(path, f"column {field.name!r} is not in the file")
    _refuse_shredded(footer.metadata, fields, path)
    int96 = tuple(field for field in fields if field.name in footer.int96_columns)
    if not int96:
        return (Reading(tuple(fields)),)
    return Reading(tuple(fields), int96_unit="us"), Reading((), int96, "ns")


def _refuse_shredded(metadata: pq.FileMetaData, fields: Sequence[DataField], path: str) -> None:
    """Refuse variants inside of others of which parts are in columns of their own."""
    variants = {
        field.name for field in fields if has_variant(field.type) and not _is_variant(field.type)
    }
    for number in range(metadata.num_columns if variants else 0):
        column, *inside = metadata.schema.column(number).path.split(".")
        if column in variants and "typed_value" in inside:
            raise UnsupportedError(
                "a shredded VARIANT (variant.shreddingSchema) in an ARRAY, MAP or ROW",
                f"{path} has one in {column!r}, which Java Paimon does not read either",
            )


def _is_variant(type_: DataType) -> bool:
    return isinstance(type_, AtomicType) and type_.root is TypeRoot.VARIANT


def conform(
    fields: Sequence[DataField],
    parts: Sequence[Reading],
    tables: Sequence[pa.Table],
    schema: pa.Schema,
    path: str,
) -> pa.Table:
    """Put columns that were read in several goes together, in order and of their types.

    Raises
    ------
    CorruptDataError
        If the goes disagree or a value does not fit its type.
    UnsupportedError
        If an instant does not fit nanoseconds in 64 bits.
    """
    if len({table.num_rows for table in tables}) != 1 or len(tables) != len(parts):
        raise CorruptDataError(path, "its columns have different numbers of rows")
    columns: dict[str, pa.ChunkedArray] = {}
    in_nanos = {
        field.name: table.column(field.name)
        for part, table in zip(parts, tables, strict=True)
        for field in part.checked
    }
    for part, table in zip(parts, tables, strict=True):
        for field in part.fields:
            column = table.column(field.name)
            target = schema.field(field.name).type
            if field.name in in_nanos:
                nanos = in_nanos[field.name]
                column = signed(column, nanos, target, column=field.name, path=path)
            columns[field.name] = _conformed(column, field, target, path)
    return pa.table([columns[field.name] for field in fields], schema=schema)


def _conformed(
    column: pa.ChunkedArray, field: DataField, target: pa.DataType, path: str
) -> pa.ChunkedArray:
    if column.type == target:
        return column
    try:
        column = narrowed(column)
        if column.type == target:
            return column
        if _is_variant(field.type):
            return _variants(column, target)
        if pa.types.is_timestamp(target) and pa.types.is_int64(column.type):
            column = column.cast(_unit_without_annotation(field))
        return column.cast(target)
    except (pa.ArrowException, OverflowError, DataError, UnicodeDecodeError) as error:
        raise CorruptDataError(path, f"column {field.name!r}: {error}") from error


def _variants(column: pa.ChunkedArray, target: pa.DataType) -> pa.ChunkedArray:
    """Put both parts in order, in which writers differ; shredded variants together."""
    if variant.shredded.is_shredded(column.type):
        return pa.chunked_array(
            [variant.shredded.rebuilt(chunk) for chunk in column.chunks], target
        )
    chunks = []
    for chunk in column.chunks:
        parts = [chunk.field(part.name).cast(part.type) for part in target]
        mask = chunk.is_null() if chunk.null_count else None
        chunks.append(pa.StructArray.from_arrays(parts, fields=list(target), mask=mask))
    return pa.chunked_array(chunks, target)


def _unit_without_annotation(field: DataField) -> pa.DataType:
    precision = field.type.precision if isinstance(field.type, AtomicType) else None
    return pa.timestamp("us" if precision is not None and 3 < precision <= 6 else "ms")
