"""DELETE and UPDATE in the tasks that read the rows: nothing passes through the JVM.

A task has all files of some buckets, or some files of a table without keys. It looks at the
columns of the condition, and writes what becomes of the rows that it finds.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, null_filled
from paimonlab.errors import PaimonError
from paimonlab.formats.deletion_vectors import encode_deletion_vector
from paimonlab.read.matches import FileMatch, divided_rows, match_of
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import read_split
from paimonlab.scan.split import DataSplit
from paimonlab.spark.rows.executor_changes import ChangeOutcome, ChangeTask, Positions
from paimonlab.spark.rows.expression_trees import Columns, Tree, bound, conjuncts, names_of
from paimonlab.spark.writing.executor_write import KIND_COLUMN, TaskOutcome, WriteTask
from paimonlab.spec.row_kind import RowKind
from paimonlab.storage import FileIO
from paimonlab.write.expressions.conditions import truth
from paimonlab.write.expressions.expression import Expression
from paimonlab.write.lost_changes import LostChanges
from paimonlab.write.writer import TableWriter

_KINDS = 4


@dataclass(frozen=True, slots=True)
class RowChange:
    """Which rows a statement changes, and how; picklable."""

    condition: Tree
    values: Mapping[str, Tree] | None
    """New values by column; None: rows are deleted."""
    columns: Columns

    @property
    def kind(self) -> RowKind:
        """The kind of the rows that a table with keys gets."""
        return RowKind.DELETE if self.values is None else RowKind.UPDATE_AFTER

    def bound(self) -> BoundChange:
        """Make what is evaluated.

        Raises
        ------
        UnsupportedError
            If Spark has to evaluate something of it, or a value is not of its column's type.
        """
        parts = [
            Part(truth(bound(tree, self.columns)), names_of(tree, self.columns))
            for tree in conjuncts(self.condition)
        ]
        return BoundChange(
            Conjunction(tuple(parts)),
            {name: bound(tree, self.columns) for name, tree in (self.values or {}).items()},
        )


@dataclass(frozen=True, slots=True)
class Part:
    """A condition that is true wherever another is of which it is a part."""

    condition: Expression
    columns: frozenset[str]
    """Those that it looks at."""


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Conditions all of which have to be true."""

    parts: tuple[Part, ...]
    """At least one."""

    @property
    def columns(self) -> frozenset[str]:
        """The columns that are looked at."""
        return frozenset().union(*(part.columns for part in self.parts))

    def is_true(self, rows: pa.RecordBatch) -> pa.Array:
        """Tell of each row whether the condition is true: n values without nulls."""
        (first, *others) = (part.condition.evaluate(rows) for part in self.parts)
        return null_filled(reduce(pc.and_kleene, others, first), False)

    def part_over(self, names: frozenset[str]) -> Conjunction | None:
        """Return the parts that look at these columns alone; None: no part does."""
        found = tuple(part for part in self.parts if part.columns <= names)
        return Conjunction(found) if found else None


@dataclass(frozen=True, slots=True)
class BoundChange:
    """A `RowChange` that can be evaluated."""

    condition: Conjunction
    values: Mapping[str, Expression]

    def applied(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return rows with their new values."""
        made = rows
        for name, value in self.values.items():
            position = rows.schema.get_field_index(name)
            made = made.set_column(position, rows.schema.field(position), value.evaluate(rows))
        return made


@dataclass(frozen=True, slots=True)
class KeyedChangeTask:
    """Writes rows of the keys that a condition is true for; picklable."""

    splits: Sequence[bytes]
    """The pickled splits of each task; no bucket is in two of them."""
    reading: ReadPlan
    """Reads all columns; its condition is true wherever that of the statement is."""
    change: RowChange
    write: WriteTask

    def __call__(self, numbers: Iterable[int]) -> Iterator[bytes]:
        """Do the tasks of these numbers; yields the pickled `ChangeOutcome`."""
        (answer,) = ChangeTask(self.write, is_keyed=True)(self._rows(numbers))
        yield answer.column(0)[0].as_py()

    def _rows(self, numbers: Iterable[int]) -> Iterator[pa.RecordBatch]:
        change, kind = self.change.bound(), int(self.change.kind)
        lost = LostChanges.of(self.write.plan)
        for split in splits_of(self.splits, numbers):
            for rows in read_split(split, self.reading, self.write.file_io, change.condition):
                found = change.applied(rows)
                if self.change.values is None:
                    lost.check_deletes(rows)
                else:
                    lost.check_updates(rows, found)
                kinds = arrow_array(np.full(found.num_rows, kind, np.int8))
                yield found.append_column(KIND_COLUMN, kinds)


@dataclass(frozen=True, slots=True)
class FileChangeTask:
    """Finds the rows of files that a condition is true for, and writes those that are left.

    Of a file of which rows are only marked as deleted nothing is written but updated rows.
    """

    splits: Sequence[bytes]
    """The pickled splits of each task, each of one file."""
    reading: ReadPlan
    """Reads all columns; its condition is true wherever that of the statement is."""
    change: RowChange
    write: WriteTask
    marks_rows: bool
    """Whether rows are marked as deleted where others of their file are left."""

    def __call__(self, numbers: Iterable[int]) -> Iterator[bytes]:
        """Do the tasks of these numbers; yields the pickled `ChangeOutcome`."""
        yield pickle.dumps(self._outcome(numbers))

    def _outcome(self, numbers: Iterable[int]) -> ChangeOutcome:
        seen = _Seen(self.change.bound(), self)
        try:
            with self.write.writer() as writer:
                for split in splits_of(self.splits, numbers):
                    seen.look(split, writer)
                messages = tuple(message.to_bytes() for message in writer.prepare_commit())
        except PaimonError as error:
            return ChangeOutcome(TaskOutcome(error=pickle.dumps(error)), (0,) * _KINDS, ())
        counts = [0] * _KINDS
        counts[self.change.kind] = seen.count
        return ChangeOutcome(TaskOutcome(messages), tuple(counts), tuple(seen.positions))


@dataclass(slots=True)
class _Seen:
    change: BoundChange
    task: FileChangeTask
    count: int = 0
    positions: list[Positions] = field(default_factory=list)

    def look(self, split: DataSplit, writer: TableWriter) -> None:
        """Look for rows of a file, and write what is left of it."""
        file_io: FileIO = self.task.write.file_io
        match = match_of(split, self.task.reading, file_io, self.change.condition)
        if not match.matched.cardinality:
            return
        self.count += match.matched.cardinality
        rows = encode_deletion_vector(match.matched, bitmap64=True)
        is_left = match.is_whole or self.task.marks_rows
        self.positions.append(Positions(match.file.file_name, rows, alive_count=match.alive_count))
        if is_left and self.task.change.values is None:
            return
        self._write(match, writer, file_io, only_matched=is_left)

    def _write(
        self, match: FileMatch, writer: TableWriter, file_io: FileIO, *, only_matched: bool
    ) -> None:
        reading = self.task.reading
        parts = divided_rows(match, reading, file_io, only_matched=only_matched)
        for rows, is_matched in parts:
            mask = arrow_array(is_matched)
            stays = rows.filter(arrow_array(~is_matched))
            if stays.num_rows:
                writer.write(stays)
            if self.task.change.values is not None:
                hit = rows.filter(mask)
                if hit.num_rows:
                    writer.write(self.change.applied(hit))


def splits_of(pickled: Sequence[bytes], numbers: Iterable[int]) -> Iterator[DataSplit]:
    """Yield the splits of the tasks of these numbers."""
    for number in numbers:
        yield from pickle.loads(pickled[number])  # noqa: S301 - our own driver made it
