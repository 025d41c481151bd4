"""Upserts of rows that lack columns: rows of the same key lose their values there."""

from __future__ import annotations

import warnings
from typing import Any

from paimonlab import write
from paimonlab.errors import PartialUpsertWarning
from paimonlab.table.definition import TableDefinition
from paimonlab.write.write_plan import WriteOptions

_CALLERS = 4
"""From here to who called `Table.write`."""


def told_of_lost_values(definition: TableDefinition, data: Any) -> Any:
    """Warn if rows replace others without having all columns; return the rows.

    Parameters
    ----------
    data
        What `Table.write` takes: rows to insert or upsert.
    """
    options = definition.options.slice(WriteOptions)
    is_replaced = definition.primary_keys and options.merge_engine == "deduplicate"
    if not is_replaced or options.kind_field is not None:
        return data
    names = definition.schema.field_names
    fields = definition.schema.fields
    rows = write.frames.batches_of(data, names, table=definition.name, fields=fields)
    missing = [name for name in names if name not in rows.schema.names]
    is_wrong = not {*rows.schema.names} <= {*names}  # which is an error later
    if missing and not is_wrong:
        several = len(missing) > 1
        warnings.warn(
            f"{definition.name}: the rows have no {', '.join(map(repr, missing))}; rows of the "
            f"same key lose {'these values' if several else 'this value'}, since merge-engine = "
            "deduplicate replaces whole rows. Give all columns, change some with table.merge(…), "
            "or make the table with merge-engine = partial-update",
            PartialUpsertWarning,
            stacklevel=_CALLERS,
        )
    return rows
