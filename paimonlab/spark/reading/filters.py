"""Spark's filters -> predicates.

What cannot be translated is left out: Spark evaluates every filter again on the rows it gets, so
a predicate here only has to be true wherever Spark's filters are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from py4j.java_gateway import JavaObject
from pyspark.errors import PySparkException

from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.reading.filter_values import FIRST_DAY, FIRST_INSTANT, listed_values
from paimonlab.spark.values.quoting import quoted
from paimonlab.spec.predicates.predicate import (
    AlwaysFalse,
    AlwaysTrue,
    Predicate,
    all_of,
    any_of,
    col,
)
from paimonlab.spec.types.data_types import AtomicType, DataType, TypeRoot

_STRATEGY = "org.apache.spark.sql.execution.datasources.DataSourceStrategy"
_MOST_VALUES = 100_000
"""An IN with more values prunes nothing: plans that are kept would hold them."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Names = Mapping[str, str]
"""Column of a scan -> column of the read it stands for; others are not translated."""


class _UntranslatableError(Exception):
    """A filter that has no predicate."""


def to_predicate(
    bridge: Bridge, filters: Iterable[Any], names: Names, floats: Collection[str] = ()
) -> Predicate:
    """Translate ``org.apache.spark.sql.sources.Filter`` objects that hold together.

    Parameters
    ----------
    bridge
        The session.
    filters
        Spark's filters.
    names
        Columns of the scan and what they are called in the result.
    floats
        Those whose type is FLOAT in the scan, as they are called in the result.

    Returns
    -------
    Predicate
        Not bound; `AlwaysTrue` if nothing could be translated.
    """
    written = {quoted(scan): read for scan, read in names.items()} | dict(names)
    translated = (_one_predicate(bridge, item, written, floats) for item in filters)
    return all_of(*(predicate for predicate in translated if predicate is not None))


def _one_predicate(
    bridge: Bridge, spark_filter: Any, names: Names, floats: Collection[str]
) -> Predicate | None:
    """Translate one filter; None if that is not possible without a change of its meaning."""
    try:
        return _translate(bridge, spark_filter, names, floats)
    except _UntranslatableError:
        return None


def equal_values(
    filters: Iterable[Any], columns: Sequence[str], floats: Collection[str]
) -> dict[str, Any] | None:
    """Read filters that hold together as values of columns; None if they say anything else.

    ``floats`` are the columns whose type is FLOAT.
    """
    written = {quoted(name): name for name in columns} | {name: name for name in columns}
    values: dict[str, Any] = {}
    for item in filters:
        kind = item.getClass().getSimpleName()
        name = written.get(item.attribute()) if kind in _EQUALITIES else None
        if name is None or name in values:
            return None
        try:
            value = None if _is_null(item, kind) else _value(item.value())
            values[name] = _single(value) if name in floats else value
        except _UntranslatableError:
            return None
    return values


def _is_null(item: Any, kind: str) -> bool:
    return kind == "IsNull" or (kind == "EqualNullSafe" and item.value() is None)


def is_float(data_type: DataType) -> bool:
    """Return whether filters on a column of this type have values of Java's ``Float``."""
    return isinstance(data_type, AtomicType) and data_type.root is TypeRoot.FLOAT


def source_filters(bridge: Bridge, expressions: Any) -> list[Any]:
    """Turn a Scala ``Seq`` of Catalyst expressions into Spark's filters, as far as they go."""
    strategy = bridge.module(_STRATEGY)
    translated_filters = []
    for index in range(expressions.size()):
        try:
            translated = strategy.translateFilter(expressions.apply(index), True)  # noqa: FBT003
        except PySparkException:  # of values of TIME, to which Spark objects
            continue
        if translated.isDefined():
            translated_filters.append(translated.get())
    return translated_filters


