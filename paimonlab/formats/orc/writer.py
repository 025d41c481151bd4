"""Arrow tables -> an ORC data file that Java Paimon reads."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from pyarrow import orc

from paimonlab.formats.hidden_nulls import columns_that_may_hide_nulls, without_hidden_nulls
from paimonlab.formats.orc import tail as orc_tail
from paimonlab.formats.orc.fields import check_fields, storage_type, stored, type_messages
from paimonlab.formats.orc.options import OrcOptions
from paimonlab.formats.orc.protobuf import Value, encode, parse
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import FileIO

_BATCH_ROWS = 1 << 14
_GUESSED_COMPRESSION = 0.5  # bytes in the file per byte in memory, until some were written


class OrcWriter:
    """Writes one file.

    Parameters
    ----------
    file_io, path
        Where to write; the file must not exist.
    fields
        The physical columns, key copies and system columns included, in file order.
    options
        Compression and size of stripes.

    Raises
    ------
    UnsupportedError
        If ORC files cannot hold a column, or do not know the compression.
    """

    def __init__(
        self, file_io: FileIO, path: str, fields: Sequence[DataField], options: OrcOptions
    ) -> None:
        check_fields(fields)
        self._fields = tuple(fields)
        self._schema = arrow_schema(fields)
        self._may_hide_nulls = columns_that_may_hide_nulls(self._schema)
        self._stored = pa.schema(
            [pa.field(field.name, storage_type(field.type)) for field in fields]
        )
        self._options = options
        codec = options.codec
        names = [field.name for field in fields]
        self._memory_bytes = self._flushed_bytes = self._seen_bytes = 0
        self._file = file_io.open_output(path)
        self._sink = _Sink(self._file)
        self._writer = _LibraryWriter(
            pa.PythonFile(self._sink, mode="w"),
            batch_size=_BATCH_ROWS,
            stripe_size=options.stripe_bytes,
            compression=codec,
            compression_block_size=options.chunk_bytes,
            row_index_stride=options.index_stride_rows,
            dictionary_key_size_threshold=options.dictionary_threshold,
            bloom_filter_columns=[names.index(column) for column in options.bloom_filter_columns],
            bloom_filter_fpp=options.bloom_filter_fpp,
        )

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
        for batch in table.to_batches():
            arrays = [
                stored(_from_zero(array), field.type, legacy_ltz=self._options.legacy_ltz)
                for array, field in zip(batch.columns, self._fields, strict=True)
            ]
            self._writer.write(pa.table(arrays, schema=self._stored))
        self._memory_bytes += table.nbytes
        if self._file.tell() > self._seen_bytes:
            self._seen_bytes = self._file.tell()
            self._flushed_bytes = self._memory_bytes

    @property
    def bytes_written(self) -> int:
        """About how large the file would be if it were closed now."""
        has_stripes = self._flushed_bytes and self._seen_bytes > len(orc_tail.MAGIC)
        ratio = self._seen_bytes / self._flushed_bytes if has_stripes else _GUESSED_COMPRESSION
        flushed = self._flushed_bytes if has_stripes else 0
        return self._seen_bytes + int((self._memory_bytes - flushed) * ratio)

    def settle(self) -> None:
        """Do nothing: rows are encoded as they come."""

    def close(self) -> int:
        """Finish the file; returns its size in bytes."""
        self._sink.hold()
        if not self._memory_bytes:
            self._writer.write(self._stored.empty_table())  # else it writes nothing at all
        self._writer.close()
        self._file.write(with_types(self._sink.held, self._fields))
        size: int = self._file.tell()
        self._file.close()
        return size

    def abort(self) -> None:
        """Stop writing; the caller deletes what was written."""
        self._writer.is_open = False
        self._file.close()


def _from_zero(array: pa.Array) -> pa.Array:
    """Copy what is nested and a slice: pyarrow writes other rows of it (seen in 26.0)."""
    return array.take(pa.array(np.arange(len(array)))) if pa.types.is_nested(array.type) else array


class _LibraryWriter(orc.ORCWriter):  # type: ignore[misc]
    """Is not closed by being forgotten.

    Closing writes, and if the store cannot write then, the library ends the process (seen in 26.0).
    """

    def __del__(self) -> None:
        self.is_open = False


class _Sink(io.RawIOBase):
    """Where the library writes to; at last it is held back, for the end is changed."""

    def __init__(self, file: pa.NativeFile) -> None:
        super().__init__()
        self._file = file
        self._held: list[bytes] | None = None

    def hold(self) -> None:
        self._held = []

    @property
    def held(self) -> bytes:
        return b"".join(self._held or [])

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        if self._held is None:
            self._file.write(data)
        else:
            self._held.append(bytes(data))
        return len(data)


def with_types(end: bytes, fields: Sequence[DataField]) -> bytes:
    """Put other types into the end of a file.

    Parameters
    ----------
    end
        The last bytes of a file, its whole footer among them.
    fields
        The columns, which have as many types as the file says, in the same order.
    """
    post_bytes = end[-1]
    post = parse(end[-1 - post_bytes : -1])
    footer_start = len(end) - 1 - post_bytes - post.number(1)
    codec, block_bytes = post.number(2), post.number(3, 256 << 10)
    plain = orc_tail.unpacked(end[footer_start : -1 - post_bytes], codec, block_bytes)
    footer = parse(plain)
    types = type_messages(fields)
    assert len(types) == len(footer.repeated(4)), "every type has a successor"
    footer.values[4] = list(types)
    changed = _packed(encode(_in_order(footer.values)), codec, block_bytes)
    post.values[1] = [len(changed)]
    last = encode(_in_order(post.values))
    return end[:footer_start] + changed + last + bytes([len(last)])


def _in_order(values: dict[int, list[Value]]) -> list[tuple[int, Value]]:
    return [(number, value) for number in sorted(values) for value in values[number]]


def _packed(data: bytes, codec: int, block_bytes: int) -> bytes:
    """Put heads before chunks that are stored as they are."""
    if codec == orc_tail.NONE:
        return data
    chunks = [data[start : start + block_bytes] for start in range(0, len(data), block_bytes)]
    return b"".join((len(chunk) << 1 | 1).to_bytes(3, "little") + chunk for chunk in chunks)
