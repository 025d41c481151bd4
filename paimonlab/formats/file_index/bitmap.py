"""Bitmap indexes: the rows of each value.

Source: apache/paimon@1.3.1 ``org.apache.paimon.fileindex.bitmap``.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from pyroaring import BitMap

from paimonlab.formats.file_index.container import DamagedIndexError
from paimonlab.formats.file_index.roaring import bitmap_of, from_bytes, to_bytes
from paimonlab.formats.file_index.values import Distinct, Key, ValueForm

BLOCK_BYTES = 16 << 10
"""``index-block-size``: bytes of keys that are looked through to find one of them."""

_INT = struct.Struct(">i")
_HEAD = struct.Struct(">bii?")
_ENTRY_BYTES = 8


class BitmapIndex(Struct, frozen=True):
    """The rows of each value of a column."""

    row_count: int
    nulls: BitMap
    """Rows without a value."""
    keys: list[Key]
    """In the order in which their rows are stored."""
    rows: list[BitMap]
    """One per key; no row twice, none of them empty."""

    @classmethod
    def of(cls, values: Distinct) -> BitmapIndex:
        """Make the index of a column."""
        order = np.argsort(values.codes, kind="stable")
        bounds = np.searchsorted(values.codes[order], np.arange(1, len(values.keys)))
        pieces = np.split(values.rows[order], bounds) if values.keys else []
        return cls(
            values.row_count,
            bitmap_of(values.nulls),
            list(values.keys),
            [bitmap_of(piece) for piece in pieces],
        )

    def encode(self, form: ValueForm, *, version: int = 2, block_bytes: int = BLOCK_BYTES) -> bytes:
        """Return the bytes of the index.

        Parameters
        ----------
        form
            How keys are encoded.
        version
            1 or 2.
        block_bytes
            See `BLOCK_BYTES`.
        """
        body = bytearray(to_bytes(self.nulls) if len(self.nulls) > 1 else b"")
        null_size = len(to_bytes(self.nulls))
        entries = []
        for key, rows in zip(self.keys, self.rows, strict=True):
            if len(rows) == 1:
                entries.append(_Entry(key, -1 - rows[0], -1))
            else:
                data = to_bytes(rows)
                entries.append(_Entry(key, len(body), len(data)))
                body += data
        head = _HEAD.pack(version, self.row_count, len(self.keys), bool(self.nulls))
        null_at = -1 - self.nulls[0] if len(self.nulls) == 1 else 0
        if version == 1:
            null = _INT.pack(null_at) if self.nulls else b""
            packed = [form.pack([entry.key]) + _INT.pack(entry.at) for entry in entries]
            return head + null + b"".join(packed) + bytes(body)
        null = _INT.pack(null_at) + _INT.pack(null_size) if self.nulls else b""
        return head + null + _blocks(entries, form, block_bytes) + bytes(body)


class _Entry(NamedTuple):
    """Where the rows of a key are."""

    key: Key
    at: int
    """In the body; below 0: there is one row, -1 - ``at``."""
    size: int
    """Bytes; -1: unknown, or there is one row."""


def _blocks(entries: Sequence[_Entry], form: ValueForm, block_bytes: int) -> bytes:
    heads: list[bytes] = []
    blocks, block = bytearray(), bytearray()
    size = count = 0

    def finish() -> None:
        nonlocal blocks
        blocks += _INT.pack(count) + block

    for entry in sorted(entries, key=lambda entry: entry.key):
        needed = _ENTRY_BYTES + form.size(entry.key)
        if _INT.size + needed > block_bytes:
            raise ValueError("a value is longer than a block of the index, index-block-size")
        if not heads or size + needed > block_bytes:
            if heads:
                finish()
            heads.append(form.pack([entry.key]) + _INT.pack(len(blocks)))
            block, size, count = bytearray(), _INT.size, 0
        block += form.pack([entry.key]) + _INT.pack(entry.at) + _INT.pack(entry.size)
        size += needed
        count += 1
    if heads:
        finish()
    return _INT.pack(len(heads)) + b"".join(heads) + _INT.pack(len(blocks)) + bytes(blocks)


class StoredBitmaps(Struct, frozen=True):
    """The bytes of a bitmap index, of which only what is asked for is decoded."""

    data: bytes
    form: ValueForm
    version: int
    row_count: int
    null: _Entry | None
    """Rows without a value; None if there are none."""
    starts: list[Key]
    """First key of each block."""
    blocks: list[list[_Entry] | tuple[int, int]]
    """Entries, or where they are."""
    body: int
    """Where the body begins."""

    @classmethod
    def read(cls, data: bytes, form: ValueForm) -> StoredBitmaps:
        """Read the head of an index.

        Raises
        ------
        DamagedIndexError
            If the bytes are something else.
        """
        try:
            return cls._read(data, form)
        except (struct.error, IndexError) as error:
            raise DamagedIndexError(f"a bitmap index is damaged: {error}") from error

    @classmethod
    def _read(cls, data: bytes, form: ValueForm) -> StoredBitmaps:
        version, row_count, key_count, has_null = _HEAD.unpack_from(data)
        if version not in (1, 2):
            raise DamagedIndexError(f"a bitmap index of version {version} is not known")
        at = _HEAD.size
        null = None
        if has_null:
            null = _Entry(b"", _INT.unpack_from(data, at)[0], -1)
            at += _INT.size
            if version != 1:
                null = null._replace(size=_INT.unpack_from(data, at)[0])
                at += _INT.size
        if version == 1:
            entries = []
            for _ in range(key_count):
                (key,), at = form.unpack(data, at, 1)
                entries.append(_Entry(key, _INT.unpack_from(data, at)[0], -1))
                at += _INT.size
            starts = [min(entry.key for entry in entries)] if entries else []
            blocks: list[list[_Entry] | tuple[int, int]] = [entries] if entries else []
            return cls(data, form, version, row_count, null, starts, blocks, at)
        (count,) = _INT.unpack_from(data, at)
        at += _INT.size
        starts, offsets = [], []
        for _ in range(count):
            (key,), at = form.unpack(data, at, 1)
            starts.append(key)
            offsets.append(_INT.unpack_from(data, at)[0])
            at += _INT.size
        (size,) = _INT.unpack_from(data, at)
        at += _INT.size
        places = [(at + offset, at + size) for offset in offsets]
        return cls(data, form, version, row_count, null, starts, list(places), at + size)

    def entries(self, block: int) -> list[_Entry]:
        """Decode the entries of a block."""
        entries_of_block = self.blocks[block]
        if isinstance(entries_of_block, list):
            return entries_of_block
        at = entries_of_block[0]
        (count,) = _INT.unpack_from(self.data, at)
        at += _INT.size
        entries = []
        for _ in range(count):
            (key,), at = self.form.unpack(self.data, at, 1)
            start, size = struct.unpack_from(">ii", self.data, at)
            at += _ENTRY_BYTES
            entries.append(_Entry(key, start, size))
        return entries

    def equal(self, keys: Sequence[Key]) -> BitMap:
        """Return the rows with one of some values."""
        rows = BitMap()
        for key in keys:
            block = 0 if self.version == 1 else bisect_right(self.starts, key) - 1
            if 0 <= block < len(self.starts):
                for entry in self.entries(block):
                    if entry.key == key:
                        rows |= self._rows(entry)
        return rows

    def nulls(self) -> BitMap:
        """Return the rows without a value."""
        return BitMap() if self.null is None else self._rows(self.null)

    def whole(self) -> BitmapIndex:
        """Decode everything."""
        entries = [entry for block in range(len(self.blocks)) for entry in self.entries(block)]
        stored = sorted((e for e in entries if e.at >= 0), key=lambda entry: entry.at)
        if self.version != 1:
            entries = [*stored, *(entry for entry in entries if entry.at < 0)]
        keys = [entry.key for entry in entries]
        return BitmapIndex(self.row_count, self.nulls(), keys, [self._rows(e) for e in entries])

    def _rows(self, entry: _Entry) -> BitMap:
        if entry.at < 0:
            return BitMap([-1 - entry.at])
        start = self.body + entry.at
        return from_bytes(self.data, start, entry.size if entry.size >= 0 else None)[0]
