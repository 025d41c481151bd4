"""Patterns of ``date_format``, as far as they mean the same everywhere.

Letters whose text depends on a language or a country (names of months, weeks that begin on Sunday
or Monday) and letters of time zones are refused: a time without a zone has none.

Source: ``java.time.format.DateTimeFormatterBuilder.appendPattern`` of Java 17.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from paimonlab.errors import UnsupportedError


@dataclass(frozen=True, slots=True)
class Number:
    """A part of a moment, written in digits."""

    part: str
    """``year``, ``two_digit_year``, ``quarter``, ``month``, ``day``, ``day_of_year``, ``hour``,
    ``minute``, ``second`` or ``fraction``."""
    width: int
    """Zeros are put before it up to so many digits; of a fraction how many there are."""


Pieces: TypeAlias = "tuple[Number | str, ...]"
"""What a pattern is made of; texts stand for themselves."""

_NUMBERS: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "y": ("year", (1, 2, 4)),
    "u": ("year", (1, 2, 4)),
    "Q": ("quarter", (1, 2)),
    "M": ("month", (1, 2)),
    "d": ("day", (1, 2)),
    "D": ("day_of_year", (1, 3)),
    "H": ("hour", (1, 2)),
    "m": ("minute", (1, 2)),
    "s": ("second", (1, 2)),
    "S": ("fraction", tuple(range(1, 10))),
}
"""By letter: what it is, and how often it may stand side by side."""
_OF_PLACES = frozenset("GLEecaBqYwW")
_OF_ZONES = frozenset("VvzOXxZ")
_RESERVED = frozenset("{}#[]")


def pieces_of(pattern: str) -> Pieces:
    """Take a pattern of Java's ``DateTimeFormatter`` apart.

    Raises
    ------
    UnsupportedError
        Names the letters that are not translated, and why.
    ValueError
        If it is not a pattern.

    Examples
    --------
    >>> pieces_of("yyyy-MM")
    (Number(part='year', width=4), '-', Number(part='month', width=2))
    >>> pieces_of("HH'h'''")
    (Number(part='hour', width=2), "h'")
    """
    found: list[Number | str] = []
    for number, part in enumerate(pattern.replace("''", "\0").split("'")):
        if number % 2:
            found.append(part.replace("\0", "'"))
        else:
            found.extend(_unquoted(part, pattern))
    if pattern.replace("''", "").count("'") % 2:
        raise ValueError(f"pattern {pattern!r}: a quote is not closed")
    if not any(isinstance(piece, Number) for piece in found):
        raise ValueError(f"pattern {pattern!r}: there is no letter of a date or time in it")
    joined: list[Number | str] = []
    for piece in found:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    return tuple(piece for piece in joined if piece != "")


def _unquoted(text: str, pattern: str) -> list[Number | str]:
    found: list[Number | str] = []
    for letter, group in groupby(text):
        count = len([*group])
        if not (letter.isascii() and letter.isalpha()):
            if letter in _RESERVED:
                raise UnsupportedError(f"{letter!r} in the pattern {pattern!r}", "it is reserved")
            found.append(("'" if letter == "\0" else letter) * count)
            continue
        part, widths = _NUMBERS.get(letter, ("", ()))
        if count not in widths:
            raise UnsupportedError(f"{letter * count!r} in the pattern {pattern!r}", _why(letter))
        found.append(Number("two_digit_year" if (part, count) == ("year", 2) else part, count))
    return found


def _why(letter: str) -> str:
    if letter in _NUMBERS:
        letters = (letter * width for width in _NUMBERS[letter][1])
        return f"use {', '.join(letters)}"
    if letter in _OF_ZONES:
        return "it is of time zones; a time without a zone has none"
    if letter in _OF_PLACES:
        return "what it writes depends on language and country"
    return f"letters are {', '.join(_NUMBERS)}; put texts into quotes"
