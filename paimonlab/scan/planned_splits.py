"""Files that answer a read, and the splits of them: made when they are asked for.

Where a table has many files most of the time of a plan would go into splits that a count, or a
read of a few rows, has no use for.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.scan.deletion_files import DeletionFiles
from paimonlab.scan.options import ScanOptions
from paimonlab.scan.pruning import partition_fields
from paimonlab.scan.sampling import FileSample, sampled_files
from paimonlab.scan.split import DataSplit
from paimonlab.scan.split_making import Placement, make_splits, split_of_file
from paimonlab.scan.split_paths import bucket_paths
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot

_KEPT_SPLITS = 16


class PlannedSplits(Struct, frozen=True, kw_only=True, dict=True):
    """n files that are alive, and how to make splits of them."""

    snapshot: Snapshot
    files: pa.Table
    """`ENTRY_SCHEMA`"""
    placement: Placement
    schema: TableSchema
    options: ScanOptions
    deletion_files: DeletionFiles

    def filter(self, keeps: npt.NDArray[np.bool_]) -> PlannedSplits:
        """Return splits of some of the files."""
        return replace(
            self,
            files=self.files.filter(arrow_array(keeps)),
            placement=self.placement.filter(keeps),
        )

    def sampled(self, sample: FileSample) -> PlannedSplits:
        """Return splits of some of the files, or of all if they are no more than that."""
        sizes = numpy_values(self.files["file_size_bytes"]).astype(np.int64)
        chosen = sampled_files(self.placement.bucket, self.placement.unit, sizes, sample)
        return self if chosen.all() else self.filter(chosen)

    def all(self) -> list[DataSplit]:
        """Make all splits: by partition, as they first occur, and bucket."""
        return self._made()

    def enough_for(self, rows: int) -> list[DataSplit]:
        """Make the first splits that need no merging and hold so many rows, or all.

        Few of them are kept: cells that show some rows of a table ask for the same again.
        """
        known = self._few.get(rows)
        if known is None:
            known = self._enough_for(rows)
            if len(known) <= _KEPT_SPLITS:
                self._few.clear()
                self._few[rows] = known
        return [*known]

    @cached_property
    def _few(self) -> dict[int, list[DataSplit]]:
        return {}

    def _enough_for(self, rows: int) -> list[DataSplit]:
        if self.counts_by_row_ids:
            return _first(self.all(), rows)
        if rows <= 0 or not self.files.num_rows:
            return []
        row_counts = np.bincount(self._numbers, self._least_row_counts)
        raw = distinct_integers(self._numbers[self.placement.is_raw])
        sums = np.cumsum(row_counts[raw])
        if not raw.size or sums[-1] < rows:
            return self.all()
        last = raw[np.searchsorted(sums, rows)]
        return self._made(self.placement.is_raw & (self._numbers <= last))

    def counted(self) -> tuple[int, list[DataSplit]]:
        """Count the rows that files are known to have, and make the splits of the others.

        Returns
        -------
        int, list of DataSplit
            Rows of files that need no merging; files of which more than metadata has to be read.
        """
        if self.counts_by_row_ids:
            return 0, self.all()
        is_known = self.placement.is_raw & self._has_known_deletions
        others = self if not is_known.any() else self.filter(~is_known)
        return int(self._least_row_counts[is_known].sum()), others.all()

    @property
    def keeps_all_rows(self) -> bool:
        """Whether each row of the files is a row of the table: nothing is merged or deleted."""
        return not (
            self.counts_by_row_ids or self._cardinalities or not self.placement.is_raw.all()
        )

    @cached_property
    def counts_by_row_ids(self) -> bool:
        """Whether several files may have the same rows."""
        has_row_ids = self.files["first_row_id"].null_count < self.files.num_rows
        return self.options.data_evolution or has_row_ids

    @cached_property
    def _numbers(self) -> npt.NDArray[np.int64]:
        return split_of_file(
            self.files,
            self.placement,
            target_bytes=self.options.split_target_bytes,
            open_cost_bytes=self.options.open_file_cost_bytes,
        )

    @cached_property
    def _cardinalities(self) -> dict[int, int | None]:
        """How many rows deletion vectors take from files, by their place; None: unknown."""
        found = self.deletion_files.found
        if not found:
            return {}
        names = self.files["file_name"]
        has_vector = pc.is_in(names, value_set=arrow_array([*found], names.type))
        return {
            place: found[names[place].as_py()][1].cardinality
            for place in np.flatnonzero(numpy_values(has_vector)).tolist()
        }

    @cached_property
    def _least_row_counts(self) -> npt.NDArray[np.int64]:
        """(n,) as `DataSplit.least_row_count` counts them."""
        rows = numpy_values(self.files["row_count"]).astype(np.int64)
        for place, deleted in self._cardinalities.items():
            rows[place] = 0 if deleted is None else rows[place] - deleted
        return rows

    @cached_property
    def _has_known_deletions(self) -> npt.NDArray[np.bool_]:
        is_known = np.ones(self.files.num_rows, np.bool_)
        is_known[[at for at, deleted in self._cardinalities.items() if deleted is None]] = False
        return is_known

    def _made(self, keeps: npt.NDArray[np.bool_] | None = None) -> list[DataSplit]:
        wanted = self if keeps is None else self.filter(keeps)
        return make_splits(
            wanted.files,
            wanted.placement,
            self._numbers if keeps is None else self._numbers[keeps],
            lambda partitions, buckets: bucket_paths(
                partitions, buckets, partition_fields(self.schema), self.options.partition
            ),
            snapshot_id=self.snapshot.id,
            is_append=not self.schema.primary_keys,
            deletion_files=self.deletion_files,
        )


def _first(splits: list[DataSplit], limit: int) -> list[DataSplit]:
    """Leave out splits if those that need no merging hold enough rows."""
    chosen, rows = [], 0
    for split in splits:
        if rows >= limit:
            break
        if split.raw_convertible:
            chosen.append(split)
            rows += split.least_row_count
    return chosen if rows >= limit else splits
