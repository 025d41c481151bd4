"""Bloom filters: which values a file certainly does not have.

Source: apache/paimon@1.3.1 ``org.apache.paimon.fileindex.bloomfilter``,
``org.apache.paimon.utils.BloomFilter64``.
"""

from __future__ import annotations

import math
import struct

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

from paimonlab.arrow_values import one_array
from paimonlab.formats.file_index.container import DamagedIndexError
from paimonlab.formats.file_index.hashing import hash_bytes, hash_integers
from paimonlab.formats.file_index.values import (
    float_bits,
    form_of,
    index_numbers,
    is_indexed_as_bytes,
)
from paimonlab.spec.binary_row.buffers import byte_pieces
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataType

_HEAD = struct.Struct(">i")
_MOST_HASHES = 2000
"""More than the smallest share of wrong answers that a double can hold asks for."""


class BloomFilter(Struct, frozen=True):
    """Bits of values that were added."""

    hash_count: int
    """Bits a value has."""
    bits: bytes
    """Bit i is the bit i % 8, counted from the lowest, of the byte i / 8."""

    @classmethod
    def of(cls, hashes: npt.NDArray[np.int64], *, items: int, fpp: float) -> BloomFilter:
        """Make a filter.

        Parameters
        ----------
        hashes : (n,) int64
            Hashes of the values, in any order.
        items, fpp
            For how many values it is made, and which share of others it lets through then.
        """
        natural = int(-items * math.log(fpp) / (math.log(2) * math.log(2)))
        bit_count = natural + 8 - natural % 8
        hash_count = max(1, math.floor(bit_count / items * math.log(2) + 0.5))
        is_set = np.zeros(bit_count, np.bool_)
        for positions in _positions(distinct_integers(hashes), hash_count, bit_count):
            is_set[positions] = True
        return cls(hash_count, np.packbits(is_set, bitorder="little").tobytes())

    def may_have(self, hashes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Tell which hashes are of values that may have been added."""
        data = np.frombuffer(self.bits, np.uint8)
        may_match = np.ones(len(hashes), np.bool_)
        for positions in _positions(hashes, self.hash_count, 8 * len(data)):
            may_match &= (data[positions >> 3] >> (positions & 7).astype(np.uint8) & 1).astype(
                np.bool_
            )
        return may_match

    def encode(self) -> bytes:
        """Return the bytes of the index."""
        return _HEAD.pack(self.hash_count) + self.bits

    @classmethod
    def decode(cls, data: bytes) -> BloomFilter:
        """Read the bytes of an index."""
        if len(data) <= _HEAD.size:
            raise DamagedIndexError("a Bloom filter has no bits")
        (hash_count,) = _HEAD.unpack_from(data)
        if not 0 < hash_count <= _MOST_HASHES:
            raise DamagedIndexError(f"a Bloom filter has {hash_count} bits a value")
        return cls(hash_count, data[_HEAD.size :])


def value_hashes(column: pa.Array | pa.ChunkedArray, data_type: DataType) -> npt.NDArray[np.int64]:
    """Hash the values of a column, nulls left out."""
    array = one_array(column).drop_null()
    if is_indexed_as_bytes(data_type):
        return hash_bytes(byte_pieces(array))
    numbers = index_numbers(array, data_type)
    form = form_of(data_type, "bloom-filter")
    if form is not None and form.is_float:
        numbers = float_bits(numbers, to_arrow(data_type).bit_width // 8)
    return hash_integers(numbers)


def _positions(
    hashes: npt.NDArray[np.int64], hash_count: int, bit_count: int
) -> list[npt.NDArray[np.int64]]:
    low = hashes.astype(np.int32)
    high = (hashes >> 32).astype(np.int32)
    bit_numbers = []
    for number in range(1, hash_count + 1):
        combined = low + np.int32(number) * high
        bit_numbers.append(np.where(combined < 0, ~combined, combined).astype(np.int64) % bit_count)
    return bit_numbers
