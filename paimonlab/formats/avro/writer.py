"""Arrow tables -> an Avro data file that Java Paimon reads."""

from __future__ import annotations

import bz2
import json
import lzma
import os
import zlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import zstandard

from paimonlab.errors import UnsupportedError
from paimonlab.formats.avro.blocks import SYNC_BYTES, Block, block_head, container_pieces
from paimonlab.formats.avro.encode import Encoded, encode_rows
from paimonlab.formats.avro.options import AvroOptions
from paimonlab.formats.avro.schema import record_schema
from paimonlab.formats.hidden_nulls import columns_that_may_hide_nulls, without_hidden_nulls
from paimonlab.formats.pending_rows import PendingRows
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import FileIO

_BLOCK_BYTES = 64_000
_PIECE_ROWS = 1 << 14


class AvroWriter:
    """Writes one file, in blocks of about 64 KB of records.

    zstandard blocks have a checksum, so that damage is found.

    Parameters
    ----------
    file_io, path
        Where to write; the file must not exist.
    fields
        The physical columns, key copies and system columns included, in file order.
    options
        Compression.

    Raises
    ------
    UnsupportedError
        If Avro files cannot hold a column, or do not know the compression.
    """

    def __init__(
        self, file_io: FileIO, path: str, fields: Sequence[DataField], options: AvroOptions
    ) -> None:
        self._fields = tuple(fields)
        self._schema = arrow_schema(fields)
        self._may_hide_nulls = columns_that_may_hide_nulls(self._schema)
        codec, self._compress = compressor(options.compression, options.zstd_level)
        text = json.dumps(record_schema(fields), separators=(",", ":")).encode()
        self._sync = os.urandom(SYNC_BYTES)
        self._pending: PendingRows[pa.RecordBatch] = PendingRows()
        self._file = file_io.open_output(path)
        for piece in container_pieces(text, codec.encode(), (), self._sync):
            self._file.write(piece)

    def write(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Append rows; columns are found by name and may be cast without loss.

        Raises
        ------
        pyarrow.ArrowInvalid
            If a value does not fit its column.
        """
        table = pa.table(rows) if isinstance(rows, pa.RecordBatch) else rows
        table = without_hidden_nulls(table, self._may_hide_nulls)
        table = table.select(self._schema.names).cast(self._schema)
        for batch in table.to_batches(_PIECE_ROWS):
            self._pending.add(batch)
            if self._pending.rows >= _PIECE_ROWS:
                self._flush()

    @property
    def bytes_written(self) -> int:
        """About how large the file would be if it were closed now."""
        return self._pending.with_file(self._file.tell())

    def settle(self) -> None:
        """Do nothing: rows are encoded as they come."""

    def close(self) -> int:
        """Finish the file; returns its size in bytes."""
        self._flush()
        size: int = self._file.tell()
        self._file.close()
        return size

    def abort(self) -> None:
        """Stop writing; the caller deletes what was written."""
        self._pending.clear()
        self._file.close()

    def _flush(self) -> None:
        if not self._pending.rows:
            return
        rows = pa.Table.from_batches(self._pending.take()).combine_chunks()
        for batch in rows.to_batches():
            self._write_blocks(encode_rows(batch, self._fields))

    def _write_blocks(self, records: Encoded) -> None:
        ends = np.cumsum(records.lengths)
        first_row = start = 0
        while first_row < len(ends):
            last_row = int(np.searchsorted(ends, start + _BLOCK_BYTES, side="right"))
            last_row = max(last_row, first_row + 1)
            end = int(ends[last_row - 1])
            data = self._compress(records.data[start:end].tobytes())
            self._file.write(block_head(Block(last_row - first_row, data)))
            self._file.write(data)
            self._file.write(self._sync)
            first_row, start = last_row, end


def compressor(compression: str, zstd_level: int) -> tuple[str, Callable[[bytes], bytes]]:
    """Find the codec's name in files and what compresses a block.

    Raises
    ------
    UnsupportedError
        If Avro files do not know the compression.
    """
    name = compression.lower()
    if name in ("zstd", "zstandard"):
        level = zstd_level if name == "zstd" else _ZSTANDARD_LEVEL
        return "zstandard", zstandard.ZstdCompressor(level, write_checksum=True).compress
    if name not in _COMPRESS:
        codecs = ", ".join(("zstd", "zstandard", *_COMPRESS))
        raise UnsupportedError(f"file.compression = {compression!r}", f"use {codecs} for Avro")
    return name, _COMPRESS[name]


_ZSTANDARD_LEVEL = 3


def _plain(data: bytes) -> bytes:
    return data


def _deflate(data: bytes) -> bytes:
    deflate = zlib.compressobj(wbits=-15)
    return deflate.compress(data) + deflate.flush()


def _snappy(data: bytes) -> bytes:
    compressed: bytes = pa.Codec("snappy").compress(data, asbytes=True)
    return compressed + zlib.crc32(data).to_bytes(4, "big")


_COMPRESS: Mapping[str, Callable[[bytes], bytes]] = {
    "null": _plain,
    "deflate": _deflate,
    "snappy": _snappy,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}
