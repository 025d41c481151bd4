"""Binding: a predicate meets the columns of a table.

Afterwards every literal has the type of its column, comparisons the type decides are
decided, and NOT stands only before leaves that have no opposite.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from typing import Any

from paimonlab.errors import ColumnNotFoundError, SchemaError
from paimonlab.spec.literals import Between, Exactly, place
from paimonlab.spec.predicates.examples import example
from paimonlab.spec.predicates.like import Wildcard, like_parts
from paimonlab.spec.predicates.tree import (
    AlwaysFalse,
    AlwaysNull,
    AlwaysTrue,
    And,
    Comparator,
    Comparison,
    In,
    IsNan,
    IsNotNull,
    IsNull,
    Literal,
    Matches,
    Not,
    Or,
    Predicate,
    Settled,
    TextMatch,
    all_of,
    any_of,
)
from paimonlab.spec.types.data_types import (
    TEXT_ROOTS,
    AtomicType,
    DataField,
    DataType,
    with_nullable,
)
from paimonlab.spec.types.text import format_type


def bind(
    predicate: Predicate,
    schema_fields: Sequence[DataField],
    table: str,
    *,
    zone: dt.tzinfo | None = None,
) -> Predicate:
    """Fit a predicate to the columns of a table.

    Parameters
    ----------
    predicate
        Literals are what users wrote; a bound predicate may be bound again.
    schema_fields
        The columns; names are case-sensitive.
    table
        Name of the table for messages.
    zone
        The zone of wall clocks compared with TIMESTAMP_LTZ; None: the process's own.

    Returns
    -------
    Predicate
        True, false and null for the same rows. Comparisons are exact: ``i > 1.5`` on an INT
        becomes ``i > 1``, what no value of the type can be is `Settled`. A DOUBLE is compared
        with the double next to the literal, a FLOAT is widened first, as in Spark.

    Raises
    ------
    ColumnNotFoundError
        If there is no such column.
    SchemaError
        If a literal cannot be compared with its column; the message names both.

    Examples
    --------
    >>> from paimonlab.spec.predicates.tree import col
    >>> from paimonlab.spec.types.text import parse_type
    >>> i = DataField(0, "i", parse_type("INT"))
    >>> print(bind(~((col("i") > 1.5) & (col("i") != 5_000_000_000)), [i], "db.t"))
    (i <= 1 OR (i IS NULL AND NULL OR FALSE))
    """
    return _Binder({field.name: field.type for field in schema_fields}, table, zone).bind(predicate)


class _Binder:
    def __init__(self, types: Mapping[str, DataType], table: str, zone: dt.tzinfo | None) -> None:
        self.types = types
        self.table = table
        self.zone = zone

    def bind(self, predicate: Predicate) -> Predicate:
        match predicate:
            case And(parts):
                return all_of(*map(self.bind, parts))
            case Or(parts):
                return any_of(*map(self.bind, parts))
            case Not(part):
                return negate(self.bind(part))
            case AlwaysTrue() | AlwaysFalse() | AlwaysNull():
                return predicate
        name: str = predicate.column  # type: ignore[attr-defined]
        if name not in self.types:
            raise ColumnNotFoundError(name, self.table, tuple(self.types))
        return self.leaf(predicate, self.types[name])

    def leaf(self, predicate: Predicate, data_type: DataType) -> Predicate:
        match predicate:
            case Comparison(_, _, literal):
                return self.comparison(predicate, literal, data_type)
            case In():
                return self.membership(predicate, data_type)
            case Matches(column, TextMatch.LIKE, pattern):
                self.check_text(column, data_type)
                return _simpler_like(column, pattern, data_type)
            case Matches(column, _, pattern):
                self.check_text(column, data_type)
                return Settled(column, value=True) if not pattern else predicate
        return predicate

    def comparison(self, predicate: Comparison, literal: Literal, data_type: DataType) -> Predicate:
        column, comparator = predicate.column, predicate.comparator
        if literal.value is None:
            return AlwaysNull()
        if literal.type == data_type:
            return predicate
        match self.place(column, literal, data_type):
            case Exactly(float(value)) if math.isnan(value):
                return _compare_nan(column, comparator)
            case Exactly(value):
                return Comparison(column, comparator, Literal(value, data_type))
            case Between(below, above):
                return _compare_between(column, comparator, below, above, data_type)

    def membership(self, predicate: In, data_type: DataType) -> Predicate:
        column = predicate.column
        given = [literal for literal in predicate.literals if literal.value is not None]
        values: dict[Any, None] = {}
        parts: list[Predicate] = []
        for literal in given:
            match self.place(column, literal, data_type):
                case Exactly(float(value)) if math.isnan(value):
                    parts.append(IsNan(column))
                case Exactly(value):
                    values[value] = None
                case Between():
                    parts.append(Settled(column, value=False))
        literals = tuple(Literal(value, data_type) for value in values)
        if len(literals) == 1:
            parts.append(Comparison(column, Comparator.EQ, literals[0]))
        elif literals:
            parts.append(In(column, literals))
        if len(given) < len(predicate.literals):
            parts.append(AlwaysNull())
        return any_of(*parts)

    def place(self, column: str, literal: Literal, data_type: DataType) -> Exactly | Between:
        if literal.type == data_type:
            return Exactly(literal.value)
        try:
            return place(literal.value, data_type, zone=self.zone)
        except SchemaError as error:
            where = f"{self.table}, column {column!r}"
            if literal.value is True:  # what a column alone stands for
                wanted = format_type(with_nullable(data_type, nullable=True))
                problem = f"{wanted} is neither true nor false, and cannot be compared with True"
                advice = f"a condition is {example(column, data_type)}"
                raise SchemaError(f"{where}: {problem}; {advice}") from None
            raise SchemaError(f"{where}: {error}") from None

    def check_text(self, column: str, data_type: DataType) -> None:
        if not isinstance(data_type, AtomicType) or data_type.root not in TEXT_ROOTS:
            raise SchemaError(
                f"{self.table}, column {column!r}: LIKE needs text, not {format_type(data_type)}"
            )


def _compare_nan(column: str, comparator: Comparator) -> Predicate:
    """NaN is equal to itself and above all other numbers."""
    match comparator:
        case Comparator.EQ | Comparator.GE:
            return IsNan(column)
        case Comparator.NE | Comparator.LT:
            return Not(IsNan(column))
        case _:
            return Settled(column, value=comparator is Comparator.LE)


def _compare_between(
    column: str, comparator: Comparator, below: Any, above: Any, data_type: DataType
) -> Predicate:
    match comparator:
        case Comparator.EQ | Comparator.NE:
            return Settled(column, value=comparator is Comparator.NE)
        case Comparator.GT | Comparator.GE:
            wanted, bound, compared = Comparator.GT, below, above
        case _:
            wanted, bound, compared = Comparator.LT, above, below
    if bound is None or compared is None:
        return Settled(column, value=bound is None)
    return Comparison(column, wanted, Literal(bound, data_type))


def negate(predicate: Predicate) -> Predicate:  # noqa: PLR0911 - one return a case
    """Return the opposite of a bound predicate, with NOT pushed down to the leaves."""
    match predicate:
        case And(parts):
            return any_of(*map(negate, parts))
        case Or(parts):
            return all_of(*map(negate, parts))
        case Not(part):
            return part
        case Comparison(column, comparator, literal):
            return Comparison(column, comparator.negated, literal)
        case Settled(column, value):
            return Settled(column, value=not value)
        case IsNull(column):
            return IsNotNull(column)
        case IsNotNull(column):
            return IsNull(column)
    return _OPPOSITES[predicate] if predicate in _OPPOSITES else Not(predicate)


_OPPOSITES: Mapping[Predicate, Predicate] = {
    AlwaysTrue(): AlwaysFalse(),
    AlwaysFalse(): AlwaysTrue(),
    AlwaysNull(): AlwaysNull(),
}


def _simpler_like(  # noqa: PLR0911 - one return a case
    column: str, pattern: str, data_type: DataType
) -> Predicate:
    """Find the plain comparison a LIKE stands for, if it stands for one."""
    match like_parts(pattern):
        case []:
            return Comparison(column, Comparator.EQ, Literal("", data_type))
        case [str(text)]:
            return Comparison(column, Comparator.EQ, Literal(text, data_type))
        case [Wildcard.ANY]:
            return Settled(column, value=True)
        case [str(prefix), Wildcard.ANY]:
            return Matches(column, TextMatch.STARTS_WITH, prefix)
        case [Wildcard.ANY, str(suffix)]:
            return Matches(column, TextMatch.ENDS_WITH, suffix)
        case [Wildcard.ANY, str(part), Wildcard.ANY]:
            return Matches(column, TextMatch.CONTAINS, part)
    return Matches(column, TextMatch.LIKE, pattern)
