"""Avro with and without a registry, against records that fastavro writes."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import fastavro
import pytest

from paimonlab.errors import SourceError, UnsupportedError
from paimonlab.ingest.formats import FormatSettings, Registry, decoder_of
from paimonlab.ingest.formats.messages import messages_of
from tests.ingest.formats.drawing import drawn
from tests.ingest.formats.schema_registry import record, schema_registry

_PRICE = {
    "type": "bytes",
    "connect.name": "org.apache.kafka.connect.data.Decimal",
    "connect.parameters": {"scale": "2", "connect.decimal.precision": "10"},
}
_FIELDS: list[dict[str, Any]] = [
    {"name": "id", "type": "int"},
    {"name": "name", "type": ["null", "string"]},
    {"name": "price", "type": ["null", _PRICE]},
    {"name": "at", "type": {"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"}},
]
_ROW = {"type": "record", "name": "Value", "fields": _FIELDS}
_ENVELOPE: dict[str, Any] = {
    "type": "record",
    "name": "Envelope",
    "namespace": "shop.orders",
    "fields": [
        {"name": "before", "type": ["null", _ROW]},
        {"name": "after", "type": ["null", "Value"]},
        {
            "name": "source",
            "type": {
                "type": "record",
                "name": "Source",
                "fields": [
                    {"name": "db", "type": "string"},
                    {"name": "table", "type": "string"},
                    {"name": "ts_ms", "type": "long"},
                ],
            },
        },
        {"name": "op", "type": "string"},
    ],
}
_KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "int"}]}
_SCHEMAS: dict[int, Any] = {1: _KEY, 2: _ENVELOPE}


@pytest.fixture
def registry() -> Iterator[str]:
    """Run a registry that has `_SCHEMAS`, and one in Protobuf."""

    with schema_registry(_SCHEMAS) as address:
        yield address


def _record(number: int, value: dict[str, Any]) -> bytes:
    return record(number, _SCHEMAS[number], value)


def _plain(schema: dict[str, Any], record: dict[str, Any]) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), record)
    return stream.getvalue()


def _event(op: str, before: Any, after: Any) -> bytes:
    source = {"db": "d", "table": "t", "ts_ms": 5}
    return _record(2, {"before": before, "after": after, "source": source, "op": op})


def test_debezium_avro(registry: str) -> None:
    old = {"id": 1, "name": "a", "price": b"\x01\xf4", "at": 1679581805123456}
    new = {"id": 1, "name": None, "price": b"\xfe\x0c", "at": 0}
    values = [_event("c", None, old), _event("u", old, new), _event("u", None, old)]
    values += [_event("d", new, None), _event("d", None, None), _event("t", None, None)]
    keys = [_record(1, {"id": 1})] * len(values)
    decode = decoder_of("debezium-avro", FormatSettings(registry=Registry(url=registry)))

    found = drawn(decode(messages_of([*values, None], keys=[*keys, keys[0]])))

    assert found == (
        "d.t (id* INT NOT NULL, name STRING, price DECIMAL(10, 2), at TIMESTAMP(6) NOT NULL) "
        "+I[1, a, 5.00, 2023-03-23 14:30:05.123456] "
        "-U[1, a, 5.00, 2023-03-23 14:30:05.123456] +U[1, null, -5.00, 1970-01-01 00:00:00] "
        "+U[1, a, 5.00, 2023-03-23 14:30:05.123456] "
        "-D[1, null, -5.00, 1970-01-01 00:00:00] -D[1, null, null, null] truncated d.t @5"
    )


def test_what_is_not_in_the_wire_format_is_a_value(registry: str) -> None:
    good = _event("c", None, {"id": 1, "name": "a", "price": None, "at": 0})
    decode = decoder_of("debezium-avro", FormatSettings(registry=Registry(url=registry)))

    found = drawn(decode(messages_of([b"{}", good[:-3], good, good + b"x", b""])))

    assert "+I[1, a, null, 1970-01-01 00:00:00]" in found
    assert "@0: not in a schema registry's wire format" in found
    assert "@1: not a record of schema 2: EOFError" in found
    assert "@3: not a record of schema 2: 1 bytes after the record" in found
    assert "@4: not in a schema registry's wire format" in found


def test_a_registry_that_fails_is_an_error_not_a_dead_letter(registry: str) -> None:
    decode = decoder_of("avro", FormatSettings(registry=Registry(url=registry)))

    with pytest.raises(SourceError, match="has no schema 7"):
        list(decode(messages_of([b"\0\0\0\0\x07"])))
    with pytest.raises(UnsupportedError, match="schema 9 of type PROTOBUF"):
        list(decode(messages_of([b"\0\0\0\0\x09"])))
    decode = decoder_of("avro", FormatSettings(registry=Registry(url="http://127.0.0.1:1")))
    with pytest.raises(SourceError, match="does not answer"):
        list(decode(messages_of([b"\0\0\0\0\x07"])))


def test_passwords_of_a_registry_are_not_in_its_address() -> None:
    with pytest.raises(ValueError, match="password_env="):
        Registry(url="http://me:secret@127.0.0.1:1")


_MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
_MICROS = {"type": "long", "logicalType": "timestamp-micros"}
_LOCAL = {"type": "long", "logicalType": "local-timestamp-micros"}
_DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
_UUID = "b84dbfe2-fe4c-4953-a225-990ea3700f29"
_CLOCK = {"type": "int", "logicalType": "time-millis"}
_NESTED = {"type": "record", "name": "R", "fields": [{"name": "k", "type": "long"}]}
_WITH_ZONE = "WITH LOCAL TIME ZONE"
_ALL: list[tuple[Any, Any, str, str]] = [
    ("boolean", True, "BOOLEAN", "true"),
    ("long", -(2**63), "BIGINT", str(-(2**63))),
    ("float", 1.5, "FLOAT", "1.5"),
    ("double", float("nan"), "DOUBLE", "nan"),
    ("bytes", b"\0\xff", "BYTES", "x'00ff'"),
    ({"type": "fixed", "name": "F", "size": 2}, b"ab", "BYTES", "x'6162'"),
    ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, "B", "STRING", "B"),
    ({"type": "int", "logicalType": "date"}, 19439, "DATE", "2023-03-23"),
    (_CLOCK, 36803123, "TIME(3)", "10:13:23.123000"),
    (_MILLIS, 1679581805123, f"TIMESTAMP(3) {_WITH_ZONE}", "2023-03-23 14:30:05.123000Z"),
    (_MICROS, 1679581805123456, f"TIMESTAMP(6) {_WITH_ZONE}", "2023-03-23 14:30:05.123456Z"),
    (_LOCAL, 1679581805123456, "TIMESTAMP(6)", "2023-03-23 14:30:05.123456"),
    (_DECIMAL, b"\x01\xf4", "DECIMAL(10, 2)", "5.00"),
    ({"type": "string", "logicalType": "uuid"}, _UUID, "STRING", _UUID),
    ({"type": "array", "items": ["null", "int"]}, [1, None], "ARRAY<INT>", "[1 null]"),
    (_NESTED, {"k": 7}, "ROW<k BIGINT NOT NULL>", "{'k': 7}"),
    ({"type": "array", "items": "bytes"}, [b"a"], "STRING", '["YQ=="]'),
]


@pytest.mark.parametrize(("kind", "value", "wanted", "shown"), _ALL, ids=[row[2] for row in _ALL])
def test_plain_avro_has_each_type(kind: Any, value: Any, wanted: str, shown: str) -> None:
    schema = {"type": "record", "name": "T", "fields": [{"name": "c", "type": ["null", kind]}]}
    without = json.loads(json.dumps(schema).replace("logicalType", "was"))
    values = [_plain(without, {"c": value}), _plain(without, {"c": None})]
    decode = decoder_of("avro", FormatSettings(avro_schema=json.dumps(schema)))

    found = drawn(decode(messages_of(values)))

    assert found == f"kafka.topic (c {wanted}) +I[{shown}] +I[null]"


def test_maps_are_maps() -> None:
    schema = {
        "type": "record",
        "name": "T",
        "fields": [{"name": "m", "type": {"type": "map", "values": "double"}}],
    }
    decode = decoder_of("avro", FormatSettings(avro_schema=json.dumps(schema)))

    found = drawn(decode(messages_of([_plain(schema, {"m": {"a": 1.0, "b": float("inf")}})])))

    assert (
        found == "kafka.topic (m MAP<STRING, DOUBLE NOT NULL> NOT NULL) +I[[('a', 1.0) ('b', inf)]]"
    )


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        (["int", "string"], b"\0\0", "an Avro union of ['int', 'string']"),
        (
            {"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"},
            bytes(12),
            "Avro duration of column 'c'",
        ),
    ],
)
def test_what_avro_has_and_paimon_lacks_is_refused_by_name(
    kind: Any, data: bytes, message: str
) -> None:
    schema = {"type": "record", "name": "T", "fields": [{"name": "c", "type": kind}]}
    decode = decoder_of("avro", FormatSettings(avro_schema=json.dumps(schema)))

    told = drawn(decode(messages_of([data, data])))
    assert told.startswith(f"refused @0: kafka.topic: {message} is not supported. Give")
    assert told.count("refused") == 1

    as_text = FormatSettings(avro_schema=json.dumps(schema), columns={"c": "STRING"})
    found = drawn(decoder_of("avro", as_text)(messages_of([data])))
    assert found.startswith("kafka.topic (c STRING) +I[")
