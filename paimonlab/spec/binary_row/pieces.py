"""Pieces of bytes of unequal length, moved by array operations.

A piece is a run of bytes inside a buffer, given by its first position and its length.
Eight bytes are moved at a time, aligned or not; hence every buffer here has at least
`SPARE` bytes after its last piece.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from msgspec import Struct

SPARE = 8
"""Bytes a buffer must have after its last piece."""

_FULL = np.uint64(2**64 - 1)
_MANY = 64  # positions from which it pays to look whether they are evenly spaced
_LONG_WORDS = 64  # longer pieces are copied one by one


class Pieces(Struct, frozen=True):
    """n pieces of one buffer."""

    data: npt.NDArray[np.uint8]
    """The buffer, `SPARE` bytes longer than its last piece needs."""
    starts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]


def spaced(data: npt.NDArray[np.uint8], used: int) -> npt.NDArray[np.uint8]:
    """Return a buffer with the first ``used`` bytes of ``data`` and spare room after them."""
    if len(data) >= used + SPARE:
        return data
    return np.concatenate([data[:used], np.zeros(SPARE, np.uint8)])


def words_at(
    data: npt.NDArray[np.uint8], positions: npt.NDArray[np.int64], dtype: str = "<u8"
) -> npt.NDArray[np.uint64]:
    """Read one little-endian number at each byte position, aligned or not."""
    evenly_spaced = _evenly_spaced(data, positions, dtype)
    if evenly_spaced is not None:
        return evenly_spaced.copy()
    return _every_position(data, dtype)[positions]


def put_words(
    data: npt.NDArray[np.uint8],
    positions: npt.NDArray[np.int64],
    values: npt.NDArray[np.uint64],
    width: int = 8,
) -> None:
    """Write the low ``width`` (1, 2, 4, 8) bytes of each value at its byte position."""
    dtype = f"<u{width}"
    narrow = values.astype(dtype, copy=False)
    evenly_spaced = _evenly_spaced(data, positions, dtype)
    if evenly_spaced is not None:
        evenly_spaced[:] = narrow
    else:
        _every_position(data, dtype)[positions] = narrow


def _every_position(data: npt.NDArray[np.uint8], dtype: str) -> npt.NDArray[np.uint64]:
    count = max(len(data) - np.dtype(dtype).itemsize + 1, 0)
    return np.ndarray((count,), dtype, buffer=data, strides=(1,))


def _evenly_spaced(
    data: npt.NDArray[np.uint8], positions: npt.NDArray[np.int64], dtype: str
) -> npt.NDArray[np.uint64] | None:
    """View numbers at evenly spaced positions, which is quicker; None if they are not."""
    if len(positions) < _MANY:
        return None
    first, step = int(positions[0]), int(positions[1] - positions[0])
    is_even = int(positions[-1]) == first + step * (len(positions) - 1)
    if step <= 0 or not is_even or not (np.diff(positions) == step).all():
        return None
    return np.ndarray((len(positions),), dtype, buffer=data, offset=first, strides=(step,))


def low_bytes(
    words: npt.NDArray[np.uint64], count: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint64]:
    """Keep the first ``count`` (0 to 8, more is 8) bytes of each little-endian word."""
    bits = np.minimum(count, 8).astype(np.uint64) * np.uint64(8)
    mask = np.where(bits == 64, _FULL, (np.uint64(1) << (bits & np.uint64(63))) - np.uint64(1))
    return words & mask


def copy_padded(
    target: npt.NDArray[np.uint8], positions: npt.NDArray[np.int64], source: Pieces
) -> None:
    """Copy each piece to its position, followed by zeros up to a multiple of eight bytes."""
    word_counts = (source.lengths + 7) >> 3
    is_long = word_counts > _LONG_WORDS
    if is_long.any():
        _copy_one_by_one(target, positions[is_long], source, np.flatnonzero(is_long))
        word_counts = np.where(is_long, 0, word_counts)
    for k in range(int(word_counts.max(initial=0))):
        _copy_word(target, positions, source, word_counts, k)


def _copy_word(
    target: npt.NDArray[np.uint8],
    positions: npt.NDArray[np.int64],
    source: Pieces,
    word_counts: npt.NDArray[np.int64],
    k: int,
) -> None:
    starts, lengths, shift = source.starts, source.lengths, 8 * k
    if word_counts.min() <= k:
        active = np.flatnonzero(word_counts > k)
        positions, starts, lengths = positions[active], starts[active], lengths[active]
    words = words_at(source.data, starts + shift)
    if lengths.min() < shift + 8:
        words = low_bytes(words, lengths - shift)
    put_words(target, positions + shift, words)


def _copy_one_by_one(
    target: npt.NDArray[np.uint8],
    positions: npt.NDArray[np.int64],
    source: Pieces,
    rows: npt.NDArray[np.int64],
) -> None:
    for position, row in zip(positions.tolist(), rows.tolist(), strict=True):
        start, length = int(source.starts[row]), int(source.lengths[row])
        target[position : position + length] = source.data[start : start + length]


def joined(source: Pieces) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Put all pieces one after the other.

    Returns
    -------
    data : (m,) uint8
    offsets : (n + 1,) int64
        Where each piece starts in ``data``, and m.

    Examples
    --------
    >>> text = np.frombuffer(b"abcdefgh" + bytes(SPARE), np.uint8)
    >>> data, offsets = joined(Pieces(text, np.array([4, 0]), np.array([2, 1])))
    >>> bytes(data), offsets
    (b'efa', array([0, 2, 3]))
    """
    offsets = offsets_of(source.lengths)
    shift = np.repeat(source.starts - offsets[:-1], source.lengths)
    return source.data[shift + np.arange(offsets[-1])], offsets


def offsets_of(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the (n + 1,) running sum of n lengths, from 0."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
