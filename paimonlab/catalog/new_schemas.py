"""The definition of a table that is to be made, from what its maker gives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from paimonlab import catalog, write
from paimonlab.clock import now_millis
from paimonlab.errors import SchemaError, UnsupportedError, close_matches
from paimonlab.spec.identifier import MAIN_BRANCH
from paimonlab.spec.options.given import OptionValue
from paimonlab.spec.options.table_options import (
    Options,
    check_known,
    check_supported,
    parse_boolean,
)
from paimonlab.spec.schema.definition import Schema, new_table_schema
from paimonlab.spec.schema.table_schema import TableSchema

FALLBACK_BRANCH = "scan.fallback-branch"
_AUTO_CREATE = "auto-create"
_PATH = "path"
"""Where a table is; a catalog that lets its maker say so takes it out before."""


def schema_from(
    name: str,
    schema: Any,
    primary_keys: Sequence[str],
    partition_keys: Sequence[str],
    options: Mapping[str, OptionValue] | None,
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
        Of the table, unless a `Schema` says them; a text is one key.

    Raises
    ------
    TypeError
        If they are said twice.
    """
    columns = schema.fields if isinstance(schema, Schema) else schema
    of_rows = None if isinstance(columns, Mapping) else write.frames.schema_of(columns, table=name)
    if not isinstance(schema, Schema):
        fields = schema if of_rows is None else of_rows
        return Schema(fields, partition_keys, primary_keys, options or {}, comment)
    if of_rows is not None:
        schema = replace(schema, fields=of_rows)
    if primary_keys or partition_keys or options or comment:
        raise TypeError("a Schema already says keys, options and comment; give them there")
    return schema


def checked_schema(
    definition: Schema, *, first_id: int = 0, branches: Collection[str] = ()
) -> TableSchema:
    """Make the schema of a new table, if such a table can be created here.

    Parameters
    ----------
    definition
        What its maker wants.
    first_id
        The id of its first field.
    branches
        The branches it has already, but the main one.

    Raises
    ------
    SchemaError
        If the definition is not allowed, or an option is unknown.
    UnsupportedError
        If an option has a value that is not implemented, or values of a column's type cannot be
        written.
    """
    check_known(definition.options)
    if _PATH in definition.options:
        raise UnsupportedError(
            f"{_PATH} = '{definition.options[_PATH]}'", "the catalog says where its tables are"
        )
    schema = new_table_schema(definition, time_millis=now_millis(), first_id=first_id)
    check_supported(Options(schema.options), schema, "create")
    catalog.column_types.check_types(schema.fields)
    catalog.column_types.check_files(schema)
    check_fallback(schema.options, branches)
    if parse_boolean(schema.options.get(_AUTO_CREATE, "false")):
        raise SchemaError(
            f"option {_AUTO_CREATE!r} = 'true' is not for tables of catalogs, which create them "
            "when they are told to: leave it out"
        )
    return schema


def check_fallback(options: Mapping[str, str], branches: Collection[str]) -> None:
    """Check that the branch exists from which a table takes partitions that it lacks.

    Raises
    ------
    SchemaError
        If it does not; Java allows no such table.
    """
    name = options.get(FALLBACK_BRANCH, "")
    if name.strip() and name not in (*branches, MAIN_BRANCH):
        raise SchemaError(
            f"option {FALLBACK_BRANCH!r} = {name!r}: there is no such branch."
            f"{close_matches(name, branches)} Create it, then set the option"
        )


def check_width(name: str, schema: TableSchema, max_columns: int) -> None:
    """Refuse a table of too many columns.

    Raises
    ------
    SchemaError
        Says how many there are.
    """
    count = len(schema.fields)
    if count > max_columns:
        raise SchemaError(
            f"{name} has {count:,} columns, more than the {max_columns:,} "
            f"allowed; connect(…, max_columns={count}) allows them"
        )
