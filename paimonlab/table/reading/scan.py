"""A read of a table: what, where, when. Nothing is read before it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from paimonlab.arrow_values import null_filled
from paimonlab.errors import UnsupportedError
from paimonlab.interrupts import whole_module
from paimonlab.progress import Progress
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import count_rows, limited, read_splits
from paimonlab.scan.plan import Plan, ScanOptions, ScanRequest
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.memories.scan_plans import planned
from paimonlab.table.plans.read import read_plan
from paimonlab.table.reading.changes import Changes
from paimonlab.table.reading.explain import Explain, explain
from paimonlab.table.reading.lazy_frames import lazy_frame
from paimonlab.table.reading.shown import shown_read
from paimonlab.table.store import TableStore

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


@dataclass(frozen=True, slots=True, kw_only=True)
class OfSnapshot:
    """A read of the rows of a snapshot, or of some of its files."""

    level: int | None = None
    """Only rows of files of this level; None: of all."""
    created_since_millis: int | None = None
    """Only files created at or after this time count, epoch milliseconds; None: all."""

    def plan_here(self, scan: Scan) -> Plan:
        """Find the files."""
        return self.planned(scan, limit=scan.limit)

    def planned(self, scan: Scan, *, limit: int | None) -> Plan:
        """Find the files that hold as many rows as are enough, or all: None."""
        definition, store = scan.definition, scan.store
        request = ScanRequest(
            snapshot=scan.snapshot,
            predicate=scan.predicate,
            limit=limit,
            created_since_millis=self.created_since_millis,
            level=self.level,
        )
        return planned(
            store.scan_plans,
            request,
            schema=scan.schema,
            schemas=store.schemas,
            manifests=store.manifests,
            options=definition.options.slice(ScanOptions),
            table=definition.name,
        )

    def plan(self, scan: Scan) -> Plan:
        """Return the plan of the whole read."""
        return scan.plan_here()

    def narrowed(self, _columns: Sequence[str], _predicate: Predicate | None) -> OfSnapshot:
        """Return the kind of a read with another condition."""
        return self

    def batches(self, scan: Scan, progress: Progress | None) -> pa.RecordBatchReader:
        """Stream the rows."""
        return read_splits(
            scan.plan_here().splits,
            scan.read_plan(),
            scan.store.file_io,
            limit=scan.limit,
            progress=progress,
        )

    def count(self, scan: Scan) -> int:
        """Count the rows, whatever the limit."""
        return count_rows(scan.plan_here().splits, scan.read_plan(), scan.store.file_io)


@dataclass(frozen=True, slots=True)
class OfFallback:
    """A read of the partitions of a branch that another branch does not have."""

    rows: OfSnapshot
    hidden_by: Scan
    """The read whose partitions go before those here."""

    def plan_here(self, scan: Scan) -> Plan:
        """Find the files."""
        return self.rows.planned(scan, limit=None).without(self.hidden_by.partitions)

    def plan(self, scan: Scan) -> Plan:
        """Return the plan of the whole read."""
        return self.rows.plan(scan)

    def narrowed(self, _columns: Sequence[str], _predicate: Predicate | None) -> OfFallback:
        """Return the kind of a read with another condition."""
        return self

    def batches(self, scan: Scan, progress: Progress | None) -> pa.RecordBatchReader:
        """Stream the rows."""
        return self.rows.batches(scan, progress)

    def count(self, scan: Scan) -> int:
        """Count the rows, whatever the limit."""
        return self.rows.count(scan)


@dataclass(frozen=True, slots=True)
class WithFallback:
    """A read of a snapshot, and of the partitions that only a fallback branch has."""

    rows: OfSnapshot
    fallback: Scan
    """The read of the other branch, of kind `OfFallback`."""

    def plan_here(self, scan: Scan) -> Plan:
        """Find the files of this branch alone."""
        return self.rows.plan_here(scan)

    def plan(self, scan: Scan) -> Plan:
        """Return the plan of the whole read, if all of it is in this branch."""
        if self.fallback.plan_here().splits:
            raise UnsupportedError(
                "a plan of two branches",
                f"{scan.definition.name} has scan.fallback-branch; read it as it is, or one branch",
            )
        return self.rows.plan(scan)

    def narrowed(self, columns: Sequence[str], predicate: Predicate | None) -> WithFallback:
        """Return the kind of a read with another condition."""
        return replace(self, fallback=self.fallback.narrowed(columns, predicate))

    def batches(self, scan: Scan, progress: Progress | None) -> pa.RecordBatchReader:
        """Stream the rows."""
        here = self.rows.batches(scan, progress)
        if not self.fallback.plan_here().splits:
            return here
        batches = self._both(here, scan.arrow_schema)
        if scan.limit is not None:
            batches = limited(batches, scan.limit)
        return pa.RecordBatchReader.from_batches(scan.arrow_schema, batches)

    def _both(self, here: pa.RecordBatchReader, schema: pa.Schema) -> Generator[pa.RecordBatch]:
        yield from here
        for batch in self.fallback.to_batches():
            # Columns of two branches may differ in whether they are nullable.
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)

    def count(self, scan: Scan) -> int:
        """Count the rows, whatever the limit."""
        return self.rows.count(scan) + self.fallback.count()


@dataclass(frozen=True, slots=True)
class OfChanges:
    """A read of new rows that ``incremental-…`` options ask for, instead of a snapshot."""

    changes: Changes

    def plan_here(self, scan: Scan) -> Plan:
        """Find the files of the newest snapshot, for those who explain the read."""
        return OfSnapshot().plan_here(scan)

    def plan(self, scan: Scan) -> Plan:
        """Refuse it: splits of changes are those of `Changes.splits`."""
        raise UnsupportedError(
            "a plan of changes", f"read {scan.definition.name} with table.changes, or as it is"
        )

    def narrowed(self, columns: Sequence[str], predicate: Predicate | None) -> OfChanges:
        """Return the kind of a read with another condition."""
        return OfChanges(replace(self.changes, columns=tuple(columns), predicate=predicate))

    def batches(self, scan: Scan, _progress: Progress | None) -> pa.RecordBatchReader:
        """Stream the rows."""
        return self.changes.inserts(limit=scan.limit)

    def count(self, scan: Scan) -> int:
        """Count the rows within the limit."""
        return sum(batch.num_rows for batch in self.batches(scan, None))


@dataclass(frozen=True, slots=True)
class OfCondition:
    """The rows of another read for which a condition is true that no file can be ruled out by."""

    inner: Scan
    """All columns that are asked for, and those of the condition; without a limit."""
    condition: Callable[[pa.RecordBatch], pa.Array]
    """Makes a truth value a row."""
    text: str
    """The condition in SQL."""

    @property
    def rows(self) -> OfSnapshot | None:
        """What the other read reads."""
        return self.inner._rows  # noqa: SLF001 - its own class

    def plan_here(self, _scan: Scan) -> Plan:
        """Find the files of the other read, for those who explain the read."""
        return self.inner.plan_here()

    def plan(self, scan: Scan) -> Plan:
        """Refuse it: whoever reads its splits would not know the condition."""
        raise UnsupportedError(
            f"a plan of {self.text!r}",
            f"read {scan.definition.name} with to_batches(), or ask for what files can be ruled "
            "out by: comparisons of columns with constants",
        )

    def narrowed(self, columns: Sequence[str], predicate: Predicate | None) -> ScanKind:
        """Return the kind of a read with another condition."""
        return self.inner.kind.narrowed(columns, predicate)

    def batches(self, scan: Scan, progress: Progress | None) -> pa.RecordBatchReader:
        """Stream the rows."""
        return pa.RecordBatchReader.from_batches(scan.arrow_schema, self._found(scan, progress))

    def _found(self, scan: Scan, progress: Progress | None) -> Iterator[pa.RecordBatch]:
        left = scan.limit
        for batch in self.inner.to_batches(progress=progress) if left != 0 else ():
            is_true = null_filled(self.condition(batch), False)
            found = batch.filter(is_true).select(list(scan.columns)).slice(0, left)
            if found.num_rows:
                yield found
            if left is not None:
                left -= found.num_rows
                if not left:
                    return

    def count(self, scan: Scan) -> int:
        """Count the rows."""
        asked = replace(scan, columns=())
        return sum(batch.num_rows for batch in self._found(asked, None))


ScanKind: TypeAlias = OfSnapshot | WithFallback | OfFallback | OfChanges | OfCondition


@dataclass(frozen=True)
class Scan:
    """Rows of a table at one snapshot: ``table.scan(…)``.

    Every method reads the same snapshot, however long it takes.
    """

    definition: TableDefinition = field(repr=False)
    store: TableStore = field(repr=False)
    snapshot: Snapshot | None
    """None: the table is empty."""
    schema: TableSchema
    """The schema the rows have: that of the snapshot when travelling, else the table's."""
    columns: tuple[str, ...]
    predicate: Predicate | None
    """Bound to ``schema``."""
    limit: int | None
    kind: ScanKind = field(default_factory=OfSnapshot)
    """Which rows of which commits."""

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types of the result."""
        whole = self.schema.arrow_schema
        return pa.schema([whole.field(name) for name in self.columns])

    @property
    def level(self) -> int | None:
        """Only rows of files of this level; None: of all."""
        return None if self._rows is None else self._rows.level

    @property
    def created_since_millis(self) -> int | None:
        """Only files created at or after this time count, epoch milliseconds; None: all."""
        return None if self._rows is None else self._rows.created_since_millis

    @property
    def changes(self) -> Changes | None:
        """What ``incremental-…`` options ask for instead of the rows of the snapshot."""
        return self.kind.changes if isinstance(self.kind, OfChanges) else None

    @property
    def fallback(self) -> Scan | None:
        """The read of another branch that has the partitions which are missing here."""
        return self.kind.fallback if isinstance(self.kind, WithFallback) else None

    @property
    def hidden_by(self) -> Scan | None:
        """Of a fallback: the read whose partitions go before those here."""
        return self.kind.hidden_by if isinstance(self.kind, OfFallback) else None

    @property
    def _rows(self) -> OfSnapshot | None:
        if isinstance(self.kind, OfSnapshot):
            return self.kind
        return None if isinstance(self.kind, OfChanges) else self.kind.rows

    @cached_property
    def _plan(self) -> Plan:
        return self.kind.plan_here(self)

    @cached_property
    def partitions(self) -> frozenset[bytes]:
        """Partitions with rows, as serialised BinaryRows, whatever the condition is."""
        whole = self.narrowed(self.columns, None)
        rows: list[bytes] = whole.plan_here().files["partition"].unique().to_pylist()
        return frozenset(rows)

    @property
    def is_one_snapshot(self) -> bool:
        """Whether all files of a snapshot are read, and no others."""
        return isinstance(self.kind, OfSnapshot) and self.kind.created_since_millis is None

    def narrowed(self, columns: Sequence[str], predicate: Predicate | None) -> Scan:
        """Return the read of all rows for which another condition is true.

        Parameters
        ----------
        columns
            Names in the order wanted.
        predicate
            Bound to ``schema``; None: all rows.
        """
        return replace(
            self,
            columns=tuple(columns),
            predicate=predicate,
            limit=None,
            kind=self.kind.narrowed(columns, predicate),
        )

    def plan(self) -> Plan:
        """Find the files that answer the read, as splits that can be read in parallel.

        Raises
        ------
        UnsupportedError
            If changes are read: their splits are those of `Changes.splits`; or if a fallback
            branch has rows: splits of two branches are not read alike.
        """
        return self.kind.plan(self)

    def plan_here(self) -> Plan:
        """Find the files of this branch alone, without those of its fallback."""
        return self._plan

    def read_plan(self) -> ReadPlan:
        """All that reading a split takes, as one picklable value."""
        return read_plan(
            self.definition,
            self.store,
            self.schema,
            self.columns,
            self.predicate,
            snapshot=self.snapshot,
        )

    def to_batches(self, *, progress: Progress | None = None) -> pa.RecordBatchReader:
        """Stream the rows in bounded memory; their order means nothing.

        Parameters
        ----------
        progress
            Is called with how many ``files`` are done, of how many, in any thread; not for a
            read of changes or of a fallback branch.
        """
        return self.kind.batches(self, progress)

    def to_arrow(self) -> pa.Table:
        """Read all rows; their order means nothing."""
        return self.to_batches().read_all()

    def to_pandas(self) -> pd.DataFrame:
        """Read all rows into pandas, which turns whole numbers with nulls into floats."""
        whole_module("pandas")  # which pyarrow imports
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Read all rows into polars, without a copy of most columns."""
        return whole_module("polars").from_arrow(self.to_arrow())

    def to_polars_lazy(self) -> pl.LazyFrame:
        """Return a lazy frame of polars, whose queries read the columns and rows they need.

        Its conditions are evaluated on what was read: those that can rule out files belong in
        the ``where`` of the scan.
        """
        return lazy_frame(self.arrow_schema, self._projected)

    def _projected(self, columns: Sequence[str] | None, limit: int | None) -> pa.RecordBatchReader:
        wanted = self
        if columns is not None and self.is_one_snapshot:
            wanted = replace(self.narrowed(columns, self.predicate), limit=self.limit)
        if limit is not None:
            wanted = replace(wanted, limit=limit if self.limit is None else min(limit, self.limit))
        return wanted.to_batches()

    def count(self) -> int:
        """Count the rows, reading no more than that takes."""
        rows = self.kind.count(self)
        return rows if self.limit is None else min(rows, self.limit)

    def explain(self) -> Explain:
        """Tell what was pruned and what will be read."""
        return explain(
            self.plan_here(), self.schema, self.columns, self.predicate, table=self.definition.name
        )

    def __repr__(self) -> str:
        at = "empty" if self.snapshot is None else f"at snapshot {self.snapshot.id}"
        what = f"Scan of {self.definition.name}, {at}"
        where = self.kind.text if isinstance(self.kind, OfCondition) else self.predicate
        return shown_read(what, self.columns, where, self.limit)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Stream the rows to anything that speaks Arrow."""
        return self.to_batches().__arrow_c_stream__(requested_schema)
