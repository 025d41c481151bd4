from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimonlab.errors import ColumnNotFoundError, PaimonError, SchemaError
from paimonlab.spec.schema.definition import Schema, TableSchema, new_table_schema
from paimonlab.spec.schema.schema_changes import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RemoveOption,
    RenameColumn,
    SchemaChange,
    SetOption,
    UpdateColumnComment,
    UpdateColumnDefault,
    UpdateColumnNullability,
    UpdateColumnType,
    UpdateComment,
    apply_changes,
)
from paimonlab.spec.types.text import format_type


def table(fields: dict[str, str] | None = None, **more: Any) -> TableSchema:
    definition = Schema(fields or {"id": "INT", "dt": "DATE", "v": "STRING"}, **more)
    return new_table_schema(definition, time_millis=1)


def keyed(**options: str) -> TableSchema:
    return table(
        primary_keys=["id", "dt"], partition_keys=["dt"], options={"bucket": "2", **options}
    )


def alter(schema: TableSchema, *changes: SchemaChange, has_snapshots: bool = True) -> TableSchema:
    return apply_changes(schema, changes, has_snapshots=has_snapshots, time_millis=2)


def drawn(schema: TableSchema) -> str:
    return ", ".join(
        f"{field.id}:{field.name} {format_type(field.type)}" for field in schema.fields
    )


def test_the_next_schema_has_the_next_id_and_its_time() -> None:
    changed = alter(table(), UpdateComment("hello"))

    assert (changed.id, changed.time_millis, changed.comment) == (1, 2, "hello")
    assert alter(changed, UpdateComment(None)).comment is None


def test_a_new_column_gets_a_new_id_and_its_place() -> None:
    changed = alter(
        table(),
        AddColumn("a", "INT", comment="new"),
        AddColumn("b", "INT", first=True),
        AddColumn("c", "INT", after="id"),
    )

    assert drawn(changed) == "4:b INT, 0:id INT, 5:c INT, 1:dt DATE, 2:v STRING, 3:a INT"
    assert changed.field("a").description == "new"
    assert changed.highest_field_id == 5


def test_the_id_of_a_dropped_column_is_not_used_again() -> None:
    changed = alter(table(), DropColumn("v"), AddColumn("v", "STRING"))

    assert drawn(changed) == "0:id INT, 1:dt DATE, 3:v STRING"


def test_a_new_column_may_go_before_the_partition() -> None:
    schema = keyed(**{"add-column-before-partition": "true"})

    assert drawn(alter(schema, AddColumn("a", "INT"))) == (
        "0:id INT NOT NULL, 3:a INT, 1:dt DATE NOT NULL, 2:v STRING"
    )


def test_a_renamed_column_keeps_its_id_and_options_follow() -> None:
    schema = keyed(
        **{"bucket-key": "id", "sequence.field": "v", "fields.v.stats-mode": "full", "x": "id"}
    )

    changed = alter(schema, RenameColumn("id", "key"), RenameColumn("v", "w"))

    assert drawn(changed) == "0:key INT NOT NULL, 1:dt DATE NOT NULL, 2:w STRING"
    assert changed.primary_keys == ("key", "dt")
    assert changed.options == {
        "bucket": "2",
        "bucket-key": "key",
        "sequence.field": "w",
        "fields.w.stats-mode": "full",
        "x": "id",
    }


def test_types_change_and_stay_as_nullable_as_they_are() -> None:
    schema = table({"a": "INT NOT NULL", "b": "INT", "c": "STRING"})

    changed = alter(
        schema,
        UpdateColumnType("a", "BIGINT"),
        UpdateColumnType("b", "DECIMAL(12, 2)"),
        UpdateColumnType("c", "INT"),
    )

    assert drawn(changed) == "0:a BIGINT NOT NULL, 1:b DECIMAL(12, 2), 2:c INT"


def test_casts_that_may_lose_something_can_be_forbidden() -> None:
    schema = table({"a": "BIGINT"}, options={"disable-explicit-type-casting": "true"})

    assert drawn(alter(schema, UpdateColumnType("a", "DOUBLE"))) == "0:a DOUBLE"
    with pytest.raises(SchemaError, match="it could lose values"):
        alter(schema, UpdateColumnType("a", "INT"))


