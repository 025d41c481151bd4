"""Numbers and bits as ORC stores them: run-length encodings of the second kind.

Source: https://orc.apache.org/specification/ORCv1/ (Run Length Encoding)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from paimonlab.formats.varints import varint_at

Numbers: TypeAlias = npt.NDArray[np.int64]

_WIDTHS = (*range(1, 25), 26, 28, 30, 32, 40, 48, 56, 64)
"""Bits by their code."""
_SHORT_REPEAT, _DIRECT, _PATCHED = range(3)


def bits(data: bytes, count: int) -> npt.NDArray[np.bool_]:
    """Read a stream of bits.

    Raises
    ------
    ValueError
        If it holds fewer.
    """
    pieces, position = [], 0
    while position < len(data):
        control = data[position]
        if control < 128:
            pieces.append(data[position + 1 : position + 2] * (control + 3))
            position += 2
        else:
            pieces.append(data[position + 1 : position + 257 - control])
            position += 257 - control
    unpacked_bits = np.unpackbits(np.frombuffer(b"".join(pieces), np.uint8))
    if len(unpacked_bits) < count:
        raise ValueError(f"{len(unpacked_bits)} bits, {count} expected")
    return unpacked_bits[:count].astype(np.bool_)


def numbers(data: bytes, count: int, *, signed: bool) -> Numbers:
    """Read a stream of numbers.

    Raises
    ------
    ValueError
        If it is damaged or holds another number of them.
    """
    try:
        runs = list(_runs(data, signed=signed))
    except (IndexError, OverflowError) as error:
        raise ValueError(f"a run is damaged: {error}") from error
    values = np.concatenate([np.zeros(0, np.int64), *runs])
    if len(values) != count:
        raise ValueError(f"{len(values)} numbers, {count} expected")
    return values


def _runs(data: bytes, *, signed: bool) -> Iterator[Numbers]:
    position = 0
    while position < len(data):
        head = data[position]
        kind = head >> 6
        if kind == _SHORT_REPEAT:
            end = position + 2 + (head >> 3 & 7)
            value = int.from_bytes(data[position + 1 : end], "big")
            yield _as_signed(np.full((head & 7) + 3, value, np.uint64), signed=signed)
            position = end
            continue
        code, length = head >> 1 & 31, ((head & 1) << 8 | data[position + 1]) + 1
        position += 2
        if kind == _DIRECT:
            values, position = _packed(data, position, length, _WIDTHS[code])
            yield _as_signed(values, signed=signed)
        elif kind == _PATCHED:
            patched, position = _patched(data, position, length, _WIDTHS[code])
            yield patched
        else:
            deltas, position = _deltas(data, position, length, code, signed=signed)
            yield deltas


def _as_signed(values: npt.NDArray[np.uint64], *, signed: bool) -> Numbers:
    if not signed:
        return values.astype(np.int64)
    return (values >> np.uint64(1)).astype(np.int64) ^ -(values & np.uint64(1)).astype(np.int64)


def _packed(
    data: bytes, position: int, count: int, width: int
) -> tuple[npt.NDArray[np.uint64], int]:
    end = position + (count * width + 7) // 8
    if end > len(data):
        raise ValueError("a run is cut")
    unpacked = np.unpackbits(np.frombuffer(data[position:end], np.uint8))
    digits = unpacked[: count * width].reshape(count, width)
    values = np.zeros(count, np.uint64)
    for byte_index in range(width):
        values = values << np.uint64(1) | digits[:, byte_index]
    return values, end


def _patched(data: bytes, position: int, length: int, width: int) -> tuple[Numbers, int]:
    third, fourth = data[position], data[position + 1]
    base_bytes, patch_width = (third >> 5) + 1, _WIDTHS[third & 31]
    gap_width, patch_count = (fourth >> 5) + 1, fourth & 31
    position += 2
    base = int.from_bytes(data[position : position + base_bytes], "big")
    sign = 1 << 8 * base_bytes - 1
    base = -(base & sign - 1) if base & sign else base
    values, position = _packed(data, position + base_bytes, length, width)
    entry_width = next(bits_ for bits_ in _WIDTHS if bits_ >= gap_width + patch_width)
    entries, position = _packed(data, position, patch_count, entry_width)
    place = 0
    for entry in entries.tolist():
        place += entry >> patch_width
        patch = entry & (1 << patch_width) - 1
        values[place] |= np.uint64(patch << width & 0xFFFF_FFFF_FFFF_FFFF)
    return values.astype(np.int64) + base, position


def _deltas(
    data: bytes, position: int, length: int, code: int, *, signed: bool
) -> tuple[Numbers, int]:
    first, position = varint_at(data, position)
    first = first >> 1 ^ -(first & 1) if signed else first
    step, position = varint_at(data, position)
    step = step >> 1 ^ -(step & 1)
    steps = np.full(length, step, np.int64)
    steps[0] = first
    if code and length > 2:
        more, position = _packed(data, position, length - 2, _WIDTHS[code])
        steps[2:] = more.astype(np.int64) * (-1 if step < 0 else 1)
    return np.cumsum(steps), position
