"""Records of Avro as JSON objects and the columns they have.

Records are read without their logical types and written as JSON as Kafka Connect would write them,
so that both arrive on one way: bytes as base64, times as numbers.

=======================================  ==========================================
Avro                                     Paimon
=======================================  ==========================================
boolean, int, long, float, double        BOOLEAN, INT, BIGINT, FLOAT, DOUBLE
string, enum, uuid                       STRING
bytes, fixed                             BYTES
decimal(p <= 38, s)                      DECIMAL(p, s); STRING if p is larger
date                                     DATE
time-millis, time-micros                 TIME(3)
timestamp-millis, -micros, -nanos        TIMESTAMP_LTZ(3), (6), (9): instants
local-timestamp-millis, -micros, -nanos  TIMESTAMP(3), (6), (9)
array, map, record                       ARRAY, MAP, ROW; STRING of JSON if some part has no type
union of null and one type               that type, nullable
``connect.name``                         as `paimonlab.ingest.formats.connect_types` has it
=======================================  ==========================================

Source: Avro 1.12's specification; apache/paimon@1.3.1 ``DebeziumSchemaUtils``, which takes
timestamps and local timestamps for each other.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import fastavro
import msgspec
import pyarrow as pa

from paimonlab.errors import UnsupportedError
from paimonlab.ingest.changes import SourceColumn
from paimonlab.ingest.formats.connect_types import (
    CONNECT,
    DEBEZIUM,
    ConnectField,
    ReadColumn,
    read_columns,
)
from paimonlab.ingest.formats.json_cells import Column
from paimonlab.ingest.formats.text_values import Read, read_text, zoned_epoch_reader
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import (
    ArrayType,
    DataField,
    DataType,
    MapType,
    RowType,
    with_nullable,
)
from paimonlab.spec.types.text import UNASSIGNED_ID, parse_type

Schema: TypeAlias = "str | dict[str, Any] | list[Any]"

_LOGICAL = {
    "date": f"{CONNECT}Date",
    "time-millis": f"{CONNECT}Time",
    "time-micros": f"{DEBEZIUM}time.MicroTime",
    "local-timestamp-millis": f"{DEBEZIUM}time.Timestamp",
    "local-timestamp-micros": f"{DEBEZIUM}time.MicroTimestamp",
    "local-timestamp-nanos": f"{DEBEZIUM}time.NanoTimestamp",
}
_INSTANTS = {
    "timestamp-millis": "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    "timestamp-micros": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    "timestamp-nanos": "TIMESTAMP(9) WITH LOCAL TIME ZONE",
}
_PRIMITIVES = {
    "boolean": "boolean",
    "int": "int32",
    "long": "int64",
    "float": "float",
    "double": "double",
    "string": "string",
    "bytes": "bytes",
    "fixed": "bytes",
    "enum": "string",
}
_NESTED_LEAVES = {
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "STRING",
    "enum": "STRING",
}


class AvroError(ValueError):
    """Bytes that are no record of their schema."""


@dataclass(frozen=True, slots=True)
class RecordReader:
    """Reads records of one schema."""

    schema: Schema
    """Parsed by fastavro, without logical types."""
    given: dict[str, Any]
    """As it was given."""
    named: Mapping[str, dict[str, Any]]
    """Its named types."""

    def read(self, data: bytes) -> dict[str, Any]:
        """Read one record.

        Raises
        ------
        AvroError
            If the bytes are no record, or more than one.
        """
        stream = io.BytesIO(data)
        try:
            record = fastavro.schemaless_reader(stream, self.schema, None)
        except Exception as error:  # fastavro raises whatever comes up
            raise AvroError(f"{type(error).__name__}: {error}") from error
        if stream.tell() != len(data):
            raise AvroError(f"{len(data) - stream.tell()} bytes after the record")
        if not isinstance(record, dict):
            raise AvroError("not a record")
        return record

    def columns(
        self, record: Schema, declared: Mapping[str, ReadColumn] | None = None
    ) -> dict[str, ReadColumn]:
        """Return the columns of a record's schema.

        Parameters
        ----------
        record
            Its schema.
        declared
            Columns by name, whatever the schema says; those that it lacks come last.

        Raises
        ------
        UnsupportedError
            For unions of several types and durations.
        """
        found, _ = self.unwrapped(record)
        if not isinstance(found, dict) or found.get("type") != "record":
            raise UnsupportedError(f"Avro {_word(found)} as a row", "a row is a record")
        told = declared or {}
        return {
            field["name"]: told.get(field["name"]) or self._column(field)
            for field in found["fields"]
        } | dict(told)

    def field(self, record: Schema, name: str) -> Schema | None:
        """Return the schema of a field; None if there is none."""
        found, _ = self.unwrapped(record)
        fields = found.get("fields", ()) if isinstance(found, dict) else ()
        return next((field["type"] for field in fields if field["name"] == name), None)

    def unwrapped(self, schema: Schema) -> tuple[str | dict[str, Any], bool]:
        """Return a type without null, names looked up, and whether it may be null."""
        if isinstance(schema, list):
            others = [member for member in schema if member != "null"]
            if len(others) != 1:
                raise UnsupportedError(f"an Avro union of {list(map(_word, schema))}")
            found, _ = self.unwrapped(others[0])
            return found, len(others) < len(schema)
        if isinstance(schema, str):
            return self.named.get(schema, schema), False
        if isinstance(schema.get("type"), dict | list):
            return self.unwrapped(schema["type"])
        return schema, False

    def _column(self, field: dict[str, Any]) -> ReadColumn:
        name = field["name"]
        schema, nullable = self.unwrapped(field["type"])
        details: dict[str, Any] = schema if isinstance(schema, dict) else {"type": schema}
        kind = details["type"]
        logical = details.get("logicalType")
        said = details.get("connect.name") or logical or kind
        connect_name = details.get("connect.name") or _LOGICAL.get(logical or "")
        if logical == "duration":
            raise UnsupportedError(f"Avro duration of column {name!r}")
        if connect_name is None and logical in _INSTANTS:
            data_type = with_nullable(parse_type(_INSTANTS[logical]), nullable=nullable)
            read = zoned_epoch_reader(to_arrow(data_type))
            return ReadColumn(_source(name, data_type, said, field), read)
        if kind in ("array", "map", "record") and not connect_name:
            return self._nested_column(name, details, field, nullable=nullable)
        parameters = {
            str(key): str(value) for key, value in details.get("connect.parameters", {}).items()
        }
        if logical == "decimal" and kind in ("bytes", "fixed"):
            connect_name = f"{CONNECT}Decimal"
            parameters["scale"] = str(details.get("scale", 0))
            parameters["connect.decimal.precision"] = str(details["precision"])
        as_connect = ConnectField(
            type=_PRIMITIVES.get(kind, "struct"),
            field=name,
            optional=nullable,
            name=connect_name,
            parameters=parameters,
            doc=field.get("doc"),
        )
        return read_columns([as_connect])[name]

    def _nested_column(
        self, name: str, schema: dict[str, Any], field: dict[str, Any], *, nullable: bool
    ) -> ReadColumn:
        data_type = self._nested(schema)
        read = read_text if data_type is None else _nested_reader(to_arrow(data_type))
        if data_type is None:
            data_type = parse_type("STRING")
        column = _source(name, with_nullable(data_type, nullable=nullable), schema["type"], field)
        return ReadColumn(column, read)

    def _nested(self, schema: Schema) -> DataType | None:
        """Return the type of a part; None: it takes JSON."""
        found, nullable = self.unwrapped(schema)
        details: dict[str, Any] = found if isinstance(found, dict) else {"type": found}
        if "logicalType" in details or ("connect.name" in details and details["type"] != "record"):
            return None
        match details["type"]:
            case "array":
                element = self._nested(details["items"])
                return None if element is None else ArrayType(element, nullable)
            case "map":
                value = self._nested(details["values"])
                return None if value is None else MapType(parse_type("STRING"), value, nullable)
            case "record":
                parts = [(part["name"], self._nested(part["type"])) for part in details["fields"]]
                fields = [DataField(UNASSIGNED_ID, name, kind) for name, kind in parts if kind]
                return RowType(tuple(fields), nullable) if len(fields) == len(parts) else None
            case str() as kind if kind in _NESTED_LEAVES:
                return with_nullable(parse_type(_NESTED_LEAVES[kind]), nullable=nullable)
            case _:
                return None


def _source(name: str, data_type: DataType, said: str, field: dict[str, Any]) -> SourceColumn:
    return SourceColumn(name=name, type=data_type, source_type=str(said), comment=field.get("doc"))


def _nested_reader(kind: pa.DataType) -> Read:
    def read(column: Column) -> pa.Array:
        texts = column.texts.to_pylist()
        found = [None if text is None else msgspec.json.decode(text) for text in texts]
        return pa.array([_pairs(value, kind) for value in found], kind)

    return read


def _pairs(value: Any, kind: pa.DataType) -> Any:
    """Turn the objects that are maps into pairs, and the texts of odd numbers into numbers."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        return [(key, _pairs(item, kind.item_type)) for key, item in value.items()]
    if pa.types.is_list(kind):
        return [_pairs(item, kind.value_type) for item in value]
    if pa.types.is_struct(kind):
        return {part.name: _pairs(value.get(part.name), part.type) for part in kind}
    return float(value) if pa.types.is_floating(kind) else value


