"""Columns of fixed width as one: the values of a row lie side by side.

Rows that were found by their keys are read here and there from a mapped file. With a place of its
own for each column, a row touches as many pages as there are columns; packed, one or two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import numpy_values, one_array

Bytes = npt.NDArray[np.uint8]

_PACKED = "_packed"
_LEAST_COLUMNS = 2
_BLOCK_ROWS = 4096
"""Rows that are packed at once: they stay in the cache of a processor, column after column."""
_WORDS = {1: "<u1", 2: "<u2", 4: "<u4", 8: "<u8"}
_WORD_BYTES = 8
_DIGITS_OF_WORD = 18
"""A decimal of so many digits is a number of 64 bits, whose sign the other half repeats."""


@dataclass(frozen=True, slots=True)
class PackedColumns:
    """How rows of some columns are stored."""

    schema: pa.Schema
    """Of the rows."""
    packed: tuple[str, ...]
    """Columns that are packed; (): none is."""
    layout: np.dtype[Any]
    """Of a row of them: a field for each, and ``nulls``, a bit for each."""

    @classmethod
    def of(cls, schema: pa.Schema) -> PackedColumns:
        """Choose what is packed: numbers, times and other values of a fixed width, if several."""
        widths = {field.name: _width(field.type) for field in schema}
        # Wide ones first, so that most begin where a number of theirs should.
        chosen = sorted((name for name in widths if widths[name]), key=lambda name: -widths[name])
        if len(chosen) < _LEAST_COLUMNS:
            return cls.as_they_are(schema)
        fields: list[Any] = [(name, *_format(widths[name])) for name in chosen]
        fields.append(("nulls", "u1", (-(-len(chosen) // 8),)))
        return cls(schema, tuple(chosen), np.dtype(fields))

    @classmethod
    def as_they_are(cls, schema: pa.Schema) -> PackedColumns:
        """Pack nothing."""
        return cls(schema, (), np.dtype([]))

    @property
    def stored(self) -> pa.Schema:
        """The columns as they are stored."""
        if not self.packed:
            return self.schema
        kind = pa.binary(self.layout.itemsize)
        return pa.schema([pa.field(_PACKED, kind), *(self.schema.field(at) for at in self._others)])

    @property
    def _others(self) -> list[int]:
        names = self.schema.names
        return [at for at, name in enumerate(names) if name not in self.packed]

    def pack(self, rows: pa.Table, memory: Bytes) -> tuple[pa.RecordBatch, Bytes]:
        """Return rows as they are stored.

        Parameters
        ----------
        rows
            With the columns of ``schema``, and maybe others.
        memory
            For the packed values, if it is large enough.

        Returns
        -------
        pyarrow.RecordBatch
            One for all rows; good until the memory is used again.
        (m,) uint8
            The memory that was used.
        """
        others = [one_array(rows[self.schema.names[at]]) for at in self._others]
        if not self.packed:
            return pa.RecordBatch.from_arrays(others, schema=self.stored), memory
        size = rows.num_rows * self.layout.itemsize
        if len(memory) < size:
            memory = np.empty(size, np.uint8)
        records = memory[:size].view(self.layout)
        start = 0
        for batch in rows.select(self.packed).to_batches():
            self._fill(records[start : start + batch.num_rows], batch)
            start += batch.num_rows
        packed = pa.Array.from_buffers(
            pa.binary(self.layout.itemsize), rows.num_rows, [None, pa.py_buffer(memory[:size])]
        )
        return pa.RecordBatch.from_arrays([packed, *others], schema=self.stored), memory

    def _fill(self, records: npt.NDArray[Any], rows: pa.RecordBatch) -> None:
        places = [
            (records[name], _words(column, self.layout[name]))
            for name, column in self._columns(rows)
        ]
        for start in range(0, rows.num_rows, _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            for place, words in places:
                place[block] = words[block]
            records["nulls"][block] = 0
        for number, (_, column) in enumerate(self._columns(rows)):
            if column.null_count:
                is_null = numpy_values(column.is_null()).astype(np.uint8)
                records["nulls"][:, number // 8] |= is_null << np.uint8(number % 8)

    def _columns(self, rows: pa.RecordBatch) -> Iterator[tuple[str, pa.Array]]:
        return zip(self.packed, rows.columns, strict=True)

    def unpack(self, rows: pa.Table) -> pa.Table:
        """Return rows as they were before they were packed."""
        if not self.packed:
            return rows
        columns = dict(zip(rows.column_names, rows.columns, strict=True))
        columns |= self._unpacked(one_array(columns[_PACKED]))
        return pa.table([columns[name] for name in self.schema.names], schema=self.schema)

    def _unpacked(self, packed: pa.Array) -> Iterator[tuple[str, pa.Array]]:
        size = self.layout.itemsize
        count = len(packed)
        data = packed.buffers()[1]
        records = np.frombuffer(data, self.layout, count, packed.offset * size) if count else None
        for number, name in enumerate(self.packed):
            kind = self.schema.field(name).type
            if records is None:
                yield name, pa.nulls(0, kind)
                continue
            is_null = records["nulls"][:, number // 8] >> np.uint8(number % 8) & np.uint8(1)
            valid = None
            if is_null.any():
                valid = pa.py_buffer(np.packbits(1 - is_null, bitorder="little"))
            values = pa.py_buffer(_whole(np.ascontiguousarray(records[name]), kind))
            yield name, pa.Array.from_buffers(kind, count, [valid, values])


def _width(kind: pa.DataType) -> int:
    """Return the bytes of a value; 0: they are not packed."""
    is_fixed = (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_temporal(kind)
        or pa.types.is_decimal(kind)
    )
    if _is_short_decimal(kind):
        return _WORD_BYTES
    return kind.bit_width // 8 if is_fixed else 0


def _is_short_decimal(kind: pa.DataType) -> bool:
    return pa.types.is_decimal128(kind) and kind.precision <= _DIGITS_OF_WORD


def _format(width: int) -> tuple[Any, ...]:
    if width in _WORDS:
        return (_WORDS[width],)
    return (_WORDS[_WORD_BYTES], (width // _WORD_BYTES,))


def _words(values: pa.Array, field: np.dtype[Any]) -> npt.NDArray[Any]:
    """Look at the bytes of values as words; null ones are of any value."""
    data = values.buffers()[1]
    if data is None:
        return np.zeros(len(values), field)
    if _is_short_decimal(values.type):
        halves = np.frombuffer(data, "<u8", 2 * len(values), 2 * values.offset * _WORD_BYTES)
        return halves[::2]
    return np.frombuffer(data, field, len(values), values.offset * field.itemsize)


def _whole(words: npt.NDArray[Any], kind: pa.DataType) -> npt.NDArray[Any]:
    """Return values as Arrow has them, given as they are packed."""
    if not _is_short_decimal(kind):
        return words
    numbers = words.view("<i8")
    return np.stack([numbers, numbers >> np.int64(63)], axis=1)
