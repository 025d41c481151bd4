r"""Patterns of LIKE: ``%`` stands for any text, ``_`` for one character, ``\`` for the next."""

from __future__ import annotations

import re
from enum import Enum

from paimonlab.errors import SchemaError


class Wildcard(Enum):
    """The wildcards of a pattern."""

    ANY = "%"
    """Any text, also none."""
    ONE = "_"
    """One character."""


def like_parts(pattern: str) -> list[str | Wildcard]:
    r"""Take a pattern apart into literal texts and wildcards.

    Raises
    ------
    SchemaError
        If a backslash is the last character or stands before anything but ``%``, ``_``, ``\``.

    Examples
    --------
    >>> like_parts(r"100\%%%_b")
    ['100%', <Wildcard.ANY: '%'>, <Wildcard.ONE: '_'>, 'b']
    """
    parts: list[str | Wildcard] = []
    characters = iter(pattern)
    for character in characters:
        if character == "\\":
            _append_text(parts, _escaped(next(characters, ""), pattern))
        elif character not in "%_":
            _append_text(parts, character)
        elif character == "_" or parts[-1:] != [Wildcard.ANY]:
            parts.append(Wildcard(character))
    return parts


def _escaped(character: str, pattern: str) -> str:
    if not character or character not in "%_\\":
        raise SchemaError(f"LIKE {pattern!r}: a backslash must stand before %, _ or a backslash")
    return character


def _append_text(parts: list[str | Wildcard], text: str) -> None:
    if parts and isinstance(parts[-1], str):
        parts[-1] += text
    else:
        parts.append(text)


_REGEX = {Wildcard.ANY: ".*", Wildcard.ONE: "."}


def like_regex(pattern: str) -> str:
    """Return the regular expression (RE2, for a search) of a LIKE pattern."""
    parts = like_parts(pattern)
    body = "".join(re.escape(part) if isinstance(part, str) else _REGEX[part] for part in parts)
    return rf"(?s)\A{body}\z"
