"""The file of a lookup store: rows of a data file as Arrow batches, found by offset.

After a magic word comes the body: for each piece of rows a batch of the keys and batches of the
other columns, each an Arrow IPC message at a multiple of 8 bytes, those of other columns compressed
if asked for, otherwise packed (`packed_columns`), and the filters of its keys if there are some
(`key_filter`); then the last keys of the filters, and zeros up to a multiple of 8 kB. Keys are
never compressed, so that they are searched where they are. The end says, as JSON, what the rows are
of, where the batches are and what the body sums up to; its length and checksum and the magic word
follow.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.read.lookup_stores.key_filter import KeyFilter, StoredFilters
from paimonlab.read.lookup_stores.packed_columns import PackedColumns
from paimonlab.spec.decoding import ready

Positions: TypeAlias = npt.NDArray[np.int64]

MAGIC = b"PLLOOK04"
_BLOCK_WORDS = 1024
BLOCK_BYTES = 8 * _BLOCK_WORDS
_TAIL_BYTES = 8 + 4 + len(MAGIC)


class StoreIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """What the rows of a store are: if anything of it differs, the store is of no use."""

    table_path: str
    bucket_path: str
    file_name: str
    file_size_bytes: int
    columns: str
    """Names, ids and types, and whatever else decides about values."""
    compression: str
    fpp: float | None = None
    """Of the filters of keys; None: there are none."""


class BatchPlace(msgspec.Struct, frozen=True, array_like=True):
    """Where a batch is."""

    offset: int
    size_bytes: int
    first_row: int
    row_count: int
    raw_bytes: int = 0
    """Size of the message that is compressed as a whole; 0: it is not."""


class StoreEnd(msgspec.Struct, frozen=True, kw_only=True):
    """What the end of the file says."""

    identity: StoreIdentity
    row_count: int
    keys: tuple[BatchPlace, ...]
    values: tuple[BatchPlace, ...]
    filters: tuple[BatchPlace, ...]
    """Of the keys of each batch; (): they have none."""
    last_keys: BatchPlace | None
    """Of each filter."""
    checksum: int
    """Of the body."""


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """Rows that follow one another in the data file."""

    first_row: int
    rows: pa.RecordBatch


class StoreFile:
    """An open store. What is read of it is not copied: it is good as long as it is referred to."""

    def __init__(
        self,
        content: pa.Buffer,
        end: StoreEnd,
        keys: pa.Schema,
        values: pa.Schema | None,
        key_filter: KeyFilter | None,
    ) -> None:
        self._content = content
        self.key_filter = key_filter
        """How keys are filtered; None: they are not."""
        self._end = end
        self._keys_schema = keys
        self._values = None if values is None else stored_columns(values, end.identity.compression)
        self.keys = tuple(
            StoredBatch(batch.first_row, self._read(batch, keys)) for batch in end.keys
        )
        """The keys of all rows, sorted."""
        self.filters = None if end.last_keys is None else self._filters(end.last_keys, keys)
        """Which keys are certainly not there; None: nothing tells."""

    @property
    def identity(self) -> StoreIdentity:
        """What its rows are."""
        return self._end.identity

    @classmethod
    def open(
        cls,
        path: str,
        identity: StoreIdentity,
        *,
        keys: pa.Schema,
        values: pa.Schema | None,
        key_filter: KeyFilter | None = None,
        is_checked: bool = False,
    ) -> Self | None:
        """Open a store; None if it is not what it should be.

        Parameters
        ----------
        path
            Where it is.
        identity
            What its rows should be.
        keys, values
            Names and types of its columns; None: it has keys only.
        key_filter
            How its keys are filtered; None: they are not.
        is_checked
            Whether its body was already compared with its checksum.

        Raises
        ------
        OSError
            If it cannot be read.
        """
        content = pa.memory_map(path).read_buffer()
        end = _end_of(content)
        if end is None or end.identity != identity:
            return None
        if not is_checked and checksum_of(content, _body_bytes(content)) != end.checksum:
            return None
        return cls(content, end, keys, values, key_filter)

    def rows_at(self, positions: Positions) -> pa.Table:
        """Read rows.

        Parameters
        ----------
        positions : (n,) int64
            Rows of the data file, ascending.

        Returns
        -------
        pyarrow.Table
            n rows: the keys, then the other columns that are stored.
        """
        found = self._rows(self._end.keys, self._keys_schema, positions)
        if self._values is None:
            return found
        values = self._values.unpack(self._rows(self._end.values, self._values.stored, positions))
        for name in values.column_names:
            found = found.append_column(values.schema.field(name), values[name])
        return found

    def rows_between(self, start: int, stop: int) -> Iterator[pa.Table]:
        """Yield the keys and the other columns of rows that follow one another.

        The pieces of both are alike in a store that is not compressed.
        """
        for batch, keys in enumerate(self.keys):
            first = max(start - keys.first_row, 0)
            count = min(stop - keys.first_row, keys.rows.num_rows) - first
            if count > 0:
                found = pa.Table.from_batches([keys.rows]).slice(first, count)
                if self._values is not None:
                    others = self._read(self._end.values[batch], self._values.stored)
                    values = pa.Table.from_batches([others.slice(first, count)])
                    for field, column in zip(
                        self._values.schema, self._values.unpack(values).columns, strict=True
                    ):
                        found = found.append_column(field, column)
                yield found

    def _filters(self, last_keys: BatchPlace, keys: pa.Schema) -> StoredFilters:
        assert self.key_filter is not None, "the identity says that there are filters"
        starts, row_counts = [], []
        for batch in self._end.filters:
            start = batch.offset
            for rows, size_bytes in self.key_filter.sizes(batch.row_count):
                starts.append(start)
                row_counts.append(rows)
                start += size_bytes
        return StoredFilters(
            self._read(last_keys, keys),
            self._content,
            np.array(starts, np.int64),
            np.array(row_counts, np.int64),
        )

    def _rows(
        self, batches: Sequence[BatchPlace], schema: pa.Schema, positions: Positions
    ) -> pa.Table:
        numbers = np.searchsorted([batch.first_row for batch in batches], positions, "right") - 1
        found = []
        for number, chosen in pieces(numbers):
            batch = batches[number]
            rows = self._read(batch, schema)
            found.append(rows.take(arrow_array(positions[chosen] - batch.first_row)))
        return pa.Table.from_batches(found, schema)

    def _read(self, batch: BatchPlace, schema: pa.Schema) -> pa.RecordBatch:
        message = self._content.slice(batch.offset, batch.size_bytes)
        if batch.raw_bytes:
            codec = pa.Codec(self._end.identity.compression)
            message = codec.decompress(message, batch.raw_bytes)
        return pa.ipc.read_record_batch(message, schema)


def pieces(
    numbers: Positions,
) -> Iterator[tuple[int, slice]]:
    """Yield each of the ascending numbers once, with the range that has it."""
    starts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
    for start, end in zip(starts, [*starts, len(numbers)][1:], strict=True):
        yield int(numbers[start]), slice(start, end)


def stored_columns(values: pa.Schema, compression: str) -> PackedColumns:
    """Say how columns other than keys are stored: not packed where blocks are compressed."""
    if compression == "none":
        return PackedColumns.of(values)
    return PackedColumns.as_they_are(values)


def _end_of(content: pa.Buffer) -> StoreEnd | None:
    """Read the end of a store; None if it is not one, or not whole."""
    if content.size < BLOCK_BYTES + _TAIL_BYTES:
        return None
    tail = content.slice(content.size - _TAIL_BYTES).to_pybytes()
    length, crc = int.from_bytes(tail[:8], "little"), int.from_bytes(tail[8:12], "little")
    if tail[12:] != MAGIC or length > content.size - BLOCK_BYTES - _TAIL_BYTES:
        return None
    text = content.slice(content.size - _TAIL_BYTES - length, length).to_pybytes()
    if zlib.crc32(text) != crc or (content.size - _TAIL_BYTES - length) % BLOCK_BYTES:
        return None
    try:
        return msgspec.json.decode(text, type=ready(StoreEnd))
    except msgspec.ValidationError:  # of another version
        return None


def _body_bytes(content: pa.Buffer) -> int:
    length = content.slice(content.size - _TAIL_BYTES, 8).to_pybytes()
    return content.size - _TAIL_BYTES - int.from_bytes(length, "little")


def checksum_of(content: pa.Buffer, body_bytes: int) -> int:
    """Sum up a body about as fast as memory is read.

    A changed bit, a page of zeros and a piece at another place are noticed.
    """
    words = np.frombuffer(content, np.uint64, body_bytes // 8).reshape(-1, _BLOCK_WORDS)
    return zlib.crc32(words.sum(axis=1, dtype=np.uint64).tobytes())
