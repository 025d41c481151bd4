"""Types and fields as values of a JSON document, as schema files have them.

A schema file writes an atomic type as text (``"DECIMAL(12, 2) NOT NULL"``) and a composite
one as an object (``{"type": "ARRAY NOT NULL", "element": "INT"}``).

Source: apache/paimon@1.3.1 ``org.apache.paimon.types.DataTypeJsonParser``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    with_nullable,
)
from paimonlab.spec.types.text import NOT_BUILT, format_type, parse_type


def type_from_json(value: object) -> DataType:
    """Read a type of a schema file: text, or an object for a composite one.

    Raises
    ------
    SchemaError
        If it is neither, or not complete.
    UnsupportedError
        For types that paimonlab does not have.
    """
    if isinstance(value, str):
        return parse_type(value)
    if not isinstance(value, Mapping) or not isinstance(value.get("type"), str):
        raise SchemaError(f"{value!r} is not a type: text or an object with 'type' is needed")
    return with_nullable(_composite_from_json(value), "NOT NULL" not in value["type"])


def _composite_from_json(value: Mapping[str, Any]) -> DataType:
    word = value["type"].split(" ", 1)[0].split("<", 1)[0]
    try:
        match word:
            case "ARRAY":
                return ArrayType(type_from_json(value["element"]))
            case "MULTISET":
                return MultisetType(type_from_json(value["element"]))
            case "MAP":
                return MapType(type_from_json(value["key"]), type_from_json(value["value"]))
            case "ROW":
                return RowType(fields_from_json(value["fields"]))
    except KeyError as error:
        raise SchemaError(f"{word} type {value!r} has no {error}") from None
    if word in NOT_BUILT:
        raise UnsupportedError(f"data type {word}")
    raise SchemaError(f"{value['type']!r} is not a composite type")


def type_to_json(data_type: DataType) -> str | dict[str, object]:
    """Write a type as a schema file does."""
    suffix = "" if data_type.nullable else " NOT NULL"
    match data_type:
        case ArrayType(element):
            return {"type": "ARRAY" + suffix, "element": type_to_json(element)}
        case MultisetType(element):
            return {"type": "MULTISET" + suffix, "element": type_to_json(element)}
        case MapType(key, value):
            parts = {"key": type_to_json(key), "value": type_to_json(value)}
            return {"type": "MAP" + suffix, **parts}
        case RowType(fields):
            return {"type": "ROW" + suffix, "fields": fields_to_json(fields)}
        case AtomicType():
            return format_type(data_type)


def fields_from_json(values: object) -> tuple[DataField, ...]:
    """Read the fields of a table or of a ROW.

    Raises
    ------
    SchemaError
        If a field lacks its id, name or type.
    """
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise SchemaError(f"fields must be a list, not {values!r}")
    return tuple(_field_from_json(value) for value in values)


def _field_from_json(value: object) -> DataField:
    if not isinstance(value, Mapping):
        raise SchemaError(f"{value!r} is not a field")
    match value:
        case {"id": int(id), "name": str(name), "type": type_value}:
            description, default = value.get("description"), value.get("defaultValue")
        case _:
            raise SchemaError(f"{value!r} is not a field: id, name and type are needed")
    for text in (description, default):
        if text is not None and not isinstance(text, str):
            raise SchemaError(f"field {name!r}: {text!r} must be text")
    return DataField(id, name, type_from_json(type_value), description, default)


def fields_to_json(fields: Sequence[DataField]) -> list[dict[str, object]]:
    """Write fields as a schema file does; what is None is left out."""
    return [_field_to_json(field) for field in fields]


def _field_to_json(field: DataField) -> dict[str, object]:
    value = {"id": field.id, "name": field.name, "type": type_to_json(field.type)}
    if field.description is not None:
        value["description"] = field.description
    if field.default_value is not None:
        value["defaultValue"] = field.default_value
    return value
