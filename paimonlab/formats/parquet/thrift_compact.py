"""Structures in Thrift's compact encoding, in which Parquet keeps footers and page indexes.

Source: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from paimonlab.formats.varints import varint_of

_SHORT_LIST = 15
_MOST_STEP = 15
_MOST_VARINT_BITS = 70
_MOST_DEPTH = 64


class Kind(IntEnum):
    """What a field is."""

    TRUE = 1
    FALSE = 2
    BYTE = 3
    I16 = 4
    I32 = 5
    I64 = 6
    DOUBLE = 7
    BINARY = 8
    LIST = 9
    SET = 10
    MAP = 11
    STRUCT = 12


class Struct(dict[int, Any]):
    """Values by field id.

    They are bool, int, bytes (also texts), float as its 8 bytes, list, Struct, map as a list of
    pairs.
    """

    __slots__ = ("end", "start")

    start: int
    """Where it begins in the bytes it was decoded from."""
    end: int
    """Where the next byte is."""


class DamagedThriftError(ValueError):
    """Bytes that are not a structure."""


@contextmanager
def structure_expected() -> Iterator[None]:
    """Turn the ways in which a structure is not what it should be into one error."""
    try:
        yield
    except DamagedThriftError:
        raise
    except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
        raise DamagedThriftError(f"a structure is not what it should be: {error!r}") from error


def decode(data: bytes, start: int = 0) -> Struct:
    """Decode one structure.

    Parameters
    ----------
    data
        Bytes that hold it.
    start
        Where it begins.

    Returns
    -------
    Struct
        Missing fields are left out.

    Raises
    ------
    DamagedThriftError
        If the bytes end too early or are something else.

    Examples
    --------
    >>> decode(bytes([0x15, 0x06, 0x00]))
    {1: 3}
    """
    try:
        return Reader(data, start).struct(0)
    except IndexError as error:
        raise DamagedThriftError("a structure is cut off") from error


class Reader:
    """Reads values one after the other; IndexError: the bytes end too early."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes, position: int) -> None:
        self.data = data
        self.position = position

    def varint(self) -> int:
        """Read a number of at least 0."""
        byte = self.data[self.position]
        self.position += 1
        if byte < 0x80:
            return byte
        value, shift = byte & 0x7F, 7
        while True:
            byte = self.data[self.position]
            self.position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > _MOST_VARINT_BITS:
                raise DamagedThriftError("a number is too long")

    def integer(self) -> int:
        """Read a number of any sign."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def binary(self) -> bytes:
        """Read bytes or a text."""
        size = self.varint()
        start = self.position
        self.position = start + size
        if self.position > len(self.data):
            raise DamagedThriftError("a text is cut off")
        return self.data[start : self.position]

    def struct(self, depth: int) -> Struct:
        """Read a structure."""
        if depth > _MOST_DEPTH:
            raise DamagedThriftError("structures are nested too deeply")
        data = self.data
        fields = Struct()
        fields.start = self.position
        field = 0
        while True:
            head = data[self.position]
            self.position += 1
            if head == 0:
                fields.end = self.position
                return fields
            delta = head >> 4
            field = field + delta if delta else self.integer()
            kind = head & 15
            if kind == Kind.TRUE or kind == Kind.FALSE:  # noqa: PLR1714 - twice as fast
                fields[field] = kind == Kind.TRUE
            else:
                fields[field] = self.value(kind, depth)

    def value(self, kind: int, depth: int) -> Any:
        """Read what is of a kind."""
        if Kind.I16 <= kind <= Kind.I64:
            return self.integer()
        match kind:
            case Kind.BINARY:
                return self.binary()
            case Kind.STRUCT:
                return self.struct(depth + 1)
            case Kind.LIST | Kind.SET:
                return self.items(depth)
            case Kind.MAP:
                return self.pairs(depth)
        return self.plain(kind)

    def plain(self, kind: int) -> bool | int | bytes:
        """Read what is written in a fixed number of bytes."""
        start = self.position
        if kind == Kind.DOUBLE:
            self.position += 8
            return self.data[start : self.position]
        self.position += 1
        byte = self.data[start]
        if kind == Kind.BYTE:
            return byte
        if kind in (Kind.TRUE, Kind.FALSE):
            return byte == Kind.TRUE
        raise DamagedThriftError(f"unknown kind {kind} of field")

    def list_head(self) -> tuple[int, int]:
        """Read how many items a list has, and of which kind."""
        head = self.data[self.position]
        self.position += 1
        size, kind = head >> 4, head & 15
        if size == _SHORT_LIST:
            size = self.varint()
        if size > len(self.data):  # every item has at least one byte
            raise DamagedThriftError("a list is longer than the file")
        return size, kind

    def items(self, depth: int) -> list[Any]:
        """Read a list."""
        size, kind = self.list_head()
        if kind == Kind.STRUCT:
            return [self.struct(depth + 1) for _ in range(size)]
        return [self.value(kind, depth) for _ in range(size)]

    def pairs(self, depth: int) -> list[tuple[Any, Any]]:
        """Read a map."""
        size = self.varint()
        if not size:
            return []
        kinds = self.data[self.position]
        self.position += 1
        if size > len(self.data):
            raise DamagedThriftError("a map is longer than the file")
        return [(self.value(kinds >> 4, depth), self.value(kinds & 15, depth)) for _ in range(size)]


def encode(fields: Sequence[tuple[int, Kind, Any]]) -> bytes:
    """Encode a structure.

    Parameters
    ----------
    fields
        Id, kind and value, by ascending id. A structure's value is its bytes; a list's is the
        kind of its items and the items, each as it would be by itself.

    Examples
    --------
    >>> encode([(1, Kind.I32, 3)]).hex()
    '150600'
    """
    out = bytearray()
    last = 0
    for field, kind, value in fields:
        if 0 < field - last <= _MOST_STEP:
            out.append((field - last) << 4 | kind)
        else:
            out.append(kind)
            out += encoded(Kind.I16, field)
        last = field
        out += encoded(kind, value)
    out.append(0)
    return bytes(out)


def encoded(kind: Kind, value: Any) -> bytes:
    """Encode one value; see `encode`."""
    if kind in (Kind.I16, Kind.I32, Kind.I64):
        return varint_of(value << 1 if value >= 0 else (-value << 1) - 1)
    if kind is Kind.BINARY:
        return varint_of(len(value)) + bytes(value)
    if kind is Kind.LIST:
        item_kind, items = value
        size = len(items)
        head = bytes([min(size, _SHORT_LIST) << 4 | item_kind])
        rest = varint_of(size) if size >= _SHORT_LIST else b""
        return head + rest + b"".join(encoded(item_kind, item) for item in items)
    if kind is Kind.STRUCT:
        return bytes(value)
    raise AssertionError(f"nothing is written as {kind!r}")
