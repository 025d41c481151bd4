"""The bytes of VARIANT values, made of their parts as Java Paimon makes them.

Source: apache/paimon@1.3.1 ``org.apache.paimon.data.variant.GenericVariantBuilder``;
https://parquet.apache.org/docs/file-format/types/variantencoding/
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

NULL, TRUE, FALSE, DOUBLE, DATE, TIMESTAMP_LTZ, TIMESTAMP, FLOAT, BINARY, UUID = (
    *(0, 1, 2, 7),
    *(11, 12, 13, 14, 15, 20),
)
"""Numbers of primitive types."""
MAX_DIGITS = 38
"""Digits of a decimal, and those after its point."""
_VERSION = 1
_INT1, _DECIMAL4, _LONG_TEXT = 3, 8, 16
_SHORT_TEXT_BYTES = 63
_SMALL_SIZE = 255


def primitive(number: int, data: bytes = b"") -> bytes:
    """Make a value of a primitive type."""
    return bytes([number << 2]) + data


def text_of(text: str) -> bytes:
    """Make a text."""
    data = text.encode()
    if len(data) <= _SHORT_TEXT_BYTES:
        return bytes([len(data) << 2 | 1]) + data
    return primitive(_LONG_TEXT, struct.pack("<I", len(data)) + data)


def integer(whole: int) -> bytes:
    """Make the shortest integer that holds a number of 64 bits."""
    for number, size in enumerate((1, 2, 4, 8)):
        if -(1 << 8 * size - 1) <= whole < 1 << 8 * size - 1:
            return primitive(_INT1 + number, whole.to_bytes(size, "little", signed=True))
    raise AssertionError("it has 64 bits")


def decimal(unscaled: int, scale: int) -> bytes:
    """Make the shortest decimal that holds a number of `MAX_DIGITS` and a scale."""
    precision = len(str(abs(unscaled)))
    for number, (digits, size) in enumerate(((9, 4), (18, 8), (MAX_DIGITS, 16))):
        if precision <= digits and scale <= digits:
            data = bytes([scale]) + unscaled.to_bytes(size, "little", signed=True)
            return primitive(_DECIMAL4 + number, data)
    raise AssertionError("digits are counted before")


def object_of(fields: Sequence[tuple[str, int, bytes]]) -> bytes:
    """Make an object of names, their numbers, and values, which are kept in this order.

    Raises
    ------
    ValueError
        If a name occurs twice.
    """
    places: dict[str, tuple[int, int]] = {}
    position = 0
    for name, number, data in fields:
        if name in places:
            raise ValueError(f"the name {name!r} occurs twice in an object")
        places[name] = number, position
        position += len(data)
    in_order = [places[name] for name in sorted(places, key=_java_order)]
    id_bytes = _width(max((number for number, _ in in_order), default=0))
    offset_bytes, is_large = _width(position), len(in_order) > _SMALL_SIZE
    flags = is_large << 4 | id_bytes - 1 << 2 | offset_bytes - 1
    ids = b"".join(number.to_bytes(id_bytes, "little") for number, _ in in_order)
    offsets = [*(start for _, start in in_order), position]
    head = _container(2, flags, is_large, len(in_order), ids, offsets, offset_bytes)
    return head + b"".join(data for _, _, data in fields)


def _java_order(name: str) -> bytes:
    """Sort by UTF-16 units, as Java compares texts."""
    return name.encode("utf-16-be", "surrogatepass")


def array_of(elements: Sequence[bytes]) -> bytes:
    """Make an array of values."""
    offsets = [0]
    for element in elements:
        offsets.append(offsets[-1] + len(element))
    offset_bytes, is_large = _width(offsets[-1]), len(elements) > _SMALL_SIZE
    flags = is_large << 2 | offset_bytes - 1
    head = _container(3, flags, is_large, len(elements), b"", offsets, offset_bytes)
    return head + b"".join(elements)


def _container(
    kind: int,
    flags: int,
    is_large: bool,  # noqa: FBT001
    count: int,
    ids: bytes,
    offsets: list[int],
    offset_bytes: int,
) -> bytes:
    size = count.to_bytes(4 if is_large else 1, "little")
    places = b"".join(offset.to_bytes(offset_bytes, "little") for offset in offsets)
    return bytes([flags << 2 | kind]) + size + ids + places


def metadata_of(names: Iterable[str]) -> bytes:
    """Make the dictionary of names, in the order of their numbers."""
    texts = [name.encode() for name in names]
    offsets = [0]
    for text in texts:
        offsets.append(offsets[-1] + len(text))
    width = _width(max(offsets[-1], len(texts)))
    numbers = [len(texts), *offsets]
    head = bytes([_VERSION | width - 1 << 6])
    return head + b"".join(number.to_bytes(width, "little") for number in numbers) + b"".join(texts)


def _width(number: int) -> int:
    """Return how many bytes hold a number, at least one."""
    return max(1, -(-number.bit_length() // 8))
