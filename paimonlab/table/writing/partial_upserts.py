"""Upserts of rows that lack columns: rows of the same key lose their values there."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from paimonlab import write
from paimonlab.errors import PartialUpsertWarning
from paimonlab.table.definition import TableDefinition
from paimonlab.write.write_plan import WriteOptions

_CALLERS = 5
"""From here to who called `Table.write`, which `habits.arguments` is around."""


def told_of_lost_values(definition: TableDefinition, data: Any) -> Any:
    """Warn if rows replace others without having all columns; return the rows.

    Parameters
    ----------
    data
        What `Table.write` takes: rows to insert or upsert.
    """
    if not _replaces(definition):
        return data
    names = definition.schema.field_names
    fields = definition.schema.fields
    rows = write.frames.batches_of(data, names, table=definition.name, fields=fields)
    missing = [name for name in names if name not in rows.schema.names]
    is_wrong = not {*rows.schema.names} <= {*names}  # which is an error later
    if missing and not is_wrong:
        warnings.warn(
            f"{definition.name}: the rows have no {lost_values(definition, missing)}. Give all "
            "columns, change some with table.merge(…), or make the table with merge-engine = "
            "partial-update",
            PartialUpsertWarning,
            stacklevel=_CALLERS,
        )
    return rows


def lost_values(definition: TableDefinition, missing: Sequence[str]) -> str:
    """Say which columns rows of the same key lose to rows without them, and why; empty: none."""
    if not missing or not _replaces(definition):
        return ""
    lost = "these values" if len(missing) > 1 else "this value"
    return (
        f"{', '.join(map(repr, missing))}; rows of the same key lose {lost}, since merge-engine = "
        "deduplicate replaces whole rows"
    )


def _replaces(definition: TableDefinition) -> bool:
    options = definition.options.slice(WriteOptions)
    is_replaced = bool(definition.primary_keys) and options.merge_engine == "deduplicate"
    return is_replaced and options.kind_field is None
