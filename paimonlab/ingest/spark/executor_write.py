"""What tasks do with the rows of a batch: divide them among those that write, and write them.

All rows of a bucket are written by one task, in the order of the part that they come from. They
pass from task to task in Arrow's format, so types that Spark does not have pass as well. An error
of paimonlab is no failure of a task, so that it reaches the driver as itself.
"""

from __future__ import annotations

import itertools
import pickle
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, arrow_row
from paimonlab.errors import DataError, PaimonError
from paimonlab.ingest.added_columns import AddedColumns
from paimonlab.ingest.changes import RowChanges
from paimonlab.ingest.fitting import (
    BadRow,
    FittedRows,
    fitted,
    sorted_out,
    with_values_in_deletes,
)
from paimonlab.ingest.spark.reading import NUMBER, PART, ROWS, TABLE
from paimonlab.spark.writing.executor_write import MESSAGE_COLUMN, WriteTask
from paimonlab.spec.buckets.bucket import bucket_ids
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.types.system_fields import VALUE_KIND
from paimonlab.write.rows import align

SHARE, ERROR = "share", "error"
PIECES = (
    f"{SHARE} int, `{TABLE}` string, {PART} string, {NUMBER} bigint, `{ROWS}` binary, "
    f"{ERROR} string"
)
_PIECES = pa.schema(
    [
        (SHARE, pa.int32()),
        (TABLE, pa.string()),
        (PART, pa.string()),
        (NUMBER, pa.int64()),
        (ROWS, pa.binary()),
        (ERROR, pa.string()),
    ]
)
_RESULT = pa.schema([(MESSAGE_COLUMN, pa.binary())])
RESULT = f"{MESSAGE_COLUMN} binary"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWrite:
    """How the rows of one table are written; can be pickled."""

    name: str
    """``database.table`` here."""
    task: WriteTask
    added: AddedColumns
    ends: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By table of the source and part: the number of the first event that is not written."""

    def takes(self, source: str, part: str, number: int) -> bool:
        """Say whether the rows of an event are written."""
        end = self.ends.get((source, part))
        return end is None or number < end

    def aligned(self, changes: RowChanges) -> Iterator[pa.RecordBatch | BadRow]:
        """Yield rows as the table has them, with their kinds; or what is wrong with one."""
        plan = self.task.plan
        for part in self.added.rows(fitted(changes), self.name):
            if isinstance(part, BadRow):
                yield part
                continue
            rows = part
            if plan.schema.primary_keys:
                rows = with_values_in_deletes(part, plan.schema)
            try:
                yield align(rows.rows, plan.schema, table=self.name, row_kinds=rows.kind_column)
            except DataError as error:
                yield self._bad(rows, error)

    def _bad(self, rows: FittedRows, error: DataError) -> BadRow:
        parts = sorted_out(rows, self.task.plan.schema, self.name)
        return next((one for one in parts if isinstance(one, BadRow)), BadRow(rows, str(error)))

    def shares_of(self, rows: pa.RecordBatch, part: str, shares: int) -> npt.NDArray[np.int32]:
        """Say which task writes each row: (n,), from 0 up to ``shares``."""
        plan = self.task.plan
        first = zlib.crc32(self.name.encode())
        if plan.bucket_mode is BucketMode.BUCKET_UNAWARE:  # any task may write any row
            return np.full(rows.num_rows, (first + zlib.crc32(part.encode())) % shares, np.int32)
        if plan.bucket_mode is not BucketMode.HASH_FIXED:  # one task finds the buckets
            return np.full(rows.num_rows, first % shares, np.int32)
        keys = [plan.schema.field(name) for name in plan.schema.bucket_keys]
        buckets = bucket_ids(rows, keys, plan.buckets, plan.schema.bucket_function)
        return ((first + buckets.astype(np.int64)) % shares).astype(np.int32)


@dataclass(frozen=True, slots=True, kw_only=True)
class DivideTask:
    """Turns events into pieces of the rows of tables, one for each task that writes some."""

    tables: Mapping[str, TableWrite]
    """By table of the source."""
    shares: int

    def __call__(self, events: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Divide the rows of some events."""
        for batch in events:
            columns = (batch.column(name).to_pylist() for name in (TABLE, PART, NUMBER))
            for place, (source, part, number) in enumerate(zip(*columns, strict=True)):
                table = self.tables.get(source)
                if table is not None and table.takes(source, part, number):
                    yield from self._divided(table, part, number, batch.column(ROWS)[place])

    def _divided(
        self, table: TableWrite, part: str, number: int, pickled: pa.Scalar
    ) -> Iterator[pa.RecordBatch]:
        changes = pickle.loads(pickled.as_buffer())  # noqa: S301 - our own tasks made it
        for rows in table.aligned(changes):
            if isinstance(rows, BadRow):
                yield arrow_row(_PIECES, 0, table.name, part, number, None, rows.error)
                return
            shares = table.shares_of(rows, part, self.shares)
            found = np.unique(shares)
            for share in found.tolist():
                taken = rows
                if len(found) > 1:
                    taken = rows.take(arrow_array(np.flatnonzero(shares == share), pa.int64()))
                yield arrow_row(_PIECES, share, table.name, part, number, _encoded(taken), None)


@dataclass(frozen=True, slots=True)
class Written:
    """What became of the rows of one table in one task."""

    table: str
    rows: int = 0
    messages: tuple[bytes, ...] = ()
    error: PaimonError | None = None
    """Nothing is left of these rows then."""
    is_bad_row: bool = False
    """Whether a row is to blame, not the table."""


_Piece: TypeAlias = tuple[str, pa.Scalar, str | None]


@dataclass(frozen=True, slots=True)
class ShareTask:
    """Writes the pieces of a task, which come by table, and in their order; can be pickled."""

    tables: Mapping[str, WriteTask]
    """By table here."""

    def __call__(self, pieces: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write; yields one row with the pickled list of `Written`."""
        every = self._pieces(pieces)
        done = [
            self._written(table, of) for table, of in itertools.groupby(every, lambda one: one[0])
        ]
        yield arrow_row(_RESULT, pickle.dumps(done))

    @staticmethod
    def _pieces(batches: Iterator[pa.RecordBatch]) -> Iterator[_Piece]:
        for batch in batches:
            tables, errors = batch.column(TABLE).to_pylist(), batch.column(ERROR).to_pylist()
            yield from zip(tables, batch.column(ROWS), errors, strict=True)

    def _written(self, table: str, pieces: Iterator[_Piece]) -> Written:
        rows = 0
        try:
            with self.tables[table].writer() as writer:
                for _, encoded, bad in pieces:
                    if bad is not None:
                        return Written(table, error=DataError(bad), is_bad_row=True)
                    batch = _decoded(encoded)
                    writer.write(batch, row_kinds=VALUE_KIND)
                    rows += batch.num_rows
                messages = tuple(message.to_bytes() for message in writer.prepare_commit())
        except PaimonError as error:
            return Written(table, error=error)
        return Written(table, rows, messages)


def _encoded(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_batch(rows)
    encoded: bytes = sink.getvalue().to_pybytes()
    return encoded


def _decoded(encoded: pa.Scalar) -> pa.RecordBatch:
    with pa.ipc.open_stream(encoded.as_buffer()) as stream:
        return stream.read_next_batch()
