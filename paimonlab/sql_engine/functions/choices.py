"""Functions that choose among their arguments."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.sql_engine import arithmetic, kinds
from paimonlab.sql_engine.functions.signatures import (
    Translate,
    WrongUseError,
    named,
)
from paimonlab.sql_engine.value import Value, cast, first_known, quoted, together


def _first_known(name: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        if not values or (name != "coalesce" and len(values) != 2):
            raise WrongUseError
        same = together(list(values), name)
        text = first_known([value.text for value in same], same[0].kind)
        return Value(text, same[0].kind, named(name, values))

    return translate


def _nullif(values: Sequence[Value]) -> Value:
    if len(values) != 2:
        raise WrongUseError
    equal = arithmetic.compare("=", values[0], values[1])
    text = f"(CASE WHEN {equal.text} THEN NULL ELSE {values[0].text} END)"
    return Value(text, values[0].kind, named("nullif", values))


def _extreme(name: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        if len(values) < 2 or not all(kinds.is_atomic(value.kind) for value in values):
            raise WrongUseError
        same = together(list(values), name)
        text = f"{name}({', '.join(value.text for value in same)})"
        return Value(text, same[0].kind, named(name, values))

    return translate


def _equal_null(values: Sequence[Value]) -> Value:
    if len(values) != 2:
        raise WrongUseError
    same = arithmetic.compare("<=>", *values)
    return Value(same.text, kinds.BOOLEAN, named("equal_null", values))


def _typeof(values: Sequence[Value]) -> Value:
    if len(values) != 1:
        raise WrongUseError
    text = quoted(kinds.simple_type(values[0].kind))
    return Value(text, kinds.STRING, named("typeof", values))


def _isnull(test: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        if len(values) != 1:
            raise WrongUseError
        text, called = f"({values[0].text} {test})", f"({values[0].name} {test})"
        if test == "IS NULL":
            text = arithmetic.truth_beside_null(text)
        return Value(text, kinds.BOOLEAN, called)

    return translate


def _by_presence(values: Sequence[Value]) -> Value:
    if len(values) != 3:
        raise WrongUseError
    first, second = together(list(values[1:]), "nvl2")
    text = f"(CASE WHEN {values[0].text} IS NOT NULL THEN {first.text} ELSE {second.text} END)"
    return Value(text, first.kind, named("nvl2", values))


def _decoded(values: Sequence[Value]) -> Value:
    """``decode``: the value beside what is equal, also to NULL."""
    if len(values) < 3:
        raise WrongUseError
    checked, rest = values[0], list(values[1:])
    has_default = len(rest) % 2 == 1
    default = rest.pop() if has_default else Value("NULL", kinds.VOID, "NULL", None)
    same = together([*rest[1::2], default], "decode")
    if not has_default and same[0].kind != kinds.STRING:
        # What is missing is a text in Spark, beside which integers are BIGINT.
        if not kinds.is_whole(same[0].kind):
            raise WrongUseError
        same = [cast(value, kinds.BIGINT) for value in same]
    cases = " ".join(
        f"WHEN {arithmetic.compare('<=>', checked, sought).text} THEN {found.text}"
        for sought, found in zip(rest[::2], same[:-1], strict=True)
    )
    text = f"(CASE {cases} ELSE {same[-1].text} END)"
    return Value(text, same[0].kind, named("decode", values))


CHOICES: dict[str, Translate] = {
    "isnull": _isnull("IS NULL"),
    "isnotnull": _isnull("IS NOT NULL"),
    "coalesce": _first_known("coalesce"),
    "nvl": _first_known("nvl"),
    "ifnull": _first_known("ifnull"),
    "nullif": _nullif,
    "equal_null": _equal_null,
    "typeof": _typeof,
    "nvl2": _by_presence,
    "decode": _decoded,
    "greatest": _extreme("greatest"),
    "least": _extreme("least"),
}
"""By name in small letters."""
