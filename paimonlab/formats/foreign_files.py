"""Parquet and ORC files that others wrote, of any name: their footers and rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import CorruptDataError, SchemaError, UnsupportedError
from paimonlab.storage import FileIO

ForeignFormat: TypeAlias = Literal["parquet", "orc"]
_MAGIC_BYTES = 4
ROW_NUMBER = ""
"""A column that `parquet_columns` adds: no column of Parquet has this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """What a file says of itself."""

    format: ForeignFormat
    schema: pa.Schema
    """Its columns, without metadata."""
    row_count: int
    plain_nanos: tuple[str, ...] = ()
    """Columns of nanoseconds that Paimon has otherwise: as INT64 in Parquet."""


def footer_of(io: FileIO, path: str) -> Footer:
    """Read the footer of a file.

    Raises
    ------
    UnsupportedError
        If it is neither Parquet nor ORC.
    CorruptDataError
        If it is damaged.
    """
    with _opened(io, path) as file:
        if isinstance(file, orc.ORCFile):
            return Footer(format="orc", schema=_bare(file.schema), row_count=file.nrows)
        leaves = [file.schema.column(number) for number in range(len(file.schema))]
        physical = {leaf.path: leaf.physical_type for leaf in leaves}
        schema = _bare(file.schema_arrow)
        return Footer(
            format="parquet",
            schema=schema,
            row_count=file.metadata.num_rows,
            plain_nanos=tuple(
                field.name
                for field in schema
                if field.type == pa.timestamp("ns") and physical.get(field.name) != "INT96"
            ),
        )


def rows_of(io: FileIO, path: str) -> Iterator[pa.RecordBatch]:
    """Read the rows of a file, some at a time; errors are those of `footer_of`."""
    with _opened(io, path) as file:
        if isinstance(file, orc.ORCFile):
            for number in range(file.nstripes):
                yield file.read_stripe(number)
        else:
            yield from file.iter_batches()


def parquet_columns(io: FileIO, path: str, names: Sequence[str]) -> pa.Table:
    """Read columns of a Parquet file, found by name in upper and lower case alike.

    Those of INT96 are instants of microseconds, as Spark has them: of nanoseconds Arrow takes few
    years and wraps the others.

    Parameters
    ----------
    io, path
        The file.
    names
        Of the columns; those that the file lacks are left out.

    Raises
    ------
    SchemaError
        If columns differ in upper and lower case only.
    CorruptDataError
        If the file is damaged.
    """
    wanted = {name.lower() for name in names}
    with io.open_input(path) as source:
        try:
            file = pq.ParquetFile(source, coerce_int96_timestamp_unit="us")
            leaves = [file.schema.column(number) for number in range(len(file.schema))]
            moments = {leaf.path for leaf in leaves if leaf.physical_type == "INT96"}
            found = [name for name in file.schema_arrow.names if name.lower() in wanted]
            lowered = [name.lower() for name in found]
            if twice := [name for name in found if lowered.count(name.lower()) > 1]:
                raise SchemaError(
                    f"COPY INTO: the files have the columns {', '.join(twice)}; rename them"
                )
            numbers = arrow_array(np.arange(file.metadata.num_rows))
            rows = pa.table({ROW_NUMBER: numbers})
            for name in found:
                rows = rows.append_column(name, file.read(columns=[name]).column(0))
        except (pa.ArrowException, OSError) as error:
            raise CorruptDataError(path, str(error)) from error
    for name in moments & set(found):
        place = rows.schema.get_field_index(name)
        rows = rows.set_column(place, name, rows.column(name).cast(pa.timestamp("us", "UTC")))
    return rows


def write_parquet(path: str, rows: pa.Table, compression: str) -> None:
    """Write rows to a Parquet file for others, on the local disk."""
    pq.write_table(rows, path, compression=compression)


@contextmanager
def _opened(io: FileIO, path: str) -> Iterator[pq.ParquetFile | orc.ORCFile]:
    with io.open_input(path) as source:
        magic = source.read(_MAGIC_BYTES)
        source.seek(0)
        try:
            if magic == b"PAR1":
                yield pq.ParquetFile(source)
                return
            if magic[:3] == b"ORC":
                yield orc.ORCFile(source)
                return
        except (pa.ArrowException, OSError) as error:
            raise CorruptDataError(path, str(error)) from error
    raise UnsupportedError(f"the file {path}", "it is neither Parquet nor ORC")


def _bare(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.remove_metadata() for field in schema])