def _translate(bridge: Bridge, item: Any, names: Names, floats: Collection[str]) -> Predicate:
    kind = item.getClass().getSimpleName()
    if kind in _JOINS:
        sides = (_translate(bridge, side, names, floats) for side in (item.left(), item.right()))
        return _JOINS[kind](*sides)
    if kind == "Not":
        return ~_translate(bridge, item.child(), names, floats)
    if kind in {"AlwaysTrue", "AlwaysFalse"}:
        return AlwaysTrue() if kind == "AlwaysTrue" else AlwaysFalse()
    is_known = kind in _TESTS or kind in _COMPARISONS or kind == "In"
    name = names.get(item.attribute()) if is_known else None
    if name is None:
        raise _UntranslatableError
    if kind in _TESTS:
        return _TESTS[kind](name)
    if kind == "In":
        return _is_in(bridge, name, item, is_float=name in floats)
    return _COMPARISONS[kind](name, item, _float_value if name in floats else _value)


def _null_safe_equal(name: str, item: Any, read: Callable[[Any], Any]) -> Predicate:
    if item.value() is None:
        return col(name).is_null()
    # Never unknown, so that NOT of it is right for null.
    return all_of(col(name).is_not_null(), col(name) == read(item.value()))


def _is_in(bridge: Bridge, name: str, item: Any, *, is_float: bool) -> Predicate:
    values = listed_values(bridge, item, _MOST_VALUES)
    if values is None:  # a null as well: NOT IN with one is never true
        raise _UntranslatableError
    return col(name).is_in(map(_single, values) if is_float else values)


_JOINS: dict[str, Callable[[Predicate, Predicate], Predicate]] = {"And": all_of, "Or": any_of}
_TESTS: dict[str, Callable[[str], Predicate]] = {
    "IsNull": lambda name: col(name).is_null(),
    "IsNotNull": lambda name: col(name).is_not_null(),
}
_EQUALITIES = frozenset({"EqualNullSafe", "EqualTo", "IsNull"})
_COMPARISONS: dict[str, Callable[[str, Any, Callable[[Any], Any]], Predicate]] = {
    "EqualTo": lambda name, item, read: col(name) == read(item.value()),
    "EqualNullSafe": _null_safe_equal,
    "GreaterThan": lambda name, item, read: col(name) > read(item.value()),
    "GreaterThanOrEqual": lambda name, item, read: col(name) >= read(item.value()),
    "LessThan": lambda name, item, read: col(name) < read(item.value()),
    "LessThanOrEqual": lambda name, item, read: col(name) <= read(item.value()),
    "StringStartsWith": lambda name, item, _: col(name).starts_with(item.value()),
    "StringEndsWith": lambda name, item, _: col(name).ends_with(item.value()),
    "StringContains": lambda name, item, _: col(name).contains(item.value()),
}


def _value(value: Any) -> Any:
    """Turn the value of a filter into a Python one."""
    if isinstance(value, bool | int | float | str | Decimal | bytes):
        return value
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, JavaObject):
        read = _JAVA_VALUES.get(value.getClass().getName())
        if read is not None:
            try:
                return read(value)
            except (ValueError, OverflowError):  # a year that Python's calendar does not have
                pass
    raise _UntranslatableError


def _float_value(value: Any) -> Any:
    return _single(_value(value))


def _single(value: Any) -> Any:
    """Return the FLOAT that py4j has sent as text: the double of ``12.3`` is another number."""
    return float(np.float32(value)) if isinstance(value, float) else value


def _instant(value: Any) -> datetime:
    return _EPOCH + timedelta(seconds=value.getEpochSecond(), microseconds=value.getNano() // 1000)


def _since(first: Any, value: Any) -> Any:
    """Return a value of the old calendar that is the same in the new one."""
    if value < first:
        raise _UntranslatableError
    return value


_JAVA_VALUES: dict[str, Callable[[Any], Any]] = {
    "java.sql.Date": lambda value: _since(
        FIRST_DAY, date.fromisoformat(value.toLocalDate().toString())
    ),
    "java.time.LocalDate": lambda value: date.fromisoformat(value.toString()),
    "java.sql.Timestamp": lambda value: _since(FIRST_INSTANT, _instant(value.toInstant())),
    "java.time.Instant": _instant,
    "java.time.LocalDateTime": lambda value: datetime.fromisoformat(value.toString()),
}
