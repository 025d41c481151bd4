"""Merging rows of a source into a table, until it lands.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.commands.MergeIntoPaimonTable``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import UnsupportedError
from paimonlab.formats.deletion_vectors import DeletionVector
from paimonlab.progress import Progress
from paimonlab.read.matches import FileMatch, alive_count, positioned_rows
from paimonlab.read.splits import read_splits
from paimonlab.read.streaming import in_threads
from paimonlab.scan.split import DataSplit
from paimonlab.spec.options.table_options import check_supported
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.schema.row_tracking import RowTrackingOptions
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.changing import append, keyed
from paimonlab.table.changing.statement import Changed, PlannedChange, Statement, run
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.write import write_plan
from paimonlab.table.store import TableStore
from paimonlab.table.writing.writers import new_table_writer
from paimonlab.write.lost_changes import LostChanges
from paimonlab.write.merge_clauses import Action, ClauseKind
from paimonlab.write.merge_rows import MergeRules, Merging
from paimonlab.write.writer import TableWriter

_PIECE_BYTES = 64 << 20
"""Of target rows that are joined at once."""
_FILE, _POSITION = "__paimonlab_file", "__paimonlab_position"


@dataclass(slots=True)
class Counts:
    """Rows that a merge changed."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0


@dataclass(slots=True)
class RunningMerge:
    """A merge into one table."""

    definition: TableDefinition
    store: TableStore
    rules: MergeRules
    source: pa.Table
    predicate: Predicate | None
    """What all target rows satisfy that may be changed; None: nothing."""
    progress: Progress | None = None
    counts: Counts = field(default_factory=Counts)

    def run(self) -> Snapshot | None:
        """Change the rows and commit.

        Returns
        -------
        Snapshot or None
            None if no row is changed.
        """
        self._check()
        statement = Statement(predicate=self.predicate, progress=self.progress, verb="merge")
        change = partial(self._changed, statement)
        return run(self.definition, self.store, statement, change, self._inserted_into_nothing)

    def planned(self) -> PlannedChange:
        """Count what `run` would change; nothing is written."""
        self._check()
        snapshot = self.store.snapshots.latest()
        merging, self.counts = Merging(self.rules, self.source), Counts()
        read, changed = 0, set[int]()
        if snapshot is not None:
            change = append.AppendChange(self.definition, self.store, snapshot, self.predicate)
            is_keyed = bool(self.definition.primary_keys)
            scan = (
                keyed.scan_of_all_rows(self.definition, self.store, snapshot, self.predicate)
                if is_keyed
                else change.scan
            )
            splits = scan.plan().splits
            read = sum(len(split.files) for split in splits)
            if is_keyed:
                found: Iterable[pa.RecordBatch] = read_splits(
                    splits, scan.read_plan(), self.store.file_io
                )
            else:
                found = self._located(_files(splits), change)
            for rows in _pieces(found):
                plain = rows if is_keyed else rows.drop_columns([_FILE, _POSITION])
                changes = merging.changes(plain)
                if is_keyed:
                    before = rows.take(arrow_array(changes.updated_from))
                    keyed.check_nulls(self.definition, before, changes.updated)
                else:
                    places = np.concatenate([changes.updated_from, changes.deleted])
                    changed.update(numpy_values(rows.column(_FILE))[places].tolist())
                self._count(changes.updated.num_rows, len(changes.deleted))
        self.counts.inserted = sum(rows.num_rows for rows in merging.inserted())
        return PlannedChange(
            rows_inserted=self.counts.inserted,
            rows_updated=self.counts.updated,
            rows_deleted=self.counts.deleted,
            files_read=read,
            files_changed=len(changed),
        )

    def _check(self) -> None:
        definition = self.definition
        check_supported(definition.options, definition.schema, "read")
        if definition.options.slice(RowTrackingOptions).data_evolution:
            raise UnsupportedError(
                "merge() with data-evolution.enabled = 'true'",
                f"{definition.name}: use update() or write_columns() to change columns of rows",
            )
        if not definition.primary_keys:
            return
        for clause in self.rules.clauses:
            if clause.rule.action is Action.DELETE:
                keyed.check_delete(definition)
            elif clause.rule.kind is not ClauseKind.NOT_MATCHED:
                keyed.check_update(definition, tuple(clause.values))

    def _inserted_into_nothing(self) -> Changed | None:
        """Write the rows of a table that has none; others may commit some meanwhile."""
        self.counts = Counts()
        is_keyed = bool(self.definition.primary_keys)
        with new_table_writer(self.definition, self.store) as writer:
            for rows in Merging(self.rules, self.source).inserted():
                writer.write(rows)
                self.counts.inserted += rows.num_rows
            messages = writer.prepare_commit()
        return Changed(messages, are_of_rows_read=is_keyed) if messages else None

    def _changed(self, statement: Statement, snapshot: Snapshot) -> Changed | None:
        self.counts = Counts()
        merging = Merging(self.rules, self.source)
        if self.definition.primary_keys:
            return self._keys_changed(statement, snapshot, merging)
        return self._files_changed(statement, snapshot, merging)

    def _keys_changed(
        self, statement: Statement, snapshot: Snapshot, merging: Merging
    ) -> Changed | None:
        """Write rows of the keys that are changed."""
        definition, store = self.definition, self.store
        scan = keyed.scan_of_all_rows(self.definition, self.store, snapshot, self.predicate)
        lost = LostChanges.of(write_plan(definition, store.layout))
        splits = scan.plan().splits
        with new_table_writer(definition, store) as writer:
            for done, split in enumerate(splits, start=1):
                read = read_splits([split], scan.read_plan(), store.file_io)
                for rows in _pieces(read):
                    changes = merging.changes(rows)
                    before = rows.take(arrow_array(changes.updated_from))
                    keyed.check_nulls(definition, before, changes.updated)
                    lost.check_updates(before, changes.updated)
                    self._write(writer, changes.updated, RowKind.UPDATE_AFTER)
                    gone = rows.take(arrow_array(changes.deleted))
                    lost.check_deletes(gone)
                    self._write(writer, gone, RowKind.DELETE)
                    self._count(changes.updated.num_rows, gone.num_rows)
                statement.report(done, len(splits), "splits")
            for rows in merging.inserted():
                self._write(writer, rows, RowKind.INSERT)
                self.counts.inserted += rows.num_rows
            messages = writer.prepare_commit()
        return Changed(messages, are_of_rows_read=True) if messages else None

    def _write(self, writer: TableWriter, rows: pa.RecordBatch, kind: RowKind) -> None:
        if rows.num_rows:
            kinds = arrow_array(np.full(rows.num_rows, int(kind), np.int8))
            writer.write(rows.append_column(keyed.KIND_COLUMN, kinds), row_kinds=keyed.KIND_COLUMN)

    def _count(self, updated: int, deleted: int) -> None:
        self.counts.updated += updated
        self.counts.deleted += deleted

    def _files_changed(
        self, statement: Statement, snapshot: Snapshot, merging: Merging
    ) -> Changed | None:
        """Write new rows, and let those go that they replace."""
        change = append.AppendChange(self.definition, self.store, snapshot, self.predicate)
        files = _files(change.scan.plan().splits)
        gone: dict[int, list[np.ndarray]] = {}
        # Rows that are written again keep their ids, where rows have some; new rows get theirs.
        with (
            new_table_writer(change.written_definition, self.store) as again,
            new_table_writer(self.definition, self.store) as writer,
        ):
            for rows in _pieces(self._located(files, change)):
                origin = numpy_values(rows.column(_FILE)), numpy_values(rows.column(_POSITION))
                changes = merging.changes(rows.drop_columns([_FILE, _POSITION]))
                if changes.updated.num_rows:
                    again.write(append.updated_rows(change.options, changes.updated))
                self._count(changes.updated.num_rows, len(changes.deleted))
                places = np.concatenate([changes.updated_from, changes.deleted])
                for number in np.unique(origin[0][places]).tolist():
                    of_file = places[origin[0][places] == number]
                    gone.setdefault(number, []).append(origin[1][of_file])
            for number, (position, parts) in enumerate(sorted(gone.items()), start=1):
                match = self._match(files[position], parts, change)
                change.take(match)
                append.write_again(change, match, statement, again, self.store)
                statement.report(number, len(gone), "files")
            for rows in merging.inserted():
                writer.write(rows)
                self.counts.inserted += rows.num_rows
            if change.is_empty and not self.counts.inserted:
                return None
            written = [*again.prepare_commit(), *writer.prepare_commit()]
        return Changed(change.messages(written), are_of_rows_read=False)

    def _located(
        self, files: Sequence[DataSplit], change: append.AppendChange
    ) -> Iterable[pa.RecordBatch]:
        def read(number: int) -> Iterator[pa.RecordBatch]:
            for rows, positions in positioned_rows(
                files[number], change.read_plan, self.store.file_io
            ):
                numbers = arrow_array(np.full(rows.num_rows, number, np.int64))
                located = rows.append_column(_FILE, numbers)
                yield located.append_column(_POSITION, arrow_array(positions))

        sources: list[Callable[[], Iterator[pa.RecordBatch]]] = [
            partial(read, number) for number in range(len(files))
        ]
        return in_threads(sources, size_of=lambda rows: rows.nbytes)

    def _match(
        self, split: DataSplit, parts: Sequence[np.ndarray], change: append.AppendChange
    ) -> FileMatch:
        matched = DeletionVector.of(np.sort(np.concatenate(parts)))
        return FileMatch(split, matched, alive_count(split, change.read_plan, self.store.file_io))


def _files(splits: Sequence[DataSplit]) -> list[DataSplit]:
    """Return a split of each file."""
    return [split.with_files(file.__eq__) for split in splits for file in split.files]


def _pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Put batches together, so that a join finds many rows at once."""
    waiting: list[pa.RecordBatch] = []
    waiting_bytes = 0
    for batch in batches:
        waiting.append(batch)
        waiting_bytes += batch.nbytes
        if waiting_bytes >= _PIECE_BYTES:
            yield pa.concat_batches(waiting)
            waiting, waiting_bytes = [], 0
    if waiting:
        yield pa.concat_batches(waiting)
