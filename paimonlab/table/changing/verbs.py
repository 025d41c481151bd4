"""The verbs: delete, update, truncate."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.commit.read_set import ReadSet
from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import UnsupportedError
from paimonlab.metadata.partition_stats import partition_columns
from paimonlab.progress import Progress
from paimonlab.scan.live_files import live_entries
from paimonlab.spec.options.table_options import check_supported
from paimonlab.spec.predicates.predicate import AlwaysTrue, Predicate, columns, evaluate
from paimonlab.spec.schema.row_tracking import RowTrackingOptions
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.table.changing import append, keyed
from paimonlab.table.changing.statement import Changed, Statement, run
from paimonlab.table.columns import update_columns
from paimonlab.table.commit_user import new_user
from paimonlab.table.conditions import bound
from paimonlab.table.isolation import rows_of_interest
from paimonlab.table.parts import TableParts


def delete(
    parts: TableParts, where: str | Predicate, *, progress: Progress | None
) -> Snapshot | None:
    """Delete the rows for which a condition is true; see `Table.delete`."""
    predicate = bound(where, parts.schema.fields, parts.name)
    assert predicate is not None, "a condition was given"
    check_supported(parts.options, parts.schema, "read")
    named = columns(predicate)
    if not named and not isinstance(predicate, AlwaysTrue):
        return None
    if named <= {*parts.schema.partition_keys}:
        return _drop(parts, predicate)
    if parts.options.slice(RowTrackingOptions).data_evolution:
        raise UnsupportedError(
            "data-evolution.enabled = 'true'",
            f"{parts.name}: single rows cannot be deleted, only partitions",
        )
    if parts.schema.primary_keys:
        keyed.check_delete(parts)
    return _run(parts, Statement(predicate=predicate, progress=progress))


def update(
    parts: TableParts,
    assignments: Mapping[str, object],
    where: str | Predicate | None,
    *,
    progress: Progress | None,
) -> Snapshot | None:
    """Give columns new values; see `Table.update`."""
    # sqlglot takes 0.1 s to import.
    from paimonlab.table.changing.assignments import BoundAssignments  # noqa: PLC0415

    bound_assignments = BoundAssignments.of(assignments, parts.schema, parts.name)
    predicate = bound(where, parts.schema.fields, parts.name)
    check_supported(parts.options, parts.schema, "read")
    if parts.options.slice(RowTrackingOptions).data_evolution:
        names = bound_assignments.columns
        return update_columns(parts, predicate, names, bound_assignments.applied)
    if parts.schema.primary_keys:
        keyed.check_update(parts, bound_assignments.columns)
    statement = Statement(predicate=predicate, assignments=bound_assignments, progress=progress)
    return _run(parts, statement)


def truncate(parts: TableParts) -> Snapshot:
    """Delete all rows; see `Table.truncate`."""
    return _replace_by_nothing(parts, OverwriteScope.whole_table(), None)


def _run(parts: TableParts, statement: Statement) -> Snapshot | None:
    def change(snapshot: Snapshot) -> Changed | None:
        if parts.schema.primary_keys:
            return keyed.change_rows(parts, statement, snapshot)
        return append.change_rows(parts, statement, snapshot)

    return run(parts, statement, change)


def _drop(parts: TableParts, predicate: Predicate) -> Snapshot | None:
    """Delete whole partitions: nothing of them has to be read."""
    snapshot = parts.snapshots.latest()
    if snapshot is None:
        return None
    there = pc.unique(live_entries(snapshot, parts.manifests)["partition"])
    if isinstance(predicate, AlwaysTrue):
        if not len(there):
            return None
        return _replace_by_nothing(parts, OverwriteScope.whole_table(), None)
    fields = [parts.schema.field(name) for name in parts.schema.partition_keys]
    is_true = evaluate(predicate, partition_columns(there, fields)).fill_null(False)  # noqa: FBT003
    hit = there.filter(pa.array(np.asarray(is_true.to_numpy(zero_copy_only=False), np.bool_)))
    if not len(hit):
        return None
    may_match = rows_of_interest(parts, predicate)
    reads = ReadSet(snapshot_id=snapshot.id, may_match=may_match) if may_match else None
    return _replace_by_nothing(parts, OverwriteScope.exactly(hit.to_pylist()), reads)


def _replace_by_nothing(
    parts: TableParts, scope: OverwriteScope, reads: ReadSet | None
) -> Snapshot:
    return parts.committer.overwrite(
        [],
        scope=scope,
        user=new_user(parts),
        identifier=BATCH_COMMIT_IDENTIFIER,
        is_new_user=True,
        reads=reads,
    )
