"""Parquet: the format of data files.

Writing is `ParquetWriter`, reading `open_file`; `read_table` and `read_batches` open, read
and close.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from paimonlab.errors import CorruptDataError
from paimonlab.formats.parquet_input import ParquetInput
from paimonlab.formats.parquet_options import ParquetOptions
from paimonlab.formats.parquet_writer import ParquetWriter
from paimonlab.formats.row_group import RowGroup
from paimonlab.spec.types import DataField
from paimonlab.storage import FileIO

__all__ = [
    "ParquetInput",
    "ParquetOptions",
    "ParquetWriter",
    "RowGroup",
    "open_file",
    "read_batches",
    "read_table",
]


def open_file(file_io: FileIO, path: str, *, expected_rows: int | None = None) -> ParquetInput:
    """Open a file and read its footer.

    Parameters
    ----------
    file_io, path
        The file.
    expected_rows
        What metadata says; None: not checked.

    Raises
    ------
    CorruptDataError
        If the file is missing, damaged, or has another number of rows.
    """
    file = ParquetInput(file_io, path)
    if expected_rows is not None and file.num_rows != expected_rows:
        file.close()
        problem = f"it has {file.num_rows:,} rows, metadata says {expected_rows:,}"
        raise CorruptDataError(path, problem)
    return file


def read_table(
    file_io: FileIO,
    path: str,
    fields: Sequence[DataField],
    *,
    row_groups: Sequence[int] | None = None,
    expected_rows: int | None = None,
    use_threads: bool = True,
) -> pa.Table:
    """Read columns of a file at once, as `ParquetInput.read` does."""
    with open_file(file_io, path, expected_rows=expected_rows) as file:
        return file.read(fields, row_groups=row_groups, use_threads=use_threads)


def read_batches(
    file_io: FileIO,
    path: str,
    fields: Sequence[DataField],
    *,
    batch_rows: int,
    row_groups: Sequence[int] | None = None,
    expected_rows: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """Read columns of a file piece by piece, as `ParquetInput.batches` does."""
    with open_file(file_io, path, expected_rows=expected_rows) as file:
        yield from file.batches(fields, batch_rows=batch_rows, row_groups=row_groups)
