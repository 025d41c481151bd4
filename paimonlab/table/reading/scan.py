"""A read of a table: what, where, when. Nothing is read before it is asked for."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from paimonlab.errors import UnsupportedError
from paimonlab.interrupts import whole_module
from paimonlab.progress import Progress
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import count_rows, limited, read_splits
from paimonlab.scan.plan import Plan, ScanOptions, ScanRequest, plan
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.read import read_plan
from paimonlab.table.reading.changes import Changes
from paimonlab.table.reading.explain import Explain, explain
from paimonlab.table.store import TableStore

if TYPE_CHECKING:
    import pandas as pd


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
    level: int | None = None
    """Only rows of files of this level; None: of all."""
    changes: Changes | None = None
    """What ``incremental-…`` options ask for instead of the rows of the snapshot."""
    created_since_millis: int | None = None
    """Only files made at or after this time count, epoch milliseconds; None: all."""
    fallback: Scan | None = None
    """The read of another branch that has the partitions which are missing here."""
    hidden_by: Scan | None = None
    """Of a fallback: the read whose partitions go before those here."""

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types of the result."""
        whole = self.schema.arrow_schema
        return pa.schema([whole.field(name) for name in self.columns])

    @cached_property
    def _plan(self) -> Plan:
        request = ScanRequest(
            snapshot=self.snapshot,
            predicate=self.predicate,
            limit=None if self.hidden_by is not None else self.limit,
            created_since_millis=self.created_since_millis,
            level=self.level,
        )
        definition, store = self.definition, self.store
        found = plan(
            request,
            schema=self.schema,
            schemas=store.schemas,
            manifests=store.manifests,
            options=definition.options.slice(ScanOptions),
            table=definition.name,
        )
        return found if self.hidden_by is None else found.without(self.hidden_by.partitions)

    @cached_property
    def partitions(self) -> frozenset[bytes]:
        """Partitions with rows, as serialised BinaryRows, whatever the condition is."""
        whole = self.narrowed(self.columns, None)
        found: list[bytes] = whole.plan_here().files["partition"].unique().to_pylist()
        return frozenset(found)

    @property
    def is_one_snapshot(self) -> bool:
        """Whether all files of a snapshot are read, and no others."""
        parts = (self.changes, self.created_since_millis, self.fallback, self.hidden_by)
        return all(part is None for part in parts)

    def narrowed(self, columns: Sequence[str], predicate: Predicate | None) -> Scan:
        """Return the read of all rows for which another condition is true.

        Parameters
        ----------
        columns
            Names in the order wanted.
        predicate
            Bound to ``schema``; None: all rows.
        """
        changes = self.changes
        if changes is not None:
            changes = replace(changes, columns=tuple(columns), predicate=predicate)
        fallback = self.fallback and self.fallback.narrowed(columns, predicate)
        return replace(
            self,
            columns=tuple(columns),
            predicate=predicate,
            limit=None,
            changes=changes,
            fallback=fallback,
        )

    def plan(self) -> Plan:
        """Find the files that answer the read, as splits that can be read in parallel.

        Raises
        ------
        UnsupportedError
            If changes are read: their splits are those of `Changes.splits`; or if a fallback
            branch has rows: splits of two branches are not read alike.
        """
        if self.changes is not None:
            raise UnsupportedError(
                "a plan of changes", f"read {self.definition.name} with table.changes, or as it is"
            )
        if self.fallback is not None and self.fallback.plan_here().splits:
            raise UnsupportedError(
                "a plan of two branches",
                f"{self.definition.name} has scan.fallback-branch; read it as it is, or one branch",
            )
        return self._plan

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
            Told how many ``files`` are done, of how many, in any thread; a read of changes,
            or of a fallback branch, tells nothing.
        """
        if self.changes is not None:
            return self.changes.inserts(limit=self.limit)
        here = read_splits(
            self.plan_here().splits,
            self.read_plan(),
            self.store.file_io,
            limit=self.limit,
            progress=progress,
        )
        if self.fallback is None or not self.fallback.plan_here().splits:
            return here
        batches = self._with_fallback(here, self.fallback)
        if self.limit is not None:
            batches = limited(batches, self.limit)
        return pa.RecordBatchReader.from_batches(self.arrow_schema, batches)

    def _with_fallback(
        self, here: pa.RecordBatchReader, fallback: Scan
    ) -> Generator[pa.RecordBatch]:
        yield from here
        for batch in fallback.to_batches():
            # Columns of two branches may differ in whether they are nullable.
            yield pa.RecordBatch.from_arrays(batch.columns, schema=self.arrow_schema)

    def to_arrow(self) -> pa.Table:
        """Read all rows; their order means nothing."""
        return self.to_batches().read_all()

    def to_pandas(self) -> pd.DataFrame:
        """Read all rows into pandas, which turns whole numbers with nulls into floats."""
        whole_module("pandas")  # which pyarrow imports
        return self.to_arrow().to_pandas()

    def count(self) -> int:
        """Count the rows, reading no more than that takes."""
        if self.changes is not None:
            return sum(batch.num_rows for batch in self.to_batches())
        rows = count_rows(self.plan_here().splits, self.read_plan(), self.store.file_io)
        if self.fallback is not None:
            rows += self.fallback.count()
        return rows if self.limit is None else min(rows, self.limit)

    def explain(self) -> Explain:
        """Tell what was pruned and what will be read."""
        return explain(
            self.plan_here(), self.schema, self.columns, self.predicate, table=self.definition.name
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Stream the rows to anything that speaks Arrow."""
        return self.to_batches().__arrow_c_stream__(requested_schema)
