"""Which rows of which commits a read is of: how its files are found, streamed and counted."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeAlias

import pyarrow as pa
from msgspec import Struct, structs

from paimonlab.errors import UnsupportedError
from paimonlab.progress import Progress
from paimonlab.read.splits import count_rows, limited, read_splits
from paimonlab.scan.plan import Plan, ScanOptions, ScanRequest
from paimonlab.scan.sampling import FileSample
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.table.memories.scan_plans import planned
from paimonlab.table.reading.skipped_files import SkipOptions, without_damaged

if TYPE_CHECKING:
    from paimonlab.read.read_plan import ReadPlan
    from paimonlab.spec.schema.definition import TableSchema
    from paimonlab.spec.snapshot import Snapshot
    from paimonlab.table.definition import TableDefinition
    from paimonlab.table.reading.changes import Changes
    from paimonlab.table.reading.row_conditions import Condition
    from paimonlab.table.store import TableStore


class Read(Protocol):
    """The read that a kind is of: a `Scan`, as its kinds know it."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def definition(self) -> TableDefinition:
        """The table."""
        ...

    @property
    def store(self) -> TableStore:
        """Its files."""
        ...

    @property
    def snapshot(self) -> Snapshot | None:
        """None: the table is empty."""
        ...

    @property
    def schema(self) -> TableSchema:
        """The schema the rows have."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that are read."""
        ...

    @property
    def predicate(self) -> Predicate | None:
        """Bound to ``schema``; None: all rows."""
        ...

    @property
    def row_limit(self) -> int | None:
        """At most so many rows; None: all."""
        ...

    @property
    def kind(self) -> ScanKind:
        """Which rows of which commits."""
        ...

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types of the result."""
        ...

    @property
    def partitions(self) -> frozenset[bytes]:
        """Partitions with rows."""
        ...

    @property
    def rows_read(self) -> OfSnapshot | None:
        """What is read of a snapshot; None: changes are read."""
        ...

    def plan_here(self) -> Plan:
        """Find the files of this branch alone."""
        ...

    def read_plan(self) -> ReadPlan:
        """Return all that reading a split takes."""
        ...

    def narrowed(self, columns: Sequence[str], predicate: Predicate | None) -> Self:
        """Return the read of rows for which another condition is true."""
        ...

    def selecting(self, columns: Sequence[str]) -> Self:
        """Return the read of other columns of the same rows."""
        ...

    def to_batches(self, *, progress: Progress | None = None) -> pa.RecordBatchReader:
        """Stream the rows."""
        ...

    def count(self) -> int:
        """Count the rows."""
        ...


class OfSnapshot(Struct, frozen=True, kw_only=True):
    """A read of the rows of a snapshot, or of some of its files."""

    level: int | None = None
    """Only rows of files of this level; None: of all."""
    created_since_millis: int | None = None
    """Only files created at or after this time count, epoch milliseconds; None: all."""
    sample: FileSample | None = None
    """Only files that stand for all; None: all."""

    def plan_here(self, scan: Read) -> Plan:
        """Find the files."""
        return self.planned(scan, limit=scan.row_limit)

    def planned(self, scan: Read, *, limit: int | None) -> Plan:
        """Find the files that hold as many rows as are enough, or all: None."""
        definition, store = scan.definition, scan.store
        request = ScanRequest(
            snapshot=scan.snapshot,
            predicate=scan.predicate,
            limit=limit,
            created_since_millis=self.created_since_millis,
            level=self.level,
        )
        found = planned(
            store.scan_plans,
            request,
            schema=scan.schema,
            schemas=store.schemas,
            manifests=store.manifests,
            options=definition.options.slice(ScanOptions),
            table=definition.name,
        )
        if definition.options.slice(SkipOptions).skips:
            found = without_damaged(found, definition, scan.read_plan(), store.file_io)
        return found if self.sample is None else found.sampled(self.sample)

    def plan(self, scan: Read) -> Plan:
        """Return the plan of the whole read."""
        return scan.plan_here()

    def narrowed(self, _columns: Sequence[str], _predicate: Predicate | None) -> OfSnapshot:
        """Return the kind of a read with another condition."""
        return self

    def selecting(self, _columns: Sequence[str]) -> OfSnapshot:
        """Return the kind of a read of other columns of the same rows."""
        return self

    def batches(self, scan: Read, progress: Progress | None) -> pa.RecordBatchReader:
        """Stream the rows."""
        return read_splits(
            scan.plan_here().splits,
            scan.read_plan(),
            scan.store.file_io,
            limit=scan.row_limit,
            progress=progress,
        )

    def count(self, scan: Read) -> int:
        """Count the rows, whatever the limit."""
        if scan.predicate is not None:
            return count_rows(scan.plan_here().splits, scan.read_plan(), scan.store.file_io)
        known, unknown = scan.plan_here().counted()
        if not unknown:
            return known
        return known + count_rows(unknown, scan.read_plan(), scan.store.file_io)


class OfFallback(Struct, frozen=True):
    """A read of the partitions of a branch that another branch does not have."""

    rows: OfSnapshot
    hidden_by: Read
    """The read whose partitions go before those here."""

    def plan_here(self, scan: Read) -> Plan:
        """Find the files."""
        return self.rows.planned(scan, limit=None).without(self.hidden_by.partitions)

    def plan(self, scan: Read) -> Plan:
        """Return the plan of the whole read."""
        return self.rows.plan(scan)

    def narrowed(self, _columns: Sequence[str], _predicate: Predicate | None) -> OfFallback:
        """Return the kind of a read with another condition."""
        return self

    def selecting(self, _columns: Sequence[str]) -> OfFallback:
        """Return the kind of a read of other columns of the same rows."""
        return self

    def batches(self, scan: Read, progress: Progress | None) -> pa.RecordBatchReader:
        """Stream the rows."""
        return self.rows.batches(scan, progress)

    def count(self, scan: Read) -> int:
        """Count the rows, whatever the limit."""
        return self.rows.count(scan)


class WithFallback(Struct, frozen=True):
    """A read of a snapshot, and of the partitions that only a fallback branch has."""

    rows: OfSnapshot
    fallback: Read
    """The read of the other branch, of kind `OfFallback`."""

    def plan_here(self, scan: Read) -> Plan:
        """Find the files of this branch alone."""
        return self.rows.plan_here(scan)

    def plan(self, scan: Read) -> Plan:
        """Return the plan of the whole read, if all of it is in this branch."""
        if self.fallback.plan_here().splits:
            raise UnsupportedError(
                "a plan of two branches",
                f"{scan.definition.name} has scan.fallback-branch; read it as it is, or one branch",
            )
        return self.rows.plan(scan)

    def narrowed(self, columns: Sequence[str], predicate: Predicate | None) -> WithFallback:
        """Return the kind of a read with another condition."""
        return structs.replace(self, fallback=self.fallback.narrowed(columns, predicate))

    def selecting(self, columns: Sequence[str]) -> WithFallback:
        """Return the kind of a read of other columns of the same rows."""
        return structs.replace(self, fallback=self.fallback.selecting(columns))

    def batches(self, scan: Read, progress: Progress | None) -> pa.RecordBatchReader:
        """Stream the rows."""
        here = self.rows.batches(scan, progress)
        if not self.fallback.plan_here().splits:
            return here
        batches = self._both(here, scan.arrow_schema)
        if scan.row_limit is not None:
            batches = limited(batches, scan.row_limit)
        return pa.RecordBatchReader.from_batches(scan.arrow_schema, batches)

    def _both(self, here: pa.RecordBatchReader, schema: pa.Schema) -> Generator[pa.RecordBatch]:
        yield from here
        for batch in self.fallback.to_batches():
            # Columns of two branches may differ in whether they are nullable.
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)

    def count(self, scan: Read) -> int:
        """Count the rows, whatever the limit."""
        return self.rows.count(scan) + self.fallback.count()


class OfChanges(Struct, frozen=True):
    """A read of new rows that ``incremental-…`` options ask for, instead of a snapshot."""

    changes: Changes

    def plan_here(self, scan: Read) -> Plan:
        """Find the files of the newest snapshot, for those who explain the read."""
        return OfSnapshot().plan_here(scan)

    def plan(self, scan: Read) -> Plan:
        """Refuse it: splits of changes are those of `Changes.splits`."""
        raise UnsupportedError(
            "a plan of changes", f"read {scan.definition.name} with table.changes, or as it is"
        )

    def narrowed(self, columns: Sequence[str], predicate: Predicate | None) -> OfChanges:
        """Return the kind of a read with another condition."""
        return OfChanges(replace(self.changes, columns=tuple(columns), predicate=predicate))

    def selecting(self, columns: Sequence[str]) -> OfChanges:
        """Return the kind of a read of other columns of the same rows."""
        return OfChanges(replace(self.changes, columns=tuple(columns)))

    def batches(self, scan: Read, _progress: Progress | None) -> pa.RecordBatchReader:
        """Stream the rows."""
        return self.changes.inserts(limit=scan.row_limit)

    def count(self, scan: Read) -> int:
        """Count the rows within the limit."""
        return sum(batch.num_rows for batch in self.batches(scan, None))


class OfCondition(Struct, frozen=True):
    """The rows of another read for which a condition is true that no file can be ruled out by."""

    inner: Read
    """All columns that are asked for, and those of the condition; without a limit."""
    condition: Condition

    @property
    def text(self) -> str:
        """The condition in SQL."""
        return self.condition.text

    @property
    def rows(self) -> OfSnapshot | None:
        """What the other read reads."""
        return self.inner.rows_read

    def plan_here(self, _scan: Read) -> Plan:
        """Find the files of the other read, for those who explain the read."""
        return self.inner.plan_here()

    def plan(self, scan: Read) -> Plan:
        """Refuse it: whoever reads its splits would not know the condition."""
        raise UnsupportedError(
            f"a plan of {self.text!r}",
            f"read {scan.definition.name} with to_batches(), or ask for what files can be ruled "
            "out by: comparisons of columns with constants",
        )

    def narrowed(self, columns: Sequence[str], predicate: Predicate | None) -> ScanKind:
        """Return the kind of a read with another condition."""
        return self.inner.kind.narrowed(columns, predicate)

    def selecting(self, columns: Sequence[str]) -> OfCondition:
        """Return the kind of a read of other columns of the same rows."""
        asked = self.condition.columns.difference(columns)
        return structs.replace(self, inner=self.inner.selecting([*columns, *sorted(asked)]))

    def batches(self, scan: Read, progress: Progress | None) -> pa.RecordBatchReader:
        """Stream the rows."""
        return pa.RecordBatchReader.from_batches(scan.arrow_schema, self._found(scan, progress))

    def _found(self, scan: Read, progress: Progress | None) -> Iterator[pa.RecordBatch]:
        left = scan.row_limit
        for batch in self.inner.to_batches(progress=progress) if left != 0 else ():
            is_true = self.condition.is_true(batch)
            found = batch.filter(is_true).select(list(scan.columns)).slice(0, left)
            if found.num_rows:
                yield found
            if left is not None:
                left -= found.num_rows
                if not left:
                    return

    def count(self, scan: Read) -> int:
        """Count the rows."""
        asked = replace(scan, columns=())
        return sum(batch.num_rows for batch in self._found(asked, None))


ScanKind: TypeAlias = OfSnapshot | WithFallback | OfFallback | OfChanges | OfCondition
