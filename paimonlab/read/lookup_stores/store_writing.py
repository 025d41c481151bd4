"""Writing the file of a lookup store."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import no_rows
from paimonlab.read.lookup_stores.key_filter import KeyFilter, last_of_segments
from paimonlab.read.lookup_stores.packed_columns import PackedColumns
from paimonlab.read.lookup_stores.store_file import (
    BLOCK_BYTES,
    MAGIC,
    BatchPlace,
    StoreEnd,
    StoreIdentity,
    checksum_of,
    stored_columns,
)

_ROWS_OF_COMPRESSED = 256
"""Rows of a batch that has to be decompressed as a whole to read one of them."""


def write_store(
    path: str,
    identity: StoreIdentity,
    rows: Iterable[pa.Table],
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
        All rows of the data file with the columns of both schemas, each piece to be one batch of
        keys, and of the other columns if they are not compressed.
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
        sink.write(MAGIC)
        end = _write_body(sink, identity, rows, keys, values, key_filter)
        sink.write(bytes(-sink.tell() % BLOCK_BYTES))
        body_bytes = sink.tell()
        sink.flush()
        written = msgspec.structs.replace(
            end, checksum=checksum_of(pa.memory_map(path).read_buffer(), body_bytes)
        )
        text = msgspec.json.encode(written)
        sink.write(text)
        sink.write(len(text).to_bytes(8, "little") + zlib.crc32(text).to_bytes(4, "little"))
        sink.write(MAGIC)


def _write_body(
    sink: pa.NativeFile,
    identity: StoreIdentity,
    rows: Iterable[pa.Table],
    keys: pa.Schema,
    values: pa.Schema | None,
    key_filter: KeyFilter | None,
) -> StoreEnd:
    key_writer = _BatchWriter(sink, PackedColumns.as_they_are(keys), None)
    is_raw = identity.compression == "none"
    value_writer = None
    if values is not None:
        stored = stored_columns(values, identity.compression)
        value_writer = _BatchWriter(sink, stored, None if is_raw else identity.compression)
    filters: list[BatchPlace] = []
    last_keys: list[pa.RecordBatch] = []
    for piece in rows:
        first_row = key_writer.row_count
        its_keys = key_writer.write(piece)
        if value_writer is not None:
            step = piece.num_rows if is_raw else _ROWS_OF_COMPRESSED
            for start in range(0, piece.num_rows, step):
                value_writer.write(piece.slice(start, step))
        if key_filter is not None:
            bits = key_filter.filters(its_keys)
            filters.append(BatchPlace(sink.tell(), len(bits), first_row, piece.num_rows))
            sink.write(bits)
            last_keys.append(last_of_segments(its_keys))
    batches = tuple(key_writer.batches)
    if last_keys:
        key_writer.write(pa.Table.from_batches(last_keys))
    return StoreEnd(
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

    def __init__(
        self, sink: pa.NativeFile, columns: PackedColumns, compression: str | None
    ) -> None:
        self.batches: list[BatchPlace] = []
        self.row_count = 0
        self._sink = sink
        self._columns = columns
        self._memory = np.empty(0, np.uint8)
        self._codec = None if compression is None else pa.Codec(compression)
        self._writer = pa.ipc.new_stream(sink, columns.stored)
        # The schema is written with the first batch; it is known, so nothing reads it.
        self._writer.write_batch(no_rows(columns.stored))

    def write(self, rows: pa.Table) -> pa.RecordBatch:
        """Write the columns that are stored here; return them, good until more are written."""
        stored, self._memory = self._columns.pack(rows, self._memory)
        offset = self._sink.tell()
        raw_bytes = 0
        if self._codec is None:
            self._writer.write_batch(stored)
        else:
            message = stored.serialize()
            raw_bytes = message.size
            self._sink.write(self._codec.compress(message))
        size = self._sink.tell() - offset
        self._sink.write(bytes(-size % 8))
        self.batches.append(BatchPlace(offset, size, self.row_count, rows.num_rows, raw_bytes))
        self.row_count += rows.num_rows
        return stored


def combined(batches: Iterable[pa.RecordBatch], rows: int, size_bytes: int) -> Iterator[pa.Table]:
    """Put batches together into larger pieces, of about so many rows or bytes at most."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if _is_enough(held, rows, size_bytes):
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def _is_enough(held: Sequence[pa.RecordBatch], rows: int, size_bytes: int) -> bool:
    return (
        sum(batch.num_rows for batch in held) >= rows
        or sum(batch.nbytes for batch in held) >= size_bytes
    )
