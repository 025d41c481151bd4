"""MERGE into tables without keys in the tasks that read their files: no row passes through the JVM.

The source is small, and every task has all of its rows. A task looks its keys up in some files of
the target, writes what becomes of the rows that it finds, and tells which rows of the source have a
row in these files. Those that have none anywhere are inserted when all tasks are done.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, arrow_row, null_filled, numpy_values
from paimonlab.errors import PaimonError
from paimonlab.formats.deletion_vectors import DeletionVector, encode_deletion_vector
from paimonlab.read.matches import FileMatch, alive_count, divided_rows, positioned_rows
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.split import DataSplit
from paimonlab.spark.rows.executor_changes import (
    RESULT_SCHEMA,
    ChangeOutcome,
    Positions,
)
from paimonlab.spark.rows.executor_conditions import splits_of
from paimonlab.spark.rows.expression_trees import Columns, Tree, bound, names_of
from paimonlab.spark.rows.key_numbers import NOWHERE, NumberedKeys, Places, whole_keys
from paimonlab.spark.writing.executor_write import TaskOutcome, WriteTask
from paimonlab.write.expressions.expression import Expression, column
from paimonlab.write.merge_clauses import Action, Clause, ClauseKind
from paimonlab.write.writer import TableWriter

_KINDS = 4
_PIECE_BYTES = 64 << 20
"""Of target keys that are looked for at once."""


@dataclass(frozen=True, slots=True)
class ClauseTrees:
    """One WHEN; picklable."""

    rule: Clause
    condition: Tree | None
    values: Mapping[str, Tree | str]
    """New values by column of the target: an expression, or a column of the source as it is. Of an
    update what is left out stays as it is."""


@dataclass(frozen=True, slots=True)
class RowMerge:
    """What a MERGE says; picklable."""

    keys: Mapping[str, Tree]
    """What of a target row equals which column of the source."""
    condition: Tree | None
    """What else makes two rows a pair."""
    clauses: Sequence[ClauseTrees]
    columns: Columns
    """Of pairs: those of the target, then those of the source, which no target has."""
    target: frozenset[str]
    """Columns of the target."""

    @property
    def source_columns(self) -> frozenset[str]:
        """The columns of the source, besides those of keys, that are looked at."""
        trees = [*self.keys.values(), self.condition]
        names = set[str]()
        for clause in self.clauses:
            trees.append(clause.condition)
            for value in clause.values.values():
                if isinstance(value, str):
                    names.add(value)
                else:
                    trees.append(value)
        found = (names_of(tree, self.columns) for tree in trees if tree is not None)
        return frozenset(names).union(*found) - self.target

    def bound(self) -> BoundMerge:
        """Make what is evaluated.

        Raises
        ------
        UnsupportedError
            If Spark has to evaluate something of it.
        """
        return BoundMerge(
            {name: bound(tree, self.columns) for name, tree in self.keys.items()},
            None if self.condition is None else bound(self.condition, self.columns),
            [self._clause(clause) for clause in self.clauses],
            self._looked_at([*self.keys.values(), self.condition]),
        )

    def _clause(self, clause: ClauseTrees) -> BoundClause:
        columns = self.columns
        return BoundClause(
            clause.rule,
            None if clause.condition is None else bound(clause.condition, columns),
            {
                name: column(value, columns.schema, columns.table)
                if isinstance(value, str)
                else bound(value, columns)
                for name, value in clause.values.items()
            },
            self._looked_at([clause.condition]),
            self._looked_at(value for value in clause.values.values() if isinstance(value, Tree)),
        )

    def _looked_at(self, trees: Iterable[Tree | None]) -> frozenset[str]:
        names = [names_of(tree, self.columns) for tree in trees if tree is not None]
        return frozenset().union(*names) & self.target


@dataclass(frozen=True, slots=True)
class BoundClause:
    """A `ClauseTrees` that can be evaluated."""

    rule: Clause
    condition: Expression | None
    values: Mapping[str, Expression]
    condition_columns: frozenset[str]
    """The columns of the target that the condition looks at."""
    value_columns: frozenset[str]
    """Those that the new values look at."""


@dataclass(frozen=True, slots=True)
class BoundMerge:
    """A `RowMerge` that can be evaluated."""

    keys: Mapping[str, Expression]
    condition: Expression | None
    clauses: Sequence[BoundClause]
    key_columns: frozenset[str]
    """The columns of the target that keys and condition look at."""

    @property
    def deciding_columns(self) -> frozenset[str]:
        """The columns of the target that say what becomes of a row."""
        matched = (clause for _, clause in self.of_kind(ClauseKind.MATCHED))
        return self.key_columns.union(*(clause.condition_columns for clause in matched))

    def of_kind(self, kind: ClauseKind) -> Iterator[tuple[int, BoundClause]]:
        """Yield the clauses about some rows, with their numbers."""
        for number, clause in enumerate(self.clauses):
            if clause.rule.kind is kind:
                yield number, clause

    def decided(self, kind: ClauseKind, rows: pa.RecordBatch) -> Places:
        """Return the number of the first clause whose condition is true of each row; -1: none.

        A condition is asked of those rows alone that no clause before has taken.
        """
        chosen = np.full(rows.num_rows, NOWHERE, np.int64)
        left = np.arange(rows.num_rows)
        for number, clause in self.of_kind(kind):
            if not len(left):
                break
            if clause.condition is None:
                chosen[left] = number
                break
            some = rows if len(left) == rows.num_rows else rows.take(arrow_array(left))
            is_true = truths(clause.condition, some)
            chosen[left[is_true]] = number
            left = left[~is_true]
        return chosen

    def inserted(self, source: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Make the new rows of source rows that belong to no target row."""
        chosen = self.decided(ClauseKind.NOT_MATCHED, source)
        for number, clause in self.of_kind(ClauseKind.NOT_MATCHED):
            places = np.flatnonzero(chosen == number)
            if len(places):
                rows = source.take(arrow_array(places))
                arrays = [value.evaluate(rows) for value in clause.values.values()]
                yield pa.RecordBatch.from_arrays(arrays, names=list(clause.values))


