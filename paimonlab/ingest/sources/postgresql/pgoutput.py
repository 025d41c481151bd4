"""Messages of pgoutput, PostgreSQL's decoder of its log: pure functions on bytes.

Version 1 of the protocol: transactions come whole, once they are committed.

Source: PostgreSQL's documentation, "Logical Replication Message Formats".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from paimonlab.errors import DataError
from paimonlab.ingest.sources.postgresql.cells import Bytes, Cells, Flags, Places, tuple_cells
from paimonlab.spec.row_kind import RowKind

HEAD = 25
"""Bytes of the replication protocol before each message."""
BEGIN, COMMIT, RELATION, INSERT, UPDATE, DELETE, TRUNCATE, TYPE, ORIGIN, LOGICAL = b"BCRIUDTYOM"
_KNOWN = np.isin(np.arange(256), [*b"BCRIUDTYOM"])
_ROWS = np.isin(np.arange(256), [INSERT, UPDATE, DELETE])
_NEW, _KEY, _OLD = b"NKO"
_EPOCH_2000_MILLIS = 946_684_800_000


@dataclass(frozen=True, slots=True)
class RelationColumn:
    """A column of a relation."""

    name: str
    is_key: bool
    """Whether it is part of what names rows."""
    oid: int
    """Of its type."""
    modifier: int


@dataclass(frozen=True, slots=True)
class Relation:
    """What a table is like in the messages that follow."""

    oid: int
    schema: str
    name: str
    identity: str
    """As `relreplident` of ``pg_class``."""
    columns: tuple[RelationColumn, ...]

    @property
    def full_name(self) -> str:
        """``schema.table``."""
        return f"{self.schema}.{self.name}"


def relation_of(message: Any) -> Relation:
    """Read a message of kind R, without its head."""
    raw = bytes(message)
    oid = int.from_bytes(raw[1:5], "big")
    schema, at = _text(raw, 5)
    name, at = _text(raw, at)
    identity, count, at = chr(raw[at]), int.from_bytes(raw[at + 1 : at + 3], "big"), at + 3
    columns = []
    for _ in range(count):
        is_key = bool(raw[at] & 1)
        column, at = _text(raw, at + 1)
        kind = int.from_bytes(raw[at : at + 4], "big")
        modifier = int.from_bytes(raw[at + 4 : at + 8], "big", signed=True)
        columns.append(RelationColumn(column, is_key, kind, modifier))
        at += 8
    # The schema of the system's own tables is written as nothing.
    return Relation(oid, schema or "pg_catalog", name, identity, tuple(columns))


def _text(raw: bytes, at: int) -> tuple[str, int]:
    end = raw.index(0, at)
    return raw[at:end].decode(), end + 1


@dataclass(frozen=True, slots=True)
class Truncation:
    """Tables that were emptied by one statement."""

    oids: tuple[int, ...]
    statement: str


def truncation_of(message: Any) -> Truncation:
    """Read a message of kind T, without its head."""
    raw = bytes(message)
    count, options = int.from_bytes(raw[1:5], "big"), raw[5]
    oids = np.frombuffer(raw, ">u4", count, 6).tolist()
    more = (" CASCADE" if options & 1 else "") + (" RESTART IDENTITY" if options & 2 else "")
    return Truncation(tuple(oids), f"TRUNCATE{more}")


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """Messages in the order of the log, with the transaction that each belongs to."""

    source: Bytes
    kinds: npt.NDArray[np.uint8]
    """Of each message, shape (n,)."""
    lsns: Places
    """Where the transaction of each was committed; shape (n,)."""
    millis: Places
    """When, in milliseconds since 1970; shape (n,)."""

    @property
    def is_row(self) -> Flags:
        """Which messages are changes of rows."""
        return _ROWS[self.kinds]

    @property
    def relations(self) -> npt.NDArray[np.uint32]:
        """Oids of relations; anything where a message has none."""
        return self.source.numbers(self.source.starts + HEAD + 1, ">u4").astype(np.uint32)

    def message(self, place: int) -> Any:
        """Return one message without its head."""
        start, end = self.source.starts[place] + HEAD, self.source.ends[place]
        return self.source.data[start:end]

    def end_of(self, place: int) -> int:
        """Return where the log goes on after a transaction; the message there is of kind C."""
        return int.from_bytes(self.message(place)[10:18].tobytes(), "big")


def messages_of(given: list[Any], lsn: int, millis: int) -> Messages:
    """Put messages together.

    Parameters
    ----------
    given
        As the server sent them.
    lsn, millis
        Of the transaction that is open at the first one.

    Raises
    ------
    DataError
        If there are messages of another protocol.
    """
    source = Bytes.of(given)
    kinds = source.data[source.starts + HEAD]
    if not np.all(_KNOWN[kinds]):
        other = chr(int(kinds[~_KNOWN[kinds]][0]))
        raise DataError(f"a message of kind {other!r}, which version 1 of pgoutput does not have")
    begins = np.flatnonzero(kinds == BEGIN)
    at = source.starts[begins] + HEAD
    lsns = np.concatenate(([lsn], source.numbers(at + 1, ">i8").astype(np.int64)))
    micros = source.numbers(at + 9, ">i8").astype(np.int64)
    times = np.concatenate(([millis], micros // 1000 + _EPOCH_2000_MILLIS))
    transactions = np.cumsum(kinds == BEGIN)
    return Messages(source, kinds, lsns[transactions], times[transactions])


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Changes of rows of one relation, by column; n rows, of updates sometimes two each."""

    cells: list[Cells]
    """Of each column, n values."""
    kinds: npt.NDArray[np.int8]
    """Numbers of `RowKind`, shape (n,)."""
    messages: Places
    """The place of each row's message among those given to `rows_of`; shape (n,)."""
    follows: Flags
    """Which rows are the new values of the row before; shape (n,)."""


