"""What is refused of names, options and tables that are to be in a Hive metastore."""

from __future__ import annotations

from paimonlab.catalog.hive import objects
from paimonlab.catalog.hive.client import (
    Struct,
)
from paimonlab.errors import SchemaError
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.schema.definition import TableSchema

COMMENT = "comment"


def is_foreign(table: Struct) -> bool:
    """Whether an object is neither a table of Paimon's nor a view."""
    return not objects.is_paimon(table) and not objects.is_view(table)


def is_lower(identifier: Identifier) -> bool:
    """Whether a metastore can have the name."""
    return identifier.full_name == identifier.full_name.lower()


def check_lower(kind: str, name: str) -> None:
    """Refuse a name that a metastore would change.

    Raises
    ------
    SchemaError
        Says how it must be.
    """
    if name != name.lower():
        raise SchemaError(
            f"{name!r} cannot be the name of a {kind}: a Hive metastore has names in lower case, "
            f"{name.lower()!r}"
        )


def check_options(schema: TableSchema) -> None:
    """Refuse a column of tags where it cannot be.

    Raises
    ------
    SchemaError
        If the table has partitions of its own, or a column of that name.
    """
    column = schema.options.get(objects.TAG_TO_PARTITION)
    if column is None:
        return
    what = f"{objects.TAG_TO_PARTITION} = '{column}'"
    if schema.partition_keys:
        raise SchemaError(f"{what} is for tables without partition columns: tags become partitions")
    if not column.strip() or column != column.lower():
        raise SchemaError(f"{what} must be the name of a column, in lower case")
    if column in {name.lower() for name in schema.field_names}:
        raise SchemaError(f"{what}: the table has a column of this name")
