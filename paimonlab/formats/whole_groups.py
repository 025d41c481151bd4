"""What can be said of data files whose row groups are read from the first row to the last.

Parquet files have pages that are read by themselves; stripes of ORC and blocks of Avro have not.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.errors import CorruptDataError
from paimonlab.formats.open_file import OpenFile
from paimonlab.formats.parquet.cut import RowRanges, count_rows, select, whole
from paimonlab.formats.row_group import RowGroup
from paimonlab.spec.predicates.predicate import ColumnStats, Predicate
from paimonlab.spec.types.arrow import arrow_schema, to_arrow
from paimonlab.spec.types.data_types import DataField

_OFFSET_BYTES = 8


class WholeGroups(OpenFile):
    """The part of `paimonlab.formats.data_format.DataInput` that such files share."""

    @property
    @abstractmethod
    def column_names(self) -> frozenset[str]:
        """Names of the columns."""

    @abstractmethod
    def group_columns(
        self, index: int, fields: Sequence[DataField]
    ) -> Iterator[Sequence[pa.Array]]:
        """Read columns of a row group in one or more pieces, each of its type in the table."""

    def batches(
        self,
        fields: Sequence[DataField],
        *,
        batch_rows: int,
        row_groups: Sequence[int] | None = None,
        in_threads: bool = False,  # noqa: ARG002 - one reads all columns
    ) -> Iterator[pa.RecordBatch]:
        """Read columns piece by piece, holding a row group in memory.

        Parameters
        ----------
        fields
            Which columns, found by name, and of which types.
        batch_rows
            Rows of a batch; fewer at the end of a row group.
        row_groups
            Indexes; None: all.
        in_threads
            Of no effect.

        Yields
        ------
        pyarrow.RecordBatch
            Of ``arrow_schema(fields)``, rows in file order.

        Raises
        ------
        CorruptDataError
            If the file is damaged, or a column is missing or not of its type.
        UnsupportedError
            If a TIMESTAMP(7) to (9) lies outside the years 1677 to 2262.
        """
        schema = arrow_schema(fields)
        for field in fields:
            if field.name not in self.column_names:
                raise CorruptDataError(self.path, f"column {field.name!r} is not in the file")
        for index in range(len(self.row_groups)) if row_groups is None else row_groups:
            if not fields:
                nulls = pa.nulls(self.row_groups[index].row_count)
                yield from pa.table({"_": nulls}).select([]).to_batches(batch_rows)
                continue
            for arrays in self.group_columns(index, fields):
                rows = pa.RecordBatch.from_arrays(arrays, schema=schema)
                for start in range(0, rows.num_rows, batch_rows):
                    yield rows.slice(start, batch_rows)

    @property
    def num_rows(self) -> int:
        """Rows in the file."""
        return sum(group.row_count for group in self.row_groups)

    def group_bytes(
        self,
        fields: Sequence[DataField],
        index: int,
    ) -> int:
        """Return about how many bytes columns of a row group take in memory.

        Sizes of columns are not known: those of variable width count as all of what is stored.
        """
        group = self.row_groups[index]
        widths = [_fixed_width(field) for field in fields]
        stored = group.size_bytes if None in widths else 0
        return stored + group.row_count * sum(width or _OFFSET_BYTES for width in widths)

    def wanted_rows(
        self,
        group: RowGroup,
        predicate: Predicate | None,  # noqa: ARG002 - nothing is known of parts of a row group
        fields: Sequence[DataField],  # noqa: ARG002
        keep: npt.NDArray[np.bool_] | None,  # noqa: ARG002
    ) -> RowRanges:
        """Return all rows of a row group."""
        return whole(group.row_count)

    def blocks(
        self, fields: Sequence[DataField]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], dict[str, ColumnStats]]:
        """Return where row groups begin and end, and what is known of their columns."""
        starts = np.array([group.first_row for group in self.row_groups], np.int64)
        counts = np.array([group.row_count for group in self.row_groups], np.int64)
        return starts, starts + counts, dict(self.group_stats(fields))

    def stretches(
        self,
        fields: Sequence[DataField],
        group: RowGroup,
        most_bytes: int,
    ) -> None:
        """Return None: a row group has no parts."""

    def read_ranges(
        self, fields: Sequence[DataField], group: RowGroup, ranges: RowRanges
    ) -> pa.Table:
        """Read some rows of a row group, decoding all of them."""
        if not fields:
            return pa.table({"_": pa.nulls(count_rows(ranges))}).select([])
        pieces = self.batches(fields, batch_rows=group.row_count, row_groups=[group.index])
        table = pa.Table.from_batches(list(pieces), arrow_schema(fields))
        return select(table, whole(group.row_count), ranges)


def _fixed_width(field: DataField) -> int | None:
    """Return the bytes of each value in memory; None: they differ."""
    type_ = to_arrow(field.type)
    if pa.types.is_nested(type_):
        return None
    try:
        return -(-type_.bit_width // 8)
    except ValueError:
        return None
