"""Statistics of the rows of a table, as ANALYZE computes them.

Source: apache/paimon@1.3.1
``org.apache.paimon.spark.commands.PaimonAnalyzeTableColumnCommand``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import ColumnNotFoundError, UnsupportedError
from paimonlab.interrupts import interrupts_held_back
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import read_split
from paimonlab.scan.split import DataSplit
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.spec.statistics.table import ColumnStatistics, Statistics
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import TEXT_ROOTS, AtomicType, DataField, TypeRoot
from paimonlab.spec.value_text import display_texts
from paimonlab.storage import FileIO
from paimonlab.table.committing.users import new_user
from paimonlab.table.definition import TableDefinition
from paimonlab.table.reading.query import Query, scan_of
from paimonlab.table.reading.scan import Scan
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.after_commit import committer_of
from paimonlab.workers import Workers, in_parts, side_by_side

_BYTES = frozenset({TypeRoot.BINARY, TypeRoot.VARBINARY})
_LENGTHS = {
    TypeRoot.BOOLEAN: 1,
    TypeRoot.TINYINT: 1,
    TypeRoot.SMALLINT: 2,
    TypeRoot.INT: 4,
    TypeRoot.BIGINT: 8,
    TypeRoot.FLOAT: 4,
    TypeRoot.DOUBLE: 8,
    TypeRoot.DATE: 4,
    TypeRoot.TIME: 4,
    TypeRoot.TIMESTAMP: 8,
    TypeRoot.TIMESTAMP_LTZ: 8,
}
_COMPACT_DECIMAL = 18
_MOST_HASHES = 1 << 16
"""Distinct values that are counted one by one; of more the number is estimated, to about 0.4 %."""


def analyze_table(
    definition: TableDefinition,
    store: TableStore,
    columns: Sequence[str] | None,
    *,
    workers: Workers = side_by_side,
) -> Snapshot | None:
    """Compute statistics of the rows and commit them; see `Maintenance.analyze`."""
    scan = scan_of(definition, store, Query())
    statistics = statistics_of(scan, columns, workers=workers)
    if statistics is None:
        return None
    return committer_of(definition, store).analyze(
        statistics,
        user=new_user(definition.options),
        identifier=BATCH_COMMIT_IDENTIFIER,
        is_new_user=True,
    )


def statistics_of(
    scan: Scan, columns: Sequence[str] | None, *, workers: Workers = side_by_side
) -> Statistics | None:
    """Compute statistics in one pass over the rows.

    Parameters
    ----------
    scan
        Of all rows.
    columns
        Names; None: all columns of atomic types.
    workers
        What looks at the rows.

    Returns
    -------
    Statistics or None
        None when nothing was ever committed.

    Raises
    ------
    ColumnNotFoundError
        If a column does not exist.
    UnsupportedError
        If a column that is named has a nested type.
    """
    snapshot = scan.snapshot
    if snapshot is None:
        return None
    chosen = _chosen(scan, columns)
    narrowed = scan.narrowed([field.name for field in chosen], None)
    if not chosen:
        gathered = _Gathered(narrowed.count(), ())
    elif scan.fallback is not None:
        gathered = _gathered(narrowed.to_batches(), chosen)
    else:
        gathered = _by_workers(narrowed, chosen, workers)
    row_count = gathered.rows
    total = snapshot.total_record_count or 0
    size = sum(scan.plan_here().files["file_size_bytes"].to_pylist())
    return Statistics(
        snapshot_id=snapshot.id,
        schema_id=snapshot.schema_id,
        merged_record_count=row_count,
        merged_record_size=round(size * row_count / total) if total else 0,
        columns={one.column.name: one.statistics() for one in gathered.columns},
    )


def _by_workers(scan: Scan, chosen: Sequence[DataField], workers: Workers) -> _Gathered:
    """Look at splits in several places; what is known of a column is small, however many rows."""
    parts = in_parts(scan.plan().splits, workers.tasks)
    work = partial(_of_splits, plan=scan.read_plan(), file_io=scan.store.file_io, chosen=chosen)
    gathered = _Gathered(0, tuple(_Column(field) for field in chosen))
    for part in workers(work, parts, what=f"analyzing {scan.definition.name}", size=_rows_of):
        gathered.add(part)
    return gathered


def _of_splits(
    splits: Sequence[DataSplit], *, plan: ReadPlan, file_io: FileIO, chosen: Sequence[DataField]
) -> _Gathered:
    batches = (batch for split in splits for batch in read_split(split, plan, file_io))
    return _gathered(batches, chosen)


def _rows_of(splits: Sequence[DataSplit]) -> int:
    return sum(split.row_count for split in splits)


def _gathered(batches: Iterable[pa.RecordBatch], chosen: Sequence[DataField]) -> _Gathered:
    gathered = _Gathered(0, tuple(_Column(field) for field in chosen))
    for batch in batches:
        gathered.rows += batch.num_rows
        for column in gathered.columns:
            column.add(batch.column(column.column.name))
    return gathered


@dataclass(slots=True)
class _Gathered:
    """What is known of some rows; picklable."""

    rows: int
    columns: tuple[_Column, ...]

    def add(self, other: _Gathered) -> None:
        """Take what is known of other rows."""
        self.rows += other.rows
        for ours, theirs in zip(self.columns, other.columns, strict=True):
            ours.unite(theirs)


def _chosen(scan: Scan, columns: Sequence[str] | None) -> list[DataField]:
    fields = {field.name: field for field in scan.schema.fields}
    if columns is None:
        return [field for field in fields.values() if _is_counted(field)]
    for name in columns:
        if name not in fields:
            raise ColumnNotFoundError(name, scan.definition.name, list(fields))
        if not _is_counted(fields[name]):
            raise UnsupportedError(
                f"statistics of the column {name!r}",
                f"{scan.definition.name}: its type {fields[name].type} has no order and no length",
            )
    return [fields[name] for name in columns]


def _is_counted(column: DataField) -> bool:
    if not isinstance(column.type, AtomicType):
        return False
    root = column.type.root
    return root in _LENGTHS or root in TEXT_ROOTS or root in _BYTES or root is TypeRoot.DECIMAL


@dataclass(slots=True)
class _Column:
    """What is known of a column after the rows seen so far."""

    column: DataField
    nulls: int = 0
    values: int = 0
    length: int = 0
    longest: int = 0
    low: Any = None
    high: Any = None
    has_nan: bool = False
    hashes: npt.NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    """The smallest hashes, ascending."""

    @property
    def type(self) -> AtomicType:
        assert isinstance(self.column.type, AtomicType), "only such columns are counted"
        return self.column.type

    def add(self, column: pa.Array) -> None:
        """Take the rows of a batch."""
        self.nulls += column.null_count
        present = column.drop_null()
        if not len(present):
            return
        self.values += len(present)
        self._count(present)
        root = self.type.root
        if root in TEXT_ROOTS or root in _BYTES:
            measure = pc.utf8_length if root in TEXT_ROOTS else pc.binary_length
            lengths = measure(present)
            self.length += pc.sum(lengths).as_py()
            self.longest = max(self.longest, pc.max(lengths).as_py())
        else:
            self._widen(present)

    def unite(self, other: _Column) -> None:
        """Take what is known of other rows."""
        self.nulls += other.nulls
        self.values += other.values
        self.length += other.length
        self.longest = max(self.longest, other.longest)
        self.has_nan |= other.has_nan
        self._count_hashes(other.hashes)
        if other.low is not None:
            self._reach(other.low, other.high)

    def _count(self, present: pa.Array) -> None:
        with interrupts_held_back():
            import polars as pl  # noqa: PLC0415 - 0.1 s to import

        # Hashes first: finding unique values takes threads, which a forked process has not.
        with interrupts_held_back():  # polars makes a panic of one, or nothing
            hashes = pl.Series(pl.from_arrow(present)).hash(seed=0).to_arrow()
        self._count_hashes(numpy_values(pc.unique(hashes)))

    def _count_hashes(self, hashes: npt.NDArray[np.uint64]) -> None:
        self.hashes = distinct_integers(np.concatenate([self.hashes, hashes]))[:_MOST_HASHES]

    def _widen(self, present: pa.Array) -> None:
        if pa.types.is_floating(present.type):
            is_nan = pc.is_nan(present)
            self.has_nan |= bool(pc.any(is_nan).as_py())
            present = present.filter(pc.invert(is_nan))
            if not len(present):
                return
        ends = pc.min_max(present)
        self._reach(ends["min"], ends["max"])

    def _reach(self, low: pa.Scalar, high: pa.Scalar) -> None:
        self.low = low if self.low is None or low.as_py() < self.low.as_py() else self.low
        self.high = high if self.high is None or high.as_py() > self.high.as_py() else self.high

    def statistics(self) -> ColumnStatistics:
        """Return what is known; lengths of texts are in characters, of all others in bytes."""
        average, longest = self._lengths()
        low = self._text(self.low)
        high = "NaN" if self.has_nan else self._text(self.high)
        if self.has_nan and low is None:
            low = "NaN"
        return ColumnStatistics(
            id=self.column.id,
            distinct_count=self._distinct(),
            min=low,
            max=high,
            null_count=self.nulls,
            average_length=average,
            max_length=longest,
        )

    def _distinct(self) -> int:
        if len(self.hashes) < _MOST_HASHES:
            return len(self.hashes)
        return round((_MOST_HASHES - 1) / (float(self.hashes[-1]) / 2.0**64))

    def _lengths(self) -> tuple[int, int]:
        root = self.type.root
        if root is TypeRoot.DECIMAL:
            is_compact = (self.type.precision or 0) <= _COMPACT_DECIMAL
            return (8, 8) if is_compact else (16, 16)
        if root in _LENGTHS:
            return _LENGTHS[root], _LENGTHS[root]
        return math.ceil(self.length / self.values) if self.values else 0, self.longest

    def _text(self, value: pa.Scalar | None) -> str | None:
        if value is None:
            return None
        return display_texts(arrow_array([value.as_py()], to_arrow(self.type)), self.type)[0]
