"""Arrow tables -> a Parquet file that Java Paimon reads.

Source: apache/paimon@1.3.1 ``org.apache.paimon.format.parquet``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq

from paimonlab.formats.hidden_nulls import without_hidden_nulls
from paimonlab.formats.parquet.file_shape import FileShape
from paimonlab.formats.parquet.options import ParquetOptions
from paimonlab.formats.parquet.parallel_groups import MOST_BYTES, ParallelGroups
from paimonlab.formats.parquet.repetitive import (
    FEW_ROWS,
    may_have_dictionary,
    repetitive_columns,
)
from paimonlab.formats.parquet.sampled_levels import LEAST_ROWS, sampled_levels
from paimonlab.formats.parquet.timestamps import EndHeldBack, with_integers
from paimonlab.formats.parquet.whole_numbers import WholeNumbers, with_whole_numbers
from paimonlab.formats.parquet.writer_settings import is_one_page, writer_settings
from paimonlab.formats.pending_rows import PendingRows
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import FileIO

_LEAST_PAGE_ROWS = 512
"""Rows of a page, however large they are, unless an option says fewer."""
_PAGES_BYTES = 10 << 20
"""What a page of every column may take together: whoever reads many columns, or merges many
files, holds one of each."""
_SMALL_BYTES = 8 << 20
"""Memory of the rows of a file that is encoded in memory: it is written at once, as one piece."""
_BATCH_VALUES = 1024
"""Values after which the size of a page is looked at, unless they are large."""


class ParquetWriter:
    """Writes one file.

    Rows are gathered until they fill a row group, whatever the size of the batches. Full row
    groups may be encoded by several threads, and become one file (`joined_groups`).
    Every page has a checksum. Timestamps finer than microseconds are stored as INT96, for Java
    reads INT64 nanos wrongly, all others as INT64; see `parquet_timestamps`.

    Parameters
    ----------
    file_io, path
        Where to write; the file must not exist.
    fields
        The physical columns, key copies and system columns included, in file order.
    options
        Compression and size of row groups.
    threads
        How many encode row groups. More than one pays only where the processor has nothing else
        to do: row groups take a tenth more of its time then.
    shape
        Of ``fields``, if it is known already.
    """

    def __init__(
        self,
        file_io: FileIO,
        path: str,
        fields: Sequence[DataField],
        options: ParquetOptions,
        *,
        threads: int = 1,
        shape: FileShape | None = None,
    ) -> None:
        self._threads = threads
        shape = shape or FileShape.of(fields)
        self._repetitive = shape.repetitive
        self._levels = shape.levels
        self._constant = shape.constant
        self._is_one_page = False
        self._schema = shape.schema
        self._may_hide_nulls = shape.may_hide_nulls
        self._has_nanos = shape.has_nanos
        self._options = options
        self._codec = options.codec
        self._pending: PendingRows[pa.Table] = PendingRows()
        self._writer: pq.ParquetWriter | ParallelGroups | None = None
        self._file_io = file_io
        self._path = path
        self._file: pa.NativeFile | None = None
        self._end: EndHeldBack | None = None
        self._page_rows = options.page_rows
        self._batch_values = _BATCH_VALUES

    def write(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Append rows; columns are found by name and may be cast without loss.

        Raises
        ------
        pyarrow.ArrowInvalid
            If a value does not fit its column.
        """
        table = self._as_in_file(rows)
        size = table.nbytes
        room = self._room_for(table.num_rows, size)
        if table.num_rows <= room:
            self._add(table, size)
            return
        start = 0
        while start < table.num_rows:
            piece = table.slice(start, room)
            self._add(piece, piece.nbytes)
            start += piece.num_rows
            room = self._room_for(table.num_rows, size)

    @property
    def bytes_written(self) -> int:
        """About how large the file would be if it were closed now."""
        unwritten = 0
        if isinstance(self._writer, ParallelGroups):
            unwritten = self._writer.unwritten_bytes
        return self._pending.with_file(0 if self._file is None else self._file.tell(), unwritten)

    def settle(self) -> None:
        """Wait until all full row groups are in the file."""
        if isinstance(self._writer, ParallelGroups):
            self._writer.settle()

    def close(self) -> int:
        """Finish the file; returns its size in bytes."""
        in_memory = None
        if self._file is None and self._pending.memory_bytes <= _SMALL_BYTES:
            self._file = in_memory = pa.BufferOutputStream()
        self._flush(is_last=True)
        writer = self._writer or self._open([])
        if self._end is not None:
            self._end.hold_back()
        writer.close()
        if self._end is not None:
            self._end.finish(self._empty(self._schema))
        size: int = self._output.tell()
        if in_memory is None:
            self._file_io.begin_sync(self._output)
            self._output.close()
        else:
            self._file_io.create(self._path, memoryview(in_memory.getvalue()))
        return size

    def abort(self) -> None:
        """Stop writing; the caller deletes what was written."""
        self._pending.clear()
        if isinstance(self._writer, ParallelGroups):
            self._writer.abort()
        if self._file is not None:
            self._file.close()

    @property
    def _output(self) -> pa.NativeFile:
        """The file; it is opened when there is something to write."""
        if self._file is None:
            self._file = self._file_io.open_output(self._path)
        return self._file

    def _as_in_file(self, rows: pa.RecordBatch | pa.Table) -> pa.Table:
        given, wanted = rows.schema, self._schema
        rows = without_hidden_nulls(rows, self._may_hide_nulls)
        if isinstance(rows, pa.Table) and given.equals(wanted):
            return rows
        if given.names == wanted.names and given.types == wanted.types:
            return pa.table(rows.columns, schema=wanted)
        columns = [
            rows.column(field.name).cast(field.type)
            if rows.column(field.name).type != field.type
            else rows.column(field.name)
            for field in self._schema
        ]
        return pa.table(columns, schema=self._schema)

    def _add(self, piece: pa.Table, size: int) -> None:
        if not piece.num_rows:
            return
        self._pending.add(piece, size)
        if self._is_full():
            self._flush(is_last=False)

    def _room_for(self, row_count: int, size: int) -> int:
        """Count the rows that fit the open row group, at least one, if so many have that size."""
        row_bytes = max(size // max(row_count, 1), 1)
        by_bytes = (self._options.row_group_bytes - self._pending.memory_bytes) // row_bytes
        return max(min(self._options.row_group_rows - self._pending.rows, by_bytes), 1)

    def _is_full(self) -> bool:
        return (
            self._pending.rows >= self._options.row_group_rows
            or self._pending.memory_bytes >= self._options.row_group_bytes
        )

    def _flush(self, *, is_last: bool) -> None:
        if not self._pending.rows:
            return
        size = self._pending.memory_bytes
        pieces = self._pending.take()
        table = pa.concat_tables(pieces) if len(pieces) > 1 else pieces[0]
        if self._writer is None:
            self._page_rows, self._batch_values = page_bounds(table, size, self._options)
            dictionaries = self._dictionary_columns(table)
            self._is_one_page = is_last and is_one_page(table.num_rows, size, self._options)
            if table.num_rows >= LEAST_ROWS:
                self._levels = sampled_levels(table, self._options, dictionaries)
            # Ends of files with INT96 are held back, which takes one writer from start to end.
            if is_last or self._has_nanos or self._threads < 2 or size > MOST_BYTES:
                self._writer = self._open(dictionaries)
            else:
                whole = self._whole_numbers()
                schema = self._schema if whole is None else whole.schema
                start = partial(self._start, schema=schema, dictionary_columns=dictionaries)
                self._writer = ParallelGroups(self._output, start, self._threads, whole)
        if isinstance(self._writer, ParallelGroups):
            self._writer.write(table)
        else:
            if self._has_nanos:
                table = table.cast(with_integers(self._schema))
            self._writer.write_table(table, row_group_size=table.num_rows)
        if not is_last:
            self._file_io.begin_sync(self._output)

    def _dictionary_columns(self, table: pa.Table) -> list[str]:
        options = self._options
        if options.enable_dictionary is False and not options.dictionary_of:
            return []
        is_small = table.num_rows < FEW_ROWS and self._codec != "none"
        if is_small and not options.dictionary_of:
            return []
        names = [field.name for field in table.schema if may_have_dictionary(field.type)]
        if is_small:
            return options.dictionary_columns(names, [])
        if self._repetitive is None:
            self._repetitive = repetitive_columns([table])
        return options.dictionary_columns(names, self._repetitive)

    def _open(self, dictionary_columns: list[str]) -> pq.ParquetWriter:
        if not self._has_nanos:
            return self._start(self._output, self._schema, dictionary_columns)
        self._end = EndHeldBack(self._output)
        schema = with_integers(self._schema)
        return self._start(self._end, schema, dictionary_columns, has_int96=True)

    def _start(
        self,
        file: pa.NativeFile | EndHeldBack,
        schema: pa.Schema,
        dictionary_columns: list[str],
        *,
        has_int96: bool = False,
    ) -> pq.ParquetWriter:
        settings = writer_settings(
            schema,
            self._options,
            dictionary_columns=dictionary_columns,
            levels=self._levels,
            constant=self._constant,
            has_int96=has_int96,
            is_one_page=self._is_one_page,
        )
        return pq.ParquetWriter(
            file,
            schema,
            max_rows_per_page=self._page_rows,
            write_batch_size=self._batch_values,
            **settings,
        )

    def _whole_numbers(self) -> WholeNumbers | None:
        if with_whole_numbers(self._schema) == self._schema:
            return None
        return WholeNumbers(self._schema, self._empty)

    def _empty(self, schema: pa.Schema) -> bytes:
        """Return a file without rows; timestamps are in INT64."""
        file = pa.BufferOutputStream()
        self._start(file, schema, []).close()
        return bytes(file.getvalue())


def page_bounds(table: pa.Table, size: int, options: ParquetOptions) -> tuple[int, int]:
    """Choose the rows of a page, and the values after which its size is looked at.

    Both are fewer where rows, or the values of a column, are large.

    Parameters
    ----------
    table, size
        The first rows of a file, and their bytes.
    options
        Rows and encoded bytes that fill a page.
    """
    count = table.num_rows
    most_rows, page_bytes = options.page_rows, options.page_bytes
    if size <= page_bytes:
        return most_rows, _BATCH_VALUES
    page_rows = _PAGES_BYTES * count // size
    widest = max((column.nbytes for column in table.columns), default=0)
    batch_values = page_bytes * count // max(widest, 1)
    return (
        min(max(page_rows, _LEAST_PAGE_ROWS), most_rows),
        min(max(batch_values, 1), _BATCH_VALUES),
    )
