"""What can be said of data files whose row groups are read from the first row to the last.

Parquet files have pages that are read by themselves; stripes of ORC and blocks of Avro have not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.formats.parquet_cut import RowRanges, count_rows, select, whole
from paimonlab.formats.row_group import RowGroup
from paimonlab.spec.arrow_types import arrow_schema
from paimonlab.spec.predicate import ColumnStats, Predicate, columns, may_match_stats
from paimonlab.spec.types import DataField


class WholeGroups(ABC):
    """The part of `paimonlab.formats.data_format.DataInput` that such files share."""

    row_groups: tuple[RowGroup, ...]

    @abstractmethod
    def batches(
        self,
        fields: Sequence[DataField],
        *,
        batch_rows: int,
        row_groups: Sequence[int] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Read columns piece by piece."""

    @abstractmethod
    def group_stats(self, fields: Sequence[DataField]) -> Mapping[str, ColumnStats]:
        """Return what is known of columns, one value a row group."""

    @property
    def num_rows(self) -> int:
        """Rows in the file."""
        return sum(group.row_count for group in self.row_groups)

    def row_bytes(
        self,
        fields: Sequence[DataField],  # noqa: ARG002 - sizes of columns are not known
        row_groups: Sequence[int],
    ) -> int:
        """Return the stored bytes of an average row of the widest row group; of all columns."""
        chosen = [self.row_groups[index] for index in row_groups]
        return max((group.size_bytes // max(1, group.row_count) for group in chosen), default=0)

    def matching_row_groups(
        self, predicate: Predicate, fields: Sequence[DataField]
    ) -> tuple[RowGroup, ...]:
        """Return row groups whose statistics do not rule out that the predicate is true.

        Parameters
        ----------
        predicate
            Over columns of the file; of those that are not among ``fields`` nothing is known.
        fields
            Columns of the file and their types.
        """
        wanted = columns(predicate)
        stats = self.group_stats([field for field in fields if field.name in wanted])
        mask = may_match_stats(predicate, stats, count=len(self.row_groups))
        return tuple(one for one, matches in zip(self.row_groups, mask, strict=True) if matches)

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

    def read_ranges(
        self, fields: Sequence[DataField], group: RowGroup, ranges: RowRanges
    ) -> pa.Table:
        """Read some rows of a row group, decoding all of them."""
        if not fields:
            return pa.table({"_": pa.nulls(count_rows(ranges))}).select([])
        pieces = self.batches(fields, batch_rows=group.row_count, row_groups=[group.index])
        table = pa.Table.from_batches(list(pieces), arrow_schema(fields))
        return select(table, whole(group.row_count), ranges)
