"""In which words two schemas differ."""

from __future__ import annotations

from typing import Any

import pytest

from paimonlab.analysis.schema_history import differences
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.data_types import ArrayType, DataField, RowType
from paimonlab.spec.types.text import parse_type


def field(id: int, name: str, text: str = "INT", **more: Any) -> DataField:
    return DataField(id, name, parse_type(text), **more)


def schema(id: int, *fields: DataField, **more: Any) -> TableSchema:
    return TableSchema(id, fields, highest_field_id=99, **more)


def told(before: TableSchema, after: TableSchema) -> list[tuple[str, str, str | None, str | None]]:
    return [(one.aspect, one.name, one.before, one.after) for one in differences(before, after)]


@pytest.mark.parametrize(
    ("before", "after", "expected_differences"),
    [
        ([field(0, "a")], [field(0, "b")], [("name", "b", "a", "b")]),
        (
            [field(0, "a")],
            [field(1, "a")],
            [("column", "a", None, "INT"), ("column", "a", "INT", None)],
        ),
        ([field(0, "a")], [field(0, "a", "BIGINT")], [("type", "a", "INT", "BIGINT")]),
        (
            [field(0, "a", "INT NOT NULL")],
            [field(0, "a")],
            [("nullability", "a", "NOT NULL", "nullable")],
        ),
        ([field(0, "a")], [field(0, "a", default_value="7")], [("default", "a", None, "7")]),
        ([field(0, "a", description="x")], [field(0, "a")], [("comment", "a", "x", None)]),
        (
            [field(0, "a"), field(1, "b")],
            [field(1, "b"), field(0, "a"), field(2, "c", "STRING NOT NULL")],
            [("column", "c", None, "STRING NOT NULL"), ("order", "", "a, b", "b, a")],
        ),
        (
            [field(0, "a"), field(1, "b")],
            [field(1, "c", "STRING", description="it's")],
            [
                *(("name", "c", "b", "c"), ("type", "c", "INT", "STRING")),
                *(("comment", "c", None, "it's"), ("column", "a", "INT", None)),
            ],
        ),
    ],
)
def test_columns_are_told_apart_by_their_ids(
    before: list[DataField], after: list[DataField], expected_differences: list[Any]
) -> None:
    assert told(schema(0, *before), schema(1, *after)) == expected_differences


def test_fields_of_rows_are_told_apart_within_lists_too() -> None:
    def nested(*fields: DataField) -> TableSchema:
        return schema(0, DataField(0, "a", ArrayType(RowType(fields))))

    assert told(nested(field(1, "x"), field(2, "y")), nested(field(1, "z"))) == [
        ("name", "a.element.z", "x", "z"),
        ("column", "a.element.y", "INT", None),
    ]


def test_keys_comments_and_options_are_told_and_secrets_hidden() -> None:
    before = schema(0, field(0, "a"), options={"bucket": "1", "x.password": "p", "gone": "1"})
    after = schema(
        1,
        field(0, "a"),
        options={"bucket": "2", "x.password": "q"},
        comment="c",
        primary_keys=("a",),
    )

    assert told(before, after) == [
        ("primary key", "", None, "a"),
        ("table comment", "", None, "c"),
        ("option", "bucket", "1", "2"),
        ("option", "gone", "1", None),
        ("option", "x.password", "******", "******"),
    ]


def test_equal_schemas_do_not_differ() -> None:
    assert told(schema(0, field(0, "a")), schema(1, field(0, "a"))) == []
