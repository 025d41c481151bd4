"""Small Parquet files that are written at once, alike, many of them by one writer of pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from paimonlab.formats.parquet.cut_groups import GroupCutter
from paimonlab.formats.parquet.file_end import MAGIC, footer_of, with_end
from paimonlab.formats.parquet.file_shape import FileShape
from paimonlab.formats.parquet.options import ParquetOptions
from paimonlab.formats.parquet.repetitive import FEW_ROWS, may_have_dictionary
from paimonlab.formats.parquet.whole_numbers import WholeNumbers, with_whole_numbers
from paimonlab.formats.parquet.writer_settings import is_one_page, writer_settings

_COLUMN_BYTES = 2048
"""What is stored of a column beside its values, about."""
_MOST_BYTES = 4 << 20
"""Bytes of the rows that are encoded together: they and what they become fit into a cache."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Rows of a table that become a file."""

    start: int
    count: int
    size: int
    """Their bytes."""


@dataclass(frozen=True, slots=True)
class EncodedFile:
    """A file in memory."""

    data: memoryview
    """Valid until the next file is asked for."""
    text_bounds: Mapping[str, tuple[bytes, bytes]]
    """The smallest and the largest text or bytes of columns; some may be missing."""


class SmallFiles:
    """Encodes files as `ParquetWriter` does, with what they share found out once.

    It keeps the memory that it encodes to, so that the system need not hand out new pages for each
    file. One for each thread.

    Parameters
    ----------
    options
        Compression and sizes.
    shape
        Of all files, told by rows of some of them; no column has nanoseconds.
    """

    def __init__(self, options: ParquetOptions, shape: FileShape) -> None:
        assert shape.repetitive is not None, "rows of some files were looked at"
        assert not shape.has_nanos, "ends of files with INT96 are held back"
        self._options = options
        self._whole = None
        if with_whole_numbers(shape.schema) != shape.schema:
            self._whole = WholeNumbers(shape.schema, _empty)
        self._schema = shape.schema if self._whole is None else self._whole.schema
        self._texts = _text_columns(shape.schema)
        names = [field.name for field in shape.schema if may_have_dictionary(field.type)]
        may_have_any = options.enable_dictionary is not False or bool(options.dictionary_of)
        of_few = options.codec != "none"
        repetitive = options.dictionary_columns(names, shape.repetitive) if may_have_any else []
        asked_for = options.dictionary_columns(names, []) if options.dictionary_of else []
        self._settings = writer_settings(
            shape.schema,
            options,
            dictionary_columns=repetitive,
            levels=shape.levels,
            constant=shape.constant,
            is_one_page=True,
        )
        self._settings_of_few = self._settings
        if of_few:
            self._settings_of_few = writer_settings(
                shape.schema,
                options,
                dictionary_columns=asked_for,
                levels=shape.levels,
                constant=shape.constant,
                is_one_page=True,
            )
        self._memory = pa.py_buffer(b"")
        self._cutter = GroupCutter()

    def as_taken(self, rows: pa.Table) -> pa.Table:
        """Return rows of many files, which have the schema of the shape, as they are encoded."""
        return rows if self._whole is None else self._whole.of(rows)

    def take(self, row_count: int, size: int) -> bool:
        """Whether rows of so many bytes are one page of each column of one row group."""
        return is_one_page(row_count, size, self._options)

    def batches(self, slices: Sequence[Slice]) -> Iterator[Sequence[Slice]]:
        """Say which files of some that are taken, in order, are encoded together."""
        batch, size = list[Slice](), 0
        for one in slices:
            is_alike = batch and _is_of_few(batch[0]) == _is_of_few(one)
            if not is_alike or size + one.size > _MOST_BYTES:
                if batch:
                    yield batch
                batch, size = [], 0
            batch.append(one)
            size += one.size
        if batch:
            yield batch

    def encoded(self, rows: pa.Table, batch: Sequence[Slice]) -> Iterator[EncodedFile]:
        """Encode the files of a batch.

        Parameters
        ----------
        rows
            As `as_taken` returns them.
        batch
            One of `batches`.

        Yields
        ------
        EncodedFile
            One for each. What the writer has found out of texts comes with it: to look for it takes
            long.
        """
        size = sum(one.size for one in batch)
        room = size + size // 4 + _COLUMN_BYTES * len(self._schema) * (len(batch) + 1)
        if self._memory.size < room:
            self._memory = pa.py_buffer(np.empty(1 << room.bit_length(), np.uint8))
        file = pa.FixedSizeBufferWriter(self._memory)
        try:
            footer = self._write(rows, batch, file)
        except OSError:  # it is larger than it seemed, for values that a dictionary has once
            grown = pa.BufferOutputStream()
            footer = self._write(rows, batch, grown)
            encoded = memoryview(grown.getvalue()).cast("B")
            memory = memoryview(bytearray(len(encoded) + _COLUMN_BYTES * len(self._schema)))
            memory[: len(encoded)] = encoded
            yield from self._cut(memory, len(encoded), footer)
        else:
            yield from self._cut(memoryview(self._memory).cast("B"), file.tell(), footer)

    def _cut(self, memory: memoryview, end: int, footer: pq.FileMetaData) -> Iterator[EncodedFile]:
        """Make files of row groups: each in turn has its own beginning and end."""
        joint = footer_of(memory[:end])
        groups = self._cutter.cut(joint, end - len(with_end(joint)))
        for number, group in enumerate(groups):
            own = group.footer if self._whole is None else self._whole.footer(group.footer)
            tail = with_end(own)
            start, stop = group.start - len(MAGIC), group.end + len(tail)
            next_pages = bytes(memory[group.end : stop])
            memory[start : group.start] = MAGIC  # over pages of the file before
            memory[group.end : stop] = tail
            yield EncodedFile(memory[start:stop], _text_bounds(footer, number, self._texts))
            memory[group.end : stop] = next_pages

    def _write(
        self, rows: pa.Table, batch: Sequence[Slice], file: pa.NativeFile
    ) -> pq.FileMetaData:
        """Write each file as a row group; return what the footer says."""
        settings = self._settings_of_few if _is_of_few(batch[0]) else self._settings
        # However soon the size of a page is looked at, it does not fill one.
        page_rows = self._options.page_rows
        footers = list[pq.FileMetaData]()
        writer = pq.ParquetWriter(
            file,
            self._schema,
            max_rows_per_page=page_rows,
            write_batch_size=page_rows,
            metadata_collector=footers,
            **settings,
        )
        try:
            for one in batch:
                writer.write_table(rows.slice(one.start, one.count), row_group_size=one.count)
            writer.close()
        except BaseException:
            writer.is_open = False  # or it would be closed when it is collected, and fail again
            raise
        return footers[0]


