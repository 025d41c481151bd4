"""How values of a column look after its type was changed.

A data file keeps the types of the schema it was written with; reading through a newer schema
casts, by the same rules as Java Paimon.

Source: apache/paimon@1.3.1 ``org.apache.paimon.casting.CastExecutors``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import pyarrow as pa

from paimonlab.clock import is_zone_utc
from paimonlab.datafile import number_casts as number
from paimonlab.datafile import text_casts as text
from paimonlab.datafile import time_casts as clock
from paimonlab.errors import UnsupportedError
from paimonlab.spec.types.data_types import AtomicType, DataType, TypeRoot, with_nullable
from paimonlab.spec.types.text import format_type

Cast: TypeAlias = Callable[[pa.Array], pa.Array]
_Rule: TypeAlias = Callable[[pa.Array, AtomicType, AtomicType], pa.Array]

_FAMILIES = {
    TypeRoot.BOOLEAN: "boolean",
    TypeRoot.TINYINT: "integer",
    TypeRoot.SMALLINT: "integer",
    TypeRoot.INT: "integer",
    TypeRoot.BIGINT: "integer",
    TypeRoot.FLOAT: "float",
    TypeRoot.DOUBLE: "float",
    TypeRoot.DECIMAL: "decimal",
    TypeRoot.CHAR: "text",
    TypeRoot.VARCHAR: "text",
    TypeRoot.BINARY: "bytes",
    TypeRoot.VARBINARY: "bytes",
    TypeRoot.DATE: "date",
    TypeRoot.TIME: "time",
    TypeRoot.TIMESTAMP: "timestamp",
    TypeRoot.TIMESTAMP_LTZ: "timestamp",
}

_RULES: Mapping[tuple[str, str], _Rule] = {
    ("boolean", "integer"): number.integer_to_number,
    ("boolean", "float"): number.integer_to_number,
    ("boolean", "decimal"): number.integer_to_decimal,
    ("boolean", "text"): text.boolean_to_text,
    ("integer", "boolean"): number.integer_to_boolean,
    ("integer", "integer"): number.integer_to_number,
    ("integer", "float"): number.integer_to_number,
    ("integer", "decimal"): number.integer_to_decimal,
    ("integer", "text"): text.integer_to_text,
    ("integer", "timestamp"): clock.integer_to_timestamp,
    ("float", "integer"): number.float_to_integer,
    ("float", "float"): number.float_to_float,
    ("float", "decimal"): number.float_to_decimal,
    ("float", "text"): text.float_to_text,
    ("decimal", "integer"): number.decimal_to_integer,
    ("decimal", "float"): number.decimal_to_float,
    ("decimal", "decimal"): number.decimal_to_decimal,
    ("decimal", "text"): text.decimal_to_text,
    ("text", "boolean"): text.text_to_boolean,
    ("text", "integer"): text.text_to_integer,
    ("text", "float"): text.text_to_float,
    ("text", "decimal"): text.text_to_decimal,
    ("text", "text"): text.fit_text,
    ("text", "bytes"): text.text_to_bytes,
    ("text", "date"): clock.text_to_date,
    ("text", "time"): clock.text_to_time,
    ("text", "timestamp"): clock.text_to_timestamp,
    ("bytes", "bytes"): text.fit_bytes,
    ("bytes", "text"): text.bytes_to_text,
    ("date", "text"): clock.date_to_text,
    ("date", "timestamp"): clock.date_to_timestamp,
    ("time", "text"): clock.time_to_text,
    ("time", "timestamp"): clock.time_to_timestamp,
    ("timestamp", "integer"): clock.timestamp_to_integer,
    ("timestamp", "date"): clock.timestamp_to_date,
    ("timestamp", "time"): clock.timestamp_to_time,
    ("timestamp", "text"): clock.timestamp_to_text,
    ("timestamp", "timestamp"): clock.timestamp_to_timestamp,
}


def atomic_cast(source: AtomicType, target: AtomicType, *, column: str) -> Cast | None:
    """Find how values of one type are read as another.

    Parameters
    ----------
    source, target
        Types without regard to whether they are nullable.
    column
        Table and column, for the message.

    Returns
    -------
    function or None
        From an array of ``to_arrow(source)`` to one of ``to_arrow(target)``, nulls staying
        null; it raises ``ValueError`` for a value that the cast does not allow. None: values
        stay as they are.

    Raises
    ------
    UnsupportedError
        If there is no such cast.
    """
    if with_nullable(source, True) == with_nullable(target, True):  # noqa: FBT003 - a value
        return None
    rule = _RULES.get((_FAMILIES.get(source.root, ""), _FAMILIES.get(target.root, "")))
    if rule is None or _is_too_short(source, target):
        raise unsupported_cast(source, target, column)
    if clock.needs_zone(source, target) and not is_zone_utc():
        raise unsupported_cast(source, target, column, " in this process's time zone: set TZ=UTC")
    return lambda array: rule(array, source, target)


def unsupported_cast(
    source: DataType, target: DataType, column: str, reason: str = ""
) -> UnsupportedError:
    """Say that a file's column cannot be read with its new type."""
    return UnsupportedError(
        f"{column}: reading {format_type(source)} as {format_type(target)}{reason}",
        "an older data file holds the first type, the table's schema says the second",
    )


def _is_too_short(source: AtomicType, target: AtomicType) -> bool:
    """Java turns dates and times into STRING only, never into a text of limited length."""
    is_clock = _FAMILIES[source.root] in ("date", "time", "timestamp")
    return is_clock and _FAMILIES[target.root] == "text" and target.length != 2**31 - 1
