"""What is typed under a column's head, as a condition."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from paimonlab.notebook.results.column_kinds import ColumnKind

Operator = Literal[">=", "<=", "!=", "=", ">", "<"]
Value = Fraction | float | str | bool | bytes | dt.date | dt.datetime

LONGEST_NUMBER = 100
"""Characters; what is longer is a piece of text."""

_COMPARISON = re.compile(r"(>=|<=|!=|=|>|<)[ \t]*(.+)", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[ T]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?)?"
)
_BYTES = re.compile(r"0[xX]((?:[0-9a-fA-F]{2})*)")
_QUOTED = re.compile(r"'(.*)'", re.DOTALL)
_NO_NUMBERS = {"nan": float("nan"), "infinity": float("inf"), "-infinity": float("-inf")}


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether there is no value."""

    is_null: bool


@dataclass(frozen=True, slots=True)
class Compares:
    """A comparison with a value; NULL never passes."""

    operator: Operator
    value: Value
    """A `Fraction` for whole numbers and decimals, a float for floating-point ones, a datetime
    without zone for timestamps."""


@dataclass(frozen=True, slots=True)
class Contains:
    """Whether the text that is shown has a piece, in upper or lower case; NULL never passes."""

    piece: str
    """In lower case."""


Condition = IsNull | Compares | Contains


def condition(text: str, kind: ColumnKind) -> Condition | None:
    """Read a filter; None if nothing was typed.

    Examples
    --------
    >>> condition("> 5", "whole"), condition("> 5", "text")
    (Compares(operator='>', value=Fraction(5, 1)), Compares(operator='>', value='5'))
    >>> condition("> A", "whole"), condition(" ", "text")
    (Contains(piece='> a'), None)
    """
    trimmed = text.strip(" \t")
    if not trimmed:
        return None
    words = re.split(r"[ \t]+", trimmed.lower())
    if words in (["null"], ["not", "null"]):
        return IsNull(words == ["null"])
    match = _COMPARISON.fullmatch(trimmed)
    if match is not None and kind in _READERS:
        value = _READERS[kind](match[2])
        if value is not None:
            return Compares(_operator(match[1]), value)
    return Contains(lowered(trimmed))


def lowered(text: str) -> str:
    """Write text in lower case, as browsers and Spark do."""
    return text.lower()


def _operator(text: str) -> Operator:
    operators: Mapping[str, Operator] = {name: name for name in (">=", "<=", "!=", "=", ">", "<")}
    return operators[text]


def _number(text: str) -> Fraction | None:
    is_number = len(text) <= LONGEST_NUMBER and _NUMBER.fullmatch(text)
    return Fraction(text) if is_number else None


def _float(text: str) -> float | None:
    if text.lower() in _NO_NUMBERS:
        return _NO_NUMBERS[text.lower()]
    return None if _number(text) is None else float(text)


def _text(text: str) -> str:
    quoted = _QUOTED.fullmatch(text)
    return text if quoted is None else quoted[1].replace("''", "'")


def _boolean(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.lower())


def _date(text: str) -> dt.date | None:
    moment = _moment(text)
    return moment.date() if moment is not None and len(text) == len("2026-01-31") else None


def _moment(text: str) -> dt.datetime | None:
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    day, hour, minute, second, fraction = match.groups("0")
    try:
        return dt.datetime.fromisoformat(day).replace(
            hour=int(hour),
            minute=int(minute),
            second=int(second),
            microsecond=int(fraction.ljust(6, "0")),
        )
    except ValueError:
        return None


def _bytes(text: str) -> bytes | None:
    match = _BYTES.fullmatch(text)
    return None if match is None else bytes.fromhex(match[1])


_READERS: Mapping[ColumnKind, Callable[[str], Value | None]] = {
    "whole": _number,
    "decimal": _number,
    "float": _float,
    "double": _float,
    "text": _text,
    "boolean": _boolean,
    "date": _date,
    "timestamp": _moment,
    "local timestamp": _moment,
    "binary": _bytes,
}
