"""Rows of users -> rows of the table.

Columns are found by name in any order, a missing nullable column is null or its default,
an unknown one is an error. The result has the table's columns in schema order, then
the row kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, decoded, null_filled, numpy_values
from paimonlab.errors import ColumnNotFoundError, DataError, UnsupportedError
from paimonlab.spec.row_kind import SYMBOLS, RowKind
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.system_fields import VALUE_KIND
from paimonlab.spec.types.text import format_type
from paimonlab.write.conversion import convert

KIND_FIELD = pa.field(VALUE_KIND, pa.int8(), nullable=False)
GIVEN_BUCKET = "_BUCKET"
"""Column of the bucket of each row, if others than the writer found it."""
_BUCKET_FIELD = pa.field(GIVEN_BUCKET, pa.int32(), nullable=False)


_DECODED_BYTES = 64 << 20
"""What the texts of a dictionary column should not take once they stand row by row."""


def decoded_pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Cut a batch so that its dictionary columns take bounded memory when they are decoded.

    A dictionary stores a long text once for many rows; decoded, a batch may take more than the two
    gigabytes that Arrow's texts can have, or more than there is memory.
    """
    row_bytes = sum(
        (_decoded_bytes(column) for column in batch.columns if pa.types.is_dictionary(column.type)),
        start=np.zeros(batch.num_rows, np.int64),
    )
    if int(row_bytes.sum()) <= _DECODED_BYTES:
        yield batch
        return
    piece = np.cumsum(row_bytes) // _DECODED_BYTES
    starts = np.flatnonzero(np.diff(piece, prepend=-1)).tolist()
    for start, end in pairwise([*starts, batch.num_rows]):
        yield batch.slice(start, end - start)


def _decoded_bytes(column: pa.DictionaryArray) -> npt.NDArray[np.int64]:
    """Return (n,) int64: how long the value of each row is; 0 if it has a fixed size."""
    values = column.dictionary
    try:
        lengths = pc.binary_length(values)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return np.zeros(len(column), np.int64)
    value_bytes = null_filled(lengths.cast(pa.int64()).take(column.indices), 0)
    return np.asarray(numpy_values(value_bytes, zero_copy_only=False), np.int64)


def align(
    batch: pa.RecordBatch,
    schema: TableSchema,
    *,
    table: str,
    row_kinds: str | None = None,
    kind_field: str | None = None,
    buckets: str | None = None,
    first_row: int = 0,
) -> pa.RecordBatch:
    """Make a batch of the table's rows out of a batch of a user's.

    Parameters
    ----------
    batch
        n rows with columns by name.
    schema
        The schema of the table.
    table
        Its name, for messages.
    row_kinds
        The column of ``batch`` with ``+I -U +U -D`` (text) or 0..3 (integers), which is not
        stored; None: all rows are ``+I``.
    kind_field
        The column of the table with the kinds as text, which is stored; then ``row_kinds`` has
        to be None.
    buckets
        The column of ``batch`` with the bucket of each row (int32); None: there is none.
    first_row
        Number of rows before this batch, for messages.

    Returns
    -------
    pyarrow.RecordBatch
        n rows: the columns of the table in order, then ``_VALUE_KIND`` (int8), then, where buckets
        are given, ``_BUCKET`` (int32).

    Raises
    ------
    ColumnNotFoundError
        If ``batch`` has a column that the table has not, or lacks ``row_kinds``.
    DataError
        If a column comes twice, a value does not fit its type, or a NOT NULL column has nulls
        or is missing.
    """
    names = [name for name in batch.schema.names if name not in (row_kinds, buckets)]
    _check_names(names, schema, table)
    arrays = [_column(batch, field, schema, table, first_row) for field in schema.fields]
    if kind_field is None:
        kinds = _kinds(batch, row_kinds, schema, table)
    elif row_kinds is None:
        aligned = pa.RecordBatch.from_arrays(arrays, schema=schema.arrow_schema)
        kinds = _kinds(aligned, kind_field, schema, table)
    else:
        raise DataError(
            f"{table}: row kinds are taken from the column {kind_field!r} ('rowkind.field'), "
            f"not from {row_kinds!r}"
        )
    fields, arrays = [*schema.arrow_schema, KIND_FIELD], [*arrays, kinds]
    if buckets is not None:
        fields, arrays = [*fields, _BUCKET_FIELD], [*arrays, batch.column(buckets)]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _check_names(names: list[str], schema: TableSchema, table: str) -> None:
    known = set(schema.field_names)
    for name in names:
        if name not in known:
            raise ColumnNotFoundError(name, table, schema.field_names)
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise DataError(f"{table}: the data has column {twice!r} twice")


def _column(
    batch: pa.RecordBatch, field: DataField, schema: TableSchema, table: str, first_row: int
) -> pa.Array:
    if batch.schema.get_field_index(field.name) >= 0:
        return _convert(batch.column(field.name), field, schema, table, first_row)
    if field.default_value is not None:
        return _default(field, batch.num_rows, table)
    if not field.type.nullable:
        raise DataError(
            f"{table}: the data has no column {field.name!r}, which is {format_type(field.type)}"
        )
    return pa.nulls(batch.num_rows, to_arrow(field.type))


def _convert(
    array: pa.Array, field: DataField, schema: TableSchema, table: str, first_row: int
) -> pa.Array:
    if array.null_count and field.name in schema.primary_keys:
        raise DataError(
            f"{table}: key column {field.name!r} has {array.null_count} null values; a primary "
            "key is never null"
        )
    try:
        return convert(array, field.type, field.name, first_row=first_row)
    except DataError as error:
        raise DataError(f"{table}: {error}") from error


def _default(field: DataField, rows: int, table: str) -> pa.Array:
    text = arrow_scalar(field.default_value)
    try:
        value = pc.cast(text, to_arrow(field.type))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise UnsupportedError(
            f"default value {field.default_value!r} of column {field.name!r} of {table}",
            f"give the column a value instead ({error})",
        ) from error
    return pa.repeat(value, rows)


def _kinds(
    batch: pa.RecordBatch, row_kinds: str | None, schema: TableSchema, table: str
) -> pa.Array:
    if row_kinds is None:
        return arrow_array(np.zeros(batch.num_rows, np.int8))
    if batch.schema.get_field_index(row_kinds) < 0:
        raise ColumnNotFoundError(row_kinds, table, batch.schema.names)
    kinds = _kind_numbers(batch.column(row_kinds), row_kinds, table)
    if (
        not schema.primary_keys
        and pc.any(pc.not_equal(kinds, arrow_scalar(int(RowKind.INSERT), pa.int8()))).as_py()
    ):
        raise DataError(f"{table} has no primary key, so it takes only rows of kind +I")
    return kinds


def _kind_numbers(array: pa.Array, column: str, table: str) -> pa.Array:
    array = decoded(array)
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.string())
    if pa.types.is_integer(array.type):
        low, high = pc.min_max(array).values()
        if array.null_count == 0 and (len(array) == 0 or (low.as_py() >= 0 and high.as_py() <= 3)):
            return pc.cast(array, pa.int8())
    elif pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        numbers = pc.index_in(array, arrow_array(SYMBOLS, array.type))
        if numbers.null_count == 0:
            return pc.cast(numbers, pa.int8())
    raise DataError(
        f"{table}: column {column!r} is the row kind, so it holds '+I', '-U', '+U', '-D' or 0..3 "
        "and no nulls"
    )
