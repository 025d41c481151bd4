"""``$aggregation_fields``: which function a merge applies to each column.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.system.AggregationFieldsTable``.
"""

from __future__ import annotations

from collections import defaultdict

import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
)
from paimonlab.spec.types.text import format_type
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore

AGGREGATION_FIELDS = pa.schema(
    [
        pa.field("field_name", pa.string(), nullable=False),
        pa.field("field_type", pa.string(), nullable=False),
        pa.field("function", pa.string()),
        pa.field("function_options", pa.string()),
        pa.field("comment", pa.string()),
    ]
)


def aggregation_fields(
    definition: TableDefinition, store: TableStore, _snapshot: Snapshot | None
) -> pa.Table:
    """``$aggregation_fields``: one row per column, with its options ``fields.<column>.…``.

    Of these ``function`` has the values and ``function_options`` the keys, as lists.
    """
    schema = store.schemas.latest() or definition.schema
    keys: defaultdict[str, list[str]] = defaultdict(list)
    for key in schema.options:
        pieces = key.split(".")
        if len(pieces) > 2 and pieces[0] == "fields":
            keys[pieces[1]].append(key)
    rows = [
        (
            field.name,
            _type_text(field.type),
            _list_text([schema.options[key] for key in keys[field.name]]),
            _list_text(keys[field.name]),
            field.description,
        )
        for field in schema.fields
    ]
    columns = [arrow_array(list(column), pa.string()) for column in zip(*rows, strict=True)]
    return pa.Table.from_arrays(columns, schema=AGGREGATION_FIELDS)


def _list_text(texts: list[str]) -> str:
    return f"[{', '.join(texts)}]"


def _type_text(data_type: DataType) -> str:
    """Write a type with the names of ROWs quoted, always."""
    text = format_type(data_type)
    match data_type:
        case AtomicType():
            return text
        case ArrayType(element):
            text = f"ARRAY<{_type_text(element)}>"
        case MultisetType(element):
            text = f"MULTISET<{_type_text(element)}>"
        case MapType(key, value):
            text = f"MAP<{_type_text(key)}, {_type_text(value)}>"
        case RowType(fields):
            text = f"ROW<{', '.join(map(_field_text, fields))}>"
    return text if data_type.nullable else f"{text} NOT NULL"


def _field_text(field: DataField) -> str:
    name = field.name.replace("`", "``")
    text = f"`{name}` {_type_text(field.type)}"
    if field.description:
        comment = field.description.replace("'", "''")
        text += f" COMMENT '{comment}'"
    return text if field.default_value is None else f"{text} DEFAULT {field.default_value}"
