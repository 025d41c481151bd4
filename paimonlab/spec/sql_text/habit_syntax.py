"""Statements of other formats that mean something of Paimon's: ``OPTIMIZE``, ``VACUUM`` and more.

Source: Delta Lake 4.0 ``DeltaSqlBase.g4``; ``EXPIRE SNAPSHOTS`` is what users of Iceberg try.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paimonlab.spec.sql_text.reader import TokenReader
from paimonlab.spec.sql_text.tokens import Token

_WEEK_HOURS = 168
"""What Delta's VACUUM keeps."""


@dataclass(frozen=True, slots=True)
class Habit:
    """What a statement of another table format says."""

    statement: str
    """Its keywords: ``OPTIMIZE``."""
    table: tuple[str, ...]
    """Parts of the name."""
    procedures: Sequence[tuple[str, Mapping[str, str | int]]] = ()
    """Calls that do it, with their arguments but for the table."""
    is_run: bool = False
    """Whether the call is run; else one is told of it, as it deletes."""
    remark: str = ""
    """What differs, for who is told."""
    limit: int | None = None
    """Of DESCRIBE HISTORY, how many rows."""
    hours: int | None = None
    """Of VACUUM, how old files are that it deletes."""


def parse_habit(tokens: Sequence[Token], text: str) -> Habit | None:
    """Read ``OPTIMIZE``, ``VACUUM``, ``RESTORE``, ``DESCRIBE HISTORY``, ``EXPIRE SNAPSHOTS``.

    Parameters
    ----------
    tokens, text
        The statement.

    Returns
    -------
    Habit or None
        None if it is another statement, or about files in a folder.

    Raises
    ------
    StatementSyntaxError
        If it begins like one and goes on otherwise.

    Examples
    --------
    >>> from paimonlab.spec.sql_text.tokens import tokenize
    >>> said = "OPTIMIZE db.t ZORDER BY (a, b)"
    >>> parse_habit(tokenize(said), said).procedures
    (('compact', {'order_strategy': 'zorder', 'order_by': 'a,b'}),)
    """
    for words, read in (
        (("OPTIMIZE",), _optimize),
        (("VACUUM",), _vacuum),
        (("RESTORE",), _restore),
        (("EXPIRE", "SNAPSHOTS"), _expiry),
        (("DESCRIBE", "HISTORY"), _history),
        (("DESC", "HISTORY"), _history),
    ):
        reader = TokenReader(tokens, " ".join(words))
        if reader.take(*words):
            if reader.is_at_end or reader.is_at_text:
                return None
            return read(reader, text)
    return None


def _optimize(reader: TokenReader, text: str) -> Habit:
    table = reader.names("a table")
    arguments: dict[str, str | int] = {}
    if reader.take("FULL"):
        arguments["compact_strategy"] = "full"
    if reader.take("WHERE"):
        start = reader.offset
        reader.skip_to("ZORDER")
        condition = text[start : reader.offset].strip()
        if not condition:
            reader.refuse("a condition on partition columns")
        arguments["where"] = condition
    if reader.take("ZORDER", "BY"):
        has_parentheses = reader.take("(")
        names = [reader.name("a column")]
        while reader.take(","):
            names.append(reader.name("a column"))
        if has_parentheses:
            reader.expect(")")
        arguments |= {"order_strategy": "zorder", "order_by": ",".join(names)}
    reader.end()
    return Habit("OPTIMIZE", table, (("compact", arguments),), is_run=True)


def _vacuum(reader: TokenReader, _text: str) -> Habit:
    _ = reader.take("TABLE")
    table = reader.names("a table")
    for word in ("FULL", "LITE"):
        _ = reader.take(word)
    hours = _WEEK_HOURS
    if reader.take("RETAIN"):
        hours = reader.number("a number of hours")
        reader.expect("HOURS")
    _ = reader.take("DRY", "RUN")
    reader.end()
    return Habit(
        "VACUUM",
        table,
        (("expire_snapshots", {"retain_min": 1}), ("remove_orphan_files", {})),
        remark="the first deletes old snapshots and the files that only they need, the second "
        "the files of the day before and older that nothing refers to",
        hours=hours,
    )


def _expiry(reader: TokenReader, _text: str) -> Habit:
    for word in ("FOR", "FROM", "OF", "IN", "TABLE"):
        _ = reader.take(word)
    table = reader.names("a table")
    reader.end()
    return Habit(
        "EXPIRE SNAPSHOTS",
        table,
        (("expire_snapshots", {}),),
        remark="retain_max and older_than say what stays, else the table's "
        "snapshot.num-retained.max and snapshot.time-retained",
    )


def _restore(reader: TokenReader, _text: str) -> Habit:
    _ = reader.take("TABLE")
    table = reader.names("a table")
    reader.expect("TO")
    if reader.take("VERSION", "AS", "OF"):
        call: tuple[str, dict[str, str | int]] = (
            "rollback",
            {"snapshot": reader.number("the id of a snapshot")},
        )
    else:
        reader.expect("TIMESTAMP", "AS", "OF")
        call = ("rollback_to_timestamp", {"timestamp": reader.text("a time")})
    reader.end()
    return Habit(
        "RESTORE", table, (call,), remark="unlike RESTORE it deletes the snapshots that came later"
    )


def _history(reader: TokenReader, _text: str) -> Habit:
    table = reader.names("a table")
    limit = reader.number("a number of rows") if reader.take("LIMIT") else None
    reader.end()
    return Habit("DESCRIBE HISTORY", table, limit=limit)
