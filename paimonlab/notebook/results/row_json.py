"""Rows as lines of JSON that lose nothing: what JSON's readers would round is text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from paimonlab.errors import UnsupportedError
from paimonlab.notebook.display.cells import python_values

_LARGEST_SAFE = 2**53
_ENCODER = msgspec.json.Encoder(decimal_format="string")


def check_json(schema: pa.Schema) -> None:
    """Refuse columns that one object cannot have.

    Raises
    ------
    UnsupportedError
        If two columns, or two fields of a struct, have the same name.
    """
    _check_names([field.name for field in schema], "columns")
    for field in schema:
        _check_type(field.type)


def json_lines(batch: pa.RecordBatch) -> bytes:
    """Write each row as an object on a line of its own."""
    names = batch.schema.names
    columns = [_column(pa.chunked_array([column])) for column in batch.columns]
    rows = zip(*columns, strict=True) if columns else iter([()] * batch.num_rows)
    return _ENCODER.encode_lines([dict(zip(names, row, strict=True)) for row in rows])


def _check_type(kind: pa.DataType) -> None:
    if pa.types.is_struct(kind):
        _check_names([field.name for field in kind], "fields of a struct")
    for number in range(kind.num_fields):
        _check_type(kind.field(number).type)


def _check_names(names: list[str], what: str) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UnsupportedError(
            f"two {what} named {twice} in JSON", "give them names of their own in the query"
        )


def _column(column: pa.ChunkedArray) -> list[Any]:
    kind = column.type
    return [_value(value, kind) for value in python_values(column)]


def _value(value: Any, kind: pa.DataType) -> Any:
    """Return what is written for a value; `python_values` gave text where Python has no value."""
    types = pa.types
    if value is None or isinstance(value, str):
        return value
    if types.is_nested(kind):
        return _nested(value, kind)
    if types.is_floating(kind):
        return _floating(value, kind)
    if types.is_integer(kind):
        return str(value) if abs(value) > _LARGEST_SAFE else value
    return f"0x{value.hex()}" if isinstance(value, bytes) else value


def _nested(value: Any, kind: pa.DataType) -> Any:
    if pa.types.is_struct(kind):
        return {field.name: _value(value[field.name], field.type) for field in kind}
    if pa.types.is_map(kind):
        return _map(value, kind)
    return [_value(item, kind.value_type) for item in value]


def _map(value: list[tuple[Any, Any]], kind: pa.DataType) -> Mapping[str, Any] | list[list[Any]]:
    pairs = [[_value(key, kind.key_type), _value(item, kind.item_type)] for key, item in value]
    is_object = pa.types.is_string(kind.key_type) and len({key for key, _ in pairs}) == len(pairs)
    return {key: item for key, item in pairs} if is_object else pairs  # noqa: C416 - typed


def _floating(value: float, kind: pa.DataType) -> float | str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return float(str(np.float32(value))) if pa.types.is_float32(kind) else value
