"""The bytes of VARIANT values: where their parts are.

Source: https://parquet.apache.org/docs/file-format/types/variantencoding/
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

SHORT_TEXT, OBJECT, ARRAY = 1, 2, 3
"""Kinds of values, the two lowest bits; the rest are primitive."""
INTEGER_BYTES = {3: 1, 4: 2, 5: 4, 6: 8}
"""By number of the primitive type."""
DECIMAL_BYTES = {8: 4, 9: 8, 10: 16}
"""By number of the primitive type; a byte with the scale comes before them."""
MAX_DEPTH = 500
_SIZES = {
    **dict.fromkeys((0, 1, 2), 1),
    **{number: 1 + size for number, size in INTEGER_BYTES.items()},
    **{number: 2 + size for number, size in DECIMAL_BYTES.items()},
    **dict.fromkeys((7, 12, 13, 17, 18, 19), 9),
    **dict.fromkeys((11, 14), 5),
    20: 17,
}
"""Bytes of primitive values, by number of the type, the first byte included."""
_BINARY, _LONG_TEXT = 15, 16


def names_of(metadata: bytes) -> list[str]:
    """Return the names that values refer to by number.

    Raises
    ------
    ValueError
        If they are damaged.
    """
    if metadata[0] & 0x0F != 1:
        raise ValueError(f"version {metadata[0] & 0x0F}")
    width = (metadata[0] >> 6) + 1
    count = unsigned(metadata, 1, width)
    offsets = [unsigned(metadata, 1 + width * (place + 1), width) for place in range(count + 1)]
    start = 1 + width * (count + 2)
    return [piece(metadata, start + low, high - low).decode() for low, high in pairwise(offsets)]


def unsigned(data: bytes, start: int, width: int) -> int:
    """Read a number of some bytes, the lowest first."""
    return int.from_bytes(piece(data, start, width), "little")


def piece(data: bytes, start: int, length: int) -> bytes:
    """Return some bytes.

    Raises
    ------
    ValueError
        If there are not as many.
    """
    if length < 0 or start + length > len(data):
        raise ValueError("it is cut")
    return data[start : start + length]


class Items(NamedTuple):
    """Where the parts of an object or array are."""

    ids: list[int]
    """Numbers of the names of an object; [] for an array."""
    starts: list[int]


def items_of(data: bytes, at: int) -> Items:
    """Find the parts of the object or array that begins at a place."""
    kind, flags = data[at] & 3, data[at] >> 2
    is_object = kind == OBJECT
    offset_bytes = (flags & 3) + 1
    is_large = flags >> 4 & 1 if is_object else flags >> 2 & 1
    size_bytes = 4 if is_large else 1
    count = unsigned(data, at + 1, size_bytes)
    first_offset = at + 1 + size_bytes
    ids: list[int] = []
    if is_object:
        id_bytes = (flags >> 2 & 3) + 1
        ids = [
            unsigned(data, first_offset + id_bytes * number, id_bytes) for number in range(count)
        ]
        first_offset += id_bytes * count
    start = first_offset + offset_bytes * (count + 1)
    offsets = (
        unsigned(data, first_offset + offset_bytes * one, offset_bytes) for one in range(count)
    )
    return Items(ids, [start + offset for offset in offsets])


def scalar_at(data: bytes, at: int) -> bytes:
    """Return the bytes of the value at a place, which is neither an object nor an array.

    Raises
    ------
    ValueError
        If it is cut or of a type that is not known.
    """
    number = data[at] >> 2
    if data[at] & 3 == SHORT_TEXT:
        return piece(data, at, 1 + number)
    if number in (_BINARY, _LONG_TEXT):
        return piece(data, at, 5 + unsigned(data, at + 1, 4))
    if number not in _SIZES:
        raise ValueError(f"a value of type {number}")
    return piece(data, at, _SIZES[number])
