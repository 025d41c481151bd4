"""Numbers of as many bytes as they need, seven bits each, the lowest first (LEB128).

Thrift, Protocol Buffers, Avro and ORC store numbers so.
"""

from __future__ import annotations

_LAST = 127
"""The last byte of a number is at most that."""


def varint_at(data: bytes, position: int) -> tuple[int, int]:
    """Read a number of at least 0.

    Returns
    -------
    int, int
        The number, and where the next byte is.

    Raises
    ------
    IndexError
        If the bytes end too early.

    Examples
    --------
    >>> varint_at(bytes([0, 0x96, 1]), 1)
    (150, 3)
    """
    byte = data[position]
    value, shift = byte & _LAST, 0
    while byte > _LAST:
        position += 1
        shift += 7
        byte = data[position]
        value |= (byte & _LAST) << shift
    return value, position + 1


def varint_of(value: int) -> bytes:
    """Encode a number of at least 0.

    Examples
    --------
    >>> varint_of(150).hex()
    '9601'
    """
    out = bytearray()
    while value > _LAST:
        out.append(value & _LAST | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
