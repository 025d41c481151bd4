"""Changing the schema of a table.

Columns keep their field ids for life, so data files written before a change stay readable:
files are matched by id, not by name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from paimonlab.spec.schema.change_kinds import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RemoveOption,
    RenameColumn,
    SchemaChange,
    SetOption,
    UpdateColumnComment,
    UpdateColumnDefault,
    UpdateColumnNullability,
    UpdateColumnType,
    UpdateComment,
)
from paimonlab.spec.schema.column_changes import change_column
from paimonlab.spec.schema.option_changes import remove_option, set_option
from paimonlab.spec.schema.rules import check_schema
from paimonlab.spec.schema.table_schema import CURRENT_VERSION, TableSchema

__all__ = [
    "AddColumn",
    "DropColumn",
    "MoveColumn",
    "RemoveOption",
    "RenameColumn",
    "SchemaChange",
    "SetOption",
    "UpdateColumnComment",
    "UpdateColumnDefault",
    "UpdateColumnNullability",
    "UpdateColumnType",
    "UpdateComment",
    "apply_changes",
]


def apply_changes(
    schema: TableSchema, changes: Iterable[SchemaChange], *, has_snapshots: bool, time_millis: int
) -> TableSchema:
    """Make the next schema of a table.

    Parameters
    ----------
    schema
        The current one.
    changes
        Applied in order, all or nothing.
    has_snapshots
        Whether the table was ever written to: some options are then fixed.
    time_millis
        Now, milliseconds since the epoch.

    Raises
    ------
    ColumnNotFoundError
        If a change names a column that does not exist.
    SchemaError
        If the format does not allow a change; nothing has changed then.

    Examples
    --------
    >>> from paimonlab.spec.schema.definition import Schema, new_table_schema
    >>> first = new_table_schema(Schema({"a": "INT"}), time_millis=0)
    >>> changes = [AddColumn("b", "STRING", first=True), RenameColumn("a", "c")]
    >>> second = apply_changes(first, changes, has_snapshots=True, time_millis=1)
    >>> [(field.id, field.name) for field in second.fields]
    [(1, 'b'), (0, 'c')]
    """
    changed = schema
    for change in changes:
        changed = _apply(changed, change, has_snapshots=has_snapshots)
    changed = replace(changed, id=schema.id + 1, time_millis=time_millis, version=CURRENT_VERSION)
    check_schema(changed)
    return changed


def _apply(schema: TableSchema, change: SchemaChange, *, has_snapshots: bool) -> TableSchema:
    match change:
        case SetOption():
            return set_option(schema, change, has_snapshots=has_snapshots)
        case RemoveOption():
            return remove_option(schema, change, has_snapshots=has_snapshots)
        case UpdateComment(comment):
            return replace(schema, comment=comment)
    return change_column(change, schema)
