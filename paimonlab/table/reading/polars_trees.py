"""Expressions of polars as trees: which look at each row by itself, which predicates can say.

The form of trees may change with polars: what is not known here is refused, or rules out nothing.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import pyarrow as pa

from paimonlab.spec.predicates.predicate import Predicate, col

_EPOCH = date(1970, 1, 1)
_SIGNS = {
    "Eq": "__eq__",
    "NotEq": "__ne__",
    "Lt": "__lt__",
    "LtEq": "__le__",
    "Gt": "__gt__",
    "GtEq": "__ge__",
}
_FUNCTIONS = {
    "Boolean": (
        "AllHorizontal AnyHorizontal IsBetween IsFinite IsIn IsInfinite IsNan IsNotNan IsNotNull "
        "IsNull Not"
    ),
    "StringExpr": (
        "Contains EndsWith Head LenBytes LenChars Lowercase PadEnd PadStart Replace Slice "
        "StartsWith StripChars StripCharsEnd StripCharsStart StripPrefix StripSuffix Tail "
        "Titlecase Uppercase"
    ),
    "TemporalExpr": (
        "Century Date Day Hour IsLeapYear IsoYear Microsecond Millennium Millisecond Minute Month "
        "Nanosecond OrdinalDay Quarter Second Week WeekDay Year"
    ),
    "": "Abs Ceil Coalesce FillNull Floor Negate Round Sign",
}
"""Functions of one row each, by the groups that polars has them in."""
_WHOLE = frozenset({"Int8", "Int16", "Int32", "Int64"})
_KNOWN = {(group, name) for group, names in _FUNCTIONS.items() for name in names.split()}
_MIRRORED = {"Lt": "Gt", "LtEq": "GtEq", "Gt": "Lt", "GtEq": "LtEq"}


def beyond_rows(node: Any) -> str:
    """Name a part of a tree that may look at other rows than each by itself; empty: none does."""
    match node:
        case {"Column": str()} | {"Literal": {"Dyn": _} | {"Scalar": _}}:
            inner = []
        case {"BinaryExpr": {"left": left, "right": right}}:
            inner = [left, right]
        case {"Cast": {"expr": value}} | {"Alias": [value, _]}:
            inner = [value]
        case {"Ternary": {"predicate": test, "truthy": first, "falsy": second}}:
            inner = [test, first, second]
        case {"Function": {"input": [*inputs], "function": function}}:
            group, name = _named(function)
            if (group, name) not in _KNOWN:
                return name
            inner = inputs
        case _:
            return next(iter(node)) if isinstance(node, dict) else "a function of Python"
    return next(filter(None, map(beyond_rows, inner)), "")


def _named(function: Any) -> tuple[str, str]:
    """Return the group and the name of a function, as ``("StringExpr", "Contains")``."""
    if isinstance(function, str):
        return "", function
    group, inner = next(iter(function.items()))
    if group not in _FUNCTIONS:
        return "", str(group)
    return str(group), inner if isinstance(inner, str) else str(next(iter(inner)))


def tree_of(where: Any) -> Any:
    """Return an expression as polars writes it in JSON; None if it cannot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the form may change: what is not known is not used
        try:
            return json.loads(where.meta.serialize(format="json"))
        except Exception:  # noqa: BLE001 - functions of Python have no such form, versions differ
            return None


def predicate_of(node: Any, schema: pa.Schema) -> tuple[Predicate | None, bool]:
    """Return what of a tree files can be ruled out by, and whether that is all of it."""
    match node:
        case {"BinaryExpr": {"left": left, "op": "And" | "Or" as joint, "right": right}}:
            return _joined(joint, predicate_of(left, schema), predicate_of(right, schema))
        case {"BinaryExpr": {"left": left, "op": str(sign), "right": right}}:
            known = _compared(left, sign, right, schema)
            return known, known is not None
        case {"Function": {"input": [{"Column": str(name)}], "function": {"Boolean": str(test)}}}:
            known = _tested(name, test, schema)
            return known, known is not None
    return None, False


def _joined(
    joint: str, left: tuple[Predicate | None, bool], right: tuple[Predicate | None, bool]
) -> tuple[Predicate | None, bool]:
    (first, is_first), (second, is_second) = left, right
    if first is not None and second is not None:
        both = first & second if joint == "And" else first | second
        return both, is_first and is_second
    if joint == "And":
        return second if first is None else first, False
    return None, False


def _tested(name: str, test: str, schema: pa.Schema) -> Predicate | None:
    if name not in schema.names or test not in ("IsNull", "IsNotNull"):
        return None
    return col(name).is_null() if test == "IsNull" else col(name).is_not_null()


def _compared(left: Any, sign: str, right: Any, schema: pa.Schema) -> Predicate | None:
    if isinstance(right, dict) and "Column" in right:
        left, right, sign = right, left, _MIRRORED.get(sign, sign)
    name = left.get("Column", "") if isinstance(left, dict) else ""
    if name not in schema.names or sign not in _SIGNS or not isinstance(right, dict):
        return None
    value = _literal(right, schema.field(name).type)
    return None if value is None else getattr(col(name), _SIGNS[sign])(value)


def _literal(node: Mapping[str, Any], kind: pa.DataType) -> int | str | date | None:
    match node:
        case {"Literal": {"Dyn": {"Int": int(value)}}} if pa.types.is_integer(kind):
            return value
        case {"Literal": {"Scalar": {"String": str(value)}}} if pa.types.is_string(kind):
            return value
        case {"Literal": {"Scalar": {"Date": int(value)}}} if pa.types.is_date32(kind):
            return _EPOCH + timedelta(days=value)
        case {"Literal": {"Scalar": dict(typed)}} if pa.types.is_integer(kind):
            ((name, value),) = typed.items()
            return value if name in _WHOLE and isinstance(value, int) else None
    return None
