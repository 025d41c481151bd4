"""A row-wise model of predicates: Python values, three truths, no Arrow.

Rows are lists of Python values; the model decides comparisons with exact fractions.
"""

from __future__ import annotations

import datetime as dt
import functools
import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from paimonlab.spec.predicates.predicate import (
    And,
    Comparator,
    Comparison,
    In,
    IsNotNull,
    IsNull,
    Matches,
    Not,
    Or,
    Predicate,
    TextMatch,
    col,
)
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type

TYPES = {
    "flag": "BOOLEAN",
    "tiny": "TINYINT",
    "big": "BIGINT",
    "single": "FLOAT",
    "double": "DOUBLE",
    "money": "DECIMAL(5, 2)",
    "huge": "DECIMAL(38, 10)",
    "text": "STRING",
    "bytes": "BYTES",
    "day": "DATE",
    "clock": "TIME(3)",
    "ts3": "TIMESTAMP(3)",
    "ts9": "TIMESTAMP(9)",
    "ltz6": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
}
FIELDS = [DataField(id, name, parse_type(text)) for id, (name, text) in enumerate(TYPES.items())]
SCHEMA = arrow_schema(FIELDS)
_UNIT_NANOS = {"ts3": 10**6, "ts9": 1, "ltz6": 10**3, "clock": 10**6, "day": 86_400 * 10**9}

# Few values, so that comparisons meet: neighbours, extremes, what a type cannot hold.
_SINGLES = [0.0, -0.0, 1.5, -2.5, 0.10000000149011612, math.inf, -math.inf, math.nan]
_WHOLES = [-128, -1, 0, 1, 2, 127]
_WIDE = [*_WHOLES, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
_TEXTS = [
    "",
    "a",
    "ab",
    "abc",
    "b",
    "é",
    "日本",
    "\ud7ff",
    "\ue000",
    "\U0001f600",
    "a%",
    "a\nb",
    "A",
]
_BYTES = [b"", b"\x00", b"\x7f", b"\x80", b"\xff", b"\xff\x00"]
_TICKS = [-1, 0, 1, 999, 1000, 1_000_000, 1_704_067_200_000, 86_400_000]

VALUES: dict[str, list[Any]] = {
    "flag": [False, True],
    "tiny": _WHOLES,
    "big": _WIDE,
    "single": _SINGLES,
    "double": [*_SINGLES, 0.1, 1e300, 5e-324, float(2**53)],
    "money": [Decimal(text) for text in ("1.50", "1.51", "0.00", "0.10", "999.99", "-999.99")],
    "huge": [
        Decimal("9999999999999999999999999999.9999999999"),
        Decimal("0E-10"),
        Decimal("-1.5000000000"),
    ],
    "text": _TEXTS,
    "bytes": _BYTES,
    "day": [-1, 0, 1, 19723, 19782],
    "clock": [0, 1, 1000, 86_399_999],
    "ts3": _TICKS,
    "ts9": _TICKS,
    "ltz6": _TICKS,
}
"""Values as Arrow stores them: dates, times and timestamps are integers."""

_NUMBERS = [
    *VALUES["big"],
    *VALUES["double"],
    *(Decimal(text) for text in ("1.5", "0.1", "0.001", "1e40", "-1e-200", "999.995")),
    *(300, -129, 10**30, -(10**30)),
]
_LOCAL = [
    dt.datetime(1970, 1, 1),
    dt.datetime(1970, 1, 1, 0, 0, 1),
    dt.datetime(1970, 1, 1, 0, 0, 0, 1),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999_999),
    dt.datetime(2024, 1, 1, 12),
    dt.datetime(2024, 1, 1),
    dt.datetime(9999, 12, 31),
    dt.date(1970, 1, 2),
    dt.date(2024, 2, 29),
]
LITERALS: dict[str, list[Any]] = {
    **dict.fromkeys(("tiny", "big", "single", "double", "money", "huge"), _NUMBERS),
    "flag": [False, True],
    "text": _TEXTS,
    "bytes": _BYTES,
    "day": _LOCAL,
    "clock": [dt.time(0), dt.time(0, 0, 1), dt.time(23, 59, 59, 999_999), dt.time(0, 0, 0, 1)],
    "ts3": _LOCAL,
    "ts9": _LOCAL,
    "ltz6": [value.replace(tzinfo=dt.UTC) for value in _LOCAL if isinstance(value, dt.datetime)],
}
COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
PATTERNS = ["", "a", "a%", "%b", "%b%", "%", "_", "a_c", r"a\%", "%a%b%", "__", "日%", "a%b", "a_b"]


def every_leaf(column: str) -> list[Predicate]:
    """List every comparison of a column, every pair of an IN, every match."""
    named, literals = col(column), LITERALS[column]
    made = [getattr(named, name)(literal) for name in COMPARISONS for literal in literals]
    made += [named.is_in([one, other]) for one in literals for other in (literals[0], None)]
    made += [named.is_null(), named.is_not_null(), named.is_in([])]
    if column == "text":
        made += [named.like(pattern) for pattern in PATTERNS]
        plain = [match for match in TextMatch if match is not TextMatch.LIKE]
        made += [Matches(column, match, text) for match in plain for text in _TEXTS]
    return made


rows = st.lists(
    st.fixed_dictionaries(
        {name: st.none() | st.sampled_from(values) for name, values in VALUES.items()}
    ),
    max_size=8,
)


