"""Bit-sliced indexes of numbers: the rows whose value has a bit, for each bit.

Source: apache/paimon@1.3.1 ``org.apache.paimon.fileindex.bsi``,
``org.apache.paimon.utils.BitSliceIndexRoaringBitmap``.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from pyroaring import BitMap

from paimonlab.formats.file_index.container import DamagedIndexError
from paimonlab.formats.file_index.roaring import all_rows, bitmap_of, from_bytes, to_bytes
from paimonlab.formats.file_index.values import Key

_HEAD = struct.Struct(">bi")
_SLICED = struct.Struct(">bqq")
_INT = struct.Struct(">i")
_VERSION = 1


class Slices(Struct, frozen=True):
    """Numbers from 0, by their bits."""

    rows: BitMap
    """Rows that have a number."""
    bits: list[BitMap]
    """Rows whose number has a bit, the lowest bit first."""

    @classmethod
    def of(
        cls, numbers: npt.NDArray[np.int64], rows: npt.NDArray[np.int64], bit_count: int
    ) -> Slices:
        """Slice the numbers of rows, which ascend."""
        return cls(
            bitmap_of(rows),
            [bitmap_of(rows[(numbers >> bit & 1).astype(np.bool_)]) for bit in range(bit_count)],
        )

    def up_to(self, number: int) -> BitMap:
        """Return the rows with a number that is not greater."""
        if number < 0:
            return BitMap()
        if number >= 1 << len(self.bits):
            return BitMap(self.rows)
        less, equal = BitMap(), BitMap(self.rows)
        for bit in reversed(range(len(self.bits))):
            if number >> bit & 1:
                less |= equal - self.bits[bit]
                equal &= self.bits[bit]
            else:
                equal -= self.bits[bit]
        return less | equal

    def equal(self, number: int) -> BitMap:
        """Return the rows with a number."""
        return self.between(number, number)

    def between(self, low: int | None, high: int | None) -> BitMap:
        """Return the rows with a number from ``low`` to ``high``; None: no bound."""
        upper = BitMap(self.rows) if high is None else self.up_to(high)
        return upper if low is None else upper - self.up_to(low - 1)


class BitSlicedIndex(Struct, frozen=True):
    """Whole numbers, those below 0 by their absolute value."""

    row_count: int
    positive: Slices | None
    """Numbers from 0; None if there are none."""
    negative: Slices | None
    positive_range: tuple[int, int] = (0, 0)
    """What the file says of the smallest and the greatest number; the smallest is taken off
    the numbers, and Java always writes 0."""
    negative_range: tuple[int, int] = (0, 0)

    @classmethod
    def of(
        cls,
        numbers: npt.NDArray[np.int64],
        rows: npt.NDArray[np.int64],
        row_count: int,
    ) -> BitSlicedIndex:
        """Make the index of a column.

        Parameters
        ----------
        numbers, rows : (m,) int64
            The values, and which rows they are in, ascending.
        row_count
            Rows of the file.

        Raises
        ------
        ValueError
            If a value is -2**63, whose absolute value has no place.
        """
        if numbers.size and int(numbers.min()) == -(2**63):
            raise ValueError("an index of type bsi cannot hold the value -2**63")
        is_negative = numbers < 0
        parts: list[Slices | None] = []
        highest = []
        for chosen in (~is_negative, is_negative):
            values = np.abs(numbers[chosen])
            highest.append(int(values.max()) if values.size else 0)
            bits = highest[-1].bit_length()
            parts.append(Slices.of(values, rows[chosen], bits) if values.size else None)
        return cls(row_count, parts[0], parts[1], (0, highest[0]), (0, highest[1]))

    def encode(self) -> bytes:
        """Return the bytes of the index."""
        out = bytearray(_HEAD.pack(_VERSION, self.row_count))
        for slices, bounds in (
            (self.positive, self.positive_range),
            (self.negative, self.negative_range),
        ):
            out.append(slices is not None)
            if slices is not None:
                out += _SLICED.pack(_VERSION, *bounds) + to_bytes(slices.rows)
                out += _INT.pack(len(slices.bits))
                out += b"".join(to_bytes(bits) for bits in slices.bits)
        return bytes(out)

    @classmethod
    def decode(cls, data: bytes) -> BitSlicedIndex:
        """Read the bytes of an index.

        Raises
        ------
        DamagedIndexError
            If they are something else.
        """
        try:
            version, row_count = _HEAD.unpack_from(data)
            if version != _VERSION:
                raise DamagedIndexError(f"a bsi index of version {version} is not known")
            positive, positive_range, at = _slices(data, _HEAD.size)
            negative, negative_range, _ = _slices(data, at)
        except (struct.error, IndexError) as error:
            raise DamagedIndexError(f"a bsi index is damaged: {error}") from error
        return cls(row_count, positive, negative, positive_range, negative_range)

    def nulls(self) -> BitMap:
        """Return the rows without a value."""
        return all_rows(self.row_count) - self.between(None, None)

    def equal(self, keys: Sequence[Key]) -> BitMap:
        """Return the rows with one of some values."""
        return BitMap.union(BitMap(), *(self.between(key, key) for key in keys))

    def between(self, low: Key | None, high: Key | None) -> BitMap:
        """Return the rows with a value from ``low`` to ``high``; None: no bound."""
        assert not isinstance(low, bytes), "numbers are asked for"
        assert not isinstance(high, bytes), "numbers are asked for"
        rows = BitMap()
        if self.positive is not None and (high is None or high >= 0):
            base = self.positive_range[0]
            rows |= self.positive.between(
                None if low is None else max(low, 0) - base, None if high is None else high - base
            )
        if self.negative is not None and (low is None or low < 0):
            base = self.negative_range[0]
            rows |= self.negative.between(
                None if high is None else max(-high, 0) - base, None if low is None else -low - base
            )
        return rows


def _slices(data: bytes, at: int) -> tuple[Slices | None, tuple[int, int], int]:
    if not data[at]:
        return None, (0, 0), at + 1
    version, low, high = _SLICED.unpack_from(data, at + 1)
    if version != _VERSION:
        raise DamagedIndexError(f"bit slices of version {version} are not known")
    rows, at = from_bytes(data, at + 1 + _SLICED.size)
    (count,) = _INT.unpack_from(data, at)
    at += _INT.size
    if not 0 <= count <= 64:
        raise DamagedIndexError(f"a bsi index has {count} slices")
    bits = []
    for _ in range(count):
        bitmap, at = from_bytes(data, at)
        bits.append(bitmap)
    return Slices(rows, bits), (low, high), at
