"""What tasks of row-level statements do on executors.

`ChangeTask` writes new rows and remembers, file by file, the positions of the rows that go.
`RewriteTask` writes the rows of files that stay when others of them go.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_row, arrow_scalar, numpy_values
from paimonlab.errors import DataError, PaimonError
from paimonlab.formats.deletion_vectors import (
    DeletionVector,
    decode_deletion_vector,
    encode_deletion_vector,
)
from paimonlab.read.matches import FileMatch, divided_rows
from paimonlab.read.read_plan import ReadPlan
from paimonlab.spark.reading.executor_places import FILE_COLUMN, POSITION_COLUMN
from paimonlab.spark.writing.executor_write import BEFORE, KIND_COLUMN, TaskOutcome, WriteTask
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.row_kind import RowKind
from paimonlab.storage import FileIO
from paimonlab.write.kept_ids import IdKeepingWriter, keeps_ids
from paimonlab.write.lost_changes import LostChanges
from paimonlab.write.write_plan import WritePlan
from paimonlab.write.writer import TableWriter

RESULT_COLUMN = "result"
RESULT_SCHEMA = pa.schema([(RESULT_COLUMN, pa.binary())])
_KINDS = 4


@dataclass(frozen=True, slots=True)
class Positions:
    """Rows of one file that go, as a task saw them."""

    file: str
    rows: bytes
    """An encoded deletion vector."""
    example: int | None = None
    """A position that came twice."""
    alive_count: int | None = None
    """Rows of the file that were not deleted before, if the task has written again those of them
    that are left; None: it has not."""

    @property
    def vector(self) -> DeletionVector:
        """The positions."""
        return decode_deletion_vector(self.rows, path=self.file)


@dataclass(frozen=True, slots=True)
class ChangeOutcome:
    """What one task wrote and saw."""

    written: TaskOutcome
    counts: tuple[int, ...]
    """Rows by `RowKind`."""
    positions: tuple[Positions, ...]
    twice: tuple[int] | None = None
    """The id of a row that came twice."""


@dataclass(frozen=True, slots=True)
class ChangeTask:
    """Writes rows, and takes note of target rows that go; picklable."""

    write: WriteTask
    is_keyed: bool
    """Whether rows replace others by their key; else by file and position."""
    checks_keys: bool = False
    """Whether two changes of one key are an error."""
    counts_keys: bool = False
    """Whether a key that is deleted several times counts once."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write the rows of one task; yields one row with the pickled `ChangeOutcome`."""
        seen = _Seen(self)
        written = self.write.outcome(seen.passing(batches))
        outcome = ChangeOutcome(written, tuple(seen.counts), seen.positions())
        yield arrow_row(RESULT_SCHEMA, pickle.dumps(outcome))


