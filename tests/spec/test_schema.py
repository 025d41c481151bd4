from __future__ import annotations

import json
import pickle
from typing import Any

import pyarrow as pa
import pytest

from paimonlab.errors import (
    ColumnNotFoundError,
    CorruptMetadataError,
    SchemaError,
    UnsupportedError,
)
from paimonlab.spec.schema.definition import Schema, TableSchema, new_table_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import format_type

COLUMNS = {"id": "BIGINT", "dt": "DATE", "v": "STRING"}


def make(fields: Any = COLUMNS, **more: Any) -> TableSchema:
    return new_table_schema(Schema(fields, **more), time_millis=7)


def test_a_schema_is_a_document() -> None:
    schema = make(
        {"id": "BIGINT", "dt": "DATE", "r": "ROW<b INT>"},
        primary_keys=["id", "dt"],
        partition_keys=["dt"],
        options={"bucket": "2"},
        comment="c",
    )

    assert json.loads(schema.to_json()) == {
        "version": 3,
        "id": 0,
        "fields": [
            {"id": 0, "name": "id", "type": "BIGINT NOT NULL"},
            {"id": 1, "name": "dt", "type": "DATE NOT NULL"},
            {
                "id": 2,
                "name": "r",
                "type": {"type": "ROW", "fields": [{"id": 3, "name": "b", "type": "INT"}]},
            },
        ],
        "highestFieldId": 3,
        "partitionKeys": ["dt"],
        "primaryKeys": ["id", "dt"],
        "options": {"bucket": "2"},
        "comment": "c",
        "timeMillis": 7,
    }
    assert TableSchema.from_json(schema.to_json(), path="p") == schema
    assert pickle.loads(pickle.dumps(schema)) == schema


def test_nested_fields_are_numbered_after_the_fields_inside_them() -> None:
    schema = make({"a": "ROW<b ROW<c INT>, d INT>", "e": "MAP<ROW<f INT>, ARRAY<ROW<g INT>>>"})

    document = json.loads(schema.to_json())
    numbered = {}

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if "name" in value:
                numbered[value["name"]] = value["id"]
            for part in value.values():
                walk(part)
        elif isinstance(value, list):
            for part in value:
                walk(part)

    walk(document["fields"])
    assert numbered == {"a": 0, "c": 1, "b": 2, "d": 3, "e": 4, "f": 5, "g": 6}
    assert schema.highest_field_id == 6


def test_keys_may_stand_in_the_options() -> None:
    schema = make(options={"primary-key": "id, dt", "partition": "dt", "bucket": "1"})

    assert schema.primary_keys == ("id", "dt")
    assert schema.partition_keys == ("dt",)
    assert schema.trimmed_primary_keys == ("id",)
    assert schema.bucket_keys == ("id",)
    assert schema.options == {"bucket": "1"}


def test_an_arrow_schema_defines_a_table() -> None:
    schema = make(pa.schema([pa.field("a", pa.int32(), nullable=False), ("b", pa.float64())]))

    assert [format_type(field.type) for field in schema.fields] == ["INT NOT NULL", "DOUBLE"]
    assert schema.arrow_schema.field("a").nullable is False


def test_the_bucket_key_is_split_without_trimming() -> None:
    assert make(options={"bucket": "2", "bucket-key": "id,v"}).bucket_keys == ("id", "v")
    with pytest.raises(SchemaError, match=r"bucket-key ' v' is not a column\. Did you mean 'v'"):
        make(options={"bucket": "2", "bucket-key": "id, v"})


