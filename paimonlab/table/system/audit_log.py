"""``$audit_log`` and ``$binlog``: rows with what happened to them.

A read of the present state gives every key's row with the kind it was written with, rows that
are deleted (``-D``) among them as long as no compaction has dropped them. A read of changes
(``incremental-between`` and the like) gives each change. ``$binlog`` has a list of every column:
one value, or in a read of changes those before and after an update.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.system.AuditLogTable``, ``BinlogTable``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import structs

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.interrupts import whole_module
from paimonlab.read.changed_rows import read_change_split
from paimonlab.read.splits import read_splits
from paimonlab.spec.predicates.predicate import Predicate, all_of, evaluate, split_and
from paimonlab.spec.predicates.predicate import columns as columns_of
from paimonlab.spec.row_kind import SYMBOLS
from paimonlab.spec.types.arrow import from_arrow
from paimonlab.spec.types.data_types import AtomicType, DataField, TypeRoot
from paimonlab.spec.types.system_fields import ROWKIND, VALUE_KIND, VALUE_KIND_ID
from paimonlab.table.reading.conditions import bound
from paimonlab.table.reading.scan import Scan
from paimonlab.table.system.asking import AboutTable, ScanArguments
from paimonlab.table.system.row_tracking import scan_of

if TYPE_CHECKING:
    import pandas as pd

    from paimonlab.table.table import Table

Rows: TypeAlias = Iterator[pa.RecordBatch]
Reshape: TypeAlias = Callable[[Rows, bool], Rows]
"""From rows with their kinds, and whether they are changes in order."""

_KIND = pa.field(ROWKIND, pa.string())
_STORED_KIND = DataField(VALUE_KIND_ID, VALUE_KIND, AtomicType(TypeRoot.TINYINT))


def audit_columns(table: Table) -> pa.Schema:
    """Return ``rowkind``, then the table's columns."""
    return pa.schema([_KIND, *table.arrow_schema])


def binlog_columns(table: Table) -> pa.Schema:
    """Return ``rowkind``, then a list of each of the table's columns."""
    return pa.schema(
        [_KIND, *(pa.field(field.name, pa.list_(field.type)) for field in table.arrow_schema)]
    )


def audit_log(table: AboutTable, asked: ScanArguments) -> KindScan:
    """Read rows with their kinds."""
    fields = [DataField(-1, ROWKIND, from_arrow(pa.string())), *table.table.schema.fields]
    predicate = bound(asked.where, fields, table.name)
    parts = [] if predicate is None else split_and(predicate)
    pushed = [part for part in parts if columns_of(part) and ROWKIND not in columns_of(part)]
    rest = [part for part in parts if part not in pushed]
    return _scan(table, asked, pushed, rest, reshape=lambda rows, _: rows)


def binlog(table: AboutTable, asked: ScanArguments) -> KindScan:
    """Read rows as lists; an update that is read as a change is one row."""
    fields = [
        DataField(number, column.name, from_arrow(column.type))
        for number, column in enumerate(table.arrow_schema)
    ]
    predicate = bound(asked.where, fields, table.name)
    rest = [] if predicate is None else split_and(predicate)
    return _scan(table, asked, [], rest, reshape=_as_lists)


def _scan(
    table: AboutTable,
    asked: ScanArguments,
    pushed: Sequence[Predicate],
    rest: Sequence[Predicate],
    *,
    reshape: Reshape,
) -> KindScan:
    later = all_of(*rest) if rest else None
    needed = [*asked.columns, *sorted(columns_of(later) if later is not None else ())]
    own = tuple(dict.fromkeys(name for name in needed if name != ROWKIND))
    # Kinds that a condition looks at are only known row by row.
    every = structs.replace(asked, columns=own, where=None, limit=None)
    base = scan_of(table.table, every).narrowed(own, all_of(*pushed) if pushed else None)
    return KindScan(
        base=base,
        arrow_schema=pa.schema([table.arrow_schema.field(name) for name in asked.columns]),
        predicate=later,
        limit=asked.limit,
        reshape=reshape,
    )


