"""The verbs: delete, update, truncate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.commit.read_set import ReadSet
from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import UnsupportedError
from paimonlab.metadata.partition_stats import partition_columns
from paimonlab.progress import Progress
from paimonlab.scan.live_files import live_entries
from paimonlab.spec.options.table_options import OptionSlice, check_supported, option_field
from paimonlab.spec.predicates.predicate import AlwaysTrue, Predicate, columns, evaluate
from paimonlab.spec.schema.row_tracking import RowTrackingOptions
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.table import changing
from paimonlab.table.changing import append, keyed
from paimonlab.table.changing.statement import Changed, RowCount, Statement, run
from paimonlab.table.committing.users import new_user
from paimonlab.table.definition import TableDefinition
from paimonlab.table.reading.conditions import Where
from paimonlab.table.reading.expressions import divided
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.after_commit import committer_of
from paimonlab.table.writing.columns import update_columns
from paimonlab.table.writing.isolation import rows_of_interest

if TYPE_CHECKING:
    from paimonlab.table.changing.assignments import BoundAssignments
    from paimonlab.table.reading.row_conditions import Condition


class DeleteOptions(OptionSlice):
    """The table options that say what deleting whole partitions does."""

    force_changelog: bool = option_field("delete.force-produce-changelog", "boolean", default=False)
    """``delete.force-produce-changelog``: rows are deleted as others are, not with their files.

    Source: apache/paimon@1.4.2 ``OptimizeMetadataOnlyDeleteFromPaimonTable``: deleting all rows of
    the table takes the files nevertheless.
    """


@dataclass(frozen=True, slots=True)
class WantedDelete:
    """Which rows a delete is about."""

    predicate: Predicate | None
    condition: Condition | None
    """What rows have to satisfy as well; None: nothing."""
    drops_partitions: bool = False
    """Whether files of whole partitions go, without a look at their rows."""


def wanted_delete(definition: TableDefinition, where: Where) -> WantedDelete | None:
    """Read the condition of a delete; None if no row satisfies it.

    Raises
    ------
    UnsupportedError
        If single rows of the table cannot be deleted.
    """
    predicate, condition = divided(where, definition)
    check_supported(definition.options, definition.schema, "read")
    if condition is None:
        assert predicate is not None, "a condition was given"
        named = columns(predicate)
        if not named and not isinstance(predicate, AlwaysTrue):
            return None
        if named <= {*definition.schema.partition_keys}:
            options = definition.options.slice(DeleteOptions)
            if not named or not options.force_changelog:
                return WantedDelete(predicate, None, drops_partitions=True)
    if definition.options.slice(RowTrackingOptions).data_evolution:
        raise UnsupportedError(
            "data-evolution.enabled = 'true'",
            f"{definition.name}: single rows cannot be deleted, only partitions",
        )
    if definition.schema.primary_keys:
        keyed.check_delete(definition)
    return WantedDelete(predicate, condition)


def delete(
    definition: TableDefinition,
    store: TableStore,
    where: Where,
    *,
    progress: Progress | None,
    counted: RowCount | None = None,
) -> Snapshot | None:
    """Delete the rows for which a condition is true; see `Table.delete`.

    ``counted`` gets the number of deleted rows: whole partitions have to be read for it.
    """
    wanted = wanted_delete(definition, where)
    if wanted is None:
        return None
    if wanted.drops_partitions:
        assert wanted.predicate is not None, "partitions are named"
        return _drop(definition, store, wanted.predicate, counted)
    statement = Statement(
        predicate=wanted.predicate,
        condition=wanted.condition,
        progress=progress,
        counted=counted or RowCount(),
    )
    return _run(definition, store, statement)


def wanted_update(
    definition: TableDefinition, assignments: Mapping[str, object], where: Where | None
) -> tuple[BoundAssignments, Predicate | None, Condition | None]:
    """Read assignments and condition of an update.

    Raises
    ------
    UnsupportedError
        If such rows of the table cannot be updated.
    """
    bound = changing.assignments.BoundAssignments.of(
        assignments, definition.schema, definition.name
    )
    predicate, condition = divided(where, definition)
    check_supported(definition.options, definition.schema, "read")
    if definition.options.slice(RowTrackingOptions).data_evolution:
        if condition is not None:
            raise UnsupportedError(
                f"the condition {condition.text!r} with data-evolution.enabled = 'true'",
                f"{definition.name}: compare columns with constants",
            )
    elif definition.schema.primary_keys:
        keyed.check_update(definition, bound.columns)
    return bound, predicate, condition


def update(
    definition: TableDefinition,
    store: TableStore,
    assignments: Mapping[str, object],
    where: Where | None,
    *,
    progress: Progress | None,
    counted: RowCount | None = None,
) -> Snapshot | None:
    """Give columns new values; see `Table.update`. ``counted`` gets the number of rows."""
    counted = counted or RowCount()
    bound, predicate, condition = wanted_update(definition, assignments, where)
    if definition.options.slice(RowTrackingOptions).data_evolution:
        return update_columns(
            definition, store, predicate, bound.columns, bound.applied, counted.found
        )
    statement = Statement(
        predicate=predicate,
        condition=condition,
        assignments=bound,
        progress=progress,
        counted=counted,
    )
    return _run(definition, store, statement)


def truncate(definition: TableDefinition, store: TableStore) -> Snapshot:
    """Delete all rows; see `Table.truncate`."""
    return _replace_by_nothing(definition, store, OverwriteScope.whole_table(), None)


def _run(definition: TableDefinition, store: TableStore, statement: Statement) -> Snapshot | None:
    def change(snapshot: Snapshot) -> Changed | None:
        if definition.schema.primary_keys:
            return keyed.change_rows(definition, store, statement, snapshot)
        return append.change_rows(definition, store, statement, snapshot)

    return run(definition, store, statement, change)


def _drop(
    definition: TableDefinition,
    store: TableStore,
    predicate: Predicate,
    counted: RowCount | None,
) -> Snapshot | None:
    """Delete whole partitions: nothing of them has to be read, unless their rows are counted."""
    snapshot = store.snapshots.latest()
    if snapshot is None:
        return None
    there = pc.unique(live_entries(snapshot, store.manifests)["partition"])
    if isinstance(predicate, AlwaysTrue):
        if not len(there):
            return None
        _count(definition, store, snapshot, None, counted)
        return _replace_by_nothing(definition, store, OverwriteScope.whole_table(), None)
    fields = definition.partition_fields
    is_true = null_filled(evaluate(predicate, partition_columns(there, fields)), False)
    hit = there.filter(
        arrow_array(np.asarray(numpy_values(is_true, zero_copy_only=False), np.bool_))
    )
    if not len(hit):
        return None
    _count(definition, store, snapshot, predicate, counted)
    may_match = rows_of_interest(definition, store.schemas, predicate)
    reads = ReadSet(snapshot_id=snapshot.id, may_match=may_match) if may_match else None
    return _replace_by_nothing(definition, store, OverwriteScope.exactly(hit.to_pylist()), reads)


def _count(
    definition: TableDefinition,
    store: TableStore,
    snapshot: Snapshot,
    predicate: Predicate | None,
    counted: RowCount | None,
) -> None:
    if counted is None:
        return
    counted.found(keyed.scan_of_all_rows(definition, store, snapshot, predicate).count())


def _replace_by_nothing(
    definition: TableDefinition, store: TableStore, scope: OverwriteScope, reads: ReadSet | None
) -> Snapshot:
    return committer_of(definition, store).overwrite(
        [],
        scope=scope,
        user=new_user(definition.options),
        identifier=BATCH_COMMIT_IDENTIFIER,
        is_new_user=True,
        reads=reads,
    )
