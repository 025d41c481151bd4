"""How the files of an append table are compacted: packed, put in order, or clustered."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from paimonlab import clock
from paimonlab.compact.append_packing import (
    AppendPackingOptions,
    Files,
    FileVector,
    in_order,
    pack,
    pick_bucket,
    pick_neighbours,
)
from paimonlab.compact.append_rewriting import AppendTask, RowsOf
from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.compact.clustering import (
    ClusteringOptions,
    cluster_runs,
    pick_all_to_cluster,
    pick_to_cluster,
)
from paimonlab.compact.ordering.row_order import RowOrder
from paimonlab.compact.ordering.sorting import RowsInOrder, SortingOptions
from paimonlab.compact.row_group_packing import pack_row_groups
from paimonlab.compact.strategy import LevelOptions
from paimonlab.compact.universal import UniversalOptions
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.read.splits import read_split
from paimonlab.scan.options import ScanOptions
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.schema.row_tracking import RowTrackingOptions
from paimonlab.table.compacting.append import AppendStrategy
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore


class _InOrder:
    """Keeps rows in the order in which they are."""

    __slots__ = ()

    @property
    def rows_of(self) -> RowsOf:
        """Reads rows as they are."""
        return read_split

    @property
    def threads(self) -> int:
        """One per CPU: a task holds few batches."""
        return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Packing(_InOrder):
    """Puts small files together, and leaves out deleted rows."""

    options: AppendPackingOptions
    has_vectors: bool
    full: bool
    once: bool = False
    """Whether a bucket gets one task at most, as from a writer before its commit."""

    def tasks(self, bucket: BucketFiles) -> Iterator[AppendTask]:
        """Choose files as Java does: by size, or neighbours where rows have an order."""
        vectors = _vectors_of(bucket)
        for files in self._chosen(bucket, vectors):
            reason = "small files"
            if any(file.file_name in vectors for file in files):
                reason += " and deleted rows"
            yield AppendTask(bucket, files, reason=reason)

    def _chosen(self, bucket: BucketFiles, vectors: dict[str, FileVector]) -> Iterator[Files]:
        known = vectors if self.has_vectors or vectors else None
        if bucket.total_buckets < 1:
            yield from pack(bucket.files, self.options, vectors=known, full=self.full)
        elif self.full:
            chosen = pick_bucket(in_order(bucket.files), self.options, with_vectors=known)
            # A file by itself without deleted rows would come out as it went in.
            if len(chosen) > 1 or any(file.file_name in vectors for file in chosen):
                yield chosen
        else:
            picked, later = pick_neighbours(in_order(bucket.files), self.options)
            while picked:
                yield picked
                if self.once:
                    return
                picked, later = pick_neighbours(later, self.options)


@dataclass(frozen=True, slots=True)
class RowGroupPacking(_InOrder):
    """Puts columns of the same rows together, and small files, of tables with data evolution."""

    options: AppendPackingOptions
    full: bool

    def tasks(self, bucket: BucketFiles) -> Iterator[AppendTask]:
        """Choose files as Java does, whose row ids follow one another."""
        for files in pack_row_groups(bucket.files, self.options, full=self.full):
            yield AppendTask(bucket, files, reason="files of columns, and small files")


@dataclass(frozen=True, slots=True)
class Sorting:
    """Puts all rows of a partition in order."""

    order: RowOrder
    memory_bytes: int

    @property
    def rows_of(self) -> RowsOf:
        """Reads rows in order."""
        return RowsInOrder(self.order, self.memory_bytes)

    @property
    def threads(self) -> int:
        """One, which has the memory for itself."""
        return 1

    def tasks(self, bucket: BucketFiles) -> Iterator[AppendTask]:
        """Take everything."""
        if bucket.files:
            yield AppendTask(bucket, in_order(bucket.files), reason=str(self.order))


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """Puts some rows of a partition in order, as new ones come."""

    sorting: Sorting
    universal: UniversalOptions
    level_count: int
    columns: Sequence[str]
    columns_of: Callable[[int], Sequence[str]]
    """What the schema of an id orders rows by."""
    full: bool
    now: datetime

    @property
    def rows_of(self) -> RowsOf:
        """Reads rows in order."""
        return self.sorting.rows_of

    @property
    def threads(self) -> int:
        """One, which has the memory for itself."""
        return 1

    def tasks(self, bucket: BucketFiles) -> Iterator[AppendTask]:
        """Choose runs as universal compaction does."""
        runs = cluster_runs(bucket.files)
        if self.full:
            unit = pick_all_to_cluster(
                runs, self.columns, self.columns_of, level_count=self.level_count
            )
        else:
            unit = pick_to_cluster(runs, self.universal, level_count=self.level_count, now=self.now)
        if unit is not None:
            reason = f"{unit.reason.value}, {self.sorting.order}"
            yield AppendTask(bucket, unit.files, unit.output_level, reason)


def append_strategy(
    definition: TableDefinition,
    store: TableStore,
    *,
    full: bool,
    order_by: Sequence[str] | None = None,
    strategy: str | None = None,
) -> AppendStrategy:
    """Choose how an append table is compacted.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    full
        Whether as much as makes sense is rewritten.
    order_by, strategy
        How all rows are put in order; None: as the options of the table say, or not at all.

    Raises
    ------
    UnsupportedError
        If rows have an order of their own: the table has buckets, or data evolution.
    """
    clustering = definition.options.slice(ClusteringOptions)
    if definition.options.slice(RowTrackingOptions).data_evolution:
        if order_by is not None or strategy is not None or clustering.is_incremental:
            raise UnsupportedError(
                "ordering rows with data-evolution.enabled = 'true'",
                f"rows of {definition.name} have the order of their ids",
            )
        return RowGroupPacking(definition.options.slice(AppendPackingOptions), full)
    if order_by is not None:
        return _sorting(definition, order_by, strategy)
    if strategy is not None:
        raise ValueError("a strategy needs columns to order rows by: order_by=(…)")
    if not clustering.is_incremental:
        has_vectors = definition.options.slice(ScanOptions).has_deletion_vectors
        return Packing(definition.options.slice(AppendPackingOptions), has_vectors, full)
    if not clustering.columns:
        raise SchemaError(f"{definition.name}: clustering.incremental needs clustering.columns")

    def columns_of(schema_id: int) -> Sequence[str]:
        return Options(store.schemas.get(schema_id).options).slice(ClusteringOptions).columns

    return Clustering(
        sorting=_sorting(definition, clustering.columns, clustering.strategy),
        universal=definition.options.slice(UniversalOptions),
        level_count=definition.options.slice(LevelOptions).level_count,
        columns=clustering.columns,
        columns_of=columns_of,
        full=full,
        now=clock.now(),
    )


def _sorting(definition: TableDefinition, names: Sequence[str], strategy: str | None) -> Sorting:
    if definition.buckets > 0:
        raise UnsupportedError(
            f"ordering rows by {', '.join(names)}",
            f"{definition.name} has buckets, whose rows have the order in which they were written",
        )
    options = definition.options.slice(SortingOptions)
    order = RowOrder.by(names, strategy, definition.schema, table=definition.name)
    return Sorting(order, options.memory_bytes)


def _vectors_of(bucket: BucketFiles) -> dict[str, FileVector]:
    return {
        vector.data_file_name: FileVector(index.file_name, vector.cardinality)
        for index in bucket.indexes
        for vector in index.deletion_vectors or ()
    }
