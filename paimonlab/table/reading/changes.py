"""A read of changes: ``table.changes(…)``."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from paimonlab.errors import UnsupportedError
from paimonlab.interrupts import whole_module
from paimonlab.read.changed_rows import change_schema, read_changes, read_inserts
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.change_splits import ChangeRequest, ChangeSplit, moves_keys
from paimonlab.scan.changed_files import ChangeKind, file_changes
from paimonlab.scan.differences import state_changes
from paimonlab.scan.options import ScanOptions
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.read import read_plan
from paimonlab.table.reading.incremental import ChangeRange
from paimonlab.table.reading.shown import shown_read
from paimonlab.table.reading.skipped_files import refuse_skipping
from paimonlab.table.store import TableStore

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Changes:
    """Rows that commits changed, each with its kind.

    Examples
    --------
    ::

        table.changes(3, 5).to_arrow()  # rowkind, then the columns of the table
    """

    definition: TableDefinition = field(repr=False)
    store: TableStore = field(repr=False)
    range: ChangeRange
    """The commits."""
    schema: TableSchema
    """The schema the rows have: that of the table."""
    columns: tuple[str, ...]
    predicate: Predicate | None
    """Bound to ``schema``."""

    def __repr__(self) -> str:
        ids = [snapshot.id for snapshot in self.range.snapshots]
        of = f"of snapshots {ids[0]} to {ids[-1]}" if ids else "none"
        what = f"Changes of {self.definition.name}, {of}"
        return shown_read(what, self.columns, self.predicate)

    @property
    def arrow_schema(self) -> pa.Schema:
        """``rowkind`` (``+I``, ``-U``, ``+U``, ``-D``), then the columns."""
        return change_schema(self.read_plan())

    @cached_property
    def splits(self) -> list[ChangeSplit]:
        """The files that hold the changes."""
        if not self.range.snapshots:
            return []
        definition, store = self.definition, self.store
        refuse_skipping(definition, "changes")
        options = definition.options.slice(ScanOptions)
        request = ChangeRequest(
            schema=self.schema,
            predicate=self.predicate,
            options=options,
            skips_level_0=bool(self.schema.primary_keys) and options.skips_level_0,
        )
        if self.range.kind is ChangeKind.DIFF:
            self._check_keys()
            after = self.range.snapshots[-1]
            return state_changes(self.range.before, after, request, store.schemas, store.manifests)
        return file_changes(
            self.range.snapshots, self.range.kind, request, store.schemas, store.manifests
        )

    def _check_keys(self) -> None:
        """Refuse to compare a state of before the table got other key columns, by replacing it.

        Raises
        ------
        UnsupportedError
            If one of the two is such a state: its rows have no key among the columns of today.
        """
        states = [state for state in (self.range.before, *self.range.snapshots) if state]
        for state in states:
            if _key_ids(self.store.schemas.get(state.schema_id)) != _key_ids(self.schema):
                raise UnsupportedError(
                    f"a difference from or to snapshot {state.id}",
                    f"{self.definition.name} had other key columns then: it was replaced",
                )

    def read_plan(self) -> ReadPlan:
        """All that reading a split takes, as one picklable value."""
        newest = self.range.snapshots[-1] if self.range.snapshots else None
        return read_plan(
            self.definition, self.store, self.schema, self.columns, self.predicate, snapshot=newest
        )

    def to_batches(self) -> pa.RecordBatchReader:
        """Stream the changes in bounded memory.

        Their order means nothing, except where keys may move between partitions: there it
        is that of `to_arrow`.
        """
        threads = 1 if moves_keys(self.schema) else None
        return read_changes(self.splits, self.read_plan(), self.store.file_io, threads=threads)

    def to_arrow(self) -> pa.Table:
        """Read all changes; those of a key in the order in which they are to be applied."""
        reader = read_changes(self.splits, self.read_plan(), self.store.file_io, threads=1)
        return reader.read_all()

    def to_pandas(self) -> pd.DataFrame:
        """Read all changes into pandas."""
        whole_module("pandas")  # which pyarrow imports
        return self.to_arrow().to_pandas()

    def count(self) -> int:
        """Count the changes, ``-U`` and ``-D`` among them."""
        return sum(batch.num_rows for batch in self.to_batches())

    def inserts(self, *, limit: int | None = None) -> pa.RecordBatchReader:
        """Stream the new rows alone, without kinds, as a batch query sees changes."""
        return read_inserts(self.splits, self.read_plan(), self.store.file_io, limit=limit)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Stream the changes to anything that speaks Arrow."""
        return self.to_batches().__arrow_c_stream__(requested_schema)


def _key_ids(schema: TableSchema) -> list[int]:
    return [field.id for field in schema.fields if field.name in schema.primary_keys]
