"""64-bit hashes of values, as Bloom filters have them.

Source: apache/paimon@1.3.1 ``org.apache.paimon.fileindex.bloomfilter.FastHash``;
https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from paimonlab.spec.binary_row.pieces import Pieces, words_at

_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)
_STRIPE = 32
_U64 = npt.NDArray[np.uint64]


def hash_integers(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Hash 64-bit integers with Thomas Wang's function, whose shifts to the right keep the sign.

    >>> hash_integers(np.array([0, 1, -1])).tolist()
    [0, 6614235796240398542, 6614246905173314819]
    """
    key = values.astype(np.int64)
    key = ~key + (key << 21)
    key = key ^ (key >> 24)
    key = key + (key << 3) + (key << 8)
    key = key ^ (key >> 14)
    key = key + (key << 2) + (key << 4)
    key = key ^ (key >> 28)
    result: npt.NDArray[np.int64] = key + (key << 31)
    return result


def hash_bytes(values: Pieces) -> npt.NDArray[np.int64]:
    """Hash n texts or bytes with xxHash64, seed 0.

    Returns
    -------
    (n,) int64
    """
    starts, lengths = values.starts, values.lengths

    def word(at: npt.NDArray[np.int64]) -> _U64:
        """Read 8 bytes, little-endian, at each position."""
        return words_at(values.data, at)

    state: _U64 = np.where(lengths >= _STRIPE, _long(starts, lengths, word), _P5)
    state = state + lengths.astype(np.uint64)
    done = lengths // _STRIPE * _STRIPE
    for _ in range(3):
        rows = np.flatnonzero(lengths - done >= 8)
        if rows.size:
            following = word(starts[rows] + done[rows])
            mixed = state[rows] ^ _round(np.zeros(rows.size, np.uint64), following)
            state[rows] = _rotated(mixed, 27) * _P1 + _P4
            done[rows] += 8
    rows = np.flatnonzero(lengths - done >= 4)
    if rows.size:
        half = word(starts[rows] + done[rows]) & np.uint64(0xFFFFFFFF)
        state[rows] = _rotated(state[rows] ^ (half * _P1), 23) * _P2 + _P3
        done[rows] += 4
    for _ in range(3):
        rows = np.flatnonzero(lengths - done >= 1)
        if rows.size:
            byte = word(starts[rows] + done[rows]) & np.uint64(0xFF)
            state[rows] = _rotated(state[rows] ^ (byte * _P5), 11) * _P1
            done[rows] += 1
    state ^= state >> np.uint64(33)
    state *= _P2
    state ^= state >> np.uint64(29)
    state *= _P3
    state ^= state >> np.uint64(32)
    return state.view(np.int64)


def _long(
    starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64], word: Callable[..., _U64]
) -> _U64:
    """Mix the whole stripes of 32 bytes; what it is for shorter values does not matter."""
    lanes = np.empty((4, len(starts)), np.uint64)
    with np.errstate(over="ignore"):
        for lane, seed in enumerate((_P1 + _P2, _P2, np.uint64(0), np.uint64(0) - _P1)):
            lanes[lane] = seed
    stripes = lengths // _STRIPE
    longest_first = np.argsort(-stripes, kind="stable")
    counts = stripes[longest_first]
    for stripe in range(int(counts[0]) if counts.size else 0):
        rows = longest_first[: np.searchsorted(-counts, -stripe)]
        for number in range(4):
            at = starts[rows] + _STRIPE * stripe + 8 * number
            lanes[number, rows] = _round(lanes[number, rows], word(at))
    state: _U64 = np.zeros(len(starts), np.uint64)
    for number, bits in enumerate((1, 7, 12, 18)):
        state += _rotated(lanes[number], bits)
    for number in range(4):
        lane = lanes[number]
        state = (state ^ _round(np.zeros(len(starts), np.uint64), lane)) * _P1 + _P4
    return state


def _round(state: _U64, word: _U64) -> _U64:
    return _rotated(state + word * _P2, 31) * _P1


def _rotated(values: _U64, bits: int) -> _U64:
    return values << np.uint64(bits) | values >> np.uint64(64 - bits)
