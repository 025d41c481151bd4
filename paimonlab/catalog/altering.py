"""The schema that a table gets by changes, if such a table is allowed here."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab import catalog
from paimonlab.catalog.new_schemas import check_width
from paimonlab.clock import now_millis
from paimonlab.spec.options.table_options import Options, check_known, check_supported
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.schema.schema_changes import SchemaChange, apply_changes


def altered_schema(
    current: TableSchema,
    changes: Sequence[SchemaChange],
    *,
    table: str,
    has_snapshots: bool,
    max_columns: int,
) -> TableSchema:
    """Apply changes to a schema, in order, all or nothing.

    Parameters
    ----------
    table
        Its name, for messages.
    has_snapshots
        Whether it ever had rows: then some options cannot change.
    max_columns
        How many columns it may have.

    Raises
    ------
    SchemaError
        If a change is not allowed, or an option is unknown.
    UnsupportedError
        If an option gets a value that is not implemented, or values of a column's type cannot be
        written.
    """
    altered = apply_changes(current, changes, has_snapshots=has_snapshots, time_millis=now_millis())
    if altered.options != current.options:
        check_known({k: v for k, v in altered.options.items() if k not in current.options})
    check_supported(Options(altered.options), altered, "create")
    known = {(field.id, field.type) for field in current.fields}
    catalog.column_types.check_types(
        field for field in altered.fields if (field.id, field.type) not in known
    )
    catalog.column_types.check_files(altered, before=current)
    check_width(table, altered, max_columns)
    return altered
