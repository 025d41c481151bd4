"""Lengths of time that are made of numbers: ``make_dt_interval``, ``make_interval``.

One that ``make_interval`` makes has months, days and times, none of which is a number of the
others. It stands beside a time alone. Source: ``IntervalUtils.makeDayTimeInterval``,
``MakeInterval``, ``DateAddInterval`` and ``DateTimeUtils.timestampAddInterval`` of Spark 4.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import fails
from paimonlab.sql_engine.functions import clocks
from paimonlab.sql_engine.functions.signatures import Translate
from paimonlab.sql_engine.interval_sums import WHOLE
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value

OF_TIMES = "make_dt_interval"
OF_ALL = "make_interval"
_SECONDS = kinds.decimal(18, 6)
_HOUR, _MINUTE, _DAY = 3_600_000_000, 60_000_000, 86_400_000_000
_PARTS = 7
_WHOLE = (kinds.VOID, *kinds.WHOLE[:3])
_TIMES_ON_DATE = "hours, minutes or seconds are added to a date; cast it to a TIMESTAMP"


def _made(parts: Sequence[Value]) -> Value:
    """Translate ``make_dt_interval(days, hours, minutes, seconds)``.

    Raises
    ------
    NotTranslatedError
        If it is not proven, for these types.
    """
    days, hours, minutes, seconds = _filled(OF_TIMES, parts, 4)
    text = f"({_times(days, _DAY)} + {_clock(hours, minutes, seconds)})"
    return Value(text, WHOLE, _name(OF_TIMES, (days, hours, minutes, seconds)))


def is_of_all(node: exp.Expression) -> bool:
    """Tell whether an expression is a call of ``make_interval``."""
    if isinstance(node, exp.Paren):
        return is_of_all(node.this)
    return isinstance(node, exp.Anonymous) and str(node.this).lower() == OF_ALL


def moved(sign: str, time: Value, parts: Sequence[Value]) -> Value:
    """Add what ``make_interval`` makes to a time, or subtract it.

    Parameters
    ----------
    sign
        ``+`` or ``-``.
    time
        The time.
    parts
        Arguments of the call: years, months, weeks, days, hours, minutes, seconds.

    Raises
    ------
    NotTranslatedError
        If it is not proven, for these types.
    """
    filled = _filled(OF_ALL, parts, _PARTS)
    years, months, weeks, days, *clock = filled
    way = "" if sign == "+" else "-"
    month_text = f"to_months(CAST({way}({_times(years, 12)} + {_times(months, 1)}) AS INTEGER))"
    day_text = f"to_days(CAST({way}({_times(weeks, 7)} + {_times(days, 1)}) AS INTEGER))"
    micros = f"({way}{_clock(*clock)})"
    name = f"{time.name} {sign} {_name(OF_ALL, filled)}"
    if time.kind == kinds.DATE:
        text = f"CAST((({time.text} + {month_text}) + {day_text}) AS DATE)"
        if any(part.literal != 0 for part in clock):
            text = f"(CASE WHEN {micros} <> 0 THEN {fails(_TIMES_ON_DATE)} ELSE {text} END)"
        return Value(text, kinds.DATE, name)
    if time.kind == kinds.TIMESTAMP_NTZ:
        text = f"((({time.text} + {month_text}) + {day_text}) + to_microseconds({micros}))"
        return Value(text, kinds.TIMESTAMP_NTZ, name)
    if time.kind == kinds.TIMESTAMP:
        begin = clocks.moved(clocks.moved(time.text, month_text), day_text)
        if not clocks.is_fixed():  # both at once: the clock is looked at one time
            begin = clocks.moved(time.text, f"({month_text} + {day_text})")
        return Value(f"({begin} + to_microseconds({micros}))", kinds.TIMESTAMP, name)
    raise NotTranslatedError(f"{kinds.spark_type(time.kind)} {sign} INTERVAL", OF_ALL)


def _filled(name: str, parts: Sequence[Value], count: int) -> list[Value]:
    """Add what is left out, and check types: all but the seconds are INT."""
    if len(parts) > count:
        raise NotTranslatedError(f"{name}() of {len(parts)} arguments", name)
    zero = Value("0", kinds.INT, "0", 0)
    filled = [*parts, *[zero] * (count - 1 - len(parts))]
    if len(filled) < count:
        filled.append(Value("0", kinds.INT, "0.000000", 0))
    *whole, seconds = filled
    types = ", ".join(kinds.spark_type(part.kind) for part in parts)
    if any(part.kind not in _WHOLE for part in whole) or not _is_seconds(seconds):
        raise NotTranslatedError(f"{name}({types})", name)
    return filled


def _is_seconds(value: Value) -> bool:
    if value.kind in _WHOLE:
        return True
    if not kinds.is_decimal(value.kind):
        return False
    (digits, scale), (most, places) = kinds.shape(value.kind), kinds.shape(_SECONDS)
    return scale <= places and digits - scale <= most - places


def _times(value: Value, size: int) -> str:
    text = f"CAST({value.text} AS BIGINT)"
    return text if size == 1 else f"({text} * {size})"


def _clock(hours: Value, minutes: Value, seconds: Value) -> str:
    exact = f"CAST({seconds.text} AS {kinds.duck_type(_SECONDS)})"
    micros = f"CAST({exact} * CAST(1000000 AS DECIMAL(7,0)) AS BIGINT)"
    return f"({_times(hours, _HOUR)} + {_times(minutes, _MINUTE)} + {micros})"


def _name(name: str, parts: Sequence[Value]) -> str:
    return f"{name}({', '.join(part.name for part in parts)})"


LENGTHS: dict[str, Translate] = {OF_TIMES: _made}
"""By name in small letters."""
