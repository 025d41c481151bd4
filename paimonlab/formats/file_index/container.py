"""The container that holds all indexes of a data file.

Source: apache/paimon@1.3.1 ``org.apache.paimon.fileindex.FileIndexFormat``.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TypeAlias

Indexes: TypeAlias = Mapping[str, Mapping[str, bytes | None]]
"""Bytes of indexes by column and type; None if there are no rows, so nothing is indexed."""

_MAGIC = 1493475289347502
_VERSION = 1
_EMPTY = -1
_HEAD = struct.Struct(">qii")
_INT = struct.Struct(">i")
_PLACE = struct.Struct(">ii")


class DamagedIndexError(ValueError):
    """Bytes that are not a file index, or have a later version."""


def encode(indexes: Indexes) -> bytes:
    """Put indexes into one container, in the order given."""
    body = bytearray()
    places: list[tuple[str, list[tuple[str, int, int]]]] = []
    for column, by_type in indexes.items():
        of_column = []
        for kind, data in by_type.items():
            if data is None:
                of_column.append((kind, _EMPTY, 0))
            else:
                of_column.append((kind, len(body), len(data)))
                body += data
        places.append((column, of_column))
    names = sum(
        len(_text(column)) + _INT.size + sum(len(_text(kind)) + _PLACE.size for kind, _, _ in kinds)
        for column, kinds in places
    )
    length = _HEAD.size + _INT.size + names + _INT.size
    head = bytearray(_HEAD.pack(_MAGIC, _VERSION, length) + _INT.pack(len(places)))
    for column, kinds in places:
        head += _text(column) + _INT.pack(len(kinds))
        for kind, start, size in kinds:
            head += _text(kind) + _PLACE.pack(_EMPTY if start == _EMPTY else start + length, size)
    return bytes(head + _INT.pack(0) + body)


def decode(data: bytes) -> dict[str, dict[str, bytes | None]]:
    """Take a container apart.

    Raises
    ------
    DamagedIndexError
        If it is not a file index, or has a later version.
    """
    try:
        return _decode(data)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise DamagedIndexError(f"a file index is damaged: {error}") from error


def _decode(data: bytes) -> dict[str, dict[str, bytes | None]]:
    magic, version, _ = _HEAD.unpack_from(data)
    if magic != _MAGIC:
        raise DamagedIndexError("this is not a file index")
    if version != _VERSION:
        raise DamagedIndexError(f"a file index of version {version} is not known")
    at = _HEAD.size
    (columns,) = _INT.unpack_from(data, at)
    at += _INT.size
    indexes: dict[str, dict[str, bytes | None]] = {}
    for _ in range(columns):
        column, at = _read_text(data, at)
        (kinds,) = _INT.unpack_from(data, at)
        at += _INT.size
        of_column = indexes.setdefault(column, {})
        for _ in range(kinds):
            kind, at = _read_text(data, at)
            start, size = _PLACE.unpack_from(data, at)
            at += _PLACE.size
            if start == _EMPTY:
                of_column[kind] = None
            elif start < 0 or size < 0 or start + size > len(data):
                raise DamagedIndexError(f"the index {kind} of {column} lies outside its file")
            else:
                of_column[kind] = data[start : start + size]
    return indexes


def _text(text: str) -> bytes:
    """Encode as Java's ``writeUTF`` does: NUL as two bytes, a supplementary character as two."""
    units = text.encode("utf-16-be", "surrogatepass")
    out = bytearray()
    for high, low in zip(units[::2], units[1::2], strict=True):
        unit = high << 8 | low
        if 0 < unit < 0x80:
            out.append(unit)
        elif unit < 0x800:
            out += bytes([0xC0 | unit >> 6, 0x80 | unit & 0x3F])
        else:
            out += bytes([0xE0 | unit >> 12, 0x80 | unit >> 6 & 0x3F, 0x80 | unit & 0x3F])
    return struct.pack(">H", len(out)) + bytes(out)


def _read_text(data: bytes, at: int) -> tuple[str, int]:
    (size,) = struct.unpack_from(">H", data, at)
    raw = data[at + 2 : at + 2 + size]
    if len(raw) < size:
        raise DamagedIndexError("a name in a file index is cut off")
    text = raw.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    joined = text.encode("utf-16-be", "surrogatepass").decode("utf-16-be")
    return joined, at + 2 + size
