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

from paimonlab.spec.arrow_types import arrow_schema
from paimonlab.spec.predicate import (
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
from paimonlab.spec.type_text import parse_type
from paimonlab.spec.types import DataField

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
_singles = st.sampled_from(
    [0.0, -0.0, 1.5, -2.5, 0.10000000149011612, math.inf, -math.inf, math.nan]
)
_doubles = _singles | st.sampled_from([0.1, 1e300, 5e-324, float(2**53)])
_texts = st.sampled_from(["", "a", "ab", "abc", "b", "é", "日本", "\U0001f600", "a%", "a\nb", "A"])
_instants = st.sampled_from([-1, 0, 1, 999, 1000, 1_000_000, 1_704_067_200_000, 86_400_000])
_wholes = st.sampled_from([-128, -1, 0, 1, 2, 127])
_wide = _wholes | st.sampled_from([2**53, 2**53 + 1, 2**63 - 1, -(2**63)])
_money = st.integers(-99999, 99999).map(
    lambda unscaled: Decimal(unscaled).scaleb(-2)
) | st.sampled_from(
    [Decimal("1.50"), Decimal("0.00"), Decimal("0.10"), Decimal("999.99"), Decimal("-999.99")]
)

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "flag": st.booleans(),
    "tiny": _wholes,
    "big": _wide,
    "single": _singles,
    "double": _doubles,
    "money": _money,
    "huge": st.sampled_from(
        [
            Decimal("9999999999999999999999999999.9999999999"),
            Decimal("0E-10"),
            Decimal("-1.5000000000"),
        ]
    ),
    "text": _texts,
    "bytes": st.sampled_from([b"", b"\x00", b"\x7f", b"\x80", b"\xff", b"\xff\x00"]),
    "day": st.sampled_from([-1, 0, 1, 19723, 19782]),
    "clock": st.sampled_from([0, 1, 1000, 86_399_999]),
    "ts3": _instants,
    "ts9": _instants,
    "ltz6": _instants,
}
"""Values as Arrow stores them: dates, times and timestamps are integers."""

_numbers = (
    _wide
    | _doubles
    | st.sampled_from(
        [Decimal("1.5"), Decimal("0.1"), Decimal("0.001"), Decimal(10) ** 40, Decimal("-1e-200")]
    )
    | st.sampled_from([300, -129, 10**30, -(10**30)])
)
_local = st.sampled_from(
    [
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
)
LITERALS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("tiny", "big", "single", "double", "money", "huge"), _numbers),
    "flag": st.booleans(),
    "text": _texts,
    "bytes": VALUES["bytes"],
    "day": _local,
    "clock": st.sampled_from(
        [dt.time(0), dt.time(0, 0, 1), dt.time(23, 59, 59, 999_999), dt.time(0, 0, 0, 1)]
    ),
    "ts3": _local,
    "ts9": _local,
    "ltz6": _local.map(
        lambda value: (
            value.replace(tzinfo=dt.UTC)
            if isinstance(value, dt.datetime)
            else dt.datetime(value.year, value.month, value.day, tzinfo=dt.UTC)
        )
    ),
}
_patterns = st.sampled_from(
    ["", "a", "a%", "%b", "%b%", "%", "_", "a_c", r"a\%", "%a%b%", "__", "日%", "a%b"]
)

rows = st.lists(
    st.fixed_dictionaries({name: st.none() | values for name, values in VALUES.items()}), max_size=8
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
        return col(column).is_in(draw(st.lists(LITERALS[column] | st.none(), max_size=4)))
    if kind == "text":
        match = draw(st.sampled_from(TextMatch))
        pattern = draw(_patterns if match is TextMatch.LIKE else _texts)
        return Matches("text", match, pattern)
    literal = draw(LITERALS[column])
    comparator = draw(st.sampled_from(["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]))
    return getattr(col(column), comparator)(literal)


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
