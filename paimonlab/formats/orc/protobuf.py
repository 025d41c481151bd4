"""Messages in the wire format of Protocol Buffers, without their definitions.

Source: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from paimonlab.formats.varints import varint_of

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
Value: TypeAlias = int | bytes
"""A number or bytes, as fields hold them."""


@dataclass(slots=True)
class Message:
    """The values of a message by field number."""

    values: dict[int, list[Value]] = field(default_factory=dict)

    def number(self, number: int, default: int = 0) -> int:
        """Return an unsigned number, the last one given."""
        value = self.values.get(number, [default])[-1]
        if not isinstance(value, int):
            raise ValueError(f"field {number} is not a number")  # noqa: TRY004 - of the data, not ours
        return value

    def zigzag(self, number: int) -> int | None:
        """Return a number in zigzag encoding; None if it is missing."""
        if number not in self.values:
            return None
        value = self.number(number)
        return (value >> 1) ^ -(value & 1)

    def numbers(self, number: int) -> list[int]:
        """Return repeated numbers, packed or not."""
        values: list[int] = []
        for value in self.values.get(number, []):
            if isinstance(value, int):
                values.append(value)
            else:
                values += _packed(value)
        return values

    def repeated(self, number: int) -> list[bytes]:
        """Return repeated bytes or texts."""
        values = self.values.get(number, [])
        if not all(isinstance(value, bytes) for value in values):
            raise ValueError(f"field {number} is a number")
        return [value for value in values if isinstance(value, bytes)]

    def single(self, number: int) -> bytes | None:
        """Return bytes or a text; None if it is missing."""
        values = self.repeated(number)
        return values[-1] if values else None

    def messages(self, number: int) -> list[Message]:
        """Return repeated messages."""
        return [parse(value) for value in self.repeated(number)]

    def message(self, number: int) -> Message | None:
        """Return a message; None if it is missing."""
        value = self.single(number)
        return None if value is None else parse(value)


def parse(data: bytes) -> Message:
    """Take a message apart.

    Raises
    ------
    ValueError
        If it is damaged.

    Examples
    --------
    >>> parse(bytes([0x08, 0x96, 0x01])).number(1)
    150
    """
    message = Message()
    for number, value in _fields(data):
        message.values.setdefault(number, []).append(value)
    return message


def _fields(data: bytes) -> Iterator[tuple[int, Value]]:
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, position = _varint(data, position)
            yield number, value
            continue
        if kind == _BYTES:
            size, position = _varint(data, position)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if position + size > len(data):
            raise ValueError("a field is cut")
        yield number, data[position : position + size]
        position += size


def _packed(data: bytes) -> Iterator[int]:
    position = 0
    while position < len(data):
        value, position = _varint(data, position)
        yield value


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position
    raise ValueError("a number does not end")


def encode(fields: Iterable[tuple[int, Value]]) -> bytes:
    """Put a message together: numbers as varints, bytes with their length before them.

    Examples
    --------
    >>> encode([(1, 150)]).hex()
    '089601'
    """
    out = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            out += varint_of(number << 3 | _VARINT) + varint_of(value)
        else:
            out += varint_of(number << 3 | _BYTES) + varint_of(len(value)) + value
    return bytes(out)


def varints(numbers: Iterable[int]) -> bytes:
    """Encode numbers one after the other, as packed fields have them."""
    return b"".join(varint_of(number) for number in numbers)
