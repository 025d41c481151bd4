"""What a statement would change: rows and files are counted, nothing is written."""

from __future__ import annotations

from collections.abc import Mapping

from paimonlab.arrow_values import arrow_array
from paimonlab.progress import Progress
from paimonlab.read.matches import divided_rows, find_matches
from paimonlab.read.splits import read_splits
from paimonlab.spec.schema.row_tracking import RowTrackingOptions
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.changing import keyed, verbs
from paimonlab.table.changing.append import AppendChange
from paimonlab.table.changing.statement import PlannedChange, Statement
from paimonlab.table.definition import TableDefinition
from paimonlab.table.reading.conditions import Where
from paimonlab.table.store import TableStore


def planned_delete(
    definition: TableDefinition, store: TableStore, where: Where, *, progress: Progress | None
) -> PlannedChange:
    """Count what `verbs.delete` would delete.

    Raises
    ------
    UnsupportedError
        As `verbs.delete` does.
    """
    wanted = verbs.wanted_delete(definition, where)
    snapshot = store.snapshots.latest()
    if wanted is None or snapshot is None:
        return PlannedChange()
    if wanted.drops_partitions:
        scan = keyed.scan_of_all_rows(definition, store, snapshot, wanted.predicate)
        files = sum(len(split.files) for split in scan.plan().splits)
        return PlannedChange(rows_deleted=scan.count(), files_read=files, files_changed=files)
    statement = Statement(predicate=wanted.predicate, condition=wanted.condition, progress=progress)
    rows, read, changed = _found(definition, store, snapshot, statement)
    return PlannedChange(rows_deleted=rows, files_read=read, files_changed=changed)


def planned_update(
    definition: TableDefinition,
    store: TableStore,
    assignments: Mapping[str, object],
    where: Where | None,
    *,
    progress: Progress | None,
) -> PlannedChange:
    """Count what `verbs.update` would update; values that do not fit are an error here, too."""
    bound, predicate, condition = verbs.wanted_update(definition, assignments, where)
    snapshot = store.snapshots.latest()
    if snapshot is None:
        return PlannedChange()
    statement = Statement(
        predicate=predicate, condition=condition, assignments=bound, progress=progress
    )
    rows, read, changed = _found(definition, store, snapshot, statement)
    return PlannedChange(rows_updated=rows, files_read=read, files_changed=changed)


def _found(
    definition: TableDefinition,
    store: TableStore,
    snapshot: Snapshot,
    statement: Statement,
) -> tuple[int, int, int]:
    """Count the rows for which a condition is true, the files that are read, and theirs."""
    is_whole = not definition.options.slice(RowTrackingOptions).data_evolution
    if is_whole and not definition.schema.primary_keys:
        return _in_files(definition, store, snapshot, statement)
    scan = keyed.scan_of_all_rows(definition, store, snapshot, statement.predicate)
    rows = 0
    splits = scan.plan().splits
    for done, split in enumerate(splits, start=1):
        for read in read_splits([split], scan.read_plan(), store.file_io):
            found = read
            if statement.condition is not None:
                found = read.filter(statement.condition.is_true(read))
            if statement.assignments is not None and found.num_rows:
                changed = statement.assignments.applied(found)
                if definition.schema.primary_keys:
                    keyed.check_nulls(definition, found, changed)
            rows += found.num_rows
        statement.report(done, len(splits), "splits")
    return rows, sum(len(split.files) for split in splits), 0


def _in_files(
    definition: TableDefinition,
    store: TableStore,
    snapshot: Snapshot,
    statement: Statement,
) -> tuple[int, int, int]:
    """Count as `_found` does, in a table whose files have each row once."""
    change, rows, files = AppendChange(definition, store, snapshot, statement.predicate), 0, 0
    splits = change.scan.plan().splits
    total = sum(len(split.files) for split in splits)
    matches = find_matches(splits, change.read_plan, store.file_io, statement.condition)
    for done, match in enumerate(matches, start=1):
        count = match.matched.cardinality
        if count and statement.assignments is not None:
            parts = divided_rows(match, change.read_plan, store.file_io, only_matched=True)
            for read, is_matched in parts:
                statement.assignments.applied(read.filter(arrow_array(is_matched)))
        rows += count
        files += count > 0
        statement.report(done, total, "files")
    return rows, total, files
