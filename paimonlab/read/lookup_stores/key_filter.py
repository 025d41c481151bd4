"""Bloom filters over sorted keys: which keys are certainly not among them.

The keys of a store are divided into segments, and each has a filter of its own: one that fits into
the caches of a processor is made in a third of the time that a large one takes. A key belongs to
the segment whose last key is not less.

What the options mean: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.LookupLevels``,
``org.apache.paimon.utils.BloomFilter``. The bits are not those of Java.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.spec.binary_row.rows import hash_codes
from paimonlab.spec.types.data_types import AtomicType, DataType, TypeRoot

_SEGMENT_ROWS = 1 << 16
_MOST_HASHES = 24
"""More bits for a key than this ask for more than 32 bits of hash say."""
_STEP = np.uint32(0x9E3779B1)
_FLOATING = (TypeRoot.FLOAT, TypeRoot.DOUBLE)


@dataclass(frozen=True, slots=True)
class StoredFilters:
    """The filters of a store."""

    last_keys: pa.RecordBatch
    """s rows: of each segment."""
    content: pa.Buffer
    """Bytes that have the filters."""
    starts: npt.NDArray[np.int64]
    """(s,) where each filter begins in them."""
    row_counts: npt.NDArray[np.int64]
    """(s,) how many keys each has."""


@dataclass(frozen=True, slots=True)
class KeyFilter:
    """How filters are made and asked."""

    types: tuple[DataType, ...]
    """Of the key columns."""
    fpp: float
    """Share of keys that are not there and let through, in (0, 1). What 32 bits of hash can tell
    apart, 0.002 %, is the least there is."""

    @classmethod
    def of(cls, types: tuple[DataType, ...], fpp: float) -> KeyFilter | None:
        """Return how to filter such keys; None: equal keys may have other bytes."""
        floating = any(isinstance(one, AtomicType) and one.root in _FLOATING for one in types)
        return None if floating else cls(types, fpp)

    def filters(self, keys: pa.RecordBatch) -> bytes:
        """Make the filters of sorted keys, one after the other."""
        hashes = hash_codes(keys.columns, self.types).view(np.uint32)
        return b"".join(
            self._filter(hashes[start : start + rows]) for start, rows in _segments(len(hashes))
        )

    def sizes(self, row_count: int) -> Iterator[tuple[int, int]]:
        """Yield the rows, and the bytes of the filter, of each segment of so many keys."""
        for _, rows in _segments(row_count):
            yield rows, self._bits(rows) // 8

    def may_have(
        self, filters: StoredFilters, asked: pa.Table, segments: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """Tell which keys may be there, given the segment of each."""
        hashes = hash_codes(asked.columns, self.types).view(np.uint32)
        bits = np.array([self._bits(int(rows)) for rows in filters.row_counts], np.uint64)
        data = np.frombuffer(filters.content, np.uint8)
        may_have = np.ones(len(hashes), np.bool_)
        for places in _places(hashes, bits[segments], self._hash_count):
            found = data[filters.starts[segments] + (places >> 3)]
            may_have &= ((found >> (places & 7).astype(np.uint8)) & 1).astype(np.bool_)
        return may_have

    def _filter(self, hashes: npt.NDArray[np.uint32]) -> bytes:
        bits = self._bits(len(hashes))
        is_set = np.zeros(bits, np.bool_)
        for places in _places(hashes, np.uint64(bits), self._hash_count):
            is_set[places] = True
        return np.packbits(is_set, bitorder="little").tobytes()

    def _bits(self, rows: int) -> int:
        """Return how many bits a filter of so many keys has: of whole words."""
        bits = -rows * math.log(self.fpp) / math.log(2) ** 2
        return 64 * max(math.ceil(bits / 64), 1)

    @property
    def _hash_count(self) -> int:
        return min(max(round(-math.log2(self.fpp)), 1), _MOST_HASHES)


def last_of_segments(keys: pa.RecordBatch) -> pa.RecordBatch:
    """Return the last key of each segment."""
    last = [start + rows - 1 for start, rows in _segments(keys.num_rows)]
    return keys.take(arrow_array(np.array(last, np.int64)))


def _segments(row_count: int) -> Iterator[tuple[int, int]]:
    for start in range(0, row_count, _SEGMENT_ROWS):
        yield start, min(_SEGMENT_ROWS, row_count - start)


def _places(
    hashes: npt.NDArray[np.uint32], bits: npt.NDArray[np.uint64] | np.uint64, count: int
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the bits of each hash."""
    step = (hashes * _STEP) | np.uint32(1)
    at = hashes.copy()
    for _ in range(count):
        yield ((at.astype(np.uint64) * bits) >> np.uint64(32)).view(np.int64)
        at += step
