"""Statements about tags: ``ALTER TABLE t CREATE TAG …``, ``SHOW TAGS t``.

Source: apache/paimon@5dacde5 ``PaimonSqlExtensions.g4``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from paimonlab.spec.sql_text.reader import TokenReader
from paimonlab.spec.sql_text.tokens import Token

_UNITS = {"DAYS": "days", "HOURS": "hours", "MINUTES": "minutes"}


class TagVerb(Enum):
    """What is done to a tag."""

    CREATE = "CREATE TAG"
    REPLACE = "REPLACE TAG"
    """Created if there is none."""
    DELETE = "DELETE TAG"
    RENAME = "RENAME TAG"


@dataclass(frozen=True, slots=True)
class TagStatement:
    """A statement that changes tags of a table."""

    table: tuple[str, ...]
    """Parts of its name."""
    verb: TagVerb
    tag: str
    """Its name; of a deletion also several, with commas between."""
    is_lenient: bool = False
    """Whether it is no error if the tag exists (CREATE) or does not exist (DELETE)."""
    snapshot: int | None = None
    """None: the latest."""
    time_retained: timedelta | None = None
    """None: for ever."""
    target: str | None = None
    """The new name of a tag that is renamed."""


def parse_tag_statement(tokens: Sequence[Token]) -> TagStatement | None:
    """Read ``ALTER TABLE … CREATE | REPLACE | CREATE OR REPLACE | DELETE | RENAME TAG``.

    Parameters
    ----------
    tokens
        All of the statement.

    Returns
    -------
    TagStatement or None
        None if it is another statement.

    Raises
    ------
    StatementSyntaxError
        If it begins like one and goes on otherwise.

    Examples
    --------
    >>> from paimonlab.spec.sql_text.tokens import tokenize
    >>> made = parse_tag_statement(tokenize("ALTER TABLE t CREATE TAG `v-1` AS OF VERSION 3"))
    >>> made.tag, made.snapshot
    ('v-1', 3)
    """
    reader = TokenReader(tokens, "A statement about a tag")
    if not reader.take("ALTER", "TABLE") or reader.is_at_end:
        return None
    table = reader.names("a table")
    if reader.take("CREATE", "OR", "REPLACE", "TAG") or reader.take("REPLACE", "TAG"):
        return _of_snapshot(reader, table, TagVerb.REPLACE, is_lenient=False)
    if reader.take("CREATE", "TAG"):
        return _of_snapshot(
            reader, table, TagVerb.CREATE, is_lenient=reader.take("IF", "NOT", "EXISTS")
        )
    if reader.take("DELETE", "TAG"):
        is_lenient = reader.take("IF", "EXISTS")
        statement = TagStatement(table, TagVerb.DELETE, reader.name("a tag"), is_lenient)
    elif reader.take("RENAME", "TAG"):
        tag = reader.name("a tag")
        reader.expect("TO")
        statement = TagStatement(table, TagVerb.RENAME, tag, target=reader.name("a new name"))
    else:
        return None
    reader.end()
    return statement


def _of_snapshot(
    reader: TokenReader, table: tuple[str, ...], verb: TagVerb, *, is_lenient: bool
) -> TagStatement:
    tag = reader.name("a tag")
    snapshot = None
    if reader.take("AS", "OF", "VERSION"):
        snapshot = reader.number("the id of a snapshot")
    time_retained = None
    if reader.take("RETAIN"):
        count = reader.number("a number")
        unit = next((word for word in _UNITS if reader.take(word)), None)
        if unit is None:
            reader.refuse("DAYS, HOURS or MINUTES")
        time_retained = timedelta(**{_UNITS[unit]: count})
    reader.end()
    return TagStatement(table, verb, tag, is_lenient, snapshot, time_retained)
