"""Operators on numbers and truth values, with Spark's types, errors and scales."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from paimonlab.sql_engine import decimals, kinds
from paimonlab.sql_engine.failures import quotient
from paimonlab.sql_engine.kinds import Kind, duck_type, spark_type
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value, cast, literal, read_text, together


def add(sign: str, left: Value, right: Value) -> Value:
    """Add or subtract."""
    name = f"({left.name} {sign} {right.name})"
    return _computed(sign, *_numbers(sign, *read_beside(left, right)), name)


def multiply(left: Value, right: Value) -> Value:
    """Multiply."""
    sides = _numbers("*", *read_beside(left, right))
    return _computed("*", *sides, f"({left.name} * {right.name})")


def divide(left: Value, right: Value) -> Value:
    """Divide, always into a fraction."""
    name = f"({left.name} / {right.name})"
    left, right = read_beside(left, right)
    _check_numbers("/", left, right)
    if _is_exact(left, right):
        return decimals.quotient(left, right, name)
    above, below = cast(left, kinds.DOUBLE), cast(right, kinds.DOUBLE)
    text = f"({above.text} / {below.text})"
    return Value(quotient(text, above.text, below.text, right), kinds.DOUBLE, name)


def divide_whole(left: Value, right: Value) -> Value:
    """``div``: the whole part of a quotient, cut off towards zero."""
    _check_numbers("div", left, right)
    if not (kinds.is_whole(left.kind) and kinds.is_whole(right.kind)):
        raise NotTranslatedError("div of other numbers than integers", "div")
    above, below = cast(left, kinds.BIGINT).text, cast(right, kinds.BIGINT).text
    # DuckDB's // rounds down; the remainder has the sign of the dividend in both.
    text = quotient(f"(({above} - {above} % {below}) // {below})", above, below, right)
    return Value(text, kinds.BIGINT, f"({left.name} div {right.name})")


def remainder(left: Value, right: Value, *, name: str = "") -> Value:
    """``%``: has the sign of the dividend."""
    called = name or f"({left.name} % {right.name})"
    left, right = read_beside(left, right)
    _check_numbers("%", left, right)
    if _is_exact(left, right):
        kind: Kind | None = decimals.remainder_kind(left, right)
    else:
        kind = kinds.common(left.kind, right.kind)
        if kinds.FLOAT in (left.kind, right.kind) and left.kind != right.kind:
            kind = kinds.DOUBLE
    if kind is None or kind == kinds.FLOAT:
        types = f"{spark_type(left.kind)} and {spark_type(right.kind)}"
        raise NotTranslatedError(f"% of {types}", "%")
    if kinds.is_decimal(kind):
        above, below = decimals.alike(left, right)
    else:
        above, below = cast(left, kind).text, cast(right, kind).text
    text = quotient(f"({above} % {below})", above, below, right)
    return Value(f"CAST({text} AS {duck_type(kind)})", kind, called)


def negate(value: Value) -> Value:
    """Change the sign."""
    if not kinds.is_numeric(value.kind):
        raise NotTranslatedError(f"- of {spark_type(value.kind)}", "-")
    if kinds.is_whole(value.kind):
        zero = f"CAST(0 AS {duck_type(value.kind)})"
        return Value(f"({zero} - {value.text})", value.kind, f"(- {value.name})")
    text = f"(-({value.text}))"
    if kinds.is_decimal(value.kind):
        text = decimals.signed(value, text)
    return Value(text, value.kind, f"(- {value.name})")


def compare(sign: str, left: Value, right: Value, *, name: str = "") -> Value:
    """Compare two values of any type that has an order."""
    called = name or f"({_shown(sign, left, right)} {sign} {_shown(_MIRRORED[sign], right, left)})"
    left, right = read_beside(left, right)
    _check_sides(sign, left, right)
    mine, other = together([left, right], sign)
    for value in (mine, other):
        if not kinds.is_comparable(value.kind):
            raise NotTranslatedError(f"{sign} of {spark_type(value.kind)}", sign)
    duck = {"<=>": "IS NOT DISTINCT FROM", "==": "="}.get(sign, sign)
    text = f"({mine.text} {duck} {other.text})"
    if sign == "<=>" and not (_has_columns(mine) and _has_columns(other)):
        text = truth_beside_null(text)
    return Value(text, kinds.BOOLEAN, called)


def truth_beside_null(condition: str) -> str:
    """Write a condition on one value that may be true of NULL.

    DuckDB 2.0 hands a bare one to its Parquet reader, which takes a text for NULL where all others
    of a chunk without a dictionary are NULL or equal to it.
    """
    return f"(CASE WHEN {condition} THEN true ELSE false END)"


def _has_columns(value: Value) -> bool:
    """Tell whether there may be columns; a condition on two columns is none of the reader."""
    return not value.is_literal and '"' in value.text


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<=>": "<=>", "<>": "<>"}


def _shown(sign: str, value: Value, other: Value) -> str:
    """Name a side: Spark compares integers with the integer beside a decimal of the statement.

    Source: ``DecimalPrecision.integralAndDecimalLiteral`` of Spark 4.
    """
    number = value.literal if value.is_literal else None
    if not isinstance(number, Decimal) or not kinds.is_whole(other.kind):
        return value.name
    if sign in (">", "<="):  # it is above what is on the other side, or equal and below
        return str(math.ceil(number))
    return str(math.floor(number)) if sign in ("<", ">=") else value.name


_DAY_HINT = "A date is written DATE '2026-01-31', a time TIMESTAMP '2026-01-31 12:00:00'"
_TIMES = (kinds.DATE, kinds.TIMESTAMP, kinds.TIMESTAMP_NTZ)


def _check_sides(sign: str, left: Value, right: Value) -> None:
    """Refuse to compare a text with what is none, or a day with a number, saying what to write."""
    types = f"{spark_type(left.kind)} and {spark_type(right.kind)}"
    for text, other in ((left, right), (right, left)):
        if text.kind in _TIMES and kinds.is_numeric(other.kind):
            raise NotTranslatedError(f"{sign} of {types}", sign, _DAY_HINT)
        if text.kind != kinds.STRING or read_text(text, other.kind) is not None:
            continue
        hint = ""
        if kinds.is_numeric(other.kind):
            number = "BIGINT" if kinds.is_whole(other.kind) else "DOUBLE"
            hint = f"Compare with a number: CAST({text.name} AS {number})"
            if other.is_literal and text.is_literal:
                hint = f"'{text.literal}' is a text; a column is written `{text.literal}`"
            elif other.is_literal:
                hint = f"Compare with a text: '{other.name}'"
            elif text.is_literal:
                hint = f"{other.name} is {spark_type(other.kind)}: compare it with a number"
        elif other.kind in _TIMES:
            hint = _DAY_HINT
        if hint:
            raise NotTranslatedError(f"{sign} of {types}", sign, hint)


APART_HINT = (
    "Days between two are datediff(end, begin), seconds unix_timestamp(end) - unix_timestamp(begin)"
)
_WHOLE_TEXT = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER_TEXT = re.compile(r"[+-]?([0-9]{1,15}([.][0-9]{0,15})?|[.][0-9]{1,15})")


def read_beside(left: Value, right: Value) -> tuple[Value, Value]:
    """Read a text of the statement beside a number: as BIGINT, or as DOUBLE."""
    return _read(left, right.kind), _read(right, left.kind)


def _read(value: Value, beside: Kind) -> Value:
    text = value.literal if value.is_literal else None
    if value.kind != kinds.STRING or not isinstance(text, str) or not kinds.is_numeric(beside):
        return value
    if kinds.is_whole(beside) and _WHOLE_TEXT.fullmatch(text):
        return literal(int(text), kinds.BIGINT, value.name)
    if not kinds.is_whole(beside) and beside != kinds.FLOAT and _NUMBER_TEXT.fullmatch(text):
        return literal(float(text), kinds.DOUBLE, value.name)
    return value


def truth(value: Value, what: str) -> Value:
    """Check that a value is true or false."""
    if value.kind not in (kinds.BOOLEAN, kinds.VOID):
        raise NotTranslatedError(f"{what} of {spark_type(value.kind)}", what)
    return value


def _numbers(sign: str, left: Value, right: Value) -> tuple[Value, Value]:
    _check_numbers(sign, left, right)
    return left, right


def _check_numbers(sign: str, left: Value, right: Value) -> None:
    for value in (left, right):
        if not kinds.is_numeric(value.kind):
            hint = ""
            if value.kind == kinds.STRING:
                shown = f"'{value.name}'" if value.is_literal else value.name
                hint = f"Texts are joined by ||; a number in one is CAST({shown} AS DOUBLE)"
            if sign == "-" and value.kind in _TIMES:
                hint = APART_HINT
            raise NotTranslatedError(f"{sign} of {spark_type(value.kind)}", sign, hint)


def _is_exact(left: Value, right: Value) -> bool:
    """Tell whether two numbers are computed with as decimals."""
    types = (left.kind, right.kind)
    return any(map(kinds.is_decimal, types)) and kinds.DOUBLE not in types


def _computed(sign: str, left: Value, right: Value, name: str) -> Value:
    kind = kinds.common(left.kind, right.kind)
    if _is_exact(left, right):
        return decimals.computed(sign, left, right, name)
    if kind is None:
        types = f"{spark_type(left.kind)} and {spark_type(right.kind)}"
        raise NotTranslatedError(f"{sign} of {types}", sign)
    text = f"({cast(left, kind).text} {sign} {cast(right, kind).text})"
    return Value(text, kind, name)