def test_nulls_can_be_allowed_and_forbidden_only_if_asked_twice() -> None:
    schema = table({"a": "INT NOT NULL", "b": "INT"})

    assert drawn(alter(schema, UpdateColumnNullability("a", nullable=True))) == "0:a INT, 1:b INT"
    with pytest.raises(SchemaError, match=r"alter-column-null-to-not-null\.disabled"):
        alter(schema, UpdateColumnNullability("b", nullable=False))
    with pytest.raises(SchemaError, match=r"alter-column-null-to-not-null\.disabled"):
        alter(schema, UpdateColumnType("b", "BIGINT NOT NULL"))
    changed = alter(
        schema,
        SetOption("alter-column-null-to-not-null.disabled", "false"),
        UpdateColumnNullability("b", nullable=False),
    )
    assert drawn(changed) == "0:a INT NOT NULL, 1:b INT NOT NULL"


def test_columns_move() -> None:
    def names(*changes: SchemaChange) -> tuple[str, ...]:
        return alter(table(), *changes).field_names

    assert names(MoveColumn("v", first=True)) == ("v", "id", "dt")
    assert names(MoveColumn("id", after="v")) == ("dt", "v", "id")
    assert names(MoveColumn("v", after="id")) == ("id", "v", "dt")


def test_comments_and_defaults() -> None:
    changed = alter(table(), UpdateColumnComment("v", "text"), UpdateColumnDefault("id", "7"))

    assert changed.field("v").description == "text"
    assert changed.field("id").default_value == "7"
    assert alter(changed, UpdateColumnDefault("id", None)).field("id").default_value is None


def test_fields_inside_columns_change_by_their_path() -> None:
    schema = table({"r": "ROW<a INT, b INT>", "l": "ARRAY<ROW<x INT>>", "m": "MAP<INT, INT>"})

    changed = alter(
        schema,
        AddColumn("r.c", "ROW<d INT>", after="a"),
        RenameColumn("r.b", "bb"),
        DropColumn("r.a"),
        AddColumn("l.element.y", "STRING"),
        UpdateColumnType("m.value", "BIGINT"),
        UpdateColumnType("l.element.x", "BIGINT"),
        MoveColumn("r.bb", first=True),
    )

    assert drawn(changed) == (
        "0:r ROW<bb INT, c ROW<d INT>>, 3:l ARRAY<ROW<x BIGINT, y STRING>>, 5:m MAP<INT, BIGINT>"
    )
    assert changed.highest_field_id == 8


def test_options_are_set_and_removed_under_their_present_names() -> None:
    changed = alter(table(), SetOption("write.compaction-skip", "true"), SetOption("a.b", "c"))

    assert changed.options == {"write-only": "true", "a.b": "c"}
    assert alter(changed, RemoveOption("write-only")).options == {"a.b": "c"}


def test_a_table_without_data_may_still_change_what_is_fixed_later() -> None:
    changed = alter(keyed(), SetOption("bucket-key", "id"), has_snapshots=False)

    assert changed.bucket_keys == ("id",)


