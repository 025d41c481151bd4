"""The hash of a BinaryRow: Murmur3 over its 32-bit words; and that of plain bytes.

Source: format rules of Paimon's buckets; apache/paimon@1.3.1
``org.apache.paimon.utils.MurmurHashUtils``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

SEED = 42

_C1 = 0xCC9E2D51
_C2 = 0x1B873593
_M5 = 0xE6546B64
_F1 = 0x85EBCA6B
_F2 = 0xC2B2AE35
_MASK = 0xFFFFFFFF
FEW_ROWS = 16
"""Up to this a Python loop over words beats one over array calls."""


def hash_words(words: npt.NDArray[np.uint32]) -> npt.NDArray[np.int32]:
    """Hash rows of equal length.

    Parameters
    ----------
    words : (n, k) uint32
        The little-endian words of n rows of 4 k bytes; k is even, as rows are padded to 8.

    Returns
    -------
    (n,) int32

    Examples
    --------
    INT 1 as a BinaryRow: null bits, then the value.

    >>> hash_words(np.array([[0, 0, 1, 0]], np.uint32))
    array([1465514398], dtype=int32)
    """
    row_count, word_count = words.shape
    # Rows begin with the same words: which values are null, most often none.
    shared = 0
    while shared < word_count and row_count and (words[:, shared] == words[0, shared]).all():
        shared += 1
    start = mix_one_row(SEED, words[0, :shared]) if shared else SEED
    state = np.full(row_count, start, np.uint32)
    for k in range(shared, word_count):
        mix(state, words[:, k].copy())
    return finish(state, np.uint32(4 * word_count))


def hash_ragged(
    words: npt.NDArray[np.uint32], starts: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.int32]:
    """Hash rows of different lengths.

    Parameters
    ----------
    words : (m,) uint32
        Little-endian words of all rows.
    starts, counts : (n,) int64
        First word and number of words of each row.

    Returns
    -------
    (n,) int32

    Examples
    --------
    >>> words = np.array([0, 0, 1, 0, 0, 0], np.uint32)
    >>> hash_ragged(words, np.array([0, 4]), np.array([4, 2]))
    array([ 1465514398, -1670924195], dtype=int32)
    """
    longest_first = np.argsort(-counts, kind="stable")
    ordered_starts, ordered_counts = starts[longest_first], counts[longest_first]
    state = np.full(len(starts), SEED, np.uint32)
    k, active = 0, rows_longer_than(ordered_counts, 0)
    while active > FEW_ROWS:
        mix(state[:active], words[ordered_starts[:active] + k])
        k += 1
        active = rows_longer_than(ordered_counts, k)
    for row in range(active):
        start = ordered_starts[row]
        state[row] = mix_one_row(int(state[row]), words[start + k : start + ordered_counts[row]])
    result = np.empty(len(starts), np.int32)
    result[longest_first] = finish(state, (4 * ordered_counts).astype(np.uint32))
    return result


def hash_bytes(data: bytes, seed: int = 0) -> int:
    """Hash bytes as they are, as Guava's ``murmur3_32`` does.

    Returns
    -------
    int
        Unsigned, of 32 bits.

    Examples
    --------
    >>> hash_bytes(b"hello, world") == 0x149BBB7F, hash_bytes(b"hello") == 0x248BFA47
    (True, True)
    """
    whole = len(data) // 4 * 4
    state = mix_one_row(seed, np.frombuffer(data[:whole], "<u4"))
    if whole < len(data):
        mixed = int.from_bytes(data[whole:], "little") * _C1 & _MASK
        mixed = (mixed << 15 | mixed >> 17) & _MASK
        state ^= mixed * _C2 & _MASK
    finished = finish(np.array([state], np.uint32), np.uint32(len(data)))
    return int(finished.view(np.uint32)[0])


def rows_longer_than(descending_counts: npt.NDArray[np.int64], k: int) -> int:
    """Count the rows of more than ``k`` words."""
    return int(np.searchsorted(-descending_counts, -k))


def mix(state: npt.NDArray[np.uint32], word: npt.NDArray[np.uint32]) -> None:
    """Mix one word of each row into ``state``, in place; ``word`` is used up."""
    word *= np.uint32(_C1)
    _rotate_left(word, 15)
    word *= np.uint32(_C2)
    state ^= word
    _rotate_left(state, 13)
    state *= np.uint32(5)
    state += np.uint32(_M5)


def _rotate_left(values: npt.NDArray[np.uint32], bits: int) -> None:
    high = values >> np.uint32(32 - bits)
    values <<= np.uint32(bits)
    values |= high


def mix_one_row(state: int, words: npt.NDArray[np.uint32]) -> int:
    """Mix the words of one row into its state."""
    for word in words.tolist():
        mixed = word * _C1 & _MASK
        mixed = (mixed << 15 | mixed >> 17) & _MASK
        state ^= mixed * _C2 & _MASK
        state = (state << 13 | state >> 19) & _MASK
        state = (state * 5 + _M5) & _MASK
    return state


def finish(
    state: npt.NDArray[np.uint32], byte_length: npt.NDArray[np.uint32] | np.uint32
) -> npt.NDArray[np.int32]:
    """Return the hashes of rows whose words are mixed into ``state``, which is used up."""
    state ^= byte_length
    state ^= state >> np.uint32(16)
    state *= np.uint32(_F1)
    state ^= state >> np.uint32(13)
    state *= np.uint32(_F2)
    state ^= state >> np.uint32(16)
    return state.view(np.int32)
