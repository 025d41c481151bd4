"""Where a reading of a binary log is, as jobs keep it, and which transactions it has.

While rows of tables are read, a position also says which rows were read, and at which place of the
log they are what they are: the log is then read from the first such place, and a change is passed
over where its row was read later.

Source: MySQL Reference Manual, "GTID Sets"; MariaDB Knowledge Base, "Global Transaction ID".
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from paimonlab.errors import IngestStateError, UnsupportedError
from paimonlab.ingest.changes import JsonValue

_NUMBER = re.compile(r"\.(\d+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place in the log of one server, between two events."""

    file: str
    """``binlog.000012``."""
    at: int
    """Bytes."""

    @property
    def order(self) -> tuple[int, int]:
        """Places of one server rise with it."""
        number = _NUMBER.search(self.file)
        return (int(number.group(1)) if number else 0), self.at

    def __str__(self) -> str:
        return f"{self.file}:{self.at}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRows:
    """Rows of a table that were read at one place of the log."""

    up_to: int | None
    """The largest value of the key, of those after the part before; None: all."""
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A position of a source."""

    server: str
    """Which server's files the place is in."""
    place: Place
    gtids: str = ""
    """What came before, in transactions; empty: the server does not number them."""
    read: Mapping[str, tuple[ReadRows, ...]] = field(default_factory=dict)
    """By ``database.table``: rows that are newer than the place."""
    is_snapshot: bool = False
    """Whether there are tables, or parts of them, still to be read."""
    outline: str = ""
    """Of the columns of the table that was read in part, to see whether they changed since."""
    declared: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Types of columns by table and name, where the log does not tell them."""
    altered: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Tables that statements changed, which is not told yet, and columns they renamed or dropped,
    whose new name is empty."""
    prepared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """XA transactions in two phases that are not at their end, with tables whose rows were read
    later than what they changed; () for most, which changed no table that is read."""

    def to_json(self) -> JsonValue:
        """Write it."""
        found: dict[str, JsonValue] = {
            "server": self.server,
            "file": self.place.file,
            "pos": self.place.at,
        }
        if self.gtids:
            found["gtids"] = self.gtids
        if self.is_snapshot:
            found["snapshot"] = True
        if self.read:
            found["read"] = {
                table: [[rows.up_to, rows.place.file, rows.place.at] for rows in parts]
                for table, parts in sorted(self.read.items())
            }
        if self.outline:
            found["outline"] = self.outline
        declared = {table: columns for table, columns in self.declared.items() if columns}
        for name, texts in (("declared", declared), ("altered", self.altered)):
            if texts:
                found[name] = {
                    table: dict(sorted(columns.items())) for table, columns in sorted(texts.items())
                }
        if self.prepared:
            found["prepared"] = {xid: list(names) for xid, names in sorted(self.prepared.items())}
        return found

    def moved(self, place: Place, gtids: str) -> Position:
        """Return the position at a later place: rows that are older than it need no note."""
        read = {
            table: parts
            for table, parts in self.read.items()
            if any(rows.place.order > place.order for rows in parts)
        }
        return replace(self, place=place, gtids=gtids, read=read)

    def before_rows(self, tables: Collection[str], others: Iterable[str]) -> Position:
        """Return the position before all rows of some tables are read, again or first.

        Parameters
        ----------
        tables
            Those tables.
        others
            All tables that there are: of those whose rows were read, nothing is read again.
        """
        read = {table: parts for table, parts in self.read.items() if table not in tables}
        if not self.is_snapshot:
            whole = (ReadRows(up_to=None, place=self.place),)
            read = {table: whole for table in others if table not in tables} | read
        is_inside = any(
            rows.up_to is not None for table in tables for rows in self.read.get(table, ())[-1:]
        )
        return replace(
            self,
            read=read,
            is_snapshot=True,
            outline="" if is_inside else self.outline,
            altered={name: columns for name, columns in self.altered.items() if name not in tables},
            prepared={
                xid: tuple(sorted({*names, *tables})) for xid, names in self.prepared.items()
            },
        )

    def on(self, server: str) -> Position:
        """Return the position, if its place is one of that server."""
        return replace(self, server=server)


