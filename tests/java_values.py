"""Rows as Java Paimon prints them as JSON, so that both sides' rows can be compared.

Numbers for BOOLEAN to BIGINT; text for FLOAT and DOUBLE (what JSON cannot say), strings, decimals,
dates and times (as ``java.time`` prints them); lower-case hex for BINARY and VARBINARY; a list for
ARRAY and ROW; a list of pairs, sorted, for MAP and MULTISET; hex of both parts of a VARIANT.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)

_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_SECONDS_A_DAY = 86_400
_LAST_YEAR_WITHOUT_SIGN = 9999


def java_rows(table: pa.Table, fields: Sequence[DataField]) -> list[list[Any]]:
    """Show the rows of a table whose columns are ``fields``."""
    types = [field.type for field in fields]
    columns = [
        java_values(column.combine_chunks(), type_)
        for column, type_ in zip(table.columns, types, strict=True)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def normal_rows(rows: Sequence[Sequence[Any]], fields: Sequence[DataField]) -> list[list[Any]]:
    """Bring what Java printed into the same form: floats as text, maps sorted."""
    return [
        [_normal(value, field.type) for value, field in zip(row, fields, strict=True)]
        for row in rows
    ]


def unordered(rows: Iterable[Sequence[Any]]) -> list[str]:
    """Forget the order of rows: a list of texts that is equal for the same rows."""
    return sorted(json.dumps(row, ensure_ascii=False) for row in rows)


def java_values(array: pa.Array, type_: DataType) -> list[Any]:
    """Show the values of a column."""
    if isinstance(type_, AtomicType):
        return _atoms(array, type_)
    if isinstance(type_, RowType):
        parts = [java_values(array.field(i), field.type) for i, field in enumerate(type_.fields)]
        rows = [list(row) for row in zip(*parts, strict=True)]
        return [row if item.is_valid else None for row, item in zip(rows, array, strict=True)]
    if isinstance(type_, ArrayType):
        return [
            java_values(item.values, type_.element) if item.is_valid else None for item in array
        ]
    key, value = _map_types(type_)
    return [_pairs(item.values, key, value) if item.is_valid else None for item in array]


def _pairs(entries: pa.StructArray, key: DataType, value: DataType) -> list[Any]:
    keys, values = java_values(entries.field(0), key), java_values(entries.field(1), value)
    return sorted([list(pair) for pair in zip(keys, values, strict=True)], key=json.dumps)


def _map_types(type_: MapType | MultisetType) -> tuple[DataType, DataType]:
    if isinstance(type_, MapType):
        return type_.key, type_.value
    return type_.element, AtomicType(TypeRoot.INT)


def _atoms(array: pa.Array, type_: AtomicType) -> list[Any]:
    root = type_.root
    if root is TypeRoot.VARIANT:
        return [_each(value, _variant) for value in array.to_pylist()]
    if root in _TEXTS:
        return [_each(value, _TEXTS[root]) for value in array.to_pylist()]
    if root is TypeRoot.DATE:
        return [_each(value, _date_text) for value in array.cast(pa.int32()).to_pylist()]
    if root is TypeRoot.TIME:
        per_second = _UNITS[array.type.unit]
        return [
            _each(value, lambda units: _time_text(units * 10**9 // per_second))
            for value in array.cast(pa.int32()).to_pylist()
        ]
    if root in (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ):
        per_second = _UNITS[array.type.unit]
        show = _instant_text if root is TypeRoot.TIMESTAMP_LTZ else _date_time_text
        return [
            _each(value, lambda units: show(units, per_second))
            for value in array.cast(pa.int64()).to_pylist()
        ]
    return list(array.to_pylist())


def _each(value: Any, show: Any) -> Any:
    return None if value is None else show(value)


def _decimal_text(value: Decimal) -> str:
    return f"{value:f}"


def _variant(value: dict[str, bytes]) -> dict[str, str]:
    return {name: value[name].hex() for name in ("metadata", "value")}


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return repr(value) if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


_TEXTS = {
    TypeRoot.DECIMAL: _decimal_text,
    TypeRoot.FLOAT: _float_text,
    TypeRoot.DOUBLE: _float_text,
    TypeRoot.BINARY: bytes.hex,
    TypeRoot.VARBINARY: bytes.hex,
}


def _date_text(days: int) -> str:
    text = str(np.datetime64(days, "D"))
    year = int(text[:-6])
    return f"+{text}" if year > _LAST_YEAR_WITHOUT_SIGN else text


def _time_text(nanos_of_day: int, *, always_seconds: bool = False) -> str:
    seconds, nanos = divmod(nanos_of_day, 10**9)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
    if seconds % 60 or nanos or always_seconds:
        text += f":{seconds % 60:02}"
    if nanos:
        fraction = f"{nanos:09}"
        while fraction.endswith("000"):
            fraction = fraction[:-3]
        text += f".{fraction}"
    return text


def _date_time_text(units: int, per_second: int) -> str:
    days, units_of_day = divmod(units, per_second * _SECONDS_A_DAY)
    return f"{_date_text(days)}T{_time_text(units_of_day * 10**9 // per_second)}"


def _instant_text(units: int, per_second: int) -> str:
    days, units_of_day = divmod(units, per_second * _SECONDS_A_DAY)
    time = _time_text(units_of_day * 10**9 // per_second, always_seconds=True)
    return f"{_date_text(days)}T{time}Z"


def _normal(value: Any, type_: DataType) -> Any:
    if value is None:
        return None
    if isinstance(type_, AtomicType):
        return _NORMAL[type_.root](value) if type_.root in _NORMAL else value
    if isinstance(type_, RowType):
        return [_normal(part, field.type) for part, field in zip(value, type_.fields, strict=True)]
    if isinstance(type_, ArrayType):
        return [_normal(item, type_.element) for item in value]
    key, item_type = _map_types(type_)
    return sorted([[_normal(k, key), _normal(v, item_type)] for k, v in value], key=json.dumps)


_NORMAL: dict[TypeRoot, Callable[[Any], Any]] = {
    TypeRoot.FLOAT: lambda value: _float_text(float(np.float32(float(value)))),
    TypeRoot.DOUBLE: lambda value: _float_text(float(value)),
    TypeRoot.VARIANT: lambda value: {name: value[name] for name in ("metadata", "value")},
}