def test_the_number_of_buckets_may_change() -> None:
    assert alter(keyed(), SetOption("bucket", "7")).options["bucket"] == "7"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (AddColumn("v", "INT"), "column 'v' already exists"),
        (AddColumn("a", "INT NOT NULL"), "cannot be NOT NULL"),
        (AddColumn("a", "INTT"), "column 'a': type 'INTT'"),
        (AddColumn("v.x", "INT"), "'v' has no part 'x'"),
        (AddColumn("_ROW_ID", "INT"), "reserved"),
        (DropColumn("id"), "column 'id' is part of the primary key and cannot be dropped"),
        (DropColumn("dt"), "column 'dt' is a partition key and cannot be dropped"),
        (RenameColumn("dt", "day"), "column 'dt' is a partition key and cannot be renamed"),
        (RenameColumn("v", "id"), "column 'id' already exists"),
        (UpdateColumnType("id", "BIGINT"), "'id' is part of the primary key and cannot be given"),
        (UpdateColumnType("v", "ARRAY<INT>"), "cannot change from STRING to ARRAY<INT>"),
        (UpdateColumnNullability("id", nullable=True), "cannot be made nullable"),
        (UpdateColumnDefault("id", "x"), "default 'x' is not a valid INT NOT NULL"),
        (MoveColumn("v"), "give either first or after"),
        (MoveColumn("v", after="v"), "cannot be moved after itself"),
        (MoveColumn("id", first=True), "is already the first"),
        (SetOption("bucket", "-1"), "'bucket' cannot be changed to -1"),
        (SetOption("merge-engine", "first-row"), "'merge-engine' cannot be changed once"),
        (SetOption("bucket-key", "id"), "'bucket-key' cannot be changed once"),
        (SetOption("primary-key", "v"), "'primary-key' is part of the definition"),
        (SetOption("sequence.field", "w"), "sequence.field 'w' is not a column"),
        (RemoveOption("bucket"), "'bucket' cannot be removed"),
    ],
)
def test_what_must_not_change_is_an_error(change: SchemaChange, message: str) -> None:
    schema = keyed()

    with pytest.raises(SchemaError) as caught:
        alter(schema, change)

    assert message in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        DropColumn("nope"),
        RenameColumn("nope", "x"),
        AddColumn("x", "INT", after="nope"),
        AddColumn("nope.x", "INT"),
        MoveColumn("v", after="nope"),
        UpdateColumnType("r.nope", "INT"),
    ],
)
def test_a_column_that_is_not_there_is_named(change: SchemaChange) -> None:
    schema = table({"v": "INT", "r": "ROW<a INT>"})

    with pytest.raises(ColumnNotFoundError, match="no column 'nope'"):
        alter(schema, change)


def test_the_last_column_stays() -> None:
    with pytest.raises(SchemaError, match="is the only one"):
        alter(table({"a": "INT"}), DropColumn("a"))


def test_a_bucket_key_keeps_its_type() -> None:
    schema = table({"a": "INT", "b": "INT"}, options={"bucket": "2", "bucket-key": "a"})

    with pytest.raises(SchemaError, match="'a' is a bucket key and cannot be given another type"):
        alter(schema, UpdateColumnType("a", "BIGINT"))
    with pytest.raises(SchemaError, match="bucket-key 'a' is not a column"):
        alter(schema, DropColumn("a"))


def test_the_element_of_an_array_is_no_field() -> None:
    schema = table({"l": "ARRAY<INT>"})

    with pytest.raises(SchemaError, match="'element' is not a field"):
        alter(schema, RenameColumn("l.element", "x"))


_names = st.sampled_from("abcd")
_changes = st.one_of(
    st.builds(AddColumn, _names, st.sampled_from(["INT", "ROW<x INT>"]), first=st.booleans()),
    st.builds(DropColumn, _names),
    st.builds(RenameColumn, _names, _names),
    st.builds(MoveColumn, _names, first=st.just(value=True)),
)


@given(st.lists(st.lists(_changes, max_size=3), max_size=8))
def test_an_id_means_one_column_for_ever(steps: Sequence[Sequence[SchemaChange]]) -> None:
    """Follow the columns of a table in a dict from id to name, as data files do."""
    schema = table({"a": "INT", "b": "INT"})
    model = {0: "a", 1: "b"}
    next_id = 2
    for changes in steps:
        try:
            changed = alter(schema, *changes)
        except PaimonError:
            continue
        for change in changes:
            ids = {name: id for id, name in model.items()}
            match change:
                case AddColumn(name, text):
                    model[next_id] = name
                    next_id += 2 if text == "ROW<x INT>" else 1
                case DropColumn(name):
                    del model[ids[name]]
                case RenameColumn(name, new_name):
                    model[ids[name]] = new_name
        schema = changed
        assert {field.id: field.name for field in schema.fields} == model
        assert schema.highest_field_id == next_id - 1