def _is_of_few(one: Slice) -> bool:
    return one.count < FEW_ROWS


def _empty(schema: pa.Schema) -> bytes:
    file = pa.BufferOutputStream()
    pq.ParquetWriter(
        file,
        schema,
        store_schema=False,
        store_decimal_as_integer=True,
        write_time_adjusted_to_utc=True,
    ).close()
    return file.getvalue().to_pybytes()


def _text_columns(schema: pa.Schema) -> Mapping[str, int]:
    """Return the numbers of columns of texts or bytes, if no column is nested."""
    if any(pt.is_nested(field.type) for field in schema):
        return {}  # they have other numbers in the file
    return {
        field.name: number
        for number, field in enumerate(schema)
        if pt.is_string(field.type) or pt.is_binary(field.type)
    }


def _text_bounds(
    footer: pq.FileMetaData, row_group: int, columns: Mapping[str, int]
) -> Mapping[str, tuple[bytes, bytes]]:
    """Return the bounds of columns as far as they are known: long ones are not."""
    if not columns:
        return {}
    group = footer.row_group(row_group)
    found = {name: group.column(number).statistics for name, number in columns.items()}
    return {
        name: (statistics.min_raw, statistics.max_raw)
        for name, statistics in found.items()
        if statistics is not None and statistics.has_min_max
    }
