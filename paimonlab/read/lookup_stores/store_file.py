"""The file of a lookup store: rows of a data file as Arrow batches, found by offset.

After a magic word comes the body: for each piece of rows a batch of the keys and batches of the
other columns, each an Arrow IPC message at a multiple of 8 bytes, those of other columns compressed
if asked for, and the filters of its keys if there are some (`key_filter`); then the last keys of
the filters, and zeros up to a multiple of 8 kB. Keys are never compressed, so that they are
searched where they are. The end says, as JSON, what the rows are of, where the batches are and what
the body sums up to; its length and checksum and the magic word follow.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, no_rows
from paimonlab.read.lookup_stores.key_filter import KeyFilter, StoredFilters, last_of_segments

Positions: TypeAlias = npt.NDArray[np.int64]

_MAGIC = b"PLLOOK02"
_BLOCK_WORDS = 1024
_BLOCK_BYTES = 8 * _BLOCK_WORDS
_TAIL_BYTES = 8 + 4 + len(_MAGIC)
_ROWS_OF_COMPRESSED = 256
"""Rows of a batch that has to be decompressed as a whole to read one of them."""


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


class _Batch(msgspec.Struct, frozen=True, array_like=True):
    """Where a batch is."""

    offset: int
    size_bytes: int
    first_row: int
    row_count: int
    raw_bytes: int = 0
    """Size of the message that is compressed as a whole; 0: it is not."""


class _End(msgspec.Struct, frozen=True, kw_only=True):
    """What the end of the file says."""

    identity: StoreIdentity
    row_count: int
    keys: tuple[_Batch, ...]
    values: tuple[_Batch, ...]
    filters: tuple[_Batch, ...]
    """Of the keys of each batch; (): they have none."""
    last_keys: _Batch | None
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
        end: _End,
        keys: pa.Schema,
        values: pa.Schema | None,
        key_filter: KeyFilter | None,
    ) -> None:
        self._content = content
        self.key_filter = key_filter
        """How keys are filtered; None: they are not."""
        self._end = end
        self._keys_schema = keys
        self._values_schema = values
        self.keys = tuple(
            StoredBatch(batch.first_row, self._read(batch, keys)) for batch in end.keys
        )
        """The keys of all rows, sorted."""
        self.filters = None if end.last_keys is None else self._filters(end.last_keys, keys)
        """Which keys are certainly not there; None: nothing tells."""

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
        if not is_checked and _checksum(content, _body_bytes(content)) != end.checksum:
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
        if self._values_schema is None:
            return found
        values = self._rows(self._end.values, self._values_schema, positions)
        for name in values.column_names:
            found = found.append_column(values.schema.field(name), values[name])
        return found

    def rows_between(self, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        """Yield the keys and the other columns of rows that follow one another, not copied.

        The pieces of both are alike in a store that is not compressed.
        """
        values = self._end.values if self._values_schema is not None else ()
        for batch, keys in enumerate(self.keys):
            first = max(start - keys.first_row, 0)
            count = min(stop - keys.first_row, keys.rows.num_rows) - first
            if count > 0:
                columns = keys.rows.columns
                names = keys.rows.schema.names
                if self._values_schema is not None:
                    others = self._read(values[batch], self._values_schema)
                    columns, names = [*columns, *others.columns], [*names, *others.schema.names]
                yield pa.RecordBatch.from_arrays(columns, names).slice(first, count)

    def _filters(self, last_keys: _Batch, keys: pa.Schema) -> StoredFilters:
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

    def _rows(self, batches: Sequence[_Batch], schema: pa.Schema, positions: Positions) -> pa.Table:
        numbers = np.searchsorted([batch.first_row for batch in batches], positions, "right") - 1
        found = []
        for number, chosen in pieces(numbers):
            batch = batches[number]
            rows = self._read(batch, schema)
            found.append(rows.take(arrow_array(positions[chosen] - batch.first_row)))
        return pa.Table.from_batches(found, schema)

    def _read(self, batch: _Batch, schema: pa.Schema) -> pa.RecordBatch:
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


def write_store(
    path: str,
    identity: StoreIdentity,
    rows: Iterable[pa.RecordBatch],
    *,
    keys: pa.Schema,
    values: pa.Schema | None,
    key_filter: KeyFilter | None = None,
) -> None:
    """Write a store.

    Parameters
    ----------
    path
        The file to create.
    identity
        What the rows are; its ``compression`` is obeyed.
    rows
        All rows of the data file with the columns of both schemas, each piece to be one batch.
    keys, values
        Which columns are keys and which are not; None: nothing else is stored.
    key_filter
        Makes the filters of keys; None: they have none.

    Raises
    ------
    OSError
        If the disk does not take it.
    """
    with pa.OSFile(path, "wb") as sink:
        sink.write(_MAGIC)
        end = _write_body(sink, identity, rows, keys, values, key_filter)
        sink.write(bytes(-sink.tell() % _BLOCK_BYTES))
        body_bytes = sink.tell()
        sink.flush()
        written = msgspec.structs.replace(
            end, checksum=_checksum(pa.memory_map(path).read_buffer(), body_bytes)
        )
        text = msgspec.json.encode(written)
        sink.write(text)
        sink.write(len(text).to_bytes(8, "little") + zlib.crc32(text).to_bytes(4, "little"))
        sink.write(_MAGIC)


def _write_body(
    sink: pa.NativeFile,
    identity: StoreIdentity,
    rows: Iterable[pa.RecordBatch],
    keys: pa.Schema,
    values: pa.Schema | None,
    key_filter: KeyFilter | None,
) -> _End:
    key_writer = _BatchWriter(sink, keys, None)
    is_raw = identity.compression == "none"
    value_writer = None
    if values is not None:
        value_writer = _BatchWriter(sink, values, None if is_raw else identity.compression)
    filters: list[_Batch] = []
    last_keys: list[pa.RecordBatch] = []
    for piece in rows:
        first_row = key_writer.row_count
        key_writer.write(piece)
        if value_writer is not None:
            step = piece.num_rows if is_raw else _ROWS_OF_COMPRESSED
            for start in range(0, piece.num_rows, step):
                value_writer.write(piece.slice(start, step))
        if key_filter is not None:
            its_keys = piece.select(keys.names)
            bits = key_filter.filters(its_keys)
            filters.append(_Batch(sink.tell(), len(bits), first_row, piece.num_rows))
            sink.write(bits)
            last_keys.append(last_of_segments(its_keys))
    batches = tuple(key_writer.batches)
    if last_keys:
        key_writer.write(pa.concat_batches(last_keys))
    return _End(
        identity=identity,
        row_count=sum(batch.row_count for batch in batches),
        keys=batches,
        values=() if value_writer is None else tuple(value_writer.batches),
        filters=tuple(filters),
        last_keys=key_writer.batches[-1] if last_keys else None,
        checksum=0,
    )


class _BatchWriter:
    """Writes batches of some columns and remembers where they are."""

    def __init__(self, sink: pa.NativeFile, schema: pa.Schema, compression: str | None) -> None:
        self.batches: list[_Batch] = []
        self.row_count = 0
        self._sink = sink
        self._names = schema.names
        self._codec = None if compression is None else pa.Codec(compression)
        self._writer = pa.ipc.new_stream(sink, schema)
        # The schema is written with the first batch; it is known, so nothing reads it.
        self._writer.write_batch(no_rows(schema))

    def write(self, rows: pa.RecordBatch) -> None:
        """Write the columns that are stored here."""
        offset = self._sink.tell()
        raw_bytes = 0
        if self._codec is None:
            self._writer.write_batch(rows.select(self._names))
        else:
            message = rows.select(self._names).serialize()
            raw_bytes = message.size
            self._sink.write(self._codec.compress(message))
        size = self._sink.tell() - offset
        self._sink.write(bytes(-size % 8))
        self.batches.append(_Batch(offset, size, self.row_count, rows.num_rows, raw_bytes))
        self.row_count += rows.num_rows


def _end_of(content: pa.Buffer) -> _End | None:
    """Read the end of a store; None if it is not one, or not whole."""
    if content.size < _BLOCK_BYTES + _TAIL_BYTES:
        return None
    tail = content.slice(content.size - _TAIL_BYTES).to_pybytes()
    length, crc = int.from_bytes(tail[:8], "little"), int.from_bytes(tail[8:12], "little")
    if tail[12:] != _MAGIC or length > content.size - _BLOCK_BYTES - _TAIL_BYTES:
        return None
    text = content.slice(content.size - _TAIL_BYTES - length, length).to_pybytes()
    if zlib.crc32(text) != crc or (content.size - _TAIL_BYTES - length) % _BLOCK_BYTES:
        return None
    try:
        return msgspec.json.decode(text, type=_End)
    except msgspec.ValidationError:  # of another version
        return None


def _body_bytes(content: pa.Buffer) -> int:
    length = content.slice(content.size - _TAIL_BYTES, 8).to_pybytes()
    return content.size - _TAIL_BYTES - int.from_bytes(length, "little")


def _checksum(content: pa.Buffer, body_bytes: int) -> int:
    """Sum up a body about as fast as memory is read.

    A changed bit, a page of zeros and a piece at another place are noticed.
    """
    words = np.frombuffer(content, np.uint64, body_bytes // 8).reshape(-1, _BLOCK_WORDS)
    return zlib.crc32(words.sum(axis=1, dtype=np.uint64).tobytes())


def combined(
    batches: Iterable[pa.RecordBatch], rows: int, size_bytes: int
) -> Iterator[pa.RecordBatch]:
    """Put batches together into larger ones, of about so many rows or bytes at most."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if _is_enough(held, rows, size_bytes):
            yield pa.concat_batches(held)
            held = []
    if held:
        yield pa.concat_batches(held)


def _is_enough(held: Sequence[pa.RecordBatch], rows: int, size_bytes: int) -> bool:
    return (
        sum(batch.num_rows for batch in held) >= rows
        or sum(batch.nbytes for batch in held) >= size_bytes
    )
