"""Lengths of days and times: literals, what is between two times, and what is computed of them.

DuckDB has them as microseconds, in a BIGINT. Source: ``IntervalUtils`` and
``BinaryArithmeticWithDatetimeResolver`` of Spark 4.
"""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

from sqlglot import exp

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import quotient
from paimonlab.sql_engine.functions import clocks
from paimonlab.sql_engine.interval_sums import WHOLE, shared
from paimonlab.sql_engine.kinds import FIELDS, IntervalType
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value

_DAY, _HOUR, _MINUTE, _SECOND = 86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000
_SIZES = dict(zip(FIELDS, (_DAY, _HOUR, _MINUTE, _SECOND), strict=True))
_UNITS = {
    **{field: (field, size) for field, size in _SIZES.items()},
    "WEEK": ("DAY", 7 * _DAY),
    "MILLISECOND": ("SECOND", 1_000),
    "MICROSECOND": ("SECOND", 1),
}
_COUNT = re.compile(r"-?\d{1,9}")
_SECONDS = re.compile(r"-?\d{1,9}\.\d{1,6}")
_HINT = "Write INTERVAL 3 DAYS, or for a column n * INTERVAL 1 DAY"
_TIMES = (kinds.TIMESTAMP, kinds.TIMESTAMP_NTZ)


def is_interval(value: Value) -> bool:
    """Tell whether a value is a length of time."""
    return isinstance(value.kind, IntervalType)


def literal(node: exp.Interval) -> Value:
    """Translate ``INTERVAL 3 DAYS`` and ``INTERVAL '1 02:03:04' DAY TO SECOND``.

    Raises
    ------
    NotTranslatedError
        If it is written otherwise, or of months.
    """
    return of_micros(*written(node))


def written(node: exp.Interval) -> tuple[int, IntervalType]:
    """Return the microseconds and the type of a length that is written.

    Raises
    ------
    NotTranslatedError
        If it is written otherwise, or of months.
    """
    given, unit = node.this, node.args.get("unit")
    text = given.name if isinstance(given, exp.Literal) else ""
    if isinstance(unit, exp.IntervalSpan):
        return _of_span(text, unit.this.name.upper(), unit.expression.name.upper())
    name = unit.name.upper().removesuffix("S") if isinstance(unit, exp.Var) else ""
    field, size = _UNITS.get(name, ("", 0))
    if _COUNT.fullmatch(text) and field:
        return int(text) * size, IntervalType(field, field)
    if name == "SECOND" and _SECONDS.fullmatch(text):
        return int(Decimal(text) * size), IntervalType(field, field)
    raise NotTranslatedError("such an INTERVAL", "INTERVAL", _HINT)


def _of_span(text: str, first: str, last: str) -> tuple[int, IntervalType]:
    if first not in FIELDS or last not in FIELDS or FIELDS.index(first) >= FIELDS.index(last):
        raise NotTranslatedError(f"INTERVAL {first} TO {last}", "INTERVAL", _HINT)
    fields = FIELDS[FIELDS.index(first) : FIELDS.index(last) + 1]
    pattern = {"DAY": r"(\d{1,9})"}
    pieces = [pattern.get(field, r"(\d{1,2})") for field in fields]
    if last == "SECOND":
        pieces[-1] = r"(\d{1,2}(?:\.\d{1,6})?)"
    joined = pieces[0] + "".join(
        (" " if before == "DAY" else ":") + piece
        for before, piece in zip(fields, pieces[1:], strict=False)
    )
    found = re.fullmatch(rf"([+-]?){joined}", text)
    if found is None:
        raise NotTranslatedError("such an INTERVAL", "INTERVAL", _HINT)
    sign, *numbers = found.groups()
    most = {"DAY": 10**9, "HOUR": 23, "MINUTE": 59, "SECOND": 59}
    if any(int(Decimal(one)) > most[field] for field, one in zip(fields, numbers, strict=True)):
        raise NotTranslatedError("such an INTERVAL", "INTERVAL", _HINT)
    micros = sum(
        int(Decimal(one) * _SIZES[field]) for field, one in zip(fields, numbers, strict=True)
    )
    return -micros if sign == "-" else micros, IntervalType(first, last)


def of_micros(micros: int, kind: IntervalType = WHOLE) -> Value:
    """Return a length of so many microseconds.

    Raises
    ------
    NotTranslatedError
        If they are too many for 64 bits.
    """
    if not -(2**63) < micros < 2**63:
        raise NotTranslatedError("such an INTERVAL", "INTERVAL")
    return Value(f"CAST({micros} AS BIGINT)", kind, _written(micros, kind))


