"""Small Parquet files that are written at once, alike, each encoded in one piece."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.types as pt

from paimonlab.formats.parquet.file_shape import FileShape
from paimonlab.formats.parquet.options import ParquetOptions
from paimonlab.formats.parquet.repetitive import FEW_ROWS, may_have_dictionary
from paimonlab.formats.parquet.whole_numbers import WholeNumbers, with_whole_numbers
from paimonlab.formats.parquet.writer import page_bounds
from paimonlab.formats.parquet.writer_settings import is_one_page, writer_settings

_COLUMN_BYTES = 2048
"""What is stored of a column beside its values, about."""


@dataclass(frozen=True, slots=True)
class EncodedFile:
    """A file in memory."""

    data: memoryview
    """Valid until the next file is encoded."""
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

    def as_taken(self, rows: pa.Table) -> pa.Table:
        """Return rows of many files, which have the schema of the shape, as they are encoded."""
        return rows if self._whole is None else self._whole.of(rows)

    def take(self, row_count: int, size: int) -> bool:
        """Whether rows of so many bytes are one page of each column of one row group."""
        return is_one_page(row_count, size, self._options)

    def encoded(self, rows: pa.Table, size: int) -> EncodedFile:
        """Encode a file.

        Parameters
        ----------
        rows
            Rows that are taken, as `as_taken` returns them.
        size
            Their bytes.

        Returns
        -------
        EncodedFile
            What the writer has found out of texts comes with it: to look for it takes long.
        """
        room = size + size // 4 + _COLUMN_BYTES * len(self._schema)
        if self._memory.size < room:
            self._memory = pa.py_buffer(np.empty(1 << room.bit_length(), np.uint8))
        file = pa.FixedSizeBufferWriter(self._memory)
        try:
            bounds = self._write(rows, size, file)
            memory = memoryview(self._memory).cast("B")
            return EncodedFile(self._finished(memory, file.tell()), bounds)
        except OSError:  # it is larger than it seemed, for values that a dictionary has once
            grown = pa.BufferOutputStream()
            bounds = self._write(rows, size, grown)
            end = grown.tell()
            larger = bytearray(end + _COLUMN_BYTES * len(self._schema))
            memory = memoryview(larger)
            memory[:end] = memoryview(grown.getvalue()).cast("B")
            return EncodedFile(self._finished(memory, end), bounds)

    def _finished(self, memory: memoryview, end: int) -> memoryview:
        """Say what the columns of a file mean, which may make it longer.

        Raises
        ------
        OSError
            If there is no room for it.
        """
        if self._whole is not None:
            start, rest = self._whole.end_of(memory[:end])
            end = start + len(rest)
            if end > len(memory):
                raise OSError("the memory is full")
            memory[start:end] = rest
        return memory[:end]

    def _write(
        self, rows: pa.Table, size: int, file: pa.NativeFile
    ) -> Mapping[str, tuple[bytes, bytes]]:
        settings = self._settings if rows.num_rows >= FEW_ROWS else self._settings_of_few
        page_rows, _ = page_bounds(rows, size, self._options)
        # However soon the size of a page is looked at, it does not fill one.
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
            writer.write_table(rows, row_group_size=rows.num_rows)
            writer.close()
        except BaseException:
            writer.is_open = False  # or it would be closed when it is collected, and fail again
            raise
        return _text_bounds(footers[0], self._texts)


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
    footer: pq.FileMetaData, columns: Mapping[str, int]
) -> Mapping[str, tuple[bytes, bytes]]:
    """Return the bounds of columns as far as they are known: long ones are not."""
    if not columns:
        return {}
    group = footer.row_group(0)
    found = {name: group.column(number).statistics for name, number in columns.items()}
    return {
        name: (statistics.min_raw, statistics.max_raw)
        for name, statistics in found.items()
        if statistics is not None and statistics.has_min_max
    }
