"""``window(time, '5 minutes')``: spans of time of one length that rows are grouped by.

Source: apache/spark@v4.3.0 ``org.apache.spark.sql.catalyst.analysis.TimeWindowing``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct
from sqlglot import exp

from paimonlab.spec.types.data_types import DataField, DataType, RowType
from paimonlab.sql_engine import kinds, words
from paimonlab.sql_engine.functions import clocks
from paimonlab.sql_engine.protocols import Translating
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.scope import Relation, Scope, SqlColumn
from paimonlab.sql_engine.value import Value

NAME = "window"
SESSIONS = "session_window"
_MICROS = {
    "week": 604_800_000_000,
    "day": 86_400_000_000,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
_ONE = re.compile(r"(-?\d{1,9}) (week|day|hour|minute|second|millisecond|microsecond)s?")
_MOST_SPANS = 1_000
"""That a moment may be in."""
_TIMES = (kinds.TIMESTAMP, kinds.TIMESTAMP_NTZ)


class Added(Struct, frozen=True):
    """What a query with ``window()`` has besides what it says."""

    join: str
    """What stands after its relations."""
    condition: str
    """Rows for which it is not true are left out; empty: none."""
    relation: Relation


class _Spans(Struct, frozen=True):
    """Arguments of a call, times in microseconds."""

    time: Value
    length: int
    slide: int
    begin: int


def call_of(node: exp.Select) -> exp.Anonymous | None:
    """Return the call of ``window()`` in a query; None if it has none.

    Raises
    ------
    NotTranslatedError
        If it has several that are not the same.
    """
    group = node.args.get("group")
    parts = [*node.expressions, *([] if group is None else [group])]
    calls = [one for part in parts for one in _calls(part)]
    if any(str(one.this).lower() == SESSIONS for one in calls):  # else its column is not found
        raise NotTranslatedError(f"{SESSIONS}()", SESSIONS, words.written(SESSIONS))
    if any(one.sql() != calls[0].sql() for one in calls):
        raise NotTranslatedError("several window()", NAME)
    return calls[0] if calls else None


def _calls(node: exp.Expression) -> Iterator[exp.Anonymous]:
    """Yield the calls that belong to the query itself."""
    if isinstance(node, exp.Query):
        return
    if isinstance(node, exp.Anonymous) and str(node.this).lower() in (NAME, SESSIONS):
        yield node
    for child in node.iter_expressions():
        if isinstance(child, exp.Expression):
            yield from _calls(child)


def added(translator: Translating, node: exp.Anonymous, alias: str) -> Added:
    """Translate the call that a query has.

    Parameters
    ----------
    translator
        Of expressions of single rows.
    node
        The call.
    alias
        A name for a relation.

    Raises
    ------
    NotTranslatedError
        If it is not proven.
    """
    given = _spans(translator, node)
    if any(
        column.name.lower() == NAME
        for relation in translator.scope.relations
        for column in relation.columns
    ):
        raise NotTranslatedError("window() beside a column window", NAME)
    micros, part = f"epoch_us({given.time.text})", _type(given.time)
    rest = f"(({micros} - {given.begin}) % {given.slide})"
    last = f"({micros} - (CASE WHEN {rest} < 0 THEN {rest} + {given.slide} ELSE {rest} END))"
    if given.length == given.slide:
        text, join = _span(last, given), ""
        condition = f"{given.time.text} IS NOT NULL"
    else:
        count = -(-given.length // given.slide)
        starts = f"list_transform(range({count}), lambda n: {last} - n * {given.slide})"
        held = f"list_filter({starts}, lambda begin: {micros} - begin < {given.length})"
        spans = f"list_transform({held}, lambda begin: {_span('begin', given)})"
        join = f" INNER JOIN LATERAL (SELECT unnest({spans}) AS c0) AS {alias} ON true"
        text, condition = f"{alias}.c0", ""
    kind = RowType((DataField(0, "start", part), DataField(1, "end", part)))
    column = SqlColumn(NAME, kind, text)
    relation = Relation((), (column,), hidden=frozenset({0}), time_window=node.sql())
    return Added(join, condition, relation)


def found(scope: Scope, node: exp.Anonymous) -> Value:
    """Return what stands for the call in an expression.

    Raises
    ------
    NotTranslatedError
        If neither SELECT nor GROUP BY has it.
    """
    for relation in scope.relations:
        if relation.time_window == node.sql():
            return scope.find((), NAME)
    raise NotTranslatedError("window() here", NAME, "Write it in SELECT or GROUP BY")


def is_span(value: Value) -> bool:
    """Tell whether a value is the span of a row, whose spans can be compared."""
    return value.column is not None and bool(value.column[0].time_window)


def _type(time: Value) -> DataType:
    return kinds.TIMESTAMP_NTZ if time.kind == kinds.TIMESTAMP_NTZ else kinds.TIMESTAMP


def _span(begin: str, given: _Spans) -> str:
    ends = (f"make_timestamp({begin})", f"make_timestamp({begin} + {given.length})")
    if given.time.kind == kinds.TIMESTAMP:
        ends = (f"timezone('UTC', {ends[0]})", f"timezone('UTC', {ends[1]})")
    return f"{{'start': {ends[0]}, 'end': {ends[1]}}}"


def _spans(translator: Translating, node: exp.Anonymous) -> _Spans:
    if not 2 <= len(node.expressions) <= 4:
        raise NotTranslatedError("such a window()", NAME)
    time, *rest = (translator.value(part) for part in node.expressions)
    if time.kind == kinds.DATE:
        day = clocks.instant(f"CAST({time.text} AS TIMESTAMP)")
        time = Value(day, kinds.TIMESTAMP, time.name)
    if time.kind not in _TIMES:
        raise NotTranslatedError(f"window({kinds.spark_type(time.kind)})", NAME)
    length, *others = (_micros(value) for value in rest)
    slide, begin = [*others, *(length, 0)[len(others) :]]
    is_wrong = length <= 0 or slide <= 0 or slide > length or abs(begin) >= slide
    if is_wrong or length > _MOST_SPANS * slide:
        raise NotTranslatedError("window() of such lengths", NAME)
    return _Spans(time, length, slide, begin)


def _micros(value: Value) -> int:
    """Read a length such as ``1 hour 30 minutes``.

    Raises
    ------
    NotTranslatedError
        If it is not written in the statement, or in another way.
    """
    text = value.literal if value.is_literal else None
    if not isinstance(text, str):
        raise NotTranslatedError("window() of such lengths", NAME)
    place, total, text = 0, 0, text.lower()
    while place < len(text):
        one = _ONE.match(text, place)
        if one is None:
            raise NotTranslatedError(f"window() of {text!r}", NAME, "Write '5 minutes'")
        total += int(one[1]) * _MICROS[one[2]]
        place = one.end()
        if place < len(text):
            if text[place] != " " or place + 1 == len(text):
                raise NotTranslatedError(f"window() of {text!r}", NAME, "Write '5 minutes'")
            place += 1
    return total