@pytest.mark.parametrize(
    ("fields", "more", "message"),
    [
        ({}, {}, "at least one column"),
        ({"_ROW_ID": "INT"}, {}, "column name '_ROW_ID' is reserved"),
        ({"_KEY_a": "INT"}, {}, "'_KEY_a' is reserved"),
        ({" ": "INT"}, {}, "blank"),
        ({"a": "INTT"}, {}, "column 'a': type 'INTT'"),
        ({"a": "ROW<x INT, x INT>"}, {}, "field 'x' is defined twice"),
        ({"a": "ARRAY<ROW<>>"}, {}, "a ROW needs at least one field"),
        (pa.schema([("a", pa.int32()), ("a", pa.int32())]), {}, "column 'a' is defined twice"),
        (COLUMNS, {"primary_keys": ["nope"]}, "'nope' is not a column. The columns are "),
        (COLUMNS, {"primary_keys": ["id", "id"]}, "primary key names 'id' twice"),
        (COLUMNS, {"partition_keys": ["DT"]}, "partition key 'DT' is not a column"),
        (COLUMNS, {"primary_keys": ["dt"], "partition_keys": ["dt"]}, "only partition keys"),
        ({"a": "ARRAY<INT>"}, {"primary_keys": ["a"]}, "must not be of type ARRAY<INT>"),
        ({"a": "VARIANT", "b": "INT"}, {"partition_keys": ["a"]}, "must not be of type VARIANT"),
        (COLUMNS, {"options": {"bucket": "2"}}, "needs the option 'bucket-key'"),
        (COLUMNS, {"options": {"bucket-key": "id"}}, "needs a number of buckets"),
        (
            COLUMNS,
            {"partition_keys": ["dt"], "options": {"bucket": "2", "bucket-key": "dt"}},
            "must not be a partition key",
        ),
        (
            COLUMNS,
            {"primary_keys": ["id"], "options": {"bucket": "2", "bucket-key": "v"}},
            "must be part of the primary key",
        ),
        (COLUMNS, {"options": {"sequence.field": "v"}}, "needs a primary key"),
        (
            COLUMNS,
            {"primary_keys": ["id"], "options": {"bucket": "1", "sequence.field": "w"}},
            "sequence.field 'w' is not a column",
        ),
        (
            COLUMNS,
            {"primary_keys": ["id"], "options": {"primary-key": "v"}},
            "contradicts the definition",
        ),
    ],
)
def test_what_the_format_does_not_allow_is_an_error(
    fields: Any, more: dict[str, Any], message: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        make(fields, **more)

    assert message in str(caught.value)


def test_a_default_must_be_a_value_of_its_column() -> None:
    (field,) = make({"a": "INT"}).fields

    with pytest.raises(SchemaError, match="column 'a': default 'x' is not a valid INT"):
        make([DataField(9, "a", field.type, default_value="x")])


def test_a_text_is_one_key() -> None:
    assert Schema(COLUMNS, primary_keys="id").primary_keys == ("id",)


def test_options_are_texts_or_numbers() -> None:
    with pytest.raises(TypeError, match=r"option 'bucket' = \[4\]"):
        make(options={"bucket": [4]})


def test_an_unknown_column_is_named_with_the_known_ones() -> None:
    with pytest.raises(ColumnNotFoundError, match=r"db\.t has no column 'idd'; it has id, dt, v"):
        make().field("idd", table="db.t")


def document(**changed: Any) -> bytes:
    whole = json.loads(make({"a": "INT"}).to_json()) | changed
    return json.dumps({key: value for key, value in whole.items() if value is not None}).encode()


def test_old_versions_get_their_defaults_as_options() -> None:
    first = TableSchema.from_json(document(version=None), path="p")
    second = TableSchema.from_json(document(version=2, options={"bucket": "5"}), path="p")

    assert (first.version, first.options) == (1, {"bucket": "1", "file.format": "orc"})
    assert second.options == {"bucket": "5", "file.format": "orc"}
    assert TableSchema.from_json(document(), path="p").options == {}


def test_unknown_keys_of_the_document_are_ignored() -> None:
    assert TableSchema.from_json(document(future=1), path="p").field_names == ("a",)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        document(id=None),
        document(fields=[{"id": 0, "name": "a"}]),
        document(fields=[{"id": 0, "name": "a", "type": "WHAT"}]),
        document(primaryKeys="a"),
        document(options={"a": 1}),
        b'{"a":' + b"[" * 100_000,
    ],
)
def test_a_damaged_document_is_an_error_that_names_the_file(data: bytes) -> None:
    with pytest.raises(CorruptMetadataError, match=r"^w/t/schema/schema-0: "):
        TableSchema.from_json(data, path="w/t/schema/schema-0")


def test_a_type_that_is_not_built_is_no_damage() -> None:
    vector = {"type": "VECTOR", "element": "INT", "length": 3}
    data = document(fields=[{"id": 0, "name": "a", "type": vector}])

    with pytest.raises(UnsupportedError, match="VECTOR"):
        TableSchema.from_json(data, path="p")
