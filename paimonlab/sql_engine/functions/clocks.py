"""Instants, and what the clock of the session's zone shows at them."""

from __future__ import annotations

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.value import Value, cast, quoted
from paimonlab.sql_engine.zones import instant, is_fixed, zone

__all__ = [
    "after",
    "after_micros",
    "aimed",
    "as_instant",
    "instant",
    "is_fixed",
    "moved",
    "shown",
    "zone",
]


def shown(value: Value) -> Value:
    """Return the time that the clock shows at an instant; other values as they are."""
    if value.kind != kinds.TIMESTAMP:
        return value
    return Value(f"timezone({quoted(zone())}, {value.text})", kinds.TIMESTAMP_NTZ, value.name)


def moved(at: str, step: str) -> str:
    """Return when the clock shows a time moved by days or months; of two times the one alike.

    Parameters
    ----------
    at
        The instant.
    step
        How far, as DuckDB's interval.
    """
    if is_fixed():
        return f"({at} + {step})"
    return aimed(at, f"(timezone({quoted(zone())}, {at}) + {step})")


def aimed(at: str, aim: str) -> str:
    """Return when the clock shows a time, of two times the one as far from UTC as an instant."""
    offset = f"(timezone({quoted(zone())}, {at}) - timezone('UTC', {at}))"
    kept = f"timezone('UTC', {aim} - {offset})"
    is_kept = f"timezone({quoted(zone())}, {kept}) = {aim}"
    return f"(CASE WHEN {is_kept} THEN {kept} ELSE {instant(aim)} END)"


def after(at: str, seconds: str) -> str:
    """Return the instant some seconds later, whole days of which are days of the clock.

    Source: ``DateTimeUtils.timestampAddDayTime`` of Spark 4.
    """
    if is_fixed():
        return f"({at} + to_seconds({seconds}))"
    days = f"to_days(CAST(({seconds} - {seconds} % 86400) // 86400 AS INTEGER))"
    return f"({moved(at, days)} + to_seconds({seconds} % 86400))"


def after_micros(at: str, micros: str) -> str:
    """Return the instant some microseconds later, whole days of which are days of the clock."""
    if is_fixed():
        return f"({at} + to_microseconds({micros}))"
    rest = f"({micros} % 86400000000)"
    days = f"to_days(CAST(({micros} - {rest}) // 86400000000 AS INTEGER))"
    return f"({moved(at, days)} + to_microseconds({rest}))"


def as_instant(value: Value) -> Value:
    """Return a day or a time of the clock as the instant that Spark casts it to."""
    is_clock = value.kind in (kinds.DATE, kinds.TIMESTAMP_NTZ)
    return cast(value, kinds.TIMESTAMP) if is_clock else value
