"""One value as text: NULL, NaN and the empty string can always be distinguished."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import Struct

from paimonlab.spec.visible_text import visible

BYTES_SHOWN = 512
"""Bytes of a binary value that are written."""


class Cell(Struct, frozen=True):
    """The content of one cell of a table."""

    text: str
    """Only visible characters."""
    is_value: bool = True
    """False for NULL, which is drawn differently from any text."""
    background: str = ""
    """A CSS colour on which text can be read in light and dark themes."""


NULL = Cell("NULL", is_value=False)


def cells(column: pa.ChunkedArray) -> list[Cell]:
    """Write each value of a column.

    Text that could be taken for something else (empty, ``NULL``, spaces at an end) is written in
    quotes.
    """
    write = _float32 if pa.types.is_float32(column.type) else value_text
    return [NULL if value is None else Cell(write(value)) for value in python_values(column)]


def python_values(column: pa.ChunkedArray) -> list[Any]:
    """Return values of Python; text for what it has no value for: years before 1 and after 9999."""
    try:
        return column.to_pylist()
    except (OverflowError, ValueError):
        return [_value(scalar) for scalar in column]


def _value(scalar: pa.Scalar) -> Any:
    """Return a value, or text if Python has no such value: years before 1 and after 9999."""
    try:
        return scalar.as_py()
    except (OverflowError, ValueError):
        return _beyond_python(scalar)


def _beyond_python(scalar: pa.Scalar) -> str:
    if pa.types.is_nested(scalar.type):
        return "(contains a date before year 1 or after 9999)"
    # Arrow's own cast to text wraps years that need more than 16 bits.
    unit = "D" if pa.types.is_date(scalar.type) else scalar.type.unit
    return str(np.array(scalar.value, f"datetime64[{unit}]")).replace("T", " ")


def value_text(value: Any) -> str:
    """Write a value as Spark prints it, without losing digits."""
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            return write(value)
    return str(value)


def _string(value: str) -> str:
    text = visible(value)
    is_ambiguous = value in {"", "NULL"} or value != value.strip(" ") or value[0] in "'\""
    return f"'{text}'" if is_ambiguous else text


def _float(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(value)


def _float32(value: float) -> str:
    """Write the shortest text that is this value among the 32-bit floats."""
    return str(np.float32(value)) if math.isfinite(value) else _float(value)


def _binary(value: bytes) -> str:
    more = f"… {len(value):,} bytes" if len(value) > BYTES_SHOWN else ""
    return "0x" + value[:BYTES_SHOWN].hex() + more


def _timestamp(value: dt.datetime) -> str:
    text = value.replace(tzinfo=None).isoformat(sep=" ")
    return text.rstrip("0") if "." in text else text


def _duration(value: dt.timedelta) -> str:
    sign, span = ("-", -value) if value < dt.timedelta() else ("", value)
    clock = dt.timedelta(seconds=span.seconds, microseconds=span.microseconds)
    return f"{sign}{span.days} {clock}"


def _nested(value: list[Any] | Mapping[str, Any]) -> str:
    if isinstance(value, Mapping):
        fields = (f"{visible(str(name))}: {_inner(item)}" for name, item in value.items())
        return "{" + ", ".join(fields) + "}"
    if value and all(isinstance(item, tuple) and len(item) == 2 for item in value):
        return "{" + ", ".join(f"{_inner(key)} -> {_inner(item)}" for key, item in value) + "}"
    return "[" + ", ".join(_inner(item) for item in value) + "]"


def _inner(value: Any) -> str:
    """Write a value inside a nested one, where text is always in quotes."""
    return f"'{visible(value)}'" if isinstance(value, str) else value_text(value)


_WRITERS: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (type(None), lambda _: "NULL"),
    (bool, lambda value: "true" if value else "false"),
    (str, _string),
    (float, _float),
    (Decimal, lambda value: format(value, "f")),
    (bytes, _binary),
    (dt.datetime, _timestamp),
    (dt.timedelta, _duration),
    (list, _nested),
    (Mapping, _nested),
)
