"""Messages of Debezium, Canal and others about the same changes of the same tables."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from tests.ingest.formats.schema_registry import PROTOBUF, record

Row: TypeAlias = Mapping[str, Any]
Message: TypeAlias = tuple[bytes, bytes | None]
"""Key and value."""


@dataclass(frozen=True)
class Kind:
    """A type of MySQL, and what Debezium says of it."""

    mysql: str
    connect: str
    name: str | None = None
    parameters: Mapping[str, str] | None = None

    def field(self, column: str) -> dict[str, Any]:
        """Return the field of Connect's schema."""
        told: dict[str, Any] = {"field": column, "type": self.connect, "optional": column != "id"}
        if self.name is not None:
            told |= {"name": self.name, "version": 1}
        if self.parameters is not None:
            told["parameters"] = self.parameters
        return told


@dataclass(frozen=True)
class Change:
    """A row that was inserted, updated or deleted."""

    database: str
    table: str
    kinds: Mapping[str, Kind]
    before: Row | None
    after: Row | None

    @property
    def key(self) -> bytes:
        """The key of its message."""
        return json.dumps({"id": self.row["id"]}).encode()

    @property
    def kind(self) -> str:
        """What was done with the row."""
        return "insert" if self.before is None else "delete" if self.after is None else "update"

    @property
    def row(self) -> Row:
        """The row as it is, or as it was before it was deleted."""
        row = self.after if self.after is not None else self.before
        assert row is not None
        return row


def debezium(change: Change) -> list[Message]:
    """Write it as Debezium does; a deleted row has a tombstone."""
    fields = [kind.field(name) for name, kind in change.kinds.items()]
    sides = [
        {"field": side, "type": "struct", "optional": True, "fields": fields}
        for side in ("before", "after")
    ]
    op = "c" if change.before is None else "d" if change.after is None else "u"
    payload = {
        "before": change.before,
        "after": change.after,
        "source": {"db": change.database, "table": change.table, "ts_ms": 1_700_000_000_000},
        "op": op,
        "ts_ms": 1_700_000_000_001,
    }
    told = {"schema": {"type": "struct", "fields": sides}, "payload": payload}
    found: list[Message] = [(change.key, json.dumps(told).encode())]
    return [*found, (change.key, None)] if op == "d" else found


def canal(change: Change) -> list[Message]:
    """Write it as Canal does, values as texts; and once more that a table was altered."""
    before, after = _texts(change.before), _texts(change.after)
    told: dict[str, Any] = {
        "data": [before if after is None else after],
        "old": None,
        "type": "INSERT" if before is None else "DELETE" if after is None else "UPDATE",
        "isDdl": False,
        "database": change.database,
        "table": change.table,
        "pkNames": ["id"],
        "mysqlType": {name: kind.mysql for name, kind in change.kinds.items()},
        "es": 1_700_000_000_000,
        "ts": 1_700_000_000_001,
        "sql": "",
    }
    if before is not None and after is not None:
        told["old"] = [{name: text for name, text in before.items() if after.get(name) != text}]
    return [(change.key, json.dumps(told).encode())]


def altered(database: str, table: str, statement: str) -> Message:
    """Write a statement as Canal does."""
    told = {"data": None, "isDdl": True, "type": "ALTER", "sql": statement}
    return b"{}", json.dumps(told | {"database": database, "table": table}).encode()


def _texts(row: Row | None) -> dict[str, str | None] | None:
    if row is None:
        return None
    return {name: None if value is None else str(value) for name, value in row.items()}


def maxwell(change: Change) -> list[Message]:
    """Write it as Maxwell does: whole rows, and what an update changed."""
    row = change.row
    told: dict[str, Any] = {"database": change.database, "table": change.table, "data": row}
    told |= {"type": change.kind, "ts": 1_700_000_000, "primary_key_columns": ["id"]}
    if change.kind == "update":
        old = change.before or {}
        told["old"] = {name: value for name, value in old.items() if row.get(name) != value}
    return [(change.key, json.dumps(told).encode())]


def ogg(change: Change) -> list[Message]:
    """Write it as Oracle GoldenGate does."""
    told = {
        "table": f"{change.database}.{change.table}",
        "primary_keys": ["id"],
        "before": change.before,
        "after": change.after,
        "op_type": change.kind[0].upper(),
        "op_ts": "2023-11-14 22:13:20.000000",
    }
    return [(change.key, json.dumps(told).encode())]


def dms(change: Change) -> list[Message]:
    """Write it as AWS' DMS does, with images before updates."""
    old = (change.before or {}) if change.kind == "update" else {}
    about = {"record-type": "data", "operation": change.kind}
    about |= {"schema-name": change.database, "table-name": change.table}
    data = {**change.row, **{f"BI_{name}": value for name, value in old.items()}}
    return [(change.key, json.dumps({"data": data, "metadata": about}).encode())]


