"""Statements of other formats that mean something of Paimon's: ``OPTIMIZE``, ``VACUUM`` and more.

Source: Delta Lake 4.0 ``DeltaSqlBase.g4``, Databricks' ``CREATE TABLE CLONE`` and ``REORG TABLE``,
Iceberg 1.10 ``IcebergSqlExtensions.g4``; ``EXPIRE SNAPSHOTS`` is what users of Iceberg try.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from paimonlab.spec.sql_text.reader import TokenReader
from paimonlab.spec.sql_text.tokens import Token

_WEEK_HOURS = 168
"""What Delta's VACUUM keeps."""


class Habit(Struct, frozen=True):
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
    target: tuple[str, ...] = ()
    """Of CLONE, parts of the name of the new table."""


def parse_habit(tokens: Sequence[Token], text: str) -> Habit | None:
    """Read ``OPTIMIZE``, ``VACUUM``, ``RESTORE``, ``CREATE TABLE … CLONE`` and their like.

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
        (("DESCRIBE", "DETAIL"), _detail),
        (("DESC", "DETAIL"), _detail),
        (("REORG", "TABLE"), _reorg),
        (("ALTER", "TABLE"), _alter),
        (("CREATE",), _clone),
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
    is_dry = reader.take("DRY", "RUN")
    reader.end()
    remark = (
        "the first deletes old snapshots and the files that only they need, the second "
        "the files of the day before and older that nothing refers to"
    )
    if is_dry:
        remark += "; %%paimon --dry-run, in front of each in a cell of its own, lists what"
    return Habit(
        "VACUUM",
        table,
        (("expire_snapshots", {"retain_min": 1}), ("remove_orphan_files", {})),
        remark=remark,
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


def _detail(reader: TokenReader, _text: str) -> Habit | None:
    if not reader.is_at_name:
        return None
    table = reader.names("a table")
    return Habit("DESCRIBE DETAIL", table) if reader.is_at_end else None


def _reorg(reader: TokenReader, text: str) -> Habit:
    table = reader.names("a table")
    arguments: dict[str, str | int] = {"compact_strategy": "full"}
    if reader.take("WHERE"):
        start = reader.offset
        reader.skip_to("APPLY")
        arguments["where"] = text[start : reader.offset].strip()
    reader.expect("APPLY", "(", "PURGE", ")")
    reader.end()
    return Habit("REORG TABLE", table, (("compact", arguments),), is_run=True)


def _alter(reader: TokenReader, _text: str) -> Habit | None:
    """Read what Iceberg alters: branches, tags, fields of partitions, orders of writes."""
    if not reader.is_at_name:
        return None
    table = reader.names("a table")
    for words in (("CREATE", "OR", "REPLACE", "BRANCH"), ("CREATE", "BRANCH")):
        if reader.take(*words):
            return _new_branch(reader, table)
    for what in ("BRANCH", "TAG"):
        if reader.take("DROP", what):
            _ = reader.take("IF", "EXISTS")
            name = reader.name(f"the name of a {what.lower()}")
            reader.end()
            call = (f"delete_{what.lower()}", {what.lower(): name})
            return Habit(f"DROP {what}", table, (call,), remark="it cannot be undone")
    for what, advice in _ALTERED_OTHERWISE.items():
        if reader.take(*what.split()):
            return Habit(f"ALTER TABLE … {what}", table, remark=advice)
    return None


_PARTITIONS_STAY = (
    "the partition columns of a table stay as they are: CREATE TABLE … PARTITIONED BY … AS SELECT "
    "makes another one"
)
_ORDERED = (
    "OPTIMIZE t ZORDER BY (a, b) puts the rows of an append table in order; with the properties "
    "'clustering.incremental' and 'clustering.columns' each compaction does so"
)
_ALTERED_OTHERWISE = {
    "ADD PARTITION FIELD": _PARTITIONS_STAY,
    "DROP PARTITION FIELD": _PARTITIONS_STAY,
    "REPLACE PARTITION FIELD": _PARTITIONS_STAY,
    "WRITE ORDERED": _ORDERED,
    "WRITE LOCALLY": _ORDERED,
    "WRITE UNORDERED": _ORDERED,
    "WRITE DISTRIBUTED": "rows of a bucket are brought together by themselves",
    "SET IDENTIFIER FIELDS": "a table gets its primary key when it is created: CREATE TABLE t "
    "(id INT PRIMARY KEY, …)",
    "DROP IDENTIFIER FIELDS": "the primary key of a table stays as it is",
}


def _new_branch(reader: TokenReader, table: tuple[str, ...]) -> Habit:
    _ = reader.take("IF", "NOT", "EXISTS")
    name = reader.name("the name of a branch")
    arguments: dict[str, str | int] = {"tag": name}
    if reader.take("AS", "OF", "VERSION"):
        arguments["snapshot"] = reader.number("the id of a snapshot")
    reader.skip_to("")
    calls = (("create_tag", arguments), ("create_branch", {"branch": name, "tag": name}))
    return Habit(
        "CREATE BRANCH",
        table,
        calls,
        remark="a branch begins with what a tag has; it is `t$branch_…` in statements",
    )


def _clone(reader: TokenReader, _text: str) -> Habit | None:
    _ = reader.take("OR", "REPLACE")
    if not reader.take("TABLE"):
        return None
    _ = reader.take("IF", "NOT", "EXISTS")
    if not reader.is_at_name:
        return None
    target = reader.names("a table")
    is_shallow = reader.take("SHALLOW")
    _ = reader.take("DEEP")
    if not reader.take("CLONE") or not reader.is_at_name:
        return None
    source = reader.names("a table")
    return Habit(
        "CLONE",
        source,
        (("copy", {}),),
        target=target,
        remark="it copies the rows that the table has now"
        + ("; branches share files: CALL sys.create_branch" if is_shallow else ""),
    )