def rows_of(messages: Messages, places: Places, columns: int) -> Rows:
    """Take messages of one relation apart.

    Parameters
    ----------
    messages
        All.
    places
        Which of them; all are of kind I, U or D.
    columns
        How many the relation has.

    Raises
    ------
    DataError
        If they are not as they should be.
    """
    source, kinds = messages.source, messages.kinds[places]
    at = source.starts[places] + HEAD + 5
    words = source.data[at]
    cells, ends = tuple_cells(source, at + 1, columns)
    is_update = kinds == UPDATE
    if not np.all((words == _NEW) | (words == _KEY) | (words == _OLD)):
        raise DataError("a tuple is neither new nor old")
    has_second = is_update & (words != _NEW)
    row_kinds = np.full(len(places), int(RowKind.INSERT), np.int8)
    row_kinds[is_update] = int(RowKind.UPDATE_AFTER)
    row_kinds[kinds == DELETE] = int(RowKind.DELETE)
    follows = np.zeros(len(places), np.bool_)
    of_message = np.arange(len(places))
    if has_second.any():
        by_key = words[has_second] == _KEY
        row_kinds[has_second] = np.where(by_key, int(RowKind.DELETE), int(RowKind.UPDATE_BEFORE))
        second_at = ends[has_second]
        if not np.all(source.data[second_at] == _NEW):
            raise DataError("an update has no new tuple")
        seconds, ends[has_second] = tuple_cells(source, second_at + 1, columns)
        first = of_message + np.cumsum(has_second) - has_second
        second = first[has_second] + 1
        count = len(places) + len(second)
        cells = [
            _joined(count, first, one, second, other, by_key)
            for one, other in zip(cells, seconds, strict=True)
        ]
        row_kinds = _placed(
            count,
            first,
            row_kinds,
            second,
            np.where(by_key, int(RowKind.INSERT), int(RowKind.UPDATE_AFTER)).astype(np.int8),
        )
        follows = np.zeros(count, np.bool_)
        follows[second] = True
        of_message = _placed(count, first, of_message, second, of_message[has_second])
    if not np.array_equal(ends, source.ends[places]):
        raise DataError("a message does not end with its last value")
    return Rows(cells, row_kinds, of_message, follows)


def _joined(
    count: int, first: Places, one: Cells, second: Places, other: Cells, by_key: Flags
) -> Cells:
    """Put old and new values of a column one after the other."""
    joined = Cells(
        one.source,
        _placed(count, first, one.starts, second, other.starts),
        _placed(count, first, one.lengths, second, other.lengths),
        _placed(count, first, one.nulls, second, other.nulls),
    )
    if one.unchanged is None and other.unchanged is None:
        return joined
    unchanged = np.zeros(count, np.bool_)
    if one.unchanged is not None:
        unchanged[first] = one.unchanged
    from_before = None
    if other.unchanged is not None:
        # The old row has the value where it is known as a whole; where only its key is, the value
        # is that of the row that had this key.
        from_before = np.zeros(count, np.bool_)
        from_before[second] = other.unchanged & ~by_key
        unchanged[second] = other.unchanged & by_key
        unchanged[second - 1] |= other.unchanged & by_key
    return replace(
        joined,
        unchanged=unchanged if unchanged.any() else None,
        from_before=from_before if from_before is not None and from_before.any() else None,
    )


def _placed(
    count: int,
    first: Places,
    one: npt.NDArray[Any],
    second: Places,
    other: npt.NDArray[Any],
) -> npt.NDArray[Any]:
    made = np.empty(count, one.dtype)
    made[first] = one
    made[second] = other
    return made