@dataclass(slots=True)
class _Seen:
    task: ChangeTask
    counts: list[int] = field(default_factory=lambda: [0] * _KINDS)
    lost: LostChanges = field(init=False)
    _files: dict[str, list[np.ndarray]] = field(default_factory=dict)
    _keys: list[pa.RecordBatch] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lost = LostChanges.of(self.task.write.plan)

    def passing(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Take note of rows; hand on what is to be written."""
        for batch in batches:
            kinds = numpy_values(batch.column(KIND_COLUMN))
            for kind, count in enumerate(np.bincount(kinds, minlength=_KINDS).tolist()):
                self.counts[kind] += count
            if self.task.is_keyed:
                rows = self._checked(batch, kinds, batches)
                self._note_keys(rows, kinds)
                yield rows
                continue
            rows = batch.drop_columns([KIND_COLUMN])
            if FILE_COLUMN in batch.schema.names:  # a statement that only inserts needs no places
                self._note_positions(batch)
                rows = rows.drop_columns([FILE_COLUMN, POSITION_COLUMN])
            yield rows.filter(arrow_array(kinds != int(RowKind.DELETE)))
        if self._keys:
            self._check_keys()

    def _checked(
        self, batch: pa.RecordBatch, kinds: np.ndarray, rest: Iterator[pa.RecordBatch]
    ) -> pa.RecordBatch:
        """Check that the table does what rows say; return them without what was before."""
        names = [name for name in batch.schema.names if name.startswith(BEFORE)]
        rows = batch.drop_columns(names) if names else batch
        try:
            if names:
                self._check_updates(batch.select(names), rows, kinds)
            if self.lost.groups:
                deletes = kinds == int(RowKind.DELETE)
                self.lost.check_deletes(rows.filter(arrow_array(deletes)))
        except PaimonError:
            for _ in rest:  # Spark's side must be read to its end
                pass
            raise
        return rows

    def _check_updates(
        self, before: pa.RecordBatch, rows: pa.RecordBatch, kinds: np.ndarray
    ) -> None:
        updates = arrow_array(kinds == int(RowKind.UPDATE_AFTER))
        old = before.rename_columns([name.removeprefix(BEFORE) for name in before.schema.names])
        self.lost.check_updates(old.filter(updates), rows.filter(updates))

    def _note_positions(self, batch: pa.RecordBatch) -> None:
        files, positions = batch.column(FILE_COLUMN), batch.column(POSITION_COLUMN)
        there = files.is_valid()
        encoded = files.filter(there).dictionary_encode()
        codes, places = numpy_values(encoded.indices), numpy_values(positions.filter(there))
        for code, name in enumerate(encoded.dictionary.to_pylist()):
            self._files.setdefault(name, []).append(places[codes == code])

    def _note_keys(self, batch: pa.RecordBatch, kinds: np.ndarray) -> None:
        if self.task.counts_keys:
            noted = kinds == int(RowKind.DELETE)
        elif self.task.checks_keys:
            noted = kinds != int(RowKind.INSERT)
        else:
            return
        keys = batch.select(list(self.task.write.plan.schema.primary_keys))
        changed = keys.filter(arrow_array(noted))
        if changed.num_rows:
            self._keys.append(changed)

    def _check_keys(self) -> None:
        keys = pa.Table.from_batches(self._keys)
        counted = keys.group_by(keys.column_names).aggregate([([], "count_all")])
        if self.task.counts_keys:
            self.counts[RowKind.DELETE] = counted.num_rows
            return
        several = counted.filter(pc.greater(counted["count_all"], arrow_scalar(1, pa.int64())))
        if several.num_rows:
            (row,) = several.slice(0, 1).drop_columns(["count_all"]).to_pylist()
            example = ", ".join(f"{name} = {value!r}" for name, value in row.items())
            raise several_source_rows(self.task.write.plan.table_name, example)

    def positions(self) -> tuple[Positions, ...]:
        """Return what was noted of each file."""
        found = []
        for name, parts in self._files.items():
            places = np.sort(np.concatenate(parts))
            again = places[1:][places[1:] == places[:-1]]
            vector = DeletionVector.of(distinct_integers(places))
            rows = encode_deletion_vector(vector, bitmap64=True)
            example = int(again[0]) if len(again) else None
            found.append(Positions(name, rows, example))
        return tuple(found)


def several_source_rows(table: str, example: str) -> DataError:
    """Make the error of a target row that several source rows would change."""
    return DataError(
        f"{table}: MERGE INTO would change a row of the target more than once, as several rows of "
        f"the source match it ({example}); let the source have one row for each, say by GROUP BY "
        "or row_number()"
    )


@dataclass(frozen=True, slots=True)
class RewriteTask:
    """Writes the rows of files that stay; picklable."""

    matches: Sequence[FileMatch]
    reading: ReadPlan
    plan: WritePlan
    file_io: FileIO

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rewrite the files whose numbers come; yields one row with a pickled `TaskOutcome`."""
        outcome = pickle.dumps(self._outcome(batches))
        yield arrow_row(RESULT_SCHEMA, outcome)

    def _outcome(self, batches: Iterator[pa.RecordBatch]) -> TaskOutcome:
        try:
            keeping = IdKeepingWriter if keeps_ids(self.plan) else TableWriter
            with keeping(self.plan, self.file_io) as writer:
                for batch in batches:
                    for number in batch.column(0).to_pylist():
                        self._rewrite(self.matches[number], writer)
                messages = tuple(message.to_bytes() for message in writer.prepare_commit())
        except PaimonError as error:
            for _ in batches:  # Spark's side must be read to its end
                pass
            return TaskOutcome(error=pickle.dumps(error))
        return TaskOutcome(messages=messages)

    def _rewrite(self, match: FileMatch, writer: TableWriter) -> None:
        for rows, is_matched in divided_rows(match, self.reading, self.file_io):
            stays = rows.filter(arrow_array(~is_matched))
            if stays.num_rows:
                writer.write(stays)