@st.composite
def leaves(draw: st.DrawFn) -> Predicate:
    column = draw(st.sampled_from(list(TYPES)))
    kind = draw(st.sampled_from(["compare", "compare", "in", "null", "not null", "text"]))
    if kind == "null":
        return col(column).is_null()
    if kind == "not null":
        return col(column).is_not_null()
    if kind == "in":
        return col(column).is_in(
            draw(st.lists(st.sampled_from([*LITERALS[column], None]), max_size=4))
        )
    if kind == "text":
        match = draw(st.sampled_from(TextMatch))
        pattern = draw(st.sampled_from(PATTERNS if match is TextMatch.LIKE else _TEXTS))
        return Matches("text", match, pattern)
    literal = draw(st.sampled_from(LITERALS[column]))
    return getattr(col(column), draw(st.sampled_from(COMPARISONS)))(literal)


predicates: st.SearchStrategy[Predicate] = st.recursive(
    leaves(),
    lambda parts: st.one_of(
        st.tuples(parts, parts).map(lambda pair: pair[0] & pair[1]),
        st.tuples(parts, parts).map(lambda pair: pair[0] | pair[1]),
        parts.map(lambda part: ~part),
    ),
    max_leaves=5,
)


def to_table(rows: list[dict[str, Any]]) -> pa.Table:
    """Build the Arrow table of model rows."""
    columns = [pa.array([row[name] for row in rows], SCHEMA.field(name).type) for name in TYPES]
    return pa.table(columns, schema=SCHEMA)


def truth(  # noqa: PLR0911 - one return a case
    predicate: Predicate, row: dict[str, Any]
) -> bool | None:
    """Decide a predicate, not bound, for one row."""
    match predicate:
        case And(parts):
            return _kleene_and([truth(part, row) for part in parts])
        case Or(parts):
            return _not(_kleene_and([_not(truth(part, row)) for part in parts]))
        case Not(part):
            return _not(truth(part, row))
        case IsNull(column):
            return row[column] is None
        case IsNotNull(column):
            return row[column] is not None
        case Comparison(column, comparator, literal):
            return _compare(column, row[column], comparator, literal.value)
        case In(column, literals):
            equal = [_compare(column, row[column], Comparator.EQ, each.value) for each in literals]
            return _not(_kleene_and([_not(one) for one in equal]))
        case Matches(column, match, pattern):
            return None if row[column] is None else _matches(row[column], match, pattern)
        case _:
            return {"TRUE": True, "FALSE": False}[str(predicate)]


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _kleene_and(values: list[bool | None]) -> bool | None:
    if False in values:
        return False
    return None if None in values else True


def _matches(text: str, match: TextMatch, pattern: str) -> bool:
    if match is TextMatch.LIKE:
        body, escaped = "", False
        for character in pattern:
            if character == "\\" and not escaped:
                escaped = True
                continue
            wild = not escaped and character in "%_"
            body += {"%": ".*", "_": "."}[character] if wild else re.escape(character)
            escaped = False
        return re.fullmatch(body, text, re.DOTALL) is not None
    tests = {
        TextMatch.STARTS_WITH: text.startswith,
        TextMatch.ENDS_WITH: text.endswith,
        TextMatch.CONTAINS: text.__contains__,
    }
    return tests[match](pattern)


def _compare(column: str, value: Any, comparator: Comparator, literal: Any) -> bool | None:
    if value is None or literal is None:
        return None
    order = _order(_exact(column, value), _exact_literal(column, literal))
    return {
        Comparator.EQ: order == 0,
        Comparator.NE: order != 0,
        Comparator.LT: order < 0,
        Comparator.LE: order <= 0,
        Comparator.GT: order > 0,
        Comparator.GE: order >= 0,
    }[comparator]


def _order(left: Any, right: Any) -> int:
    return (left > right) - (left < right)


@functools.total_ordering
class _Number:
    """A number, infinity or NaN; NaN is the largest."""

    def __init__(self, value: float | Decimal) -> None:
        number = float(value) if not isinstance(value, int) else value
        if isinstance(value, Decimal):
            self.key: tuple[int, Fraction] = (0, Fraction(value))
        elif math.isnan(number):
            self.key = (2, Fraction(0))
        elif math.isinf(number):
            self.key = (1 if number > 0 else -1, Fraction(0))
        else:
            self.key = (0, Fraction(value))

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Number) and self.key == other.key

    def __lt__(self, other: _Number) -> bool:
        return self.key < other.key


def _exact(column: str, value: Any) -> Any:
    if column in _UNIT_NANOS:
        return value * _UNIT_NANOS[column]
    if isinstance(value, str):
        return value.encode()
    return value if isinstance(value, bool | bytes) else _Number(value)


def _exact_literal(column: str, literal: Any) -> Any:  # noqa: PLR0911 - one return a type
    if isinstance(literal, str):
        return literal.encode()
    if isinstance(literal, bool | bytes):
        return literal
    if isinstance(literal, dt.time):
        return (
            literal.second * 10**9
            + literal.minute * 60 * 10**9
            + literal.hour * 3600 * 10**9
            + (literal.microsecond * 1000)
        )
    if isinstance(literal, dt.datetime):
        epoch = dt.datetime(1970, 1, 1, tzinfo=literal.tzinfo)
        return (literal - epoch) // dt.timedelta(microseconds=1) * 1000
    if isinstance(literal, dt.date):
        return (literal - dt.date(1970, 1, 1)).days * 86_400 * 10**9
    if column in ("single", "double"):
        return _Number(float(literal))
    if column in ("money", "huge") and isinstance(literal, float) and math.isfinite(literal):
        return _Number(Decimal(repr(literal)))
    return _Number(literal)
