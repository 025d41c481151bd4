"""A read of a table: what, where, when. Nothing is read before it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

import pyarrow as pa

from paimonlab.errors import habits
from paimonlab.interrupts import whole_module
from paimonlab.progress import Progress
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.plan import Plan
from paimonlab.spec.predicates.predicate import Predicate, all_of
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table import reading
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.read import read_plan
from paimonlab.table.reading.conditions import bound
from paimonlab.table.reading.lazy_frames import lazy_frame
from paimonlab.table.reading.scan_kinds import (
    OfChanges,
    OfCondition,
    OfFallback,
    OfSnapshot,
    ScanKind,
    WithFallback,
)
from paimonlab.table.reading.shown import shown_read
from paimonlab.table.reading.skipped_files import SkipOptions
from paimonlab.table.store import TableStore

if TYPE_CHECKING:
    import duckdb
    import ibis.expr.types as ir
    import pandas as pd
    import polars as pl
    import pyarrow.dataset as ds  # noqa: TID251 - its type alone

    from paimonlab.table.reading.changes import Changes
    from paimonlab.table.reading.explain import Explain


@dataclass(frozen=True)
class Scan(
    habits.FamiliarNames,
    habits.NotSequence,
    what="a scan",
    instead=habits.READ,
    called="a scan",
    length="count()",
    rows="to_batches()",
    part="table.scan([{!r}])",
):
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
    row_limit: int | None
    """At most so many rows; None: all."""
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
        return None if self.rows_read is None else self.rows_read.level

    @property
    def created_since_millis(self) -> int | None:
        """Only files created at or after this time count, epoch milliseconds; None: all."""
        return None if self.rows_read is None else self.rows_read.created_since_millis

    @property
    def changes(self) -> Changes | None:
        """What ``incremental-…`` options ask for instead of the rows of the snapshot."""
        return self.kind.changes if isinstance(self.kind, OfChanges) else None

    @property
    def fallback(self) -> Scan | None:
        """The read of the branch that has the partitions missing here."""
        return cast("Scan", self.kind.fallback) if isinstance(self.kind, WithFallback) else None

    @property
    def hidden_by(self) -> Scan | None:
        """Of a fallback: the read whose partitions go before those here."""
        return cast("Scan", self.kind.hidden_by) if isinstance(self.kind, OfFallback) else None

    @property
    def rows_read(self) -> OfSnapshot | None:
        """What is read of a snapshot; None: changes are read."""
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
        kind = self.kind
        skips = self.definition.options.slice(SkipOptions).skips
        return isinstance(kind, OfSnapshot) and kind == OfSnapshot(level=kind.level) and not skips

    def narrowed(self, columns: Sequence[str], predicate: Predicate | None) -> Self:
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
            row_limit=None,
            kind=self.kind.narrowed(columns, predicate),
        )

    def selecting(self, columns: Sequence[str]) -> Self:
        """Return the read of other columns of the same rows.

        Parameters
        ----------
        columns
            Names in the order wanted.
        """
        return replace(self, columns=tuple(columns), kind=self.kind.selecting(columns))

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
            Called with the number of ``files`` done and their total, in any thread; not for a
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

        Conditions that compare columns with constants rule out files; polars evaluates all of
        them on what was read.
        """
        return lazy_frame(self.arrow_schema, self._projected)

    def to_dataset(self) -> ds.Dataset:
        """Return a dataset of pyarrow, which engines ask for the columns and rows they need."""
        return reading.dataset.ScanDataset(self)

    @habits.arguments(habits.DUCKDB)
    def to_duckdb(
        self, connection: duckdb.DuckDBPyConnection | None = None, *, name: str | None = None
    ) -> duckdb.DuckDBPyRelation:
        """Return a relation of DuckDB, whose queries read the columns and rows they need.

        Parameters
        ----------
        connection
            Where it is made; None: a new one, in memory.
        name
            What SQL of this connection calls it; None: it has no name.

        Examples
        --------
        ::

            orders.scan().to_duckdb(name="orders").query("o", "SELECT sum(amount) FROM orders")
        """
        return reading.dataset.relation(self, connection, name)

    def to_ibis(self, backend: Any = None, *, name: str | None = None) -> ir.Table:
        """Return a table of Ibis, whose expressions read the columns and rows they need.

        Parameters
        ----------
        backend
            Of ``ibis.duckdb``, which computes them: tables that are joined have the same one,
            ``a.get_backend()``. None: a new one, in memory.
        name
            Of the table there, which replaces one of this name; None: that of this table, with a
            number after it if there is one.

        Raises
        ------
        ModuleNotFoundError
            If Ibis is not installed.
        UnsupportedError
            If the backend is not DuckDB.

        Examples
        --------
        ::

            orders = table.scan().to_ibis()
            orders.group_by("city").agg(total=orders.amount.sum()).to_pyarrow()
        """
        return reading.dataset.ibis_table(self, backend, name)

    def _projected(
        self, columns: Sequence[str] | None, limit: int | None, where: pl.Expr | None
    ) -> pa.RecordBatchReader:
        wanted = self if columns is None else self.selecting(columns)
        if where is not None and self.row_limit is None and isinstance(self.kind, OfSnapshot):
            known = bound(
                reading.polars_trees.predicate_of(
                    reading.polars_trees.tree_of(where), self.arrow_schema
                )[0],
                self.schema.fields,
                self.definition.name,
            )
            both = [one for one in (self.predicate, known) if one is not None]
            wanted = wanted.narrowed(wanted.columns, all_of(*both) if both else None)
        if limit is not None:
            wanted = replace(
                wanted, row_limit=limit if self.row_limit is None else min(limit, self.row_limit)
            )
        return wanted.to_batches()

    def count(self) -> int:
        """Count the rows, reading no more than that takes."""
        rows = self.kind.count(self)
        return rows if self.row_limit is None else min(rows, self.row_limit)

    def explain(self) -> Explain:
        """Tell what was pruned and what will be read."""
        return reading.explain.explain(
            self.plan_here(), self.schema, self.columns, self.predicate, table=self.definition.name
        )

    def __repr__(self) -> str:
        at = "empty" if self.snapshot is None else f"at snapshot {self.snapshot.id}"
        what = f"Scan of {self.definition.name}, {at}"
        where = self.kind.text if isinstance(self.kind, OfCondition) else self.predicate
        return shown_read(what, self.columns, where, self.row_limit)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Stream the rows to anything that speaks Arrow."""
        return self.to_batches().__arrow_c_stream__(requested_schema)
