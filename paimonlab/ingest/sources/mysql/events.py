"""Events of a binary log taken apart: tables, rows, statements, transactions.

Source: MySQL Source Code Documentation, "Replication Protocol" and ``binary_log::Table_map_event``;
MariaDB Knowledge Base, "Replication Protocol" (GTID_EVENT, compressed events).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum


class EventType(IntEnum):
    """Events that mean something here."""

    QUERY = 2
    ROTATE = 4
    BEGIN_LOAD = 17
    EXECUTE_LOAD = 18
    FORMAT = 15
    XID = 16
    TABLE_MAP = 19
    WRITE_V1 = 23
    UPDATE_V1 = 24
    DELETE_V1 = 25
    INCIDENT = 26
    HEARTBEAT = 27
    WRITE_V2 = 30
    UPDATE_V2 = 31
    DELETE_V2 = 32
    GTID = 33
    XA_PREPARE = 38
    PARTIAL_UPDATE = 39
    TRANSACTION_PAYLOAD = 40
    TAGGED_GTID = 42
    MARIADB_GTID = 162
    QUERY_COMPRESSED = 165
    WRITE_COMPRESSED = 166
    UPDATE_COMPRESSED = 167
    DELETE_COMPRESSED = 168


INSERTS = (EventType.WRITE_V1, EventType.WRITE_V2, EventType.WRITE_COMPRESSED)
UPDATES = (EventType.UPDATE_V1, EventType.UPDATE_V2, EventType.UPDATE_COMPRESSED)
DELETES = (EventType.DELETE_V1, EventType.DELETE_V2, EventType.DELETE_COMPRESSED)
_WITH_EXTRA = (EventType.WRITE_V2, EventType.UPDATE_V2, EventType.DELETE_V2)
_COMPRESSED = (
    EventType.WRITE_COMPRESSED,
    EventType.UPDATE_COMPRESSED,
    EventType.DELETE_COMPRESSED,
)
HEADER = 19
"""Bytes before the body of an event."""


class DamagedEventError(ValueError):
    """An event is not what its type says."""


# Tables


class LogType(IntEnum):
    """Types of columns as the log numbers them."""

    TINY = 1
    SHORT = 2
    LONG = 3
    FLOAT = 4
    DOUBLE = 5
    OLD_TIMESTAMP = 7
    LONGLONG = 8
    INT24 = 9
    DATE = 10
    OLD_TIME = 11
    OLD_DATETIME = 12
    YEAR = 13
    NEWDATE = 14
    VARCHAR = 15
    BIT = 16
    TIMESTAMP = 17
    DATETIME = 18
    TIME = 19
    COMPRESSED_BLOB = 140
    COMPRESSED_VARCHAR = 141
    VECTOR = 242
    JSON = 245
    DECIMAL = 246
    ENUM = 247
    SET = 248
    BLOB = 252
    VAR_STRING = 253
    STRING = 254
    GEOMETRY = 255


_TWO_BYTES = (
    LogType.VARCHAR,
    LogType.BIT,
    LogType.DECIMAL,
    LogType.STRING,
    LogType.VAR_STRING,
    LogType.ENUM,
    LogType.SET,
    LogType.COMPRESSED_VARCHAR,
)
_ONE_BYTE = (
    LogType.BLOB,
    LogType.FLOAT,
    LogType.DOUBLE,
    LogType.GEOMETRY,
    LogType.JSON,
    LogType.TIMESTAMP,
    LogType.DATETIME,
    LogType.TIME,
    LogType.COMPRESSED_BLOB,
    LogType.VECTOR,
)
_NUMERIC = (
    LogType.TINY,
    LogType.SHORT,
    LogType.INT24,
    LogType.LONG,
    LogType.LONGLONG,
    LogType.DECIMAL,
    LogType.FLOAT,
    LogType.DOUBLE,
    LogType.YEAR,
)
_CHARACTER = (
    LogType.STRING,
    LogType.VAR_STRING,
    LogType.VARCHAR,
    LogType.BLOB,
    LogType.COMPRESSED_BLOB,
    LogType.COMPRESSED_VARCHAR,
)
_FIELDS = {
    "signedness": 1,
    "default_charset": 2,
    "charsets": 3,
    "names": 4,
    "set_members": 5,
    "enum_members": 6,
    "geometries": 7,
    "key": 8,
    "key_with_prefix": 9,
    "default_member_charset": 10,
    "member_charsets": 11,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LogColumn:
    """A column of a table, as the log tells it."""

    name: str
    type: LogType
    meta: int
    """Its size: characters are bytes here; DECIMAL: precision << 8 | scale; BIT: bits."""
    is_nullable: bool
    is_unsigned: bool = False
    collation: int | None = None
    """Number of it; None: the type has none."""
    members: tuple[bytes, ...] = ()
    geometry: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LogTable:
    """A table at one moment, as the log tells it."""

    database: str
    table: str
    columns: tuple[LogColumn, ...]
    keys: tuple[str, ...]

    @property
    def name(self) -> str:
        """``database.table``."""
        return f"{self.database}.{self.table}"


def table_name(body: bytes) -> tuple[int, str]:
    """Return number and ``database.table`` of a TABLE_MAP without reading the rest."""
    number = int.from_bytes(body[:6], "little")
    end = 9 + body[8]
    database = body[9:end].decode("utf-8")
    table = body[end + 2 : end + 2 + body[end + 1]].decode("utf-8")
    return number, f"{database}.{table}"


def log_table(body: bytes, *, is_mariadb: bool) -> LogTable:
    """Read a TABLE_MAP.

    Raises
    ------
    DamagedEventError
        If it has no names: the server does not write them.
    """
    end = 9 + body[8]
    database = body[9:end].decode("utf-8")
    at = end + 2 + body[end + 1]
    table = body[end + 2 : at].decode("utf-8")
    count, at = _length(body, at + 1)
    codes = body[at : at + count]
    size, at = _length(body, at + count)
    types = list(_types(codes, body[at : at + size]))
    at += size
    nulls = body[at : at + (count + 7) // 8]
    told = _Told(types, dict(_optional(body, at + (count + 7) // 8)), is_mariadb)
    names = told.names()
    if len(names) != count:
        raise DamagedEventError(
            f"{database}.{table} has no names of columns: SET GLOBAL binlog_row_metadata = 'FULL'"
        )
    unsigned, collations = told.unsigned(), told.collations()
    members, geometries = told.members(), told.geometries()
    columns = tuple(
        LogColumn(
            name=name,
            type=kind,
            meta=meta,
            is_nullable=bool(nulls[index // 8] >> index % 8 & 1),
            is_unsigned=index in unsigned,
            collation=collations.get(index),
            members=members.get(index, ()),
            geometry=geometries.get(index, 0),
        )
        for index, (name, (kind, meta)) in enumerate(zip(names, types, strict=True))
    )
    keys = tuple(names[index] for index in told.key_places())
    return LogTable(database=database, table=table, columns=columns, keys=keys)


def _types(codes: bytes, metas: bytes) -> Iterator[tuple[LogType, int]]:
    at = 0
    for code in codes:
        try:
            kind = LogType(code)
        except ValueError:
            raise DamagedEventError(f"a column of type {code}, which is unknown") from None
        if kind in _TWO_BYTES:
            first, second = metas[at], metas[at + 1]
            at += 2
            yield _sized(kind, first, second)
        elif kind in _ONE_BYTE:
            yield kind, metas[at]
            at += 1
        else:
            yield kind, 0


def _sized(kind: LogType, first: int, second: int) -> tuple[LogType, int]:
    if kind in (LogType.STRING, LogType.ENUM, LogType.SET):
        if first & 0x30 != 0x30:
            return LogType(first | 0x30), second | ((first & 0x30) ^ 0x30) << 4
        return LogType(first), second
    if kind is LogType.DECIMAL:
        return kind, first << 8 | second
    if kind is LogType.BIT:
        return kind, second * 8 + first
    return kind, first | second << 8


def _optional(body: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    while at < len(body):
        code = body[at]
        size, at = _length(body, at + 1)
        yield code, body[at : at + size]
        at += size


@dataclass(frozen=True, slots=True)
class _Told:
    """What a TABLE_MAP says beside types."""

    types: list[tuple[LogType, int]]
    fields: dict[int, bytes]
    is_mariadb: bool

    def _of(self, field: str) -> bytes:
        return self.fields.get(_FIELDS[field], b"")

    def _where(self, *kinds: LogType) -> list[int]:
        return [index for index, (kind, _) in enumerate(self.types) if kind in kinds]

    def names(self) -> list[str]:
        return [name.decode("utf-8") for name in _texts(self._of("names"))]

    def unsigned(self) -> set[int]:
        bits = self._of("signedness")
        return {
            index
            for number, index in enumerate(self._where(*_NUMERIC))
            if number // 8 < len(bits) and bits[number // 8] >> (7 - number % 8) & 1
        }

    def collations(self) -> dict[int, int]:
        # MariaDB tells that geometries are binary, too.
        kinds = (*_CHARACTER, LogType.GEOMETRY) if self.is_mariadb else _CHARACTER
        text = self._collations("default_charset", "charsets", self._where(*kinds))
        members = self._where(LogType.ENUM, LogType.SET)
        return text | self._collations("default_member_charset", "member_charsets", members)

    def _collations(self, default: str, each: str, where: list[int]) -> dict[int, int]:
        if self._of(each):
            return dict(zip(where, _whole_numbers(self._of(each)), strict=False))
        numbers = list(_whole_numbers(self._of(default)))
        if not numbers:
            return {}
        found = dict.fromkeys(where, numbers[0])
        for place, collation in zip(numbers[1::2], numbers[2::2], strict=False):
            found[where[place]] = collation
        return found

    def members(self) -> dict[int, tuple[bytes, ...]]:
        found = {}
        for field, kind in (("enum_members", LogType.ENUM), ("set_members", LogType.SET)):
            data, at = self._of(field), 0
            for index in self._where(kind):
                if at >= len(data):
                    break
                count, at = _length(data, at)
                texts = []
                for _ in range(count):
                    size, at = _length(data, at)
                    texts.append(data[at : at + size])
                    at += size
                found[index] = tuple(texts)
        return found

    def geometries(self) -> dict[int, int]:
        numbers = _whole_numbers(self._of("geometries"))
        return dict(zip(self._where(LogType.GEOMETRY), numbers, strict=False))

    def key_places(self) -> list[int]:
        simple = list(_whole_numbers(self._of("key")))
        return simple or list(_whole_numbers(self._of("key_with_prefix")))[::2]


def _length(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of variable size; return it and the place after it."""
    first = data[at]
    if first < 0xFB:
        return first, at + 1
    size = {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(data[at + 1 : at + 1 + size], "little"), at + 1 + size


def _texts(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        size, at = _length(data, at)
        yield data[at : at + size]
        at += size


def _whole_numbers(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        number, at = _length(data, at)
        yield number


# Rows and statements


@dataclass(frozen=True, slots=True)
class RowsPart:
    """Rows of one event."""

    table_number: int
    is_whole: bool
    """Whether rows have all columns."""
    data: bytes
    """Images of rows, one after another; an update has two."""


def rows_part(kind: int, event: bytes) -> RowsPart:
    """Read the head of an event with rows; ``event`` begins with its header."""
    at = HEADER + 8
    number = int.from_bytes(event[HEADER : HEADER + 6], "little")
    if kind in _WITH_EXTRA:
        at += int.from_bytes(event[at : at + 2], "little")
    count = event[at]
    at += 1
    if count >= 0xFB:
        count, at = _length(event, at - 1)
    size = (count + 7) // 8
    images = 2 if kind in UPDATES else 1
    present = event[at : at + images * size]
    at += images * size
    data = event[at:]
    if kind in _COMPRESSED:
        data = uncompressed(data)
    return RowsPart(number, _has_all(present, count, images), data)


def _has_all(present: bytes, count: int, images: int) -> bool:
    size = len(present) // images
    full = (1 << count) - 1
    return all(
        int.from_bytes(present[size * image : size * (image + 1)], "little") & full == full
        for image in range(images)
    )


def uncompressed(data: bytes) -> bytes:
    """Return what MariaDB compressed.

    Raises
    ------
    DamagedEventError
        If it is compressed otherwise than with zlib.
    """
    if data[0] >> 4 & 7:
        raise DamagedEventError(f"compression {data[0] >> 4 & 7}, which is unknown")
    head = 1 + (data[0] & 7)
    return zlib.decompress(data[head:])


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement in the log."""

    database: str
    """Which was chosen; empty: none."""
    text: str


def statement(kind: int, event: bytes) -> Statement:
    """Read an event with a statement; ``event`` begins with its header."""
    _, _, database_size, _, status_size = struct.unpack_from("<IIBHH", event, HEADER)
    at = HEADER + 13 + status_size
    database = event[at : at + database_size].decode("utf-8", "replace")
    text = event[at + database_size + 1 :]
    if kind == EventType.QUERY_COMPRESSED:
        text = uncompressed(text)
    return Statement(database, text.decode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class MariaDbGtid:
    """The begin of a transaction of MariaDB."""

    domain: int
    server: int
    number: int
    is_alone: bool
    """Whether it is one statement, without an end of its own."""


def xa_name(event: bytes) -> str:
    """Return the name of an XA transaction as statements in the log write it."""
    form, first, second = struct.unpack_from("<iII", event, HEADER + 1)
    at = HEADER + 13
    parts = event[at : at + first], event[at + first : at + first + second]
    return f"X'{parts[0].hex()}',X'{parts[1].hex()}',{form}"


def mariadb_gtid(event: bytes) -> MariaDbGtid:
    """Read a GTID_EVENT of MariaDB."""
    number, domain, flags = struct.unpack_from("<QIB", event, HEADER)
    (server,) = struct.unpack_from("<I", event, 5)
    return MariaDbGtid(domain, server, number, bool(flags & 1))
