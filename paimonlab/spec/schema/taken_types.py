"""Whether a column may take the type that rows bring, as they are written.

Source: apache/paimon@1.4.2 ``org.apache.paimon.schema.SchemaMergingUtils``, which also makes
columns narrower, and takes each implicit cast for one that loses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paimonlab.errors import SchemaError
from paimonlab.spec.schema.change_kinds import UpdateColumnType
from paimonlab.spec.schema.schema_changes import apply_changes
from paimonlab.spec.types.casting import is_wider, reads_each
from paimonlab.spec.types.data_types import ArrayType, DataField, DataType, MapType, RowType
from paimonlab.spec.types.field_paths import split_path

if TYPE_CHECKING:
    from paimonlab.spec.schema.definition import TableSchema


def takes_type(schema: TableSchema, name: str, wanted: DataType, *, explicitly: bool) -> bool:
    """Return whether a column changes to the type of the rows that are written to it.

    Parameters
    ----------
    schema
        The table's.
    name
        The column; parts of nested ones with dots.
    wanted
        The type that the rows have.
    explicitly
        Whether stored values may lose something: ``write.merge-schema.explicit-cast``. A text
        stays one for rows of numbers, dates and the like, which are texts as well: a stored text
        may be none of them, and the column could not be read any more.

    Examples
    --------
    >>> from paimonlab.spec.schema.definition import Schema, new_table_schema
    >>> from paimonlab.spec.types.text import parse_type
    >>> schema = new_table_schema(Schema({"a": "INT"}), time_millis=0)
    >>> takes_type(schema, "a", parse_type("BIGINT"), explicitly=False)
    True
    >>> takes_type(schema, "a", parse_type("TINYINT"), explicitly=True)
    False
    >>> [takes_type(schema, "a", parse_type("STRING"), explicitly=one) for one in (False, True)]
    [False, True]
    >>> schema = new_table_schema(Schema({"a": "STRING"}), time_millis=0)
    >>> takes_type(schema, "a", parse_type("INT"), explicitly=True)
    False
    """
    stored = _type_at(schema.fields, split_path(schema.fields, name))
    if stored is None or is_wider(wanted, stored):
        return False
    if not is_wider(stored, wanted) and not (explicitly and reads_each(stored, wanted)):
        return False
    try:
        change = UpdateColumnType(name, wanted)
        apply_changes(schema, [change], has_snapshots=True, time_millis=schema.time_millis)
    except SchemaError:  # a column of a key, say
        return False
    return True


def _type_at(fields: Sequence[DataField], path: Sequence[str]) -> DataType | None:
    """Return the type that a path leads to; None: nothing is there."""
    first, *others = path
    found = next((field.type for field in fields if field.name == first), None)
    for part in others:
        match found:
            case RowType(inner):
                found = next((field.type for field in inner if field.name == part), None)
            case ArrayType(element) if part == "element":
                found = element
            case MapType(key, value) if part in ("key", "value"):
                found = key if part == "key" else value
            case _:
                return None
    return found