def from_json(position: JsonValue, source: str) -> Position:
    """Read a position.

    Raises
    ------
    IngestStateError
        If it is none.
    """
    try:
        assert isinstance(position, dict)
        read = position.get("read", {})
        assert isinstance(read, dict)
        return Position(
            server=_text(position["server"]),
            place=Place(file=_text(position["file"]), at=_whole(position["pos"])),
            gtids=_text(position.get("gtids", "")),
            read={table: _parts(parts) for table, parts in read.items()},
            is_snapshot=position.get("snapshot") is True,
            outline=_text(position.get("outline", "")),
            declared=_by_table(position.get("declared", {})),
            altered=_by_table(position.get("altered", {})),
            prepared=_prepared(position.get("prepared", {})),
        )
    except (AssertionError, KeyError, ValueError) as error:
        raise IngestStateError(source, f"{position!r} is no position of a binary log") from error


def _text(value: JsonValue) -> str:
    assert isinstance(value, str)
    return value


def _whole(value: JsonValue) -> int:
    assert isinstance(value, int)
    return value


def _by_table(value: JsonValue) -> dict[str, dict[str, str]]:
    assert isinstance(value, dict)
    return {table: _texts(columns) for table, columns in value.items()}


def _texts(value: JsonValue) -> dict[str, str]:
    assert isinstance(value, dict)
    return {name: _text(text) for name, text in value.items()}


def _prepared(value: JsonValue) -> dict[str, tuple[str, ...]]:
    assert isinstance(value, dict)
    found = {}
    for xid, names in value.items():
        assert isinstance(names, list)
        found[xid] = tuple(_text(name) for name in names)
    return found


def _parts(value: JsonValue) -> tuple[ReadRows, ...]:
    assert isinstance(value, list)
    found = []
    for part in value:
        assert isinstance(part, list)
        up_to, file, at = part
        assert up_to is None or isinstance(up_to, int)
        found.append(ReadRows(up_to=up_to, place=Place(file=_text(file), at=_whole(at))))
    return tuple(found)


class MariaDbGtids:
    """The newest transaction of each domain."""

    def __init__(self, text: str) -> None:
        self._newest = {
            int(part.split("-")[0]): part.strip() for part in text.split(",") if part.strip()
        }

    def add(self, domain: int, server: int, number: int) -> None:
        """Take note of a transaction."""
        self._newest[domain] = f"{domain}-{server}-{number}"

    def __str__(self) -> str:
        return ",".join(self._newest[domain] for domain in sorted(self._newest))


class MySqlGtids:
    """A set of transactions: ranges of numbers by the server that made them.

    Examples
    --------
    >>> found = MySqlGtids("3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5")
    >>> found.add("3e11fa47-71ca-11e1-9e33-c80aa9429562", 6)
    >>> str(found)
    '3e11fa47-71ca-11e1-9e33-c80aa9429562:1-6'
    """

    def __init__(self, text: str) -> None:
        self._ranges: dict[str, list[list[int]]] = {}
        for part in text.replace("\n", "").split(","):
            if not part.strip():
                continue
            server, *ranges = part.strip().split(":")
            found = self._ranges.setdefault(server.lower(), [])
            for one in ranges:
                first, _, last = one.partition("-")
                if not first.isdigit():
                    raise UnsupportedError(
                        f"transactions with tagged GTIDs ({server}:{one})",
                        "read a server that has none in gtid_executed",
                    )
                found.append([int(first), int(last or first)])
            found.sort()

    def add(self, server: str, number: int) -> None:
        """Take note of a transaction."""
        ranges = self._ranges.setdefault(server, [])
        for index, (first, last) in enumerate(ranges):
            if first <= number <= last:
                return
            if number == last + 1:
                ranges[index][1] = number
                if index + 1 < len(ranges) and ranges[index + 1][0] == number + 1:
                    ranges[index][1] = ranges.pop(index + 1)[1]
                return
            if number < first:
                if number == first - 1:
                    ranges[index][0] = number
                else:
                    ranges.insert(index, [number, number])
                return
        ranges.append([number, number])

    def to_bytes(self) -> bytes:
        """Write it as COM_BINLOG_DUMP_GTID takes it."""
        parts = [len(self._ranges).to_bytes(8, "little")]
        for server, ranges in sorted(self._ranges.items()):
            parts += [uuid.UUID(server).bytes, len(ranges).to_bytes(8, "little")]
            for first, last in ranges:
                parts += [first.to_bytes(8, "little"), (last + 1).to_bytes(8, "little")]
        return b"".join(parts)

    def __str__(self) -> str:
        shown = []
        for server, ranges in sorted(self._ranges.items()):
            texts = [str(first) if first == last else f"{first}-{last}" for first, last in ranges]
            shown.append(":".join([server, *texts]))
        return ",".join(shown)
