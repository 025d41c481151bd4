"""Bloom filters over sorted keys: which keys are certainly not among them.

The keys of a store are divided into segments, and each has a filter of its own: one that fits into
the caches of a processor is made in a third of the time that a large one takes. A key belongs to
the segment whose last key is not less. A filter has a power of two of bits, so that a place in it
is some bits of a hash, and as few places for a key as the share asked for allows.

What the options mean: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.LookupLevels``,
``org.apache.paimon.utils.BloomFilter``. The bits are not those of Java.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.merge.order import sort_keys
from paimonlab.spec.binary_row.rows import hash_codes
from paimonlab.spec.types.data_types import AtomicType, DataType, TypeRoot

Hashes: TypeAlias = npt.NDArray[np.uint64]

_SEGMENT_ROWS = 1 << 16
_LEAST_BITS = 64
_MOST_HASHES = 24
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
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
    """Most of the keys that are not there that are let through, as a share in (0, 1). What 32 bits
    of hash can tell apart, 0.002 %, is the least for keys other than a number or a time."""

    @classmethod
    def of(cls, types: tuple[DataType, ...], fpp: float) -> KeyFilter | None:
        """Return how to filter such keys; None: equal keys may have other bytes."""
        floating = any(isinstance(one, AtomicType) and one.root in _FLOATING for one in types)
        return None if floating else cls(types, fpp)

    def filters(self, keys: pa.RecordBatch) -> bytes:
        """Make the filters of sorted keys, one after the other."""
        values = self._values(keys.columns)
        # The same memory for all segments: new pages cost more than what is computed in them.
        hashes, places = (np.empty(_SEGMENT_ROWS, np.uint64) for _ in range(2))
        filters = []
        for start, rows in _segments(len(values)):
            mixed = _mixed(values[start : start + rows], hashes[:rows])
            filters.append(_filter(mixed, places[:rows], self._shape(rows)))
        return b"".join(filters)

    def sizes(self, row_count: int) -> Iterator[tuple[int, int]]:
        """Yield the rows, and the bytes of the filter, of each segment of so many keys."""
        for _, rows in _segments(row_count):
            yield rows, self._shape(rows).bits // 8

    def may_have(
        self, filters: StoredFilters, asked: pa.Table, segments: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """Tell which keys may be there, given the segment of each."""
        values = self._values(asked.columns)
        hashes = _mixed(values, np.empty(len(values), np.uint64))
        shapes = {rows: self._shape(rows) for rows in set(filters.row_counts.tolist())}
        data = np.frombuffer(filters.content, np.uint8)
        may_have = np.ones(len(hashes), np.bool_)
        for rows, shape in shapes.items():
            chosen = np.flatnonzero(filters.row_counts[segments] == rows)
            starts = filters.starts[segments[chosen]]
            for places in _places(hashes[chosen], np.empty(len(chosen), np.uint64), shape):
                found = data[starts + (places >> 3)]
                is_set = (found >> (places & 7).astype(np.uint8)) & 1
                may_have[chosen] &= is_set.astype(np.bool_)
        return may_have

    def _values(self, columns: Sequence[pa.Array | pa.ChunkedArray]) -> Hashes:
        """Return a number for each key, the same for keys that are equal."""
        kind = columns[0].type
        if len(columns) == 1 and (pa.types.is_integer(kind) or pa.types.is_temporal(kind)):
            return sort_keys(columns).astype(np.int64, copy=False).view(np.uint64)
        return hash_codes(columns, self.types).view(np.uint32).astype(np.uint64)

    def _shape(self, rows: int) -> _Shape:
        return _least_shape(rows, self.fpp)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a filter is like."""

    bits: int
    """A power of two."""
    hash_count: int
    """How many bits are set for a key."""


@lru_cache(maxsize=1024)
def _least_shape(rows: int, fpp: float) -> _Shape:
    """Choose the least filter of so many keys that lets few enough through."""
    least = -rows * math.log(fpp) / math.log(2) ** 2
    bits = max(1 << math.ceil(math.log2(max(least, 1))), _LEAST_BITS)
    counts = range(1, _MOST_HASHES + 1)
    shares = ((1 - math.exp(-count * rows / bits)) ** count for count in counts)
    enough = (count for count, share in zip(counts, shares, strict=True) if share <= fpp)
    return _Shape(bits, next(enough, _MOST_HASHES))


def _mixed(values: Hashes, out: Hashes) -> Hashes:
    """Hash numbers, so that the high bits depend on all."""
    np.right_shift(values, _HALF, out=out)
    np.bitwise_xor(out, values, out=out)
    return np.multiply(out, _FACTOR, out=out)


def _filter(hashes: Hashes, scratch: Hashes, shape: _Shape) -> bytes:
    """Make a filter; the hashes are others afterwards."""
    is_set = np.zeros(shape.bits, np.bool_)
    for places in _places(hashes, scratch, shape):
        is_set[places] = True
    return np.packbits(is_set, bitorder="little").tobytes()


def last_of_segments(keys: pa.RecordBatch) -> pa.RecordBatch:
    """Return the last key of each segment."""
    last = [start + rows - 1 for start, rows in _segments(keys.num_rows)]
    return keys.take(arrow_array(np.array(last, np.int64)))


def _segments(row_count: int) -> Iterator[tuple[int, int]]:
    for start in range(0, row_count, _SEGMENT_ROWS):
        yield start, min(_SEGMENT_ROWS, row_count - start)


def _places(hashes: Hashes, scratch: Hashes, shape: _Shape) -> Iterator[npt.NDArray[np.int64]]:
    """Yield a place of each hash, then the next; hashes and what was yielded change in between."""
    unused = np.uint64(64 - (shape.bits.bit_length() - 1))
    for number in range(shape.hash_count):
        if number:
            _mixed(hashes, scratch)
            hashes[:] = scratch
        np.right_shift(hashes, unused, out=scratch)
        yield scratch.view(np.int64)
