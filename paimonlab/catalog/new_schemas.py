"""The definition of a table that is to be made, from what its maker gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from paimonlab import write
from paimonlab.spec.schema.definition import Schema


def schema_from(
    name: str,
    schema: Any,
    primary_keys: Sequence[str],
    partition_keys: Sequence[str],
    options: Mapping[str, str] | None,
    comment: str | None,
) -> Schema:
    """Make the definition of a new table of what its maker gave.

    Parameters
    ----------
    name
        Of the table, for messages.
    schema
        A `Schema`, types by the names of columns, or anything that speaks Arrow.
    primary_keys, partition_keys, options, comment
        Of the table, unless a `Schema` says them.

    Raises
    ------
    TypeError
        If they are said twice.
    """
    columns = schema.fields if isinstance(schema, Schema) else schema
    of_rows = None if isinstance(columns, Mapping) else write.frames.schema_of(columns, table=name)
    if not isinstance(schema, Schema):
        fields = schema if of_rows is None else of_rows
        return Schema(fields, tuple(partition_keys), tuple(primary_keys), options or {}, comment)
    if of_rows is not None:
        schema = replace(schema, fields=of_rows)
    if primary_keys or partition_keys or options or comment:
        raise TypeError("a Schema already says keys, options and comment; give them there")
    return schema
