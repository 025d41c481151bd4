from __future__ import annotations

import pytest

from paimonlab.spark.reading.file_shape import file_shape
from paimonlab.spark.values.casts import Conversion, conversion
from paimonlab.spec.schema.definition import Schema, TableSchema, new_table_schema
from paimonlab.spec.schema.schema_changes import (
    AddColumn,
    DropColumn,
    RenameColumn,
    UpdateColumnType,
    apply_changes,
)
from paimonlab.spec.types.text import parse_type


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("INT NOT NULL", "INT", Conversion.NONE),
        ("INT", "BIGINT", Conversion.CAST),
        ("TINYINT", "SMALLINT", Conversion.CAST),
        ("BIGINT", "DOUBLE", Conversion.CAST),
        ("FLOAT", "DOUBLE", Conversion.CAST),
        ("INT", "DECIMAL(12, 2)", Conversion.CAST),
        ("DECIMAL(5, 2)", "DECIMAL(8, 3)", Conversion.CAST),
        ("VARCHAR(3)", "STRING", Conversion.NONE),
        ("TIMESTAMP(3)", "TIMESTAMP(6)", Conversion.NONE),
        ("BIGINT", "INT", None),
        ("INT", "DECIMAL(10, 2)", None),
        ("DECIMAL(8, 3)", "DECIMAL(8, 2)", None),
        ("STRING", "VARCHAR(3)", None),
        ("TIMESTAMP(6)", "TIMESTAMP(3)", None),
        ("TIMESTAMP(6)", "TIMESTAMP(9)", Conversion.NONE),
        ("TIMESTAMP(9)", "TIMESTAMP(6)", None),
        ("DOUBLE", "STRING", None),
        ("STRING", "INT", None),
        ("TIMESTAMP(6)", "DATE", None),
        ("ARRAY<INT>", "ARRAY<INT>", Conversion.NONE),
        ("ARRAY<INT>", "ARRAY<BIGINT>", None),
        ("MAP<STRING, INT>", "MAP<STRING, INT NOT NULL>", Conversion.NONE),
    ],
)
def test_spark_casts_only_what_loses_nothing(
    old: str, new: str, expected: Conversion | None
) -> None:
    assert conversion(parse_type(old), parse_type(new)) is expected


def table_schema(**columns: str) -> TableSchema:
    return new_table_schema(Schema(columns), time_millis=0)


def test_a_file_with_the_same_columns_and_other_options_has_the_same_shape() -> None:
    schema = table_schema(a="INT", b="STRING")
    widened = apply_changes(schema, [AddColumn("c", "INT")], has_snapshots=True, time_millis=0)

    assert file_shape(schema, widened) == file_shape(widened, widened)


def test_a_column_dropped_and_added_again_is_null_in_old_files() -> None:
    schema = table_schema(a="INT", b="STRING")
    dropped = apply_changes(schema, [DropColumn("b")], has_snapshots=True, time_millis=0)
    again = apply_changes(dropped, [AddColumn("b", "STRING")], has_snapshots=True, time_millis=0)

    shape = file_shape(schema, again)

    assert shape is not None
    assert [column.conversion for column in shape] == [Conversion.NONE, None]


def test_a_renamed_column_is_read_by_its_old_name() -> None:
    schema = table_schema(a="INT", b="STRING")
    renamed = apply_changes(schema, [RenameColumn("b", "c")], has_snapshots=True, time_millis=0)

    shape = file_shape(schema, renamed)

    assert shape is not None
    assert [(column.name, column.file_name) for column in shape] == [("a", "a"), ("c", "b")]


def test_names_that_differ_in_case_only_clash_in_a_file() -> None:
    schema = table_schema(a="INT", b="STRING")
    dropped = apply_changes(schema, [DropColumn("b")], has_snapshots=True, time_millis=0)
    again = apply_changes(dropped, [AddColumn("B", "STRING")], has_snapshots=True, time_millis=0)

    shape = file_shape(schema, again)

    assert shape is not None
    assert shape[1].conversion is None


def test_a_cast_that_rounds_is_not_pruned_by() -> None:
    schema = table_schema(a="INT", b="INT")
    changes = [UpdateColumnType("a", "BIGINT"), UpdateColumnType("b", "FLOAT")]
    retyped = apply_changes(schema, changes, has_snapshots=True, time_millis=0)

    shape = file_shape(schema, retyped)

    assert shape is not None
    assert [column.is_compared_alike for column in shape] == [True, False]
