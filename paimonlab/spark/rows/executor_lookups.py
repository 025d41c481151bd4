"""Looking for the target rows of source rows by their primary keys, on executors.

A task has all source rows of its buckets. It reads the keys of these buckets, and of the rows that
are found the columns which the statement looks at: the target is neither shuffled nor handed over.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import read_split
from paimonlab.scan.split import DataSplit
from paimonlab.spark.reading.executor_read import as_expected
from paimonlab.spark.rows.executor_changes import ChangeTask
from paimonlab.spark.rows.key_numbers import NOWHERE, NumberedKeys, Places, whole_keys
from paimonlab.spark.writing.executor_write import BUCKET_COLUMN, KIND_COLUMN
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.predicates.predicate import Predicate, all_of, bind
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.storage import FileIO
from paimonlab.write.buckets import groups

_PIECE_BYTES = 64 << 20
"""Of source rows that are looked for at once."""


@dataclass(frozen=True, slots=True)
class LookupTask:
    """Puts the columns of target rows beside those of source rows; picklable."""

    splits: Mapping[BucketKey, bytes]
    """The pickled splits of each bucket of the target."""
    reading: ReadPlan
    """Reads the primary key, and the columns wanted."""
    file_io: FileIO
    buckets: int
    """Of each partition."""
    found: str
    """Column that is true where there is a target row, else null."""
    target: Mapping[str, str]
    """Columns of target rows that are added, by the names they get."""
    keeps_others: bool
    """Whether source rows without a target row are kept."""
    schema: pa.Schema
    """What Spark expects; it has the primary key by its names."""
    cuts_timestamps: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield source rows with what was found."""
        for rows in self.rows(batches):
            for batch in rows.to_batches():
                yield as_expected(
                    batch,
                    self.schema,
                    self.reading.table_name,
                    cuts_timestamps=self.cuts_timestamps,
                )

    def rows(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
        """Yield source rows with what was found, as it is stored."""
        return map(self._joined, _pieces(batches))

    def _joined(self, source: pa.Table) -> pa.Table:
        keys = self._keys(source)
        found, place = self._found(keys)
        if not self.keeps_others:
            kept = np.flatnonzero(place != NOWHERE)
            source, place = source.take(arrow_array(kept)), place[kept]
        is_found = place != NOWHERE
        where = arrow_array(place, mask=~is_found)
        for name, column in self.target.items():
            source = source.append_column(name, found.column(column).take(where))
        marks = arrow_array(is_found, mask=~is_found)
        return source.append_column(self.found, marks)

    def _keys(self, source: pa.Table) -> pa.Table:
        schema = self.reading.schema
        types = {name: to_arrow(schema.field(name).type) for name in schema.primary_keys}
        columns = [source.column(name).cast(kind) for name, kind in types.items()]
        return pa.table([column.combine_chunks() for column in columns], names=list(types))

    def _found(self, keys: pa.Table) -> tuple[pa.Table, Places]:
        """Read the target rows of keys.

        Returns
        -------
        found
            Target rows.
        place : (n,) int64
            Which of them each key belongs to; -1: there is none.
        """
        place = np.full(keys.num_rows, NOWHERE, np.int64)
        reading = self.reading
        found = [reading.arrow_schema.empty_table()]
        count = 0
        whole = np.flatnonzero(whole_keys(keys))  # a null is no key
        keys = keys.take(arrow_array(whole))
        for group in groups(keys, reading.schema, self.buckets) if keys.num_rows else ():
            pickled = self.splits.get(group.key)
            if pickled is None:
                continue
            positions = np.arange(keys.num_rows) if group.rows is None else group.rows
            wanted = NumberedKeys(keys.take(arrow_array(positions)))
            plan = replace(reading, predicate=_predicate(wanted, reading))
            row_of_key = np.full(wanted.count, NOWHERE, np.int64)
            splits: Sequence[DataSplit] = pickle.loads(pickled)  # noqa: S301 - our own driver made it
            for split in splits:
                for rows in read_split(split, plan, self.file_io):
                    numbers = wanted.numbers_of(rows)
                    hits = np.flatnonzero(numbers != NOWHERE)
                    if len(hits):
                        row_of_key[numbers[hits]] = np.arange(count, count + len(hits))
                        count += len(hits)
                        found.append(pa.Table.from_batches([rows.take(arrow_array(hits))]))
            place[whole[positions]] = row_of_key[wanted.numbers]
        return pa.concat_tables(found).combine_chunks(), place


@dataclass(frozen=True, slots=True)
class Decision:
    """What a clause makes of a row."""

    kind: RowKind
    columns: Mapping[str, str]
    """The columns of what was found with the new values, by the columns of the table."""


@dataclass(frozen=True, slots=True)
class MergeTask:
    """Looks rows up and writes what clauses make of them, whose values are there; picklable."""

    lookup: LookupTask
    clauses: Sequence[Decision]
    matched: str
    """Column of the number of the clause that decides where there is a target row, or null."""
    not_matched: str
    """The same where there is none."""
    change: ChangeTask

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write the rows of one task; yields what the `ChangeTask` does."""
        return self.change(self._changed(batches))

    def _changed(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in self.lookup.rows(batches):
            is_found = numpy_values(
                rows.column(self.lookup.found).combine_chunks().is_valid(), zero_copy_only=False
            )
            number = np.where(
                is_found, *(_numbers(rows, at) for at in (self.matched, self.not_matched))
            )
            for clause, decision in enumerate(self.clauses):
                places = np.flatnonzero(number == clause)
                if not len(places):
                    continue
                some = rows.take(arrow_array(places))
                names = dict(decision.columns)
                if BUCKET_COLUMN in some.column_names:
                    names[BUCKET_COLUMN] = BUCKET_COLUMN
                kinds = arrow_array(np.full(len(places), int(decision.kind), np.int8))
                yield pa.RecordBatch.from_arrays(
                    [*(some.column(at).combine_chunks() for at in names.values()), kinds],
                    names=[*names, KIND_COLUMN],
                )


def _numbers(rows: pa.Table, column: str) -> Places:
    numbers = null_filled(rows.column(column).combine_chunks(), NOWHERE)
    return numpy_values(numbers).astype(np.int64)


def _predicate(keys: NumberedKeys, reading: ReadPlan) -> Predicate | None:
    """Return a condition that all rows with such keys satisfy."""
    schema = reading.schema
    parts = [part for name, part in keys.conditions() if name in schema.trimmed_primary_keys]
    return bind(all_of(*parts), schema.fields, reading.table_name) if parts else None


def _pieces(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    waiting: list[pa.RecordBatch] = []
    waiting_bytes = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        waiting.append(batch)
        waiting_bytes += batch.nbytes
        if waiting_bytes >= _PIECE_BYTES:
            yield pa.Table.from_batches(waiting).combine_chunks()
            waiting, waiting_bytes = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting).combine_chunks()
