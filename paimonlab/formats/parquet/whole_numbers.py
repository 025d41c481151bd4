"""Small decimals that are handed to pyarrow as the integers that a Parquet file has.

pyarrow makes an integer of each decimal of up to 18 digits while it encodes a column, which takes
longer than all the rest of it. Here all of many files are made at once; what the column means is
put into the footer of each file afterwards.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from paimonlab.formats.parquet.file_end import footer_of, with_end
from paimonlab.formats.parquet.thrift_compact import Kind, Reader

_INT32_DIGITS = 9
_INT64_DIGITS = 18
_SCHEMA = 2  # of FileMetaData


def with_whole_numbers(schema: pa.Schema) -> pa.Schema:
    """Return the schema with integers in place of decimals that a file stores as integers."""
    return pa.schema([field.with_type(_whole(field.type)) for field in schema])


def _whole(kind: pa.DataType) -> pa.DataType:
    if not pt.is_decimal128(kind) or kind.precision > _INT64_DIGITS:
        return kind
    return pa.int32() if kind.precision <= _INT32_DIGITS else pa.int64()


def as_whole_numbers(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Give rows the types of `with_whole_numbers`, decimals being their unscaled values."""
    columns = [
        column
        if column.type == field.type
        else pa.chunked_array([_unscaled(chunk, field.type) for chunk in column.chunks], field.type)
        for column, field in zip(rows.columns, schema, strict=True)
    ]
    return pa.table(columns, schema=schema)


def _unscaled(values: pa.Array, kind: pa.DataType) -> pa.Array:
    validity, numbers = values.buffers()
    both = np.frombuffer(numbers, np.int64)
    end = values.offset + len(values)
    # The other half is the sign: there are no more digits. Bits of nulls are counted from there.
    start = values.offset - values.offset % 8
    found = both[2 * start : 2 * end : 2].astype(kind.to_pandas_dtype())
    if validity is not None:
        validity = validity.slice(start // 8)
    buffers = [validity, pa.py_buffer(found)]
    return pa.Array.from_buffers(kind, len(values), buffers, offset=values.offset - start)


class WholeNumbers:
    """Has integers in place of decimals while files are encoded, and tells files what they mean.

    Parameters
    ----------
    schema
        What files are to have.
    empty
        Makes a file without rows, in memory, of a schema.
    """

    def __init__(self, schema: pa.Schema, empty: Callable[[pa.Schema], bytes]) -> None:
        self.schema = with_whole_numbers(schema)
        """Files are encoded with it."""
        self._written, self._meant = (_until_schema(empty(one)) for one in (self.schema, schema))

    def of(self, rows: pa.Table) -> pa.Table:
        """Return rows that have the schema meant as they are encoded."""
        return as_whole_numbers(rows, self.schema)

    def end_of(self, file: memoryview) -> tuple[int, bytes]:
        """Return where the end of an encoded file begins, and what it is to be."""
        footer = footer_of(file)
        return len(file) - len(with_end(footer)), with_end(self.footer(footer))

    def footer(self, encoded: bytes) -> bytes:
        """Return what the footer of an encoded file is to be."""
        assert encoded.startswith(self._written), "the footer begins with the schema"
        return self._meant + encoded[len(self._written) :]


def _until_schema(file: bytes) -> bytes:
    """Return the begin of a footer: the version, and the schema."""
    footer = footer_of(file)
    reader = Reader(footer, 0)
    field = 0
    while field != _SCHEMA:
        head = footer[reader.position]
        reader.position += 1
        field += head >> 4
        reader.value(Kind(head & 15), 0)
    return footer[: reader.position]
