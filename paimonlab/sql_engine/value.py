"""An expression that was translated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from paimonlab.sql_engine import kinds, zones
from paimonlab.sql_engine.kinds import Kind, VoidType, duck_type, spark_type
from paimonlab.sql_engine.refusal import NotTranslatedError

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}:\d{2}(\.\d{1,6})?)?")
NOT_WRITTEN = object()
"""The literal of a value that is not written in the statement."""
EXACT_DIGITS = 15
"""Decimals of so many digits become the nearest double."""


class Value(Struct, frozen=True):
    """An expression in DuckDB's SQL."""

    text: str
    """Can stand anywhere: in parentheses where it has to be."""
    kind: Kind
    name: str
    """As Spark calls a column that is not named."""
    literal: Any = NOT_WRITTEN
    """The value, if it is written in the statement."""
    column: Any = None
    """The column of a relation, if it is nothing but one."""
    parts: Sequence[Value] = ()
    """The elements, if it is an array that is written in the statement."""

    @property
    def is_literal(self) -> bool:
        """Whether the value is written in the statement."""
        return self.literal is not NOT_WRITTEN


def quoted(text: str) -> str:
    """Write a text as DuckDB's literal."""
    if "\0" in text or "\1" in text:
        raise NotTranslatedError("a text with the characters 0 or 1")
    return "'" + text.replace("'", "''") + "'"


def literal(value: Any, kind: Kind, name: str = "") -> Value:
    """Write a value as DuckDB's SQL."""
    if value is None:
        return Value("NULL", kind, name or "NULL", None)
    if isinstance(value, bytes):
        text = "'" + "".join(f"\\x{byte:02X}" for byte in value) + "'::BLOB"
    elif isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, datetime) and kind == kinds.TIMESTAMP:
        text = f"'{value.astimezone(UTC).isoformat(' ')}'::TIMESTAMPTZ"
    else:
        word = repr(value) if isinstance(value, float) else str(value)
        if isinstance(value, Decimal):
            word = format(value, "f")
        text = f"CAST({quoted(word)} AS {duck_type(kind)})"
    return Value(text, kind, name or str(value), value)


def cast(value: Value, kind: Kind, *, name: str = "") -> Value:
    """Convert a value as coercion does: to a type that has room for it."""
    called = name or value.name
    if value.kind == kind or isinstance(kind, VoidType):
        return replace(value, name=called)
    if isinstance(value.kind, kinds.IntervalType) and isinstance(kind, kinds.IntervalType):
        return replace(value, kind=kind, name=called)
    if not kinds.is_atomic(kind) or isinstance(value.kind, kinds.IntervalType):
        if isinstance(value.kind, VoidType):
            return Value("NULL", kind, called)
        raise NotTranslatedError(f"{spark_type(value.kind)} as {spark_type(kind)}")
    if value.is_literal and value.literal is not None and kind in (kinds.DOUBLE, kinds.FLOAT):
        return literal(float(value.literal), kind, called)
    if kind == kinds.TIMESTAMP and value.kind in (kinds.DATE, kinds.TIMESTAMP_NTZ):
        return _as_instant(value, called)
    sql = value.text
    if kind == kinds.STRING and value.kind == kinds.TIMESTAMP:
        sql = f"timezone({quoted(zones.zone())}, {sql})"
    if kind == kinds.DOUBLE and kinds.is_decimal(value.kind) and is_long(value.kind):
        sql = f"CAST({sql} AS VARCHAR)"
    text = f"CAST({sql} AS {duck_type(kind)})"
    return Value(text, kind, called, value.literal)


def _as_instant(value: Value, name: str) -> Value:
    given = value.literal if value.is_literal else None
    if isinstance(given, date):
        clock = given if isinstance(given, datetime) else datetime.combine(given, time())
        return literal(zones.moment(clock), kinds.TIMESTAMP, name)
    text = zones.instant(f"CAST({value.text} AS TIMESTAMP)")
    return Value(text, kinds.TIMESTAMP, name)


def is_long(kind: Kind) -> bool:
    """Tell whether DuckDB makes doubles of decimals that are not the nearest ones."""
    return kinds.shape(kind)[0] > EXACT_DIGITS


def read_text(value: Value, kind: Kind) -> Value | None:
    """Read a text of the statement as another type, where Spark does so beside a value of it.

    None if it is not a text, or not written as proven: ``2026-01-31``, ``2026-01-31 12:00:00``.
    """
    text = value.literal
    if not value.is_literal or value.kind != kinds.STRING or not isinstance(text, str):
        return None
    try:
        if kind == kinds.DATE and _DATE.fullmatch(text):
            return literal(date.fromisoformat(text), kind, value.name)
        if kind in (kinds.TIMESTAMP_NTZ, kinds.TIMESTAMP) and _TIME.fullmatch(text):
            moment = datetime.fromisoformat(text)
            if kind == kinds.TIMESTAMP:
                moment = zones.moment(moment)
            return literal(moment, kind, value.name)
    except (ValueError, OverflowError):
        return None
    return None


def first_known(texts: Sequence[str], kind: Kind) -> str:
    """Write the first of values of a kind that is not NULL.

    In a list, of which a value is taken, DuckDB 2.0 does not ask its Parquet reader for texts that
    take the place of NULL: that gives NULL for others as well, see `arithmetic.truth_beside_null`.
    """
    text = f"coalesce({', '.join(texts)})"
    return f"([{text}])[1]" if kind in (kinds.STRING, kinds.BINARY) else text


def together(values: list[Value], what: str) -> list[Value]:
    """Bring values to the type that Spark gives all of them.

    Raises
    ------
    NotTranslatedError
        If that is not proven.
    """
    kind: Kind = kinds.VOID
    for value in values:
        if value.kind == kinds.STRING and value.is_literal:
            continue
        kind = _shared(kind, value.kind, what)
    read = []
    for value in values:
        taken = value if kind == kinds.VOID else (read_text(value, kind) or value)
        read.append(taken)
    for value in read:
        kind = _shared(kind, value.kind, what)
    return [cast(value, kind) for value in read]


def _shared(left: Kind, right: Kind, what: str) -> Kind:
    kind = kinds.common(left, right)
    if kind is None:
        raise NotTranslatedError(f"{what} of {spark_type(left)} and {spark_type(right)}", what)
    return kind