@dataclass(frozen=True)
class KindScan:
    """Rows with their kinds."""

    base: Scan
    """The rows."""
    arrow_schema: pa.Schema
    """Names and types of the result."""
    predicate: Predicate | None
    """What `base` does not look at."""
    limit: int | None
    reshape: Reshape

    def to_batches(self) -> pa.RecordBatchReader:
        """Stream the rows in bounded memory; their order means nothing."""
        return pa.RecordBatchReader.from_batches(self.arrow_schema, self._batches())

    def to_arrow(self) -> pa.Table:
        """Read all rows."""
        return self.to_batches().read_all()

    def to_pandas(self) -> pd.DataFrame:
        """Read all rows into pandas."""
        whole_module("pandas")  # which pyarrow imports
        return self.to_arrow().to_pandas()

    def count(self) -> int:
        """Count the rows."""
        return sum(batch.num_rows for batch in self.to_batches())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Stream the rows to anything that speaks Arrow."""
        return self.to_batches().__arrow_c_stream__(requested_schema)

    def _batches(self) -> Rows:
        missing = self.limit
        for batch in self._reshaped():
            rows = batch
            if self.predicate is not None:
                rows = rows.filter(evaluate(self.predicate, rows))
            if missing is not None:
                rows = rows.slice(0, missing)
                missing -= rows.num_rows
            if rows.num_rows:
                arrays = [rows.column(name) for name in self.arrow_schema.names]
                yield pa.RecordBatch.from_arrays(arrays, schema=self.arrow_schema)
            if missing == 0:
                return

    def _reshaped(self) -> Rows:
        changes, file_io = self.base.changes, self.base.store.file_io
        if changes is None:
            yield from self.reshape(_with_kinds(self.base), False)  # noqa: FBT003
            return
        plan = changes.read_plan()
        for split in changes.splits:
            yield from self.reshape(read_change_split(split, plan, file_io), True)  # noqa: FBT003


def _with_kinds(scan: Scan) -> Rows:
    """Read a scan's rows, ``rowkind`` in front."""
    yield from _present(scan)
    if scan.fallback is not None:
        schema = pa.schema([_KIND, *scan.arrow_schema])
        for batch in _with_kinds(scan.fallback):
            # Columns of two branches may differ in whether they are nullable.
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)


def _present(scan: Scan) -> Rows:
    """Read the rows of one snapshot of one branch."""
    plan, splits = scan.read_plan(), scan.plan_here().splits
    if not scan.schema.primary_keys:
        for batch in read_splits(splits, plan, scan.store.file_io):
            yield _behind(arrow_array(np.zeros(batch.num_rows, np.int8)), batch)
        return
    kept = structs.replace(
        plan,
        schema=replace(plan.schema, fields=(*plan.schema.fields, _STORED_KIND)),
        columns=(*plan.columns, VALUE_KIND),
        keeps_deletes=True,
    )
    for batch in read_splits(splits, kept, scan.store.file_io):
        yield _behind(batch.column(VALUE_KIND), batch.drop_columns([VALUE_KIND]))


def _behind(kinds: pa.Array, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Put the symbols of kinds before the columns of rows."""
    arrays = [arrow_array(SYMBOLS, pa.string()).take(pc.cast(kinds, pa.int32())), *rows.columns]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema([_KIND, *rows.schema]))


def _as_lists(batches: Rows, are_changes: bool) -> Rows:  # noqa: FBT001 - as `Reshape` says
    """Make lists of columns; of changes, ``-U`` and the ``+U`` after it become one row.

    A ``-U`` at the end of a batch waits for the next.
    """
    if not are_changes:
        yield from (_lists(batch, np.zeros(len(batch), np.bool_)) for batch in batches)
        return
    waiting: pa.RecordBatch | None = None
    for batch in batches:
        joined = batch if waiting is None else _joined(waiting, batch)
        last = joined.num_rows - 1
        is_open = last >= 0 and joined.column(0)[last].as_py() == "-U"
        waiting = joined.slice(last) if is_open else None
        whole = joined.slice(0, last) if is_open else joined
        yield _lists(whole, _is_before_update(whole.column(0)))
    if waiting is not None:
        yield _lists(waiting, np.zeros(1, np.bool_))


def _is_before_update(kinds: pa.Array) -> npt.NDArray[np.bool_]:
    """Mark each ``-U`` that a ``+U`` follows."""
    joins_next = np.zeros(len(kinds), np.bool_)
    before, after = (
        numpy_values(pc.equal(kinds, symbol), zero_copy_only=False) for symbol in ("-U", "+U")
    )
    joins_next[:-1] = before[:-1] & after[1:]
    return joins_next


def _joined(first: pa.RecordBatch, second: pa.RecordBatch) -> pa.RecordBatch:
    (batch,) = (
        pa.Table.from_batches([first, second.cast(first.schema)]).combine_chunks().to_batches()
    )
    return batch


def _lists(batch: pa.RecordBatch, joins_next: npt.NDArray[np.bool_]) -> pa.RecordBatch:
    """Put each row into lists, or with the next row where (n,) ``joins_next`` says so."""
    # A list ends with each row that is not joined with the next.
    ends = np.flatnonzero(~joins_next) + 1
    offsets = arrow_array(np.concatenate([[0], ends]).astype(np.int32))
    lists = [pa.ListArray.from_arrays(offsets, column) for column in batch.columns[1:]]
    kinds = batch.column(0).take(arrow_array(ends - 1))
    return pa.RecordBatch.from_arrays([kinds, *lists], names=batch.schema.names)
