"""Range bitmaps: the values in order, and the bit slices of their ranks.

Source: apache/paimon@1.3.1 ``org.apache.paimon.fileindex.rangebitmap``.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from pyroaring import BitMap

from paimonlab.formats.file_index.bsi import Slices
from paimonlab.formats.file_index.container import DamagedIndexError
from paimonlab.formats.file_index.roaring import all_rows, from_bytes, to_bytes
from paimonlab.formats.file_index.values import Distinct, Key, ValueForm

CHUNK_BYTES = 16 << 10
"""``chunk-size``: bytes of keys that are looked through to find one of them."""

_INT = struct.Struct(">i")
_PLACE = struct.Struct(">ii")
_VERSION = 1
_ROWS = struct.Struct(">bii")
_DICTIONARY = struct.Struct(">ibiii")
_CHUNK = struct.Struct(">iiii")
_SLICES = struct.Struct(">ibbii")
_NO_KEYS_SLICES = 64
"""Slices where there is no value: Java takes the bits of -1."""


def default_chunk_bytes(form: ValueForm) -> int:
    """Return the size of chunks: none where there are few different values."""
    return CHUNK_BYTES if form.width in (0, 4, 8) else 0


class RangeBitmap(Struct, frozen=True):
    """The values of a column in order, and the rows that have them."""

    row_count: int
    keys: list[Key]
    """Ascending."""
    slices: Slices
    """Of the ranks of the values of rows."""

    @classmethod
    def of(cls, values: Distinct) -> RangeBitmap:
        """Make the index of a column."""
        count = len(values.keys)
        bits = max((count - 1).bit_length(), 1) if count else _NO_KEYS_SLICES
        return cls(values.row_count, list(values.keys), Slices.of(values.codes, values.rows, bits))

    def encode(self, form: ValueForm, *, chunk_bytes: int | None = None) -> bytes:
        """Return the bytes of the index.

        Parameters
        ----------
        form
            How keys are encoded.
        chunk_bytes
            See `CHUNK_BYTES`; None: as Java chooses.
        """
        limit = default_chunk_bytes(form) if chunk_bytes is None else chunk_bytes
        dictionary = _dictionary(self.keys, form, limit)
        ends = form.pack([self.keys[0], self.keys[-1]]) if self.keys else b""
        head = _ROWS.pack(_VERSION, self.row_count, len(self.keys)) + ends
        head += _INT.pack(len(dictionary))
        return _INT.pack(len(head)) + head + dictionary + _sliced(self.slices)


def _dictionary(keys: Sequence[Key], form: ValueForm, limit: int) -> bytes:
    offsets, chunks, areas = bytearray(), bytearray(), bytearray()
    count = first = 0
    while first < len(keys):
        last = _chunk_end(keys, first, form, limit)
        offsets += _INT.pack(len(chunks))
        rest = keys[first + 1 : last]
        packed = form.pack(rest)
        chunks += bytes([_VERSION]) + form.pack([keys[first]])
        chunks += _PLACE.pack(first, len(areas)) + _INT.pack(len(rest))
        if form.width:
            chunks += _PLACE.pack(len(packed), form.width)
            areas += packed
        else:
            sizes = [form.size(key) for key in rest]
            starts = np.cumsum([0, *sizes])[:-1].astype(">i4")
            chunks += _PLACE.pack(starts.nbytes, len(packed))
            areas += starts.tobytes() + packed
        count += 1
        first = last
    head = _DICTIONARY.pack(13, _VERSION, count, len(offsets), len(chunks))
    return head + bytes(offsets + chunks + areas)


def _chunk_end(keys: Sequence[Key], first: int, form: ValueForm, limit: int) -> int:
    """Find the first key that is not in the chunk which begins with a key."""
    if form.width:
        return min(first + 1 + limit // form.width, len(keys))
    room, places, end = limit, limit // _INT.size, first + 1
    while end < len(keys) and places > 0 and form.size(keys[end]) <= room:
        room -= form.size(keys[end])
        places -= 1
        end += 1
    return end


def _sliced(slices: Slices) -> bytes:
    rows = to_bytes(slices.rows)
    bits = [to_bytes(bit) for bit in slices.bits]
    places, at = bytearray(), 0
    for bitmap in bits:
        places += _PLACE.pack(at, len(bitmap))
        at += len(bitmap)
    head = _SLICES.pack(10 + len(places), _VERSION, len(bits), len(rows), len(places))
    return head + bytes(places) + rows + b"".join(bits)


class StoredRangeBitmap(Struct, frozen=True):
    """The bytes of a range bitmap, of which only what is asked for is decoded."""

    data: bytes
    form: ValueForm
    row_count: int
    key_count: int
    dictionary: int
    """Where the dictionary begins."""
    slices: Slices

    @classmethod
    def read(cls, data: bytes, form: ValueForm) -> StoredRangeBitmap:
        """Read an index.

        Raises
        ------
        DamagedIndexError
            If the bytes are something else.
        """
        try:
            (length,) = _INT.unpack_from(data)
            version, row_count, key_count = _ROWS.unpack_from(data, _INT.size)
            if version != _VERSION:
                raise DamagedIndexError(f"a range bitmap of version {version} is not known")
            dictionary = _INT.size + length
            (size,) = _INT.unpack_from(data, dictionary - _INT.size)
            slices = _read_slices(data, dictionary + size)
        except (struct.error, IndexError) as error:
            raise DamagedIndexError(f"a range bitmap is damaged: {error}") from error
        return cls(data, form, row_count, key_count, dictionary, slices)

    def nulls(self) -> BitMap:
        """Return the rows without a value."""
        return all_rows(self.row_count) - self.slices.rows

    def equal(self, keys: Sequence[Key]) -> BitMap:
        """Return the rows with one of some values."""
        rows = BitMap()
        for key in keys:
            low, high = self._rank(key, is_behind=False), self._rank(key, is_behind=True)
            if low < high:
                rows |= self.slices.equal(low)
        return rows

    def between(self, low: Key | None, high: Key | None) -> BitMap:
        """Return the rows with a value from ``low`` to ``high``; None: no bound."""
        return self.slices.between(
            None if low is None else self._rank(low, is_behind=False),
            None if high is None else self._rank(high, is_behind=True) - 1,
        )

    def _rank(self, key: Key, *, is_behind: bool) -> int:
        """Count the values below a key, or those that are not above it."""
        starts, codes, places = self._chunks()
        chunk = bisect_right(starts, key) - 1
        if chunk < 0:
            return 0
        rest = self._keys(places[chunk])
        find = bisect_right if is_behind else bisect_left
        if starts[chunk] == key and not is_behind:
            return codes[chunk]
        return codes[chunk] + 1 + find(rest, key)

    def _chunks(self) -> tuple[list[Key], list[int], list[tuple[int, int, int]]]:
        """Read the heads of all chunks: first key, its rank, and where the other keys are."""
        length, _, count, offsets_size, chunks_size = _DICTIONARY.unpack_from(
            self.data, self.dictionary
        )
        body = self.dictionary + _INT.size + length
        at = body + offsets_size
        area = at + chunks_size
        starts, codes, places = [], [], []
        for _ in range(count):
            (key,), at = self.form.unpack(self.data, at + 1, 1)
            code, offset, key_count, size = _CHUNK.unpack_from(self.data, at)
            # What follows is the width of a key, or how long texts are in all.
            at += _CHUNK.size + _INT.size
            starts.append(key)
            codes.append(code)
            places.append((area + offset + (0 if self.form.width else size), key_count, size))
        return starts, codes, places

    def _keys(self, place: tuple[int, int, int]) -> list[Key]:
        at, count, _ = place
        return self.form.unpack(self.data, at, count)[0]

    def whole(self) -> RangeBitmap:
        """Decode everything."""
        starts, _, places = self._chunks()
        keys: list[Key] = []
        for start, place in zip(starts, places, strict=True):
            keys += [start, *self._keys(place)]
        return RangeBitmap(self.row_count, keys, self.slices)


def _read_slices(data: bytes, at: int) -> Slices:
    length, version, count, rows_size, _ = _SLICES.unpack_from(data, at)
    if version != _VERSION or not 0 <= count <= _NO_KEYS_SLICES:
        raise DamagedIndexError("the slices of a range bitmap are damaged")
    body = at + _INT.size + length
    first = at + _SLICES.size
    bits_at = body + rows_size
    places = [_PLACE.unpack_from(data, first + _PLACE.size * number) for number in range(count)]
    rows, _ = from_bytes(data, body, rows_size)
    bits = [from_bytes(data, bits_at + start, size)[0] for start, size in places]
    return Slices(rows, bits)
