"""Frames of windows: how many rows, or which values of their order, they go back and forward.

Source: apache/spark@v4.3.0 ``TypeCoercion.WindowFrameCoercion``, ``SpecifiedWindowFrame`` and
``WindowEvaluatorFactoryBase.createBoundOrdering``.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct
from sqlglot import exp

from paimonlab.sql_engine import kinds, zones
from paimonlab.sql_engine.functions import intervals, months
from paimonlab.sql_engine.kinds import Kind
from paimonlab.sql_engine.protocols import Translating
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tree import check_parts
from paimonlab.sql_engine.value import Value, cast, literal

_DAY = 86_400_000_000
_TIMES = (kinds.TIMESTAMP, kinds.TIMESTAMP_NTZ)
_MOST_DIGITS = 37
"""Of decimals that DuckDB adds without fail to what has no more of them."""


class _Bound(Struct, frozen=True):
    """An end of a frame."""

    text: str
    name: str
    place: Decimal | None
    """How far after the row it is; None: without a number."""
    kind: Any = None
    """Type of what is added, which both ends have in common."""


def frame(translator: Translating, spec: exp.Expression, order: Sequence[Value]) -> tuple[str, str]:
    """Translate a frame that is written; return it, and how Spark names it.

    Parameters
    ----------
    translator
        Of the numbers in it.
    spec
        The frame.
    order
        By what the rows are ordered.

    Raises
    ------
    NotTranslatedError
        If it is not proven to have Spark's rows.
    """
    check_parts(spec, "kind", "start", "start_side", "end", "end_side")
    word = str(spec.args["kind"]).upper()
    begin = _bound(translator, spec.args["start"], spec.args.get("start_side"), word, order)
    end = _Bound("CURRENT ROW", "CURRENT ROW", Decimal(0))
    if spec.args.get("end") is not None:
        end = _bound(translator, spec.args["end"], spec.args.get("end_side"), word, order)
    steps = {one.kind for one in (begin, end)} - {None}
    is_empty = begin.place is not None and end.place is not None and begin.place > end.place
    if len(steps) > 1 or is_empty:
        raise NotTranslatedError(f"such a frame of {word}", word)
    return (
        f"{word} BETWEEN {begin.text} AND {end.text}",
        f"{word} BETWEEN {begin.name} AND {end.name}",
    )


def _bound(
    translator: Translating, bound: Any, side: Any, word: str, order: Sequence[Value]
) -> _Bound:
    where = str(side or "").upper()
    if isinstance(bound, str) and bound.upper() in ("CURRENT ROW", "UNBOUNDED"):
        text = f"{bound.upper()} {where}".strip()
        return _Bound(text, text, Decimal(0) if bound.upper() == "CURRENT ROW" else None)
    sign = -1 if where == "PRECEDING" else 1
    if word == "ROWS" and isinstance(bound, exp.Literal) and bound.name.isdecimal():
        text = f"{bound.name} {where}"
        return _Bound(text, text, sign * Decimal(bound.name))
    if word != "RANGE" or len(order) != 1 or not isinstance(bound, exp.Expression):
        raise NotTranslatedError(f"such a frame of {word}", word)
    return _of_values(translator, bound, where, sign, order[0].kind)


def _of_values(
    translator: Translating, bound: exp.Expression, where: str, sign: int, kind: Kind
) -> _Bound:
    if isinstance(bound, exp.Interval):
        of = _of_months if months.is_length(bound) else _of_length
        return of(bound, where, sign, kind)
    value = translator.value(bound)
    number = value.literal if value.is_literal else None
    if isinstance(number, bool) or not isinstance(number, int | float | Decimal) or number < 0:
        raise NotTranslatedError("such a frame of RANGE", "RANGE")
    if kind == kinds.DATE and value.kind == kinds.INT:
        text = f"INTERVAL '{number}' DAY {where}"
        return _Bound(text, f"{value.name} {where}", sign * Decimal(number), kinds.INT)
    if not _fits(value, kind):
        types = f"{kinds.spark_type(value.kind)} for {kinds.spark_type(kind)}"
        raise NotTranslatedError(f"a frame of RANGE of {types}", "RANGE")
    # Spark casts what has another type, and then names it by its sign.
    is_cast = value.kind != kind and where == "PRECEDING"
    name = f"(- {value.name}) FOLLOWING" if is_cast else f"{value.name} {where}"
    assert isinstance(number, int | float | Decimal), "looked at above"
    text = cast(_plain(value), kind).text
    return _Bound(f"{text} {where}", name, sign * Decimal(str(number)), kind)


def _plain(value: Value) -> Value:
    return literal(value.literal, value.kind, value.name)


def _fits(value: Value, kind: Kind) -> bool:
    """Tell whether a number is cast to the type of an order without changing."""
    number = value.literal
    if kinds.is_whole(kind):
        most: int = 2 ** (8 * 2 ** [*kinds.WHOLE].index(kind) - 1)  # type: ignore[arg-type]
        return kinds.is_whole(value.kind) and number < most
    if kind == kinds.DOUBLE:
        return kinds.is_numeric(value.kind) and value.kind != kinds.FLOAT
    if not kinds.is_decimal(kind) or value.kind == kinds.DOUBLE:
        return False
    digits, scale = kinds.shape(kind)
    exact = Decimal(number)
    return (
        digits <= _MOST_DIGITS
        and exact == round(exact, scale)
        and abs(exact) < Decimal(10) ** (digits - scale)
    )


def _of_length(bound: exp.Interval, where: str, sign: int, kind: Kind) -> _Bound:
    """Translate days, hours, minutes and seconds."""
    micros, step = intervals.written(bound)
    # Of a clock that is put forward and back, days are not all as long.
    is_plain = kind == kinds.TIMESTAMP_NTZ or zones.is_fixed() or abs(micros) < _DAY
    is_known = (kind in _TIMES and is_plain) or (
        kind == kinds.DATE and step.first == step.last == "DAY"
    )
    if not is_known or micros < 0:
        raise NotTranslatedError("such a frame of RANGE", "RANGE")
    text = f"INTERVAL '{micros} microseconds'"
    if micros % _DAY == 0:
        text = f"INTERVAL '{micros // _DAY}' DAY"
    name = intervals.of_micros(micros, step).name
    return _Bound(f"{text} {where}", f"{name} {where}", sign * Decimal(micros), step)


def _of_months(bound: exp.Interval, where: str, sign: int, kind: Kind) -> _Bound:
    count, name = months.written(bound)
    is_known = kind in (kinds.DATE, kinds.TIMESTAMP_NTZ) or (
        kind == kinds.TIMESTAMP and zones.is_fixed()
    )
    if not is_known or count < 0:
        raise NotTranslatedError("such a frame of RANGE", "RANGE")
    # Of two lengths in other units Spark says that their types differ.
    unit = name.rpartition("' ")[2]
    text = f"INTERVAL '{count}' MONTH {where}"
    return _Bound(text, f"{name} {where}", sign * Decimal(count), unit)
