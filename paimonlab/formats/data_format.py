"""Data files of every format: one way to read them, one way to write them.

What a file is, its name says; what is written, the options of the table say.

Source: apache/paimon@1.3.1 ``org.apache.paimon.io.DataFilePathFactory.formatIdentifier``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.errors import CorruptDataError, UnsupportedError
from paimonlab.formats import avro, orc, parquet  # few tables have more than one
from paimonlab.formats.parquet.cut import RowRanges
from paimonlab.formats.row_group import RowGroup
from paimonlab.spec.predicates.predicate import ColumnStats, Predicate
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import FileIO

READABLE = ("parquet", "orc", "avro")
"""Formats of data files that can be read."""


class DataInput(Protocol):
    """An open data file of any format."""

    path: str

    @property
    def num_rows(self) -> int:
        """Rows in the file."""

    @property
    def size_bytes(self) -> int:
        """Size of the file."""

    @property
    def column_names(self) -> frozenset[str]:
        """Names of the columns."""

    @property
    def row_groups(self) -> tuple[RowGroup, ...]:
        """The parts that can be read by themselves, in file order."""

    def group_bytes(self, fields: Sequence[DataField], index: int) -> int:
        """Return about how many bytes columns of a row group take in memory."""

    def matching_row_groups(
        self, predicate: Predicate, fields: Sequence[DataField]
    ) -> tuple[RowGroup, ...]:
        """Return the row groups that may hold a row for which the predicate is true."""

    def wanted_rows(
        self,
        group: RowGroup,
        predicate: Predicate | None,
        fields: Sequence[DataField],
        keep: npt.NDArray[np.bool_] | None,
    ) -> RowRanges:
        """Return the rows of a row group that may be wanted, as far as its parts tell."""

    def blocks(
        self, fields: Sequence[DataField]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], dict[str, ColumnStats]]:
        """Return where blocks of rows begin and end, and what is known of their columns."""

    def stretches(
        self, fields: Sequence[DataField], group: RowGroup, most_bytes: int
    ) -> list[RowRanges] | None:
        """Cut a row group where pages of columns begin; None: it is read as one stream."""

    def read_ranges(
        self, fields: Sequence[DataField], group: RowGroup, ranges: RowRanges
    ) -> pa.Table:
        """Read some rows of a row group."""

    def batches(
        self,
        fields: Sequence[DataField],
        *,
        batch_rows: int,
        row_groups: Sequence[int] | None = None,
        in_threads: bool = False,
    ) -> Iterator[pa.RecordBatch]:
        """Read columns piece by piece: all rows of the row groups, in file order.

        With ``in_threads`` columns are decoded in parallel, where the format allows it.
        """

    def close(self) -> None:
        """Close the file."""


def format_of(file_name: str) -> str:
    """Return the format that a file's name says: what follows its last point.

    >>> format_of("data-1-0.zst.parquet")
    'parquet'
    """
    return file_name.rpartition(".")[2].lower()


def open_input(
    file_io: FileIO,
    path: str,
    *,
    expected_rows: int | None = None,
    size_bytes: int | None = None,
    legacy_ltz: bool = True,
) -> DataInput:
    """Open a data file and read what it says of itself.

    Parameters
    ----------
    file_io, path
        The file.
    expected_rows
        What metadata says; None: not checked.
    size_bytes
        What metadata says; None: not known.
    legacy_ltz
        ``orc.timestamp-ltz.legacy.type`` of the table.

    Raises
    ------
    CorruptDataError
        If the file is missing, damaged, or has another number of rows.
    UnsupportedError
        If the format is not implemented.
    """
    try:
        file = _open(file_io, path, size_bytes, legacy_ltz=legacy_ltz)
    except FileNotFoundError as error:
        raise CorruptDataError(path, "the file is missing") from error
    if expected_rows is not None and file.num_rows != expected_rows:
        file.close()
        problem = f"it has {file.num_rows:,} rows, metadata says {expected_rows:,}"
        raise CorruptDataError(path, problem)
    return file


def _open(file_io: FileIO, path: str, size_bytes: int | None, *, legacy_ltz: bool) -> DataInput:
    match format_of(path):
        case "parquet":
            return parquet.ParquetInput(file_io, path, size_bytes)
        case "orc":
            return orc.OrcInput(file_io, path, legacy_ltz=legacy_ltz)
        case "avro":
            return avro.AvroInput(file_io, path)
        case other:
            raise UnsupportedError(
                f"file.format = '{other}'",
                f"{path} has this format; only {', '.join(READABLE)} can be read",
            )