def truths(condition: Expression, rows: pa.RecordBatch) -> npt.NDArray[np.bool_]:
    """Tell of which rows a condition is true: (n,)."""
    is_true = null_filled(condition.evaluate(rows), False)
    return np.asarray(numpy_values(is_true, zero_copy_only=False), np.bool_)


@dataclass(frozen=True, slots=True)
class MergeOutcome:
    """What one task wrote and saw."""

    change: ChangeOutcome
    is_matched: bytes = b""
    """Of each source row whether it belongs to a row that the task read: packed bits; empty: of
    none."""
    inserts: bool = False
    """Whether new rows are inserted, too."""


@dataclass(frozen=True, slots=True)
class FileMergeTask:
    """Changes the rows of files that belong to rows of the source; picklable."""

    splits: Sequence[bytes]
    """The pickled splits of each task, each of one file."""
    reading: ReadPlan
    """Its condition is true of all rows that may belong to a row of the source."""
    merge: RowMerge
    source: pa.RecordBatch
    """Rows whose keys are distinct, or have a null and belong to nothing."""
    write: WriteTask
    marks_rows: bool
    """Whether rows are marked as deleted where others of their file are left."""
    inserts: bool
    """Whether this is the only task, which knows what to insert."""

    def __call__(self, numbers: Iterable[int]) -> Iterator[bytes]:
        """Do the tasks of these numbers; yields the pickled `MergeOutcome`."""
        yield pickle.dumps(self._outcome(numbers))

    def _outcome(self, numbers: Iterable[int]) -> MergeOutcome:
        try:
            seen = _Seen(self, self.merge.bound())
            with self.write.writer() as writer:
                for split in splits_of(self.splits, numbers):
                    seen.look(split, writer)
                if self.inserts:
                    seen.insert(writer)
                messages = tuple(message.to_bytes() for message in writer.prepare_commit())
        except PaimonError as error:
            return _failed(error)
        change = ChangeOutcome(TaskOutcome(messages), tuple(seen.counts), tuple(seen.positions))
        return MergeOutcome(change, np.packbits(seen.is_matched).tobytes(), self.inserts)


@dataclass(frozen=True, slots=True)
class InsertTask:
    """Inserts rows of the source that belong to no row of the target; picklable."""

    rows: Sequence[Places]
    """Of each task: which ones."""
    merge: RowMerge
    source: pa.RecordBatch
    write: WriteTask

    def __call__(self, numbers: Iterable[int]) -> Iterator[bytes]:
        """Do the tasks of these numbers; yields the pickled `MergeOutcome`."""
        yield pickle.dumps(self._outcome(numbers))

    def _outcome(self, numbers: Iterable[int]) -> MergeOutcome:
        counts = [0] * _KINDS
        try:
            merge = self.merge.bound()
            with self.write.writer() as writer:
                for number in numbers:
                    source = self.source.take(arrow_array(self.rows[number]))
                    for rows in merge.inserted(source):
                        writer.write(rows)
                        counts[Action.INSERT.row_kind] += rows.num_rows
                messages = tuple(message.to_bytes() for message in writer.prepare_commit())
        except PaimonError as error:
            return _failed(error)
        return MergeOutcome(ChangeOutcome(TaskOutcome(messages), tuple(counts), ()), inserts=True)


