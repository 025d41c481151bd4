"""Functions whose first argument is a unit of time: ``datediff(MONTH, a, b)``."""

from __future__ import annotations

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.functions import clocks
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value, cast, read_text

DIFFERENCES = frozenset({"datediff", "date_diff", "timestampdiff"})
SUMS = frozenset({"dateadd", "date_add", "timestampadd"})
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86_400, "WEEK": 604_800}


def difference(unit: str, begin: Value, end: Value) -> Value:
    """Count the whole units from one time to another.

    Raises
    ------
    NotTranslatedError
        If it is not proven for them.
    """
    unit = unit.upper()
    name = f"timestampdiff({unit}, {begin.name}, {end.name})"
    first, last = (_clock(side) for side in (begin, end))
    if unit in _MONTHS:
        whole = f"({_packed(last)} - {_packed(first)})"
        if begin.kind != kinds.DATE or end.kind != kinds.DATE:
            raise NotTranslatedError(f"{unit} between times of the day", "datediff")
        size = 32 * _MONTHS[unit]
        return Value(f"(({whole} - {whole} % {size}) // {size})", kinds.BIGINT, name)
    if unit not in _SECONDS:
        raise NotTranslatedError(f"datediff() in {unit}", unit)
    micros = f"(epoch_us({last}) - epoch_us({first}))"
    size = _SECONDS[unit] * 1_000_000
    return Value(f"(({micros} - {micros} % {size}) // {size})", kinds.BIGINT, name)


def _clock(value: Value) -> str:
    read = read_text(value, kinds.TIMESTAMP_NTZ) or value
    if read.kind not in (kinds.DATE, kinds.TIMESTAMP, kinds.TIMESTAMP_NTZ):
        raise NotTranslatedError(f"datediff() of {kinds.spark_type(value.kind)}", "datediff")
    at = read if clocks.is_fixed() else clocks.as_instant(read)
    return f"CAST({clocks.shown(at).text} AS TIMESTAMP)"


def _packed(text: str) -> str:
    """Write a day as a number that grows by 32 for each month."""
    return f"((year({text}) * 12 + month({text})) * 32 + day({text}))"


def added(unit: str, count: Value, value: Value) -> Value:
    """Move a date or a time by some units.

    Raises
    ------
    NotTranslatedError
        If it is not proven for them.
    """
    unit = unit.upper()
    if count.kind not in kinds.WHOLE[:3] or unit not in {*_MONTHS, *_SECONDS}:
        raise NotTranslatedError(f"dateadd() in {unit}", unit)
    name = f"timestampadd({unit}, {count.name}, {value.name})"
    number = cast(count, kinds.INT).text
    at = clocks.as_instant(value)
    if unit in _MONTHS:
        step = f"to_months(CAST({number} * {_MONTHS[unit]} AS INTEGER))"
    elif _SECONDS[unit] >= _SECONDS["DAY"]:
        step = f"to_days(CAST({number} * {_SECONDS[unit] // 86_400} AS INTEGER))"
    else:
        seconds = f"(CAST({number} AS BIGINT) * {_SECONDS[unit]})"
        if value.kind == kinds.TIMESTAMP_NTZ:
            return Value(f"({value.text} + to_seconds({seconds}))", kinds.TIMESTAMP_NTZ, name)
        _check_time(at)
        return Value(f"({at.text} + to_seconds({seconds}))", kinds.TIMESTAMP, name)
    if value.kind == kinds.TIMESTAMP_NTZ:
        return Value(f"({value.text} + {step})", kinds.TIMESTAMP_NTZ, name)
    _check_time(at)
    return Value(clocks.moved(at.text, step), kinds.TIMESTAMP, name)


def _check_time(value: Value) -> None:
    if value.kind != kinds.TIMESTAMP:
        raise NotTranslatedError(f"dateadd() of {kinds.spark_type(value.kind)}", "dateadd")
