"""What tasks do with the rows of a batch: divide them among those that write, and write them.

All rows of a bucket are written by one task, in the order of the part that they come from. They
pass from task to task in Arrow's format, so types that Spark does not have pass as well. An error
of paimonlab is no failure of a task, so that it reaches the driver as itself.
"""

from __future__ import annotations

import itertools
import pickle
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, arrow_row, empty_table
from paimonlab.clock import now_millis
from paimonlab.errors import DataError, PaimonError
from paimonlab.ingest import dead_letters
from paimonlab.ingest.added_columns import AddedColumns
from paimonlab.ingest.changes import RowChanges, SourceColumn, SourceSchema
from paimonlab.ingest.fitting import (
    BadRow,
    FittedRows,
    fitted,
    sorted_out,
    with_texts,
    with_values_in_deletes,
)
from paimonlab.ingest.letters import key_of, key_text, keys_among
from paimonlab.ingest.marking import kept, marked
from paimonlab.ingest.spark.reading import NUMBER, PART, ROWS, TABLE
from paimonlab.ingest.targets import moved
from paimonlab.ingest.unchanged import filled
from paimonlab.spark.writing.executor_write import MESSAGE_COLUMN, WriteTask
from paimonlab.spec.buckets.bucket import bucket_ids
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.schema.schema_changes import DropColumn, RenameColumn
from paimonlab.spec.types.system_fields import VALUE_KIND
from paimonlab.table.table import Table
from paimonlab.write.rows import align

SHARE, PIECE, ERROR = "share", "piece", "error"
PIECES = (
    f"{SHARE} int, `{TABLE}` string, {PART} string, {NUMBER} bigint, {PIECE} int, "
    f"`{ROWS}` binary, {ERROR} string"
)
_PIECES = pa.schema(
    [
        (SHARE, pa.int32()),
        (TABLE, pa.string()),
        (PART, pa.string()),
        (NUMBER, pa.int64()),
        (PIECE, pa.int32()),
        (ROWS, pa.binary()),
        (ERROR, pa.string()),
    ]
)
_RESULT = pa.schema([(MESSAGE_COLUMN, pa.binary())])
RESULT = f"{MESSAGE_COLUMN} binary"

Place: TypeAlias = tuple[int, str]
"""Of an event in a batch: its number in its part, and the part; the driver takes them so."""
Move: TypeAlias = "tuple[Place, RenameColumn | DropColumn]"
"""What the driver did to a table, and at which event."""
_UNTOLD = "\0untold "
"""Begins the names of columns that say where a value may not have been told."""


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """Rows as a table has them."""

    rows: pa.RecordBatch
    """Columns of the table, then the kinds."""
    of: FittedRows
    """The same rows as they came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWrite:
    """How the rows of one table are written; can be pickled."""

    name: str
    """``database.table`` here."""
    task: WriteTask
    added: AddedColumns
    begins: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By table of the source and part: the number of the event that emptied the table."""
    ends: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By table of the source and part: the number of the first event that is not written."""
    moves: Sequence[Move] = ()
    """How the table's columns were renamed and dropped while the driver took the batch, in its
    order: rows of earlier events have the old ones."""

    def takes(self, source: str, part: str, number: int) -> bool:
        """Say whether the rows of an event are looked at."""
        end = self.ends.get((source, part))
        return end is None or number < end

    def keeps(self, source: str, place: Place) -> bool:
        """Say whether the rows of an event are there after the batch, but for wrong ones."""
        number, part = place
        begin = self.begins.get((source, part))
        return begin is None or number > begin

    def aligned(self, changes: RowChanges, place: Place) -> Iterator[Aligned | BadRow]:
        """Yield rows as the table has them; or what is wrong with one.

        Raises
        ------
        DataError
            If the table takes none of them.
        """
        keys = self.task.plan.schema.primary_keys
        for found in self.added.rows(fitted(changes), self.name):
            if isinstance(found, BadRow):
                yield found
                continue
            rows = marked(found, self.added.mark, keys) if self.added.mark else found
            for at, change in self.moves:
                if place < at:
                    rows = moved(rows, change)
            yield from self._aligned(rows)

    def _aligned(self, rows: FittedRows) -> Iterator[Aligned | BadRow]:
        schema = self.task.plan.schema
        if self.added.takes_texts:
            rows = with_texts(rows, schema)
        whole = with_values_in_deletes(rows, schema) if schema.primary_keys else rows
        try:
            yield Aligned(self._as_table(whole), rows)
        except DataError:
            parts = [*sorted_out(whole, schema, self.name)]
            if not any(isinstance(part, BadRow) for part in parts):
                raise
            for part in parts:
                yield part if isinstance(part, BadRow) else Aligned(self._as_table(part), part)

    def _as_table(self, rows: FittedRows) -> pa.RecordBatch:
        schema = self.task.plan.schema
        return align(rows.rows, schema, table=self.name, row_kinds=rows.kind_column)

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
class SetAside:
    """A row that a table does not take."""

    table: str
    place: Place
    row: int
    """Its place among those of its event."""
    key: str | None
    """As `Letter.key` has it; None: the table has none, or the row lacks it."""
    dead: pa.RecordBatch = field(repr=False)
    """As a dead letter; one row."""

    @property
    def error(self) -> str:
        """What is wrong with it."""
        return str(self.dead.column("error")[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class DivideTask:
    """Turns events into pieces of the rows of tables, one for each task that writes some."""

    tables: Mapping[str, TableWrite]
    """By table of the source."""
    shares: int
    most_bad: int = 0
    """Rows that may be set aside: no task looks for more than one more."""

    def __call__(self, events: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Divide the rows of some events."""
        bad = 0
        for table, place, rows in _events(events, self.tables):
            number = 0
            try:
                for found in table.aligned(rows, place):
                    if isinstance(found, BadRow):
                        if bad <= self.most_bad:
                            aside = pickle.dumps(_set_aside(table, place, found))
                            yield _piece(table, place, number, 0, aside, found.error)
                        bad, number = bad + 1, number + 1
                        continue
                    if not table.keeps(rows.table, place):
                        continue
                    for share, piece in self._shared(table, place, found):
                        yield _piece(table, place, number, share, piece, None)
                    number += 1
            except PaimonError as error:  # of the whole table
                yield _piece(table, place, number, 0, None, str(error))

    def _shared(self, table: TableWrite, place: Place, found: Aligned) -> Iterator[_Share]:
        rows = found.rows
        shares = table.shares_of(rows, place[1], self.shares)
        for name, mask in found.of.untold.items():
            rows = rows.append_column(f"{_UNTOLD}{name}", mask)
        every = np.unique(shares)
        for share in every.tolist():
            taken = rows
            if len(every) > 1:
                taken = rows.take(arrow_array(np.flatnonzero(shares == share), pa.int64()))
            yield share, _encoded(taken)


