"""Rows and values as the texts that system tables and reports show."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, null_filled
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.partitions.folders import DEFAULT_PARTITION, partition_label
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.data_types import AtomicType, DataField, DataType, TypeRoot
from paimonlab.spec.value_text import display_texts, internal_texts

_BYTES = (TypeRoot.BINARY, TypeRoot.VARBINARY)
_Texts = Callable[[pa.Array, DataType], list[str | None]]


def partition_text(rows: pa.Array, fields: Sequence[DataField]) -> pa.Array:
    """``{2026-01-01, 7}`` for each serialised partition row."""
    return _joined(rows, fields, "{}", display_texts)


def names_of_partitions(rows: pa.Array, schema: TableSchema) -> list[str]:
    """Name each serialised partition row: ``dt=2026-01-01/h=7``; "" without partitions."""
    fields = [schema.field(name) for name in schema.partition_keys]
    names: list[str] = partition_name(rows, fields, _default_name(schema)).to_pylist()
    return names


def _default_name(schema: TableSchema) -> str:
    return schema.options.get("partition.default-name", DEFAULT_PARTITION)


def partition_name(rows: pa.Array, fields: Sequence[DataField], default_name: str) -> pa.Array:
    """``dt=2026-01-01/h=7`` for each serialised partition row; null and blank: ``default_name``.

    "" without partition columns.
    """
    names = [field.name for field in fields]
    encoded = pc.dictionary_encode(rows)
    values = decode(encoded.dictionary, [field.type for field in fields])
    texts = [
        display_texts(column, field.type) for column, field in zip(values, fields, strict=True)
    ]
    shown = (
        [""] * len(encoded.dictionary)
        if not fields
        else [partition_label(names, row, default_name) for row in zip(*texts, strict=True)]
    )
    return arrow_array(shown, pa.string()).take(encoded.indices)


def partition_values_name(columns: Sequence[pa.Array], schema: TableSchema) -> list[str]:
    """Return the same names for rows whose partition columns are values; none without columns."""
    fields = [schema.field(name) for name in schema.partition_keys]
    texts = [
        display_texts(column, field.type) for column, field in zip(columns, fields, strict=True)
    ]
    names = [field.name for field in fields]
    return [partition_label(names, row, _default_name(schema)) for row in zip(*texts, strict=True)]


def key_text(rows: pa.Array, fields: Sequence[DataField]) -> pa.Array:
    """``[1, a]`` for each serialised key row; null without key columns."""
    if not fields:
        return pa.nulls(len(rows), pa.string())
    return _joined(rows, fields, "[]", _statistic_texts)


def value_texts(column: pa.Array, data_type: DataType) -> pa.Array:
    """Each value as statistics show it: dates as days, timestamps as 2026-01-01T00:00.

    Bytes are lower-case hex; Java prints where they are in memory.
    """
    return arrow_array(_statistic_texts(column, data_type), pa.string())


def _statistic_texts(column: pa.Array, data_type: DataType) -> list[str | None]:
    if isinstance(data_type, AtomicType) and data_type.root in _BYTES:
        return [None if value is None else value.hex() for value in column.to_pylist()]
    return internal_texts(column, data_type)


def map_text(names: Sequence[str], values: Sequence[pa.Array]) -> pa.Array:
    """``{a=1, b=null}`` for each row, names sorted."""
    pieces = []
    for name, texts in sorted(zip(names, values, strict=True), key=lambda pair: pair[0]):
        shown = null_filled(texts, "null")
        pieces.append(
            pc.binary_join_element_wise(arrow_scalar(f"{name}="), shown, arrow_scalar(""))
        )
    return _enclosed(pieces, "{}", len(values[0]) if values else 0)


def duration_text(seconds: float) -> str:
    """ISO text of a duration in hours, minutes and seconds, as Java prints it.

    Examples
    --------
    >>> duration_text(90061), duration_text(0.5)
    ('PT25H1M1S', 'PT0.5S')
    """
    whole, fraction = divmod(seconds, 1)
    hours, rest = divmod(int(whole), 3600)
    minutes, secs = divmod(rest, 60)
    parts = [f"{hours}H" if hours else "", f"{minutes}M" if minutes else ""]
    if secs or fraction or not (hours or minutes):
        shown = f"{secs + fraction:.9f}".rstrip("0").rstrip(".")
        parts.append(f"{shown}S")
    return "PT" + "".join(parts)


def _joined(rows: pa.Array, fields: Sequence[DataField], brackets: str, texts: _Texts) -> pa.Array:
    types = [field.type for field in fields]
    # Few distinct rows: partitions and keys repeat.
    encoded = pc.dictionary_encode(rows)
    values = decode(encoded.dictionary, types)
    columns = _texts_of(values, types, texts)
    return _enclosed(columns, brackets, len(encoded.dictionary)).take(encoded.indices)


def _texts_of(
    columns: Sequence[pa.Array], types: Sequence[DataType], texts: _Texts
) -> list[pa.Array]:
    return [
        null_filled(arrow_array(texts(column, data_type), pa.string()), "null")
        for column, data_type in zip(columns, types, strict=True)
    ]


def _enclosed(pieces: Sequence[pa.Array], brackets: str, count: int) -> pa.Array:
    if not pieces:
        return arrow_array([brackets] * count, pa.string())
    joined = pc.binary_join_element_wise(*pieces, arrow_scalar(", "))
    opening, closing = map(arrow_scalar, brackets)
    return pc.binary_join_element_wise(opening, joined, closing, arrow_scalar(""))
