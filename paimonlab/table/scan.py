"""A read of a table: what, where, when. Nothing is read before it is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import count_rows, read_splits
from paimonlab.scan.plan import Plan, ScanOptions, ScanRequest, plan
from paimonlab.spec.predicate import Predicate
from paimonlab.spec.schema import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.explain import Explain, explain

if TYPE_CHECKING:
    import pandas as pd

    from paimonlab.table.parts import TableParts


@dataclass(frozen=True)
class Scan:
    """Rows of a table at one snapshot: ``table.scan(…)``.

    Every method reads the same snapshot, however long it takes.
    """

    parts: TableParts = field(repr=False)
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

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types of the result."""
        whole = self.schema.arrow_schema
        return pa.schema([whole.field(name) for name in self.columns])

    @cached_property
    def _plan(self) -> Plan:
        request = ScanRequest(
            snapshot=self.snapshot, predicate=self.predicate, limit=self.limit, level=self.level
        )
        parts = self.parts
        return plan(
            request,
            schema=self.schema,
            schemas=parts.schemas,
            manifests=parts.manifests,
            options=parts.options.slice(ScanOptions),
            table=parts.name,
        )

    def plan(self) -> Plan:
        """Find the files that answer the read, as splits that can be read in parallel."""
        return self._plan

    def read_plan(self) -> ReadPlan:
        """All that reading a split takes, as one picklable value."""
        return self.parts.read_plan(
            self.schema, self.columns, self.predicate, snapshot=self.snapshot
        )

    def to_batches(self) -> pa.RecordBatchReader:
        """Stream the rows in bounded memory; their order means nothing."""
        return read_splits(
            self.plan().splits,
            self.read_plan(),
            self.parts.file_io,
            limit=self.limit,
        )

    def to_arrow(self) -> pa.Table:
        """Read all rows; their order means nothing."""
        return self.to_batches().read_all()

    def to_pandas(self) -> pd.DataFrame:
        """Read all rows into pandas, which turns whole numbers with nulls into floats."""
        return self.to_arrow().to_pandas()

    def count(self) -> int:
        """Count the rows, reading no more than that takes."""
        rows = count_rows(self.plan().splits, self.read_plan(), self.parts.file_io)
        return rows if self.limit is None else min(rows, self.limit)

    def explain(self) -> Explain:
        """Tell what was pruned and what will be read."""
        return explain(
            self.plan(), self.schema, self.columns, self.predicate, table=self.parts.name
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Stream the rows to anything that speaks Arrow."""
        return self.to_batches().__arrow_c_stream__(requested_schema)
