"""What functions take, and those that are written alike in DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.kinds import Kind
from paimonlab.sql_engine.value import Value, read_text

Translate = Callable[[Sequence[Value]], Value]


class WrongUseError(Exception):
    """A function does not take these."""


def named(name: str, values: Sequence[Value]) -> str:
    """Name a call as Spark names a column of it."""
    return f"{name}({', '.join(value.name for value in values)})"


def expect(values: Sequence[Value], *wanted: Callable[[Kind], bool]) -> None:
    """Check number and types of arguments; NULL has every type."""
    if len(values) != len(wanted):
        raise WrongUseError
    for value, fits in zip(values, wanted, strict=True):
        if not fits(value.kind) and value.kind != kinds.VOID:
            raise WrongUseError


def one_of(*expected: Kind) -> Callable[[Kind], bool]:
    """Return whether a type is one of some."""
    return lambda kind: kind in expected


def constant(value: Value, kind: type, *, least: int | None = None) -> str:
    """Check that a value is written in the statement, is not NULL or empty; return its SQL."""
    given = value.literal if value.is_literal else None
    fits = type(given) is kind and given != ""
    if not fits or (least is not None and given < least):  # type: ignore[operator]
        raise WrongUseError
    return value.text


def simple(name: str, template: str, kind: Kind, *wanted: Callable[[Kind], bool]) -> Translate:
    """Return the translation of a function by a pattern of its arguments."""

    def translate(values: Sequence[Value]) -> Value:
        expect(values, *wanted)
        return Value(template.format(*(one.text for one in values)), kind, named(name, values))

    return translate


def read_argument(values: Sequence[Value], *wanted: Kind) -> Value:
    """Return the only argument, a text of the statement read as the first type."""
    if len(values) != 1:
        raise WrongUseError
    value = read_text(values[0], wanted[0]) or values[0]
    if value.kind not in wanted:
        raise WrongUseError
    return value


is_text = one_of(kinds.STRING)
is_day = one_of(kinds.DATE)
