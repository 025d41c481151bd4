"""Dates and timestamps moved by intervals and by numbers of days."""

from __future__ import annotations

from sqlglot import exp

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import fails
from paimonlab.sql_engine.functions import clocks
from paimonlab.sql_engine.functions.arrays import array_of
from paimonlab.sql_engine.kinds import Kind
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value, cast

_DAYS = {"DAY": 1, "WEEK": 7}
_MONTHS = {"MONTH": "months", "YEAR": "years"}
_TIMES = {"HOUR": 3600, "MINUTE": 60, "SECOND": 1}
"""Seconds of each."""
_MOST = 10_000


def by_interval(sign: str, value: Value, interval: exp.Interval) -> Value:
    """Add or subtract ``INTERVAL n unit``; ``sign`` is + or -.

    Raises
    ------
    NotTranslatedError
        If that is not proven for the type and the unit.
    """
    count, unit = parts(interval)
    kind: Kind = value.kind
    if kind == kinds.DATE and unit in _DAYS:
        days = count * _DAYS[unit]
        shown = f"extractansiintervaldays(INTERVAL '{days}' DAY)"
        if sign == "-":
            shown = f"(- {shown})"
        text = f"({value.text} {sign} {days})"
        return Value(text, kind, f"date_add({value.name}, {shown})")
    if kind == kinds.DATE and unit in _TIMES:
        value, kind = clocks.as_instant(value), kinds.TIMESTAMP
    if kind in (kinds.DATE, kinds.TIMESTAMP_NTZ, kinds.TIMESTAMP) and unit in _MONTHS:
        step = f"to_{_MONTHS[unit]}({count if sign == '+' else -count})"
        name = f"{value.name} {sign} INTERVAL '{count}' {unit}"
        if kind == kinds.TIMESTAMP:
            return Value(clocks.moved(value.text, step), kind, name)
        return Value(f"CAST(({value.text} + {step}) AS {kinds.duck_type(kind)})", kind, name)
    if kind in (kinds.TIMESTAMP_NTZ, kinds.TIMESTAMP) and unit in (*_TIMES, *_DAYS):
        size = _TIMES[unit] if unit in _TIMES else 86_400 * _DAYS[unit]
        shown = f"{count:02d}" if unit in _TIMES else str(count * _DAYS[unit])
        called = unit if unit in _TIMES else "DAY"
        name = f"{value.name} {sign} INTERVAL '{shown}' {called}"
        seconds = f"CAST({count * size * (1 if sign == '+' else -1)} AS BIGINT)"
        if kind == kinds.TIMESTAMP:
            return Value(clocks.after(value.text, seconds), kind, name)
        return Value(f"({value.text} + to_seconds({seconds}))", kind, name)
    raise NotTranslatedError(f"{kinds.spark_type(kind)} {sign} INTERVAL {unit}", "INTERVAL")


def is_of_one_unit(interval: exp.Interval) -> bool:
    """Tell whether it is ``INTERVAL n unit``, as `by_interval` takes it."""
    count, unit = interval.this, interval.args.get("unit")
    return isinstance(count, exp.Literal) and count.name.isdecimal() and isinstance(unit, exp.Var)


def parts(interval: exp.Interval) -> tuple[int, str]:
    """Return how many, and of which unit: ``DAY``.

    Raises
    ------
    NotTranslatedError
        If they are not written in the statement.
    """
    count, unit = interval.this, interval.args.get("unit")
    is_count = isinstance(count, exp.Literal) and count.name.isdecimal()
    if not is_count or not isinstance(unit, exp.Var) or int(count.name) > _MOST:
        raise NotTranslatedError("such an INTERVAL", "INTERVAL")
    return int(count.name), unit.name.upper().removesuffix("S")


def by_days(sign: str, value: Value, days: Value) -> Value:
    """Add or subtract a number of days: ``day + 1``.

    Raises
    ------
    NotTranslatedError
        If it is not one.
    """
    if days.kind not in kinds.WHOLE[:3]:
        raise NotTranslatedError(f"DATE {sign} {kinds.spark_type(days.kind)}", sign)
    name = "date_add" if sign == "+" else "date_sub"
    text = f"({value.text} {sign} {cast(days, kinds.INT).text})"
    return Value(text, kinds.DATE, f"{name}({value.name}, {days.name})")


_SIZES = _DAYS | {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def sequence(first: Value, last: Value, count: int, unit: str) -> Value:
    """Translate ``sequence(first, last, INTERVAL n unit)``: each step is counted from the first.

    Raises
    ------
    NotTranslatedError
        If it is not proven for the types and the unit.
    """
    kind: Kind = first.kind
    is_day = kind == kinds.DATE and unit in _SIZES
    is_time = kind in (kinds.TIMESTAMP, kinds.TIMESTAMP_NTZ) and unit in _TIMES
    if not (is_day or is_time) or last.kind != kind or count < 1:
        types = f"{kinds.spark_type(kind)}, {kinds.spark_type(last.kind)}"
        raise NotTranslatedError(f"sequence({types}) by INTERVAL {count} {unit}", "sequence")
    size = count * (_TIMES[unit] if is_time else _SIZES[unit])
    if is_time:
        span, step = f"(epoch({last.text}) - epoch({first.text}))", f"to_seconds(n * {size})"
        shown = f"{count:02d}"
    elif unit in _DAYS:
        span, step = f"({last.text} - {first.text})", f"CAST(n * {size} AS INTEGER)"
        shown, unit = str(size), "DAY"
    else:
        begin, end = (f"(year({one.text}) * 12 + month({one.text}))" for one in (first, last))
        span, step = f"({end} - {begin})", f"to_months(CAST(n * {size} AS INTEGER))"
        shown = str(size if unit == "QUARTER" else count)
        unit = "MONTH" if unit == "QUARTER" else unit
    made = f"CAST({first.text} + {step} AS {kinds.duck_type(kind)})"
    steps = f"range(0, CAST(floor({span} / {size}) AS BIGINT) + 1)"
    found = f"list_filter(list_transform({steps}, lambda n: {made}), lambda n: n <= {last.text})"
    message = fails("a sequence by a positive step ends before it begins")
    text = (
        f"(CASE WHEN {first.text} IS NULL OR {last.text} IS NULL THEN NULL "
        f"WHEN {first.text} > {last.text} THEN {message} ELSE {found} END)"
    )
    name = f"sequence({first.name}, {last.name}, INTERVAL '{shown}' {unit})"
    return Value(text, array_of(kind), name)