def record_reader(schema: dict[str, Any]) -> RecordReader:
    """Make a reader of a schema.

    Parameters
    ----------
    schema
        Avro's JSON, parsed.

    Raises
    ------
    UnsupportedError
        If fastavro takes it for no schema.
    """
    try:
        parsed = fastavro.parse_schema(_without_logical(schema), _write_hint=False)
    except Exception as error:  # fastavro raises whatever comes up
        raise UnsupportedError("this schema of Avro", f"{type(error).__name__}: {error}") from error
    named: dict[str, dict[str, Any]] = {}
    _collect(schema, "", named)
    return RecordReader(parsed, schema, named)


def _without_logical(schema: Any) -> Any:
    match schema:
        case dict():
            return {
                key: _without_logical(value) if key != "default" else value
                for key, value in schema.items()
                if key not in ("logicalType", "precision", "scale")
            }
        case list():
            return [_without_logical(member) for member in schema]
        case _:
            return schema


def _collect(schema: Any, namespace: str, named: dict[str, dict[str, Any]]) -> None:
    """Note the named types of a schema by their name and full name."""
    if isinstance(schema, list):
        for member in schema:
            _collect(member, namespace, named)
    if not isinstance(schema, dict):
        return
    inner = schema.get("namespace", namespace)
    if schema.get("type") in ("record", "enum", "fixed", "error") and "name" in schema:
        name = schema["name"]
        named.setdefault(name, schema)
        if "." not in name and inner:
            named.setdefault(f"{inner}.{name}", schema)
        elif "." in name:
            inner = name.rpartition(".")[0]
    for key in ("type", "items", "values"):
        if isinstance(schema.get(key), dict | list):
            _collect(schema[key], inner, named)
    for field in schema.get("fields", ()):
        _collect(field["type"], inner, named)


_ODD = (float("inf"), float("-inf"))


def json_row(record: Mapping[str, Any]) -> bytes:
    """Write a record as JSON; numbers that JSON lacks as Connect's texts."""
    return _encode(_with_texts(record))


_encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode


def _with_texts(value: Any) -> Any:
    match value:
        case float() if value != value:  # noqa: PLR0124 - NaN
            return "NaN"
        case float() if value in _ODD:
            return "Infinity" if value > 0 else "-Infinity"
        case dict():
            return {key: _with_texts(item) for key, item in value.items()}
        case list():
            return [_with_texts(item) for item in value]
        case _:
            return value


def _word(schema: Any) -> str:
    return schema if isinstance(schema, str) else str(schema.get("type", schema))
