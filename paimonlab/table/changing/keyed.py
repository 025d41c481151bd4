"""Changing rows of a primary-key table: by writing rows of the same keys.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.PrimaryKeyTableUtils``,
``org.apache.paimon.spark.catalyst.analysis.RowLevelOp``.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.read.splits import read_splits
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.changing.statement import Changed, Statement
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.write import write_plan
from paimonlab.table.reading.scan import Scan
from paimonlab.table.store import TableStore
from paimonlab.table.writing.writers import new_table_writer
from paimonlab.write.lost_changes import LostChanges

KIND_COLUMN = "__paimonlab_row_kind"


class KeyedOptions(OptionSlice):
    """The table options that say what writing a row of a key does."""

    merge_engine: str = option_field("merge-engine", "enum", "deduplicate")
    """``merge-engine``"""
    aggregates: dict[str, str] = option_field("fields.*.aggregate-function", "string", {})
    """``fields.*.aggregate-function``"""


def check_delete(definition: TableDefinition) -> None:
    """Check that writing a delete removes the row.

    Raises
    ------
    UnsupportedError
        If the merge engine, or an option, makes something else of it.
    """
    engine = definition.options.slice(KeyedOptions).merge_engine
    _check_not_ignored(definition)
    removes = {
        "deduplicate": True,
        "partial-update": _is_on(definition.options, "partial-update.remove-record-on-delete")
        or "partial-update.remove-record-on-sequence-group" in definition.options,
        "aggregation": _is_on(definition.options, "aggregation.remove-record-on-delete"),
    }
    if not removes.get(engine):
        raise UnsupportedError(
            f"delete() with merge-engine = '{engine}'",
            f"{definition.name}: a delete removes no row here"
            + (
                f"; set '{engine}.remove-record-on-delete' = 'true'"
                if engine in ("partial-update", "aggregation")
                else ""
            ),
        )


def check_update(definition: TableDefinition, columns: tuple[str, ...]) -> None:
    """Check that writing a row of a key replaces the row.

    Raises
    ------
    SchemaError
        If a column of the primary key or a partition column is assigned to.
    UnsupportedError
        If the merge engine makes something else of it.
    """
    options = definition.options.slice(KeyedOptions)
    engine = options.merge_engine
    if engine not in ("deduplicate", "partial-update"):
        raise UnsupportedError(
            f"update() with merge-engine = '{engine}'",
            f"{definition.name}: written rows do not replace rows here; 'deduplicate' or "
            "'partial-update' would do",
        )
    if engine == "partial-update" and options.aggregates:
        name = next(iter(options.aggregates))
        raise UnsupportedError(
            f"update() with fields.{name}.aggregate-function",
            f"{definition.name}: a row that is written again would be added to the one that is "
            "there",
        )
    for name in columns:
        if name in definition.schema.primary_keys:
            raise SchemaError(
                f"{definition.name}: {name!r} is a column of the primary key, which cannot be "
                "updated; delete the rows and write new ones"
            )
        if name in definition.schema.partition_keys:
            raise SchemaError(
                f"{definition.name}: {name!r} is a partition column; a row of a primary-key table "
                "cannot be moved by an update: name the columns to update, without this one"
            )


def change_rows(
    definition: TableDefinition, store: TableStore, statement: Statement, snapshot: Snapshot
) -> Changed | None:
    """Write rows of the keys for which the condition is true.

    Returns
    -------
    Changed or None
        None if the condition is true for no row.

    Raises
    ------
    UnsupportedError, DataError
        If the row that is there would win over the one that is written.
    """
    scan = scan_of_all_rows(definition, store, snapshot, statement.predicate)
    kind = RowKind.DELETE if statement.assignments is None else RowKind.UPDATE_AFTER
    lost = LostChanges.of(write_plan(definition, store.layout))
    splits = scan.plan().splits
    with new_table_writer(definition, store) as writer:
        for done, split in enumerate(splits, start=1):
            for read in read_splits([split], scan.read_plan(), store.file_io):
                rows = read
                if statement.condition is not None:
                    rows = read.filter(statement.condition.is_true(read))
                    if not rows.num_rows:
                        continue
                changed = rows
                if statement.assignments is not None:
                    changed = statement.assignments.applied(rows)
                    check_nulls(definition, rows, changed)
                    lost.check_updates(rows, changed)
                else:
                    lost.check_deletes(rows)
                statement.counted.rows += rows.num_rows
                kinds = arrow_array(np.full(rows.num_rows, int(kind), np.int8))
                writer.write(changed.append_column(KIND_COLUMN, kinds), row_kinds=KIND_COLUMN)
            statement.report(done, len(splits), "splits")
        messages = writer.prepare_commit()
    return Changed(messages, are_of_rows_read=True) if messages else None


_ALL_ROWS = {"deletion-vectors.merge-on-read": "true"}
"""A statement changes rows that wait for compaction, too, or it would lose changes."""


def scan_of_all_rows(
    definition: TableDefinition,
    store: TableStore,
    snapshot: Snapshot,
    predicate: Predicate | None,
) -> Scan:
    """Return the read of all rows that a statement may change, with all columns."""
    return Scan(
        definition=definition.with_options(_ALL_ROWS),
        store=store,
        snapshot=snapshot,
        schema=definition.schema,
        columns=definition.schema.field_names,
        predicate=predicate,
        row_limit=None,
    )


def check_nulls(definition: TableDefinition, rows: pa.RecordBatch, changed: pa.RecordBatch) -> None:
    """Refuse nulls that the merge engine would take for "no change"."""
    if definition.options.slice(KeyedOptions).merge_engine != "partial-update":
        return
    for name in rows.schema.names:
        is_lost = pc.and_(changed.column(name).is_null(), rows.column(name).is_valid())
        if pc.any(is_lost).as_py():
            raise UnsupportedError(
                "an update to NULL with merge-engine = 'partial-update'",
                f"{definition.name}: column {name!r} would keep its old value",
            )


def _check_not_ignored(definition: TableDefinition) -> None:
    if _is_on(definition.options, "ignore-delete"):
        raise UnsupportedError(
            "delete() with ignore-delete = 'true'", f"{definition.name} ignores it"
        )


def _is_on(options: Options, key: str) -> bool:
    return options.get(key, "false").strip().lower() == "true"