_Share: TypeAlias = tuple[int, bytes]


def _events(
    events: Iterator[pa.RecordBatch], tables: Mapping[str, TableWrite]
) -> Iterator[tuple[TableWrite, Place, RowChanges]]:
    """Yield the rows that tables take."""
    for batch in events:
        columns = (batch.column(name).to_pylist() for name in (TABLE, PART, NUMBER))
        for row, (source, part, number) in enumerate(zip(*columns, strict=True)):
            table = tables.get(source)
            if table is not None and table.takes(source, part, number):
                rows = pickle.loads(batch.column(ROWS)[row].as_buffer())  # noqa: S301 - our tasks'
                yield table, (number, part), rows


def _piece(
    table: TableWrite, place: Place, number: int, share: int, rows: bytes | None, error: str | None
) -> pa.RecordBatch:
    event, part = place
    return arrow_row(_PIECES, share, table.name, part, event, number, rows, error)


def _set_aside(table: TableWrite, place: Place, bad: BadRow) -> SetAside:
    return SetAside(
        table=table.name,
        place=place,
        row=bad.rows.first,
        key=key_of(bad.rows.rows, table.task.plan.schema.primary_keys),
        dead=dead_letters.of_bad_rows([bad], now_millis()),
    )


FOUND = f"`{TABLE}` string, key string, {PART} string, {NUMBER} bigint, place bigint"
_FOUND = pa.schema(
    [
        (TABLE, pa.string()),
        ("key", pa.string()),
        (PART, pa.string()),
        (NUMBER, pa.int64()),
        ("place", pa.int64()),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FindTask:
    """Finds the rows of a batch that have some keys; one row for each key and event.

    It tells the last row of the event that has the key and that the table takes.
    """

    tables: Mapping[str, TableWrite]
    """By table of the source."""
    keys: Mapping[str, Collection[str]]
    """By table here, as `Letter.key` has them."""

    def __call__(self, events: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Find the keys in some events."""
        for table, place, changes in _events(events, self.tables):
            watched = self.keys.get(table.name, ())
            names = table.task.plan.schema.primary_keys
            last: dict[str, int] = {}
            # What refuses all of its rows is told where they are written.
            with suppress(PaimonError):
                for found in table.aligned(changes, place) if watched else ():
                    if isinstance(found, BadRow):
                        continue
                    there = keys_among(found.of.rows, names, watched)
                    if not there:
                        continue
                    texts = map(key_text, found.of.rows.select(list(names)).to_pylist())
                    rows = enumerate(texts, found.of.first)
                    last |= {key: row for row, key in rows if key in there}
            event, part = place
            for key, row in last.items():
                yield arrow_row(_FOUND, table.name, key, part, event, row)


@dataclass(frozen=True, slots=True)
class Written:
    """What became of the rows of one table in one task."""

    table: str
    rows: int = 0
    messages: tuple[bytes, ...] = ()
    aside: tuple[SetAside, ...] = ()
    """Rows that the table does not take."""
    error: PaimonError | None = None
    """Nothing is left of these rows then."""


_Piece: TypeAlias = tuple[str, pa.Scalar, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """How deleted rows of a table that keeps them get the values that they had; can be pickled."""

    table: Table
    replaces: bool
    """Whether none of the rows that the table has count."""
    untold: Collection[str]
    """Keys of which the table does not have the values that its source has."""

    def rows(
        self, pieces: Sequence[pa.RecordBatch], schema: TableSchema
    ) -> Iterator[pa.RecordBatch]:
        """Yield rows as the table takes them.

        Parameters
        ----------
        pieces
            All rows of some buckets that the table gets, in the order of the source.
        schema
            Of the table.
        """
        waiting = [_with_masks(piece, schema, self.table.name) for piece in pieces]
        made, _ = filled(waiting, schema, self.table.name, self._looked_up)
        for rows in made:
            yield kept(with_values_in_deletes(rows, schema))

    def _looked_up(self, keys: pa.Table, columns: list[str]) -> pa.Table:
        table = self.table
        if self.replaces or table.snapshot is None:
            return empty_table(pa.schema([table.arrow_schema.field(name) for name in columns]))
        if self.untold:
            names = list(table.primary_keys)
            known = [key_text(row) not in self.untold for row in keys.select(names).to_pylist()]
            keys = keys.filter(arrow_array(known, pa.bool_()))
        return table.lookup(keys, columns=columns)


@dataclass(frozen=True, slots=True)
class ShareTask:
    """Writes the pieces of a task, which come by table, and in their order; can be pickled."""

    tables: Mapping[str, WriteTask]
    """By table here."""
    markings: Mapping[str, Marking] = field(default_factory=dict)
    """Of tables that keep deleted rows."""

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
        task, marking = self.tables[table], self.markings.get(table)
        rows = 0
        aside: list[SetAside] = []
        waiting: list[pa.RecordBatch] = []
        try:
            with task.writer() as writer:
                for _, encoded, error in pieces:
                    if error is not None:
                        if not encoded.is_valid:
                            return Written(table, error=DataError(error))
                        aside.append(pickle.loads(encoded.as_buffer()))  # noqa: S301 - our tasks'
                        continue
                    batch = _decoded(encoded)
                    rows += batch.num_rows
                    if marking is None:
                        writer.write(batch, row_kinds=VALUE_KIND)
                    else:
                        waiting.append(batch)
                if marking is not None and waiting:
                    for batch in marking.rows(waiting, task.plan.schema):
                        writer.write(batch, row_kinds=VALUE_KIND)
                messages = tuple(message.to_bytes() for message in writer.prepare_commit())
        except PaimonError as error:
            return Written(table, error=error)
        return Written(table, rows, messages, tuple(aside))


def _with_masks(piece: pa.RecordBatch, schema: TableSchema, table: str) -> FittedRows:
    """Take rows that come with columns that say where a value may not have been told."""
    names = piece.schema.names
    masks = {name: piece.column(name) for name in names if name.startswith(_UNTOLD)}
    columns = SourceSchema(
        columns=tuple(SourceColumn(name=one.name, type=one.type) for one in schema.fields)
    )
    rows = piece.select([name for name in names if name not in masks])
    changes = RowChanges(
        table=table,
        rows=rows.select(list(columns.names)).cast(columns.arrow_schema),
        schema=columns,
    )
    return FittedRows(
        rows=rows,
        changes=changes,
        kind_column=VALUE_KIND,
        untold={name.removeprefix(_UNTOLD): mask for name, mask in masks.items()},
    )


def _encoded(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_batch(rows)
    encoded: bytes = sink.getvalue().to_pybytes()
    return encoded


def _decoded(encoded: pa.Scalar) -> pa.RecordBatch:
    with pa.ipc.open_stream(encoded.as_buffer()) as stream:
        return stream.read_next_batch()