def aliyun(change: Change) -> list[Message]:
    """Write it as Aliyun does, with types; an update is two messages."""
    sides = {"before": change.before, "after": change.after}
    ops = {"insert": [("INSERT", "after")], "delete": [("DELETE", "before")]}
    found: list[Message] = []
    for op, side in ops.get(change.kind, [("UPDATE_BEFORE", "before"), ("UPDATE_AFTER", "after")]):
        types = [{"name": name, "type": kind.mysql} for name, kind in change.kinds.items()]
        source = {"dbType": "MySQL", "dbName": change.database, "tableName": change.table}
        schema = {"dataColumn": types, "primaryKey": ["id"], "source": source}
        payload: dict[str, Any] = {"before": None, "after": None, "op": op, "ddl": None}
        payload |= {side: {"dataColumn": _texts(sides[side])}, "sequenceId": "1"}
        payload["timestamp"] = {"eventTime": 1_700_000_000_000}
        told = {"schema": schema, "payload": payload, "version": "0.0.1"}
        found.append((change.key, json.dumps(told).encode()))
    return found


def bson(change: Change) -> list[Message]:
    """Write it as Debezium does for MongoDB: documents in a text, the key of a deleted one."""
    id = change.row["id"]
    document = None
    if change.after is not None:
        values = {name: _extended(value) for name, value in change.after.items()}
        document = json.dumps({"_id": id, **values})
    told = {
        "before": None,
        "after": document,
        "source": {"db": change.database, "collection": change.table, "ts_ms": 1_700_000_000_000},
        "op": {"insert": "c", "update": "u", "delete": "d"}[change.kind],
    }
    return [(json.dumps({"id": str(id)}).encode(), json.dumps(told).encode())]


def _extended(value: Any) -> Any:
    """Write a value in extended JSON."""
    is_large = isinstance(value, int) and value >= 1 << 63
    return {"$numberDecimal": str(value)} if is_large else value


_AVRO = {"int16": "int", "int32": "int", "int64": "long"}


class DebeziumAvro:
    """Writes changes as Debezium does in Avro; a registry is asked for `schemas`."""

    def __init__(self) -> None:
        key = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "int"}]}
        self.schemas: dict[int, Any] = {1: key}
        self._numbers: dict[str, int] = {}

    def __call__(self, change: Change) -> list[Message]:
        """Write one; a deleted row has a tombstone."""
        fields = [
            {"name": name, "type": type if name == "id" else ["null", type], **default}
            for name, kind in change.kinds.items()
            for type, default in [(_avro(kind), {} if name == "id" else {"default": None})]
        ]
        texts = [{"name": name, "type": "string"} for name in ("db", "table")]
        row = {"type": "record", "name": "Value", "fields": fields}
        source = {"type": "record", "name": "Source", "fields": texts}
        schema = {
            "type": "record",
            "name": "Envelope",
            "namespace": f"{change.database}.{change.table}",
            "fields": [
                {"name": "before", "type": ["null", row]},
                {"name": "after", "type": ["null", "Value"]},
                {"name": "source", "type": source},
                {"name": "op", "type": "string"},
            ],
        }
        number = self._numbers.setdefault(json.dumps(schema), PROTOBUF + 1 + len(self._numbers))
        self.schemas[number] = schema
        value = {
            "before": _avro_row(change, change.before),
            "after": _avro_row(change, change.after),
            "source": {"db": change.database, "table": change.table},
            "op": {"insert": "c", "update": "u", "delete": "d"}[change.kind],
        }
        key = record(1, self.schemas[1], {"id": change.row["id"]})
        found: list[Message] = [(key, record(number, schema, value))]
        return [*found, (key, None)] if change.kind == "delete" else found


def _avro(kind: Kind) -> Any:
    type: dict[str, Any] = {"type": _AVRO.get(kind.connect, kind.connect)}
    if kind.connect == "int16":
        type["connect.type"] = kind.connect
    if kind.name is not None:
        type |= {"connect.name": kind.name, "connect.version": 1}
    if kind.parameters is not None:
        type["connect.parameters"] = dict(kind.parameters)
    return type


def _avro_row(change: Change, row: Row | None) -> Row | None:
    if row is None:
        return None
    found = dict(row)
    for name, kind in change.kinds.items():
        value = found[name]
        if value is None or kind.connect != "bytes":
            continue
        if kind.parameters is None:
            found[name] = base64.b64decode(value)
        else:
            unscaled = int(Decimal(str(value)).scaleb(int(kind.parameters["scale"])))
            size = unscaled.bit_length() // 8 + 1
            found[name] = unscaled.to_bytes(size, "big", signed=True)
    return found


FORMATS: Mapping[str, Callable[[Change], Sequence[Message]]] = {
    "debezium-json": debezium,
    "canal-json": canal,
    "maxwell-json": maxwell,
    "ogg-json": ogg,
    "aws-dms-json": dms,
    "aliyun-json": aliyun,
    "debezium-bson": bson,
}
"""All that take no registry."""
