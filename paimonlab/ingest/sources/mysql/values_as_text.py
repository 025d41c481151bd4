"""Values of MySQL as texts, for columns that all become STRING (``to-string``).

Source: apache/paimon@1.4.2 ``DebeziumSchemaUtils.transformRawValue``: how an action writes each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ParamSpec

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.datafile.text_casts import (
    boolean_to_text,
    decimal_to_text,
    float_to_text,
    integer_to_text,
)
from paimonlab.datafile.time_casts import date_to_text, timestamp_to_text
from paimonlab.errors import UnsupportedError
from paimonlab.ingest.formats.mysql_columns import mysql_type
from paimonlab.ingest.sources.mysql.log_values import Values
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import MAX_LENGTH, ArrayType, AtomicType, DataType, TypeRoot
from paimonlab.spec.types.text import format_type

_P = ParamSpec("_P")
_STRING = AtomicType(TypeRoot.VARCHAR, length=MAX_LENGTH)
_MILLIS = 3


def as_texts(read: Callable[_P, Values], kind: DataType, declared: str) -> Callable[_P, Values]:
    """Return what reads a column as texts.

    Parameters
    ----------
    read
        Reads it as a type.
    kind
        That type.
    declared
        What MySQL calls it.

    Raises
    ------
    UnsupportedError
        If there is no text of its values.
    """
    text = _text_of(kind, declared)

    def texts(*given: _P.args, **told: _P.kwargs) -> Values:
        values = read(*given, **told)
        try:
            return Values(text(values.array), values.errors)
        except pa.ArrowInvalid:  # of bytes
            return _readable(values)

    return texts


def _text_of(kind: DataType, declared: str) -> Callable[[pa.Array], pa.Array]:
    name = mysql_type(declared).name
    if isinstance(kind, ArrayType):
        return lambda array: pc.binary_join(array, ",")
    assert isinstance(kind, AtomicType), "MySQL has no other types"
    if kind.root in (TypeRoot.BINARY, TypeRoot.VARBINARY):
        return _bits if name == "BIT" else _as_string
    if kind.root in (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ):
        # Milliseconds for a DATETIME that has no more, else microseconds.
        digits = 3 if name == "DATETIME" and (kind.precision or 0) <= _MILLIS else 6
        wide = AtomicType(TypeRoot.TIMESTAMP, precision=digits)
        return lambda array: timestamp_to_text(array.cast(to_arrow(wide)), wide, _STRING)
    found = _TEXTS.get(kind.root)
    if found is None:
        raise UnsupportedError(f"type_mapping = 'to-string' of {format_type(kind)} of MySQL")
    return lambda array: found(array, kind, _STRING)


def _time(array: pa.Array, _kind: AtomicType, _string: AtomicType) -> pa.Array:
    """Spell as Java's LocalTime: seconds and their fraction only where there are some."""
    text = array.cast(pa.time64("us")).cast(pa.string())
    text = pc.replace_substring_regex(text, r"\.000000$", "")
    text = pc.replace_substring_regex(text, r"(\.\d{3})000$", r"\1")
    return pc.replace_substring_regex(text, r"^(\d\d:\d\d):00$", r"\1")


def _bits(array: pa.Array) -> pa.Array:
    texts = [
        None if value is None else "".join(format(byte, "08b") for byte in value)
        for value in array.to_pylist()
    ]
    return arrow_array(texts, pa.string())


def _as_string(array: pa.Array) -> pa.Array:
    return array.cast(pa.string())


def _readable(values: Values) -> Values:
    """Take bytes that are texts; of the others rows are set aside."""
    texts: list[str | None] = []
    errors = dict(values.errors)
    for row, value in enumerate(values.array.to_pylist()):
        try:
            texts.append(None if value is None else value.decode())
        except UnicodeDecodeError:
            texts.append(None)
            errors[row] = f"{value[:100]!r} is not UTF-8, so it is no STRING"
    return Values(arrow_array(texts, pa.string()), errors)


_TEXTS: Mapping[TypeRoot, Callable[[pa.Array, AtomicType, AtomicType], pa.Array]] = {
    TypeRoot.BOOLEAN: boolean_to_text,
    TypeRoot.TINYINT: integer_to_text,
    TypeRoot.SMALLINT: integer_to_text,
    TypeRoot.INT: integer_to_text,
    TypeRoot.BIGINT: integer_to_text,
    TypeRoot.DECIMAL: decimal_to_text,
    TypeRoot.FLOAT: float_to_text,
    TypeRoot.DOUBLE: float_to_text,
    TypeRoot.DATE: date_to_text,
    TypeRoot.TIME: _time,
}
