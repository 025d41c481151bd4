"""The Avro schema of a data file, and how other readers' schemas are understood.

Source: apache/paimon@1.3.1 ``org.apache.paimon.format.avro.AvroSchemaConverter``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from paimonlab.errors import CorruptDataError, UnsupportedError
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    is_text,
)
from paimonlab.spec.types.text import format_type

Schema: TypeAlias = Any
"""An Avro schema as JSON has it."""

RECORD_NAME = "org.apache.paimon.avro.generated.record"
COUNT = AtomicType(TypeRoot.INT)
"""How often an element is in a MULTISET, as Avro files have it."""

_PRIMITIVES = {
    TypeRoot.BOOLEAN: "boolean",
    TypeRoot.TINYINT: "int",
    TypeRoot.SMALLINT: "int",
    TypeRoot.INT: "int",
    TypeRoot.BIGINT: "long",
    TypeRoot.FLOAT: "float",
    TypeRoot.DOUBLE: "double",
    TypeRoot.CHAR: "string",
    TypeRoot.VARCHAR: "string",
    TypeRoot.BINARY: "bytes",
    TypeRoot.VARBINARY: "bytes",
}
_MAX_FRACTION_DIGITS = 6
_MAX_TIME_DIGITS = 3


def record_schema(fields: Sequence[DataField]) -> Schema:
    """Return the schema of a file with these columns.

    Raises
    ------
    UnsupportedError
        If Avro files cannot hold a column; the message names it.
    """
    members = []
    for field in fields:
        try:
            members.append(_member(field, RECORD_NAME))
        except UnsupportedError as error:
            raise UnsupportedError(
                f"file.format = 'avro' with column {field.name!r}", str(error)
            ) from None
    return {"type": "record", "name": "record", "namespace": _NAMESPACE, "fields": members}


_NAMESPACE = RECORD_NAME.rpartition(".")[0]


def _member(field: DataField, record: str) -> Schema:
    if not _is_name(field.name):
        raise UnsupportedError(
            f"the name {field.name!r} in Avro", "names there are letters, digits and underscores"
        )
    member: dict[str, Any] = {
        "name": field.name,
        "type": type_schema(field.type, f"{record}_{field.name}"),
    }
    if field.type.nullable:
        member["default"] = None
    return member


def _is_name(name: str) -> bool:
    first, rest = name[:1], name[1:]
    return (first.isalpha() or first == "_") and all(c.isalnum() or c == "_" for c in rest)


def type_schema(data_type: DataType, record: str) -> Schema:
    """Return the schema of a type; ``record`` names the records in it."""
    schema = _not_null(data_type, record)
    return ["null", schema] if data_type.nullable else schema


def _not_null(data_type: DataType, record: str) -> Schema:
    match data_type:
        case ArrayType(element):
            return {"type": "array", "items": type_schema(element, record)}
        case MapType(key, value):
            return _map(key, value, record)
        case MultisetType(element):
            return _map(element, COUNT, record)
        case RowType(fields):
            members = [_member(field, record) for field in fields]
            return {"type": "record", "name": record, "fields": members}
        case AtomicType():
            return _atomic(data_type)


def _map(key: DataType, value: DataType, record: str) -> Schema:
    if has_text_keys(key):
        return {"type": "map", "values": type_schema(value, record)}
    value_member: dict[str, Any] = {
        "name": "value",
        "type": type_schema(value, f"{record}_value"),
    }
    if value.nullable:
        value_member["default"] = None
    members = [{"name": "key", "type": type_schema(key, f"{record}_key")}, value_member]
    pair = {"type": "record", "name": record, "fields": members}
    return {"type": "array", "items": pair, "logicalType": "map"}


def has_text_keys(key: DataType) -> bool:
    """Whether a map with such keys is a map in Avro, not an array of pairs."""
    return is_text(key)


def _atomic(data_type: AtomicType) -> Schema:
    digits = data_type.precision or 0
    match data_type.root:
        case TypeRoot.DATE:
            return {"type": "int", "logicalType": "date"}
        case TypeRoot.TIME if digits <= _MAX_TIME_DIGITS:
            return {"type": "int", "logicalType": "time-millis"}
        case TypeRoot.DECIMAL:
            return {
                "type": "bytes",
                "logicalType": "decimal",
                "precision": data_type.precision,
                "scale": data_type.scale,
            }
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ if digits <= _MAX_FRACTION_DIGITS:
            # The names are the other way round than Avro means them; Java writes them so.
            local = "local-" if data_type.root is TypeRoot.TIMESTAMP_LTZ else ""
            unit = "millis" if digits <= 3 else "micros"
            return {"type": "long", "logicalType": f"{local}timestamp-{unit}"}
        case root if root in _PRIMITIVES:
            return _PRIMITIVES[root]
    raise UnsupportedError(
        f"{format_type(data_type)} in Avro",
        "its timestamps have at most 6 fraction digits, its times 3, and it has no VARIANT; "
        "use parquet",
    )


class FileSchema:
    """The schema a file was written with, taken apart once.

    Parameters
    ----------
    schema
        A record, or a union of null and a record.
    path
        The file, for messages.
    """

    def __init__(self, schema: Schema, path: str) -> None:
        self._path = path
        self._names: dict[str, Schema] = {}
        self._learn(schema, "")
        self.record = self.without_null(schema)
        if not isinstance(self.record, Mapping) or self.record.get("type") != "record":
            raise CorruptDataError(path, "its Avro schema is not a record")

    def _learn(self, schema: Schema, namespace: str) -> None:
        """Remember named types by every name that refers to them."""
        if isinstance(schema, list):
            for branch in schema:
                self._learn(branch, namespace)
        elif isinstance(schema, Mapping):
            if "name" in schema and schema.get("type") in ("record", "fixed", "enum"):
                name = str(schema["name"])
                namespace = str(schema.get("namespace", name.rpartition(".")[0] or namespace))
                short = name.rpartition(".")[2]
                self._names[f"{namespace}.{short}" if namespace else short] = schema
                self._names.setdefault(short, schema)
            for part in ("items", "values"):
                self._learn(schema.get(part), namespace)
            for member in schema.get("fields", ()):
                self._learn(member.get("type"), namespace)
            if isinstance(schema.get("type"), Mapping | list):
                self._learn(schema["type"], namespace)

    def without_null(self, schema: Schema) -> Schema:
        """Return what a value that is not null is, names looked up."""
        while True:
            if isinstance(schema, list):
                others = [branch for branch in schema if branch != "null"]
                if len(others) != 1 or (schema[0] != "null" and len(schema) > 1):
                    raise UnsupportedError(
                        "an Avro union other than of null and one type", f"{self._path} has one"
                    )
                schema = others[0]
            elif isinstance(schema, str) and schema in self._names:
                schema = self._names[schema]
            elif isinstance(schema, Mapping) and isinstance(schema.get("type"), Mapping | list):
                schema = schema["type"]
            else:
                return schema

    def members(self, record: Schema) -> dict[str, Schema]:
        """Return the types of a record's fields by name."""
        return {str(member["name"]): member["type"] for member in record["fields"]}

    def plain(self, schema: Schema | None = None) -> Schema:  # noqa: PLR0911 - one a type
        """Return a schema of the same bytes without logical types, maps and references.

        A map is encoded as an array of pairs of a text and a value.
        """
        schema = self.record if schema is None else schema
        if isinstance(schema, list):
            return ["null", self.plain(self.without_null(schema))] if len(schema) > 1 else schema
        schema = self.without_null(schema)
        if not isinstance(schema, Mapping):
            return schema
        match schema.get("type"):
            case "record":
                members = [
                    {"name": name, "type": self.plain(member)}
                    for name, member in self.members(schema).items()
                ]
                return {"type": "record", "name": self._new_name(), "fields": members}
            case "array":
                return {"type": "array", "items": self.plain(schema["items"])}
            case "map":
                pair = [
                    {"name": "key", "type": "string"},
                    {"name": "value", "type": self.plain(schema["values"])},
                ]
                items = {"type": "record", "name": self._new_name(), "fields": pair}
                return {"type": "array", "items": items}
            case "fixed":
                return {"type": "fixed", "name": self._new_name(), "size": schema["size"]}
            case "enum":
                raise UnsupportedError("an Avro enum", f"{self._path} has one")
            case kind:
                return kind

    def _new_name(self) -> str:
        name = f"r{len(self._names)}"
        self._names[name] = None
        return name