def _failed(error: PaimonError) -> MergeOutcome:
    written = TaskOutcome(error=pickle.dumps(error))
    return MergeOutcome(ChangeOutcome(written, (0,) * _KINDS, ()))


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Rows of a file that clauses change, with their source rows."""

    positions: Places
    """Ascending."""
    source: Places
    clauses: Places


@dataclass(slots=True)
class _Seen:
    task: FileMergeTask
    merge: BoundMerge
    counts: list[int] = field(default_factory=lambda: [0] * _KINDS)
    positions: list[Positions] = field(default_factory=list)
    is_matched: npt.NDArray[np.bool_] = field(init=False)
    _keys: NumberedKeys | None = field(init=False)
    """None: no row of the source has a key."""
    _row_of_key: Places = field(init=False)

    def __post_init__(self) -> None:
        source = self.task.source
        self.is_matched = np.zeros(source.num_rows, np.bool_)
        keys = pa.Table.from_batches([source.select(list(self.merge.keys))])
        rows = np.flatnonzero(whole_keys(keys))
        self._keys = NumberedKeys(keys.take(arrow_array(rows))) if len(rows) else None
        self._row_of_key = np.zeros(0, np.int64)
        if self._keys is not None:
            assert self._keys.count == len(rows), "keys of the source are distinct"
            self._row_of_key = np.empty(len(rows), np.int64)
            self._row_of_key[self._keys.numbers] = rows

    def look(self, split: DataSplit, writer: TableWriter) -> None:
        """Look for rows of a file, and write what is left of it."""
        pairs = self._pairs(split)
        if not len(pairs.positions):
            return
        task = self.task
        for number, count in enumerate(np.bincount(pairs.clauses).tolist()):
            self.counts[self.merge.clauses[number].rule.action.row_kind] += count
        alive = alive_count(split, task.reading, task.write.file_io)
        match = FileMatch(split, DeletionVector.of(pairs.positions), alive)
        rows = encode_deletion_vector(match.matched, bitmap64=True)
        self.positions.append(Positions(match.file.file_name, rows, alive_count=alive))
        if match.is_whole or task.marks_rows:
            self._write_updated(match, pairs, writer)
            return
        parts = divided_rows(match, task.reading, task.write.file_io)
        done = 0
        for some, is_changed in parts:
            stays = some.filter(arrow_array(~is_changed))
            if stays.num_rows:
                writer.write(stays)
            changed = some.filter(arrow_array(is_changed))
            self._write(changed, pairs, done, writer)
            done += changed.num_rows

    def _write_updated(self, match: FileMatch, pairs: _Pairs, writer: TableWriter) -> None:
        """Write updated rows of a file whose other rows stay where they are."""
        task, schema = self.task, self.task.reading.schema
        updates = [
            self.merge.clauses[number]
            for number in np.unique(pairs.clauses).tolist()
            if self.merge.clauses[number].rule.action is Action.UPDATE
        ]
        looked_at: frozenset[str] = frozenset().union(*(one.value_columns for one in updates))
        stays = {name for one in updates for name in schema.field_names if name not in one.values}
        fields = [one for one in schema.fields if one.name in looked_at or one.name in stays]
        if not updates:
            return
        if not fields:
            self._write(None, pairs, 0, writer)
            return
        parts = divided_rows(
            match, task.reading, task.write.file_io, only_matched=True, fields=fields
        )
        done = 0
        for rows, _ in parts:
            self._write(rows, pairs, done, writer)
            done += rows.num_rows

    def _write(
        self, rows: pa.RecordBatch | None, pairs: _Pairs, first: int, writer: TableWriter
    ) -> None:
        """Write the new values of changed rows, the ``first`` of which is at that place of pairs.

        Without rows: those of all pairs, of which nothing is needed.
        """
        end = len(pairs.clauses) if rows is None else first + rows.num_rows
        clauses, source = pairs.clauses[first:end], pairs.source[first:end]
        names = self.task.reading.schema.field_names
        for number in np.unique(clauses).tolist():
            clause = self.merge.clauses[number]
            if clause.rule.action is not Action.UPDATE:
                continue
            places = np.flatnonzero(clauses == number)
            old = None if rows is None else rows.take(arrow_array(places))
            both = self._together(old, source[places])
            arrays = [
                clause.values[name].evaluate(both) if name in clause.values else both.column(name)
                for name in names
            ]
            writer.write(pa.RecordBatch.from_arrays(arrays, names=list(names)))

    def insert(self, writer: TableWriter) -> None:
        """Insert source rows that belong to no row."""
        places = np.flatnonzero(~self.is_matched)
        if not len(places):
            return
        for rows in self.merge.inserted(self.task.source.take(arrow_array(places))):
            writer.write(rows)
            self.counts[Action.INSERT.row_kind] += rows.num_rows

    def _pairs(self, split: DataSplit) -> _Pairs:
        """Find the rows of a file that are changed."""
        found = [_NO_PAIRS]
        if self._keys is not None:
            task, merge = self.task, self.merge
            schema = task.reading.schema
            fields = [one for one in schema.fields if one.name in merge.deciding_columns]
            parts = positioned_rows(split, task.reading, task.write.file_io, fields=fields)
            for rows, positions in _pieces(parts):
                found += self._of_piece(rows, positions)
        return _Pairs(
            np.concatenate([some.positions for some in found]),
            np.concatenate([some.source for some in found]),
            np.concatenate([some.clauses for some in found]),
        )

    def _of_piece(self, rows: pa.RecordBatch, positions: Places) -> Iterator[_Pairs]:
        assert self._keys is not None, "some row of the source has a key"
        values = [key.evaluate(rows) for key in self.merge.keys.values()]
        numbers = self._keys.numbers_of(
            pa.RecordBatch.from_arrays(values, names=list(self.merge.keys))
        )
        hits = np.flatnonzero(numbers != NOWHERE)
        if not len(hits):
            return
        source = self._row_of_key[numbers[hits]]
        both = self._together(rows.take(arrow_array(hits)), source)
        if self.merge.condition is not None:
            is_pair = truths(self.merge.condition, both)
            hits, source = hits[is_pair], source[is_pair]
            both = both.filter(arrow_array(is_pair))
        self.is_matched[source] = True
        clauses = self.merge.decided(ClauseKind.MATCHED, both)
        changed = np.flatnonzero(clauses != NOWHERE)
        yield _Pairs(positions[hits[changed]], source[changed], clauses[changed])

    def _together(self, rows: pa.RecordBatch | None, source: Places) -> pa.RecordBatch:
        """Put target rows beside their source rows."""
        right = self.task.source.take(arrow_array(source))
        if rows is None:
            return right
        return pa.RecordBatch.from_arrays(
            [*rows.columns, *right.columns], names=[*rows.schema.names, *right.schema.names]
        )


_NOTHING = np.zeros(0, np.int64)
_NO_PAIRS = _Pairs(_NOTHING, _NOTHING, _NOTHING)


def _pieces(
    parts: Iterable[tuple[pa.RecordBatch, Places]],
) -> Iterator[tuple[pa.RecordBatch, Places]]:
    """Put batches together, so that a table of keys is good for many rows."""
    waiting: list[tuple[pa.RecordBatch, Places]] = []
    waiting_bytes = 0
    for rows, positions in parts:
        waiting.append((rows, positions))
        waiting_bytes += rows.nbytes
        if waiting_bytes >= _PIECE_BYTES:
            yield _whole(waiting)
            waiting, waiting_bytes = [], 0
    if waiting:
        yield _whole(waiting)


def _whole(parts: Sequence[tuple[pa.RecordBatch, Places]]) -> tuple[pa.RecordBatch, Places]:
    if len(parts) == 1:
        return parts[0]
    return (
        pa.concat_batches([rows for rows, _ in parts]),
        np.concatenate([positions for _, positions in parts]),
    )


@dataclass(frozen=True, slots=True)
class GatherTask:
    """Hands the rows of a source to the driver if they are few; picklable."""

    schema: pa.Schema
    """What they become."""
    most_bytes: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a task, written as a stream of Arrow; empty: they are too many."""
        kept: list[pa.RecordBatch] = []
        size = 0
        for batch in batches:  # Spark's side must be read to its end
            size += batch.nbytes
            if size <= self.most_bytes:
                kept.append(as_declared(batch, self.schema))
            else:
                kept.clear()
        sink = pa.BufferOutputStream()
        if size <= self.most_bytes:
            with pa.ipc.new_stream(sink, self.schema) as stream:
                for batch in kept:
                    stream.write_batch(batch)
        yield arrow_row(RESULT_SCHEMA, sink.getvalue().to_pybytes())


def as_declared(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Give rows of Spark the types of a schema: instants in UTC, texts of the usual size."""
    arrays = [array.cast(one.type) for array, one in zip(rows.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