def of_python(value: timedelta) -> Value:
    """Return the value of a parameter."""
    return of_micros(value // timedelta(microseconds=1))


def _written(micros: int, kind: IntervalType) -> str:
    """Write a literal as Spark names it."""
    rest, pieces = abs(micros), []
    fields = FIELDS[FIELDS.index(kind.first) : FIELDS.index(kind.last) + 1]
    for field in fields:
        count, rest = divmod(rest, _SIZES[field])
        pieces.append(f"{count}" if field == "DAY" else f"{count:02d}")
    if kind.last == "SECOND" and rest:
        pieces[-1] += f".{rest:06d}".rstrip("0")
    clock = ":".join(pieces[1:] if kind.first == "DAY" else pieces)
    days = f"{pieces[0]}{' ' if clock else ''}" if kind.first == "DAY" else ""
    return f"INTERVAL '{'-' if micros < 0 else ''}{days}{clock}' {kind.fields_text}"


def apart(left: Value, right: Value) -> Value | None:
    """Return what is from one time to another; None if they are not two times proven to be so."""
    name = f"({left.name} - {right.name})"
    if left.kind == right.kind == kinds.DATE:
        text = f"(CAST(({left.text} - {right.text}) AS BIGINT) * {_DAY})"
        return Value(text, IntervalType("DAY", "DAY"), name)
    has_instant = kinds.TIMESTAMP in (left.kind, right.kind)
    if left.kind == right.kind == kinds.TIMESTAMP_NTZ or (
        has_instant and {left.kind, right.kind} <= {kinds.TIMESTAMP, kinds.DATE}
    ):
        sides = [
            clocks.shown(clocks.as_instant(one) if has_instant else one) for one in (left, right)
        ]
        return Value(f"(epoch_us({sides[0].text}) - epoch_us({sides[1].text}))", WHOLE, name)
    return None


def moved(sign: str, time: Value, interval: Value) -> Value:
    """Add a length to a time, or subtract it.

    Raises
    ------
    NotTranslatedError
        If it is not a time.
    """
    kind = interval.kind
    assert isinstance(kind, IntervalType), "a time is moved by a length"
    name = f"{time.name} {sign} {interval.name}"
    if time.kind == kinds.DATE and kind.last == "DAY":
        shown = f"extractansiintervaldays({interval.name})"
        shown = f"(- {shown})" if sign == "-" else shown
        text = f"({time.text} {sign} CAST({interval.text} // {_DAY} AS INTEGER))"
        return Value(text, kinds.DATE, f"date_add({time.name}, {shown})")
    if time.kind == kinds.DATE:
        time = clocks.as_instant(time)
    if time.kind not in _TIMES:
        raise NotTranslatedError(f"{kinds.spark_type(time.kind)} {sign} INTERVAL", sign)
    micros = interval.text if sign == "+" else f"(CAST(0 AS BIGINT) - {interval.text})"
    if time.kind == kinds.TIMESTAMP:
        return Value(clocks.after_micros(time.text, micros), kinds.TIMESTAMP, name)
    return Value(f"({time.text} + to_microseconds({micros}))", kinds.TIMESTAMP_NTZ, name)


def added(sign: str, left: Value, right: Value) -> Value:
    """Add or subtract lengths, or a length and a time.

    Raises
    ------
    NotTranslatedError
        If one of them is something else.
    """
    if is_interval(left) and is_interval(right):
        kind = kinds.common(left.kind, right.kind)
        assert kind is not None, "two lengths have a type together"
        return Value(
            f"({left.text} {sign} {right.text})", kind, f"({left.name} {sign} {right.name})"
        )
    if is_interval(right):
        return moved(sign, left, right)
    if sign == "+":
        return moved(sign, right, left)
    raise NotTranslatedError(f"INTERVAL - {kinds.spark_type(right.kind)}", sign)


def multiplied(left: Value, right: Value) -> Value:
    """Multiply a length by a whole number.

    Raises
    ------
    NotTranslatedError
        If that is another one.
    """
    length, number = (left, right) if is_interval(left) else (right, left)
    if not kinds.is_whole(number.kind):
        raise NotTranslatedError(f"INTERVAL * {kinds.spark_type(number.kind)}", "*")
    text = f"({length.text} * CAST({number.text} AS BIGINT))"
    return Value(text, WHOLE, f"({length.name} * {number.name})")


def divided(left: Value, right: Value) -> Value:
    """Divide a length by a whole number: rounded, halves away from zero.

    Raises
    ------
    NotTranslatedError
        If it is something else.
    """
    if not is_interval(left) or not kinds.is_whole(right.kind):
        types = f"{kinds.spark_type(left.kind)} / {kinds.spark_type(right.kind)}"
        raise NotTranslatedError(types, "/")
    count = f"CAST({right.text} AS HUGEINT)"
    text = quotient(shared(left.text, count), left.text, right.text, right)
    return Value(text, WHOLE, f"({left.name} / {right.name})")


def negated(value: Value) -> Value:
    """Change the sign of a length."""
    return Value(f"(CAST(0 AS BIGINT) - {value.text})", value.kind, f"(- {value.name})")


def part(name: str, value: Value) -> Value:
    """Return the days, hours, minutes or seconds of a length, cut off towards zero.

    Raises
    ------
    NotTranslatedError
        If it has no such part.
    """
    unit = name.upper().removesuffix("S")
    if unit not in FIELDS:
        raise NotTranslatedError(f"extract({name.upper()}) of an INTERVAL", "extract")
    if unit == "SECOND":
        kind = kinds.decimal(8, 6)
        rest = f"CAST({value.text} % {_MINUTE} AS DECIMAL(8, 0))"
        text = f"CAST({rest} * CAST(0.000001 AS DECIMAL(6, 6)) AS {kinds.duck_type(kind)})"
        return Value(text, kind, "")
    size = _SIZES[unit]
    rest = (
        value.text if unit == "DAY" else f"({value.text} % {size * (24 if unit == 'HOUR' else 60)})"
    )
    kind = kinds.INT if unit == "DAY" else kinds.TINYINT
    text = f"CAST(({rest} - {rest} % {size}) // {size} AS {kinds.duck_type(kind)})"
    return Value(text, kind, "")
