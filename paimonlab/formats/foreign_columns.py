"""Columns of Parquet and ORC files that others wrote, read by their names as declared types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from paimonlab.errors import CorruptDataError
from paimonlab.formats import orc
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import FileIO


def columns_of(
    file_io: FileIO, path: str, wanted: Sequence[DataField], *, batch_rows: int
) -> Iterator[pa.Table]:
    """Read columns of a file by their names.

    Parameters
    ----------
    file_io, path
        The file; its first bytes say what it is.
    wanted
        The columns and what they are read as; null where the file has none of that name.
    batch_rows
        How many rows are read at once.

    Raises
    ------
    CorruptDataError
        If the file is damaged, or a value does not fit its column.
    """
    with file_io.open_input(path) as source:
        is_orc = source.read(3) == b"ORC"
    if is_orc:
        yield from _orc(file_io, path, wanted, batch_rows)
        return
    with file_io.open_input(path) as source:
        try:
            unit = "ns" if any(_has_nanos(to_arrow(one.type)) for one in wanted) else "us"
            file = pq.ParquetFile(source, coerce_int96_timestamp_unit=unit)
            names = [field.name for field in wanted if field.name in file.schema_arrow.names]
            # Of no columns at all it would not say how many rows there are.
            for batch in file.iter_batches(
                batch_size=batch_rows, columns=names or file.schema_arrow.names[:1]
            ):
                yield _as_declared(batch, wanted, path)
        except (pa.ArrowException, OSError) as error:
            raise CorruptDataError(path, str(error)) from error


def _orc(
    file_io: FileIO, path: str, wanted: Sequence[DataField], batch_rows: int
) -> Iterator[pa.Table]:
    file = orc.OrcInput(file_io, path)
    try:
        present = [field for field in wanted if field.name in file.column_names]
        if not present:
            rows = pa.RecordBatch.from_arrays([pa.nulls(file.num_rows)], names=[""])
            yield _as_declared(rows, wanted, path)
            return
        for batch in file.batches(present, batch_rows=batch_rows):
            yield _as_declared(batch, wanted, path)
    finally:
        file.close()


def _has_nanos(arrow_type: pa.DataType) -> bool:
    if pa.types.is_timestamp(arrow_type):
        return bool(arrow_type.unit == "ns")
    return any(_has_nanos(arrow_type.field(number).type) for number in range(arrow_type.num_fields))


def _as_declared(batch: pa.RecordBatch, wanted: Sequence[DataField], path: str) -> pa.Table:
    if not wanted:
        return pa.table({"": pa.nulls(batch.num_rows)})
    found: dict[str, pa.Array] = {}
    for field in wanted:
        arrow_type = to_arrow(field.type)
        if batch.schema.get_field_index(field.name) < 0:
            found[field.name] = pa.nulls(batch.num_rows, arrow_type)
            continue
        column = batch.column(field.name)
        try:
            found[field.name] = _cast(column, arrow_type)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise CorruptDataError(
                path, f"column {field.name!r} is {column.type}, not {arrow_type}: {error}"
            ) from error
    return pa.table(found)


def _cast(column: pa.Array, arrow_type: pa.DataType) -> pa.Array:
    if column.type == arrow_type:
        return column
    if pa.types.is_timestamp(column.type) and pa.types.is_timestamp(arrow_type):
        # What is finer than the column is cut off, as in Java.
        return column.cast(arrow_type, safe=False)
    return column.cast(arrow_type)
