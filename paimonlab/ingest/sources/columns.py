"""Columns of Arrow as a source gives them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import DataError
from paimonlab.ingest.changes import KIND_TYPE, SourceColumn, SourceSchema
from paimonlab.spec.row_kind import SYMBOLS
from paimonlab.spec.types.arrow import from_arrow
from paimonlab.write.conversion import convert


def schema_of(
    columns: pa.Schema,
    primary_keys: Sequence[str] = (),
    *,
    is_partial: bool = False,
    shows_arrow: bool = True,
) -> SourceSchema:
    """Return columns of Arrow as the schema of a source.

    Parameters
    ----------
    columns
        Those of type null are left out: nothing is known of them.
    primary_keys
        Columns whose values name a row.
    is_partial
        Whether there may be other columns.
    shows_arrow
        Whether the types of Arrow are what the source says.
    """
    return SourceSchema(
        columns=tuple(
            SourceColumn(
                name=field.name,
                type=from_arrow(field.type, nullable=field.nullable),
                source_type=str(field.type) if shows_arrow else None,
            )
            for field in columns
            if not pa.types.is_null(field.type)
        ),
        primary_keys=tuple(primary_keys),
        is_partial=is_partial,
    )


def fitted_to(batch: pa.RecordBatch, schema: SourceSchema, *, table: str) -> pa.RecordBatch:
    """Give the rows of a batch the columns and types of a schema; what it lacks is null.

    Raises
    ------
    DataError
        If a value does not fit.
    """
    arrays = []
    for column, field in zip(schema.columns, schema.arrow_schema, strict=True):
        place = batch.schema.get_field_index(column.name)
        if place < 0:
            arrays.append(pa.nulls(batch.num_rows, field.type))
            continue
        try:
            arrays.append(convert(batch.column(place), column.type, column.name))
        except DataError as error:
            raise DataError(f"{table}: {error}") from error
    fields = [pa.field(field.name, field.type) for field in schema.arrow_schema]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def split_kinds(
    batch: pa.RecordBatch, row_kinds: str | None, *, place: str
) -> tuple[pa.RecordBatch, pa.Array | None]:
    """Take the column with the kinds of rows out of a batch.

    Parameters
    ----------
    batch
        Rows as they came.
    row_kinds
        Name of the column; None: there is none.
    place
        Where the rows are, for messages.

    Raises
    ------
    DataError
        If there is no such column, or it has other values.
    """
    if row_kinds is None:
        return batch, None
    if row_kinds not in batch.schema.names:
        raise DataError(f"{place}: there is no column {row_kinds!r}")
    kinds = kinds_from(batch.column(row_kinds), table=place)
    return batch.drop_columns([row_kinds]), kinds


def check_declared(columns: pa.Schema, declared: SourceSchema, *, place: str) -> None:
    """Refuse columns that were not declared.

    Raises
    ------
    DataError
        Names the first one.
    """
    unknown = [name for name in columns.names if name not in declared.names]
    if unknown:
        raise DataError(f"{place}: column {unknown[0]!r} is not declared")


def kinds_from(column: pa.Array, *, table: str) -> pa.Array:
    """Return the numbers of kinds that are given as ``+I -U +U -D`` or as 0..3.

    Raises
    ------
    DataError
        If one is neither.
    """
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_integer(column.type):
        kinds = column.cast(KIND_TYPE)
        valid = pc.is_in(kinds, arrow_array(list(range(len(SYMBOLS))), KIND_TYPE))
    else:
        symbols = arrow_array(list(SYMBOLS), pa.string())
        kinds = pc.index_in(column.cast(pa.string()), symbols).cast(KIND_TYPE)
        valid = pc.is_valid(kinds)
    if not pc.all(valid).as_py() and len(column):
        wrong = next(
            value for value, is_valid in zip(column, valid, strict=True) if not is_valid.as_py()
        )
        raise DataError(f"{table}: {wrong.as_py()!r} is no kind of row: +I, -U, +U, -D or 0..3")
    return kinds
