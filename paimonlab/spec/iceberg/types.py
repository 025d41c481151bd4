"""Paimon's types as Iceberg's; field ids are Paimon's.

Source: https://iceberg.apache.org/spec/#schemas-and-data-types and apache/paimon@1.4.2
``org.apache.paimon.iceberg.metadata.IcebergDataField``. TIME and MULTISET, and whether elements of
lists may be null, as since 2.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paimonlab.errors import UnsupportedError
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)
from paimonlab.spec.types.system_fields import element_field_id, key_field_id
from paimonlab.spec.types.text import format_type

_SIMPLE = {
    TypeRoot.BOOLEAN: "boolean",
    TypeRoot.TINYINT: "int",
    TypeRoot.SMALLINT: "int",
    TypeRoot.INT: "int",
    TypeRoot.BIGINT: "long",
    TypeRoot.FLOAT: "float",
    TypeRoot.DOUBLE: "double",
    TypeRoot.DATE: "date",
    TypeRoot.CHAR: "string",
    TypeRoot.VARCHAR: "string",
    TypeRoot.BINARY: "binary",
    TypeRoot.VARBINARY: "binary",
}
_TIMES = {TypeRoot.TIMESTAMP: "timestamp", TypeRoot.TIMESTAMP_LTZ: "timestamptz"}


def iceberg_schema(schema_id: int, fields: Sequence[DataField], version: int) -> dict[str, Any]:
    """Return a schema as the metadata file has it; errors are those of `iceberg_fields`."""
    return {
        "type": "struct",
        "schema-id": schema_id,
        "fields": iceberg_fields(fields, version),
    }


def iceberg_fields(fields: Sequence[DataField], version: int) -> list[dict[str, Any]]:
    """Return columns as Iceberg describes them.

    Parameters
    ----------
    fields
        Columns, or fields of a row.
    version
        Of Iceberg's format: 2 or 3.

    Raises
    ------
    UnsupportedError
        If Iceberg has no such type.
    """
    return [_field(field, version) for field in fields]


def name_mapping(schemas: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Say by which names columns are found in files without field ids.

    Paimon's files have ids; files that were moved into a table as they are may have none. Readers
    would then take columns by their places, which are others.

    Parameters
    ----------
    schemas
        Of `iceberg_schema`, oldest first.

    Source: https://iceberg.apache.org/spec/#column-projection
    """
    newest = schemas[-1]["fields"]
    older = [field for schema in schemas[:-1] for field in schema["fields"]]
    return _mapped(newest, older)


def _mapped(
    fields: Sequence[Mapping[str, Any]], older: Sequence[Mapping[str, Any]] = ()
) -> list[dict[str, Any]]:
    taken = {field["name"]: field["id"] for field in fields}
    names = {field["id"]: [field["name"]] for field in fields}
    for field in older:
        if field["id"] in names and field["name"] not in taken:
            names[field["id"]].append(field["name"])
            taken[field["name"]] = field["id"]
    return [_with_parts(field["id"], names[field["id"]], field["type"]) for field in fields]


def _with_parts(field_id: int, names: Sequence[str], described: Any) -> dict[str, Any]:
    mapped: dict[str, Any] = {"field-id": field_id, "names": list(names)}
    kind = described["type"] if isinstance(described, Mapping) else None
    if kind == "struct":
        mapped["fields"] = _mapped(described["fields"])
    elif kind == "list":
        mapped["fields"] = [_with_parts(described["element-id"], ["element"], described["element"])]
    elif kind == "map":
        mapped["fields"] = [
            _with_parts(described["key-id"], ["key"], described["key"]),
            _with_parts(described["value-id"], ["value"], described["value"]),
        ]
    return mapped


def _field(field: DataField, version: int) -> dict[str, Any]:
    described = {
        "id": field.id,
        "name": field.name,
        "required": not field.type.nullable,
        "type": _type(field.type, field, 1, version),
    }
    return described if field.description is None else {**described, "doc": field.description}


def _type(data_type: DataType, owner: DataField, depth: int, version: int) -> Any:
    """Describe a type; ``owner`` is the innermost field of a row around it."""
    match data_type:
        case ArrayType(element):
            return {
                "type": "list",
                "element-id": element_field_id(owner.id, depth),
                "element-required": not element.nullable,
                "element": _type(element, owner, depth + 1, version),
            }
        case MapType(key, value):
            return _map(key, value, owner, depth, version)
        case MultisetType(element):
            count = AtomicType(TypeRoot.INT, nullable=False)
            return _map(element, count, owner, depth, version)
        case RowType(fields):
            return {"type": "struct", "fields": iceberg_fields(fields, version)}
        case AtomicType():
            return _atomic(data_type, owner, version)


def _map(key: DataType, value: DataType, owner: DataField, depth: int, version: int) -> Any:
    return {
        "type": "map",
        "key-id": key_field_id(owner.id, depth),
        "key": _type(key, owner, depth + 1, version),
        "value-id": element_field_id(owner.id, depth),
        "value-required": not value.nullable,
        "value": _type(value, owner, depth + 1, version),
    }


def _atomic(data_type: AtomicType, owner: DataField, version: int) -> str:
    root, precision = data_type.root, data_type.precision or 0
    if root in _SIMPLE:
        return _SIMPLE[root]
    if root is TypeRoot.DECIMAL:
        return f"decimal({data_type.precision}, {data_type.scale})"
    if root is TypeRoot.TIME and precision <= 3:
        return "time"
    if root in _TIMES and 3 <= precision <= 6:
        return _TIMES[root]
    if root in _TIMES and precision > 6:
        if version < 3:
            raise _unsupported(
                data_type, owner, "set 'metadata.iceberg.format-version' = '3' for nanoseconds"
            )
        return f"{_TIMES[root]}_ns"
    raise _unsupported(data_type, owner, "unset 'metadata.iceberg.storage', or drop the column")


def _unsupported(data_type: AtomicType, owner: DataField, advice: str) -> UnsupportedError:
    what = f"type {format_type(data_type)} of column {owner.name!r} in Iceberg metadata"
    return UnsupportedError(what, advice)
