from __future__ import annotations

from typing import Any

import pytest

from paimonlab.catalog.rest.changes import (
    changes_from_json,
    changes_to_json,
    function_changes_from_json,
    function_changes_to_json,
    view_changes_from_json,
    view_changes_to_json,
)
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.function import (
    AddDefinition,
    DropDefinition,
    FunctionChange,
    SqlDefinition,
    UpdateDefinition,
)
from paimonlab.spec.schema.definition import Schema, new_table_schema
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
from paimonlab.spec.view import AddDialect, DropDialect, UpdateDialect, ViewChange

BEFORE = new_table_schema(
    Schema({"a": "INT NOT NULL", "b": "ROW<x INT, y STRING>", "c": "STRING", "d": "INT"}),
    time_millis=0,
)


@pytest.mark.parametrize(
    "changes",
    [
        [SetOption("k", "v"), SetOption("n", 1), RemoveOption("k"), UpdateComment("c")],
        [UpdateComment(None)],
        [AddColumn("e", "DECIMAL(5, 2)", "why"), AddColumn("f", "ARRAY<INT>", first=True)],
        [AddColumn("e", "ROW<p INT, q MAP<STRING, ROW<r INT>>>", after="a")],
        [AddColumn("b.z", "INT", after="x"), DropColumn("b.y"), RenameColumn("b.x", "w")],
        [DropColumn("c"), RenameColumn("d", "e"), MoveColumn("e", first=True)],
        [MoveColumn("d", after="a"), MoveColumn("b", first=True), MoveColumn("a", after="d")],
        [UpdateColumnType("d", "BIGINT"), UpdateColumnType("a", "BIGINT")],
        [UpdateColumnNullability("a", nullable=True)],
        [UpdateColumnComment("b.x", "inside"), UpdateColumnComment("c", None)],
        [UpdateColumnDefault("c", "x"), UpdateColumnDefault("c", None)],
    ],
)
def test_changes_mean_the_same_at_the_other_end(changes: list[SchemaChange]) -> None:
    documents = changes_to_json(changes, BEFORE.fields)
    there = changes_from_json(documents, BEFORE.fields)

    wanted = apply_changes(BEFORE, changes, has_snapshots=False, time_millis=1)
    assert apply_changes(BEFORE, there, has_snapshots=False, time_millis=1) == wanted


@pytest.mark.parametrize(
    ("move", "order"),
    [
        ({"type": "LAST"}, "bcda"),
        ({"type": "BEFORE", "referenceFieldName": "d"}, "bcad"),
        ({"type": "AFTER", "referenceFieldName": "b"}, "bacd"),
    ],
)
def test_moves_of_java_are_understood(move: dict[str, str], order: str) -> None:
    document = {"action": "updateColumnPosition", "move": {"fieldName": "a", **move}}
    changes = changes_from_json([document], BEFORE.fields)

    moved = apply_changes(BEFORE, changes, has_snapshots=False, time_millis=1)
    assert "".join(moved.field_names) == order


def test_moves_count_from_the_changes_before_them() -> None:
    documents: list[dict[str, Any]] = [
        {"action": "addColumn", "fieldNames": ["e"], "dataType": "INT"},
        {"action": "renameColumn", "fieldNames": ["d"], "newName": "f"},
        {"action": "dropColumn", "fieldNames": ["c"]},
        {"action": "updateColumnPosition", "move": {"fieldName": "a", "type": "LAST"}},
        {
            "action": "updateColumnPosition",
            "move": {"fieldName": "e", "referenceFieldName": "f", "type": "BEFORE"},
        },
    ]
    changes = changes_from_json(documents, BEFORE.fields)

    moved = apply_changes(BEFORE, changes, has_snapshots=False, time_millis=1)
    assert "".join(moved.field_names) == "befa"


@pytest.mark.parametrize(
    ("given", "keeps", "is_nullable"),
    [("BIGINT", False, True), ("BIGINT", True, False), ("BIGINT NOT NULL", False, False)],
)
def test_a_type_keeps_nullability_or_brings_its_own(
    given: str, keeps: bool, is_nullable: bool
) -> None:
    document = {
        "action": "updateColumnType",
        "fieldNames": ["a"],
        "newDataType": given,
        "keepNullability": keeps,
    }
    changes = changes_from_json([document], BEFORE.fields)

    changed = apply_changes(BEFORE, changes, has_snapshots=False, time_millis=1)
    assert changed.field("a").type.nullable is is_nullable


def test_what_is_not_understood_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="dropPrimaryKey"):
        changes_from_json([{"action": "dropPrimaryKey"}], BEFORE.fields)
    with pytest.raises(SchemaError, match="'setOption' is not a complete change"):
        changes_from_json([{"action": "setOption", "key": "a"}], BEFORE.fields)
    with pytest.raises(UnsupportedError, match="SIDEWAYS"):
        changes_from_json(
            [{"action": "updateColumnPosition", "move": {"fieldName": "a", "type": "SIDEWAYS"}}],
            BEFORE.fields,
        )
    with pytest.raises(SchemaError, match="not complete"):
        view_changes_from_json([{"action": "addDialect"}])
    with pytest.raises(UnsupportedError, match="'x' of a view"):
        view_changes_from_json([{"action": "x"}])


def test_changes_of_views_and_functions_are_the_same_at_the_other_end() -> None:
    views: list[ViewChange] = [
        SetOption("a", "b"),
        RemoveOption("a"),
        UpdateComment(None),
        AddDialect("spark", "SELECT 1"),
        UpdateDialect("spark", "SELECT 2"),
        DropDialect("spark"),
    ]
    assert view_changes_from_json(view_changes_to_json(views)) == views
    sql = SqlDefinition(definition="x + 1")
    functions: list[FunctionChange] = [
        SetOption("a", "b"),
        RemoveOption("a"),
        UpdateComment("c"),
        AddDefinition("spark", sql),
        UpdateDefinition("spark", sql),
        DropDefinition("spark"),
    ]
    assert function_changes_from_json(function_changes_to_json(functions)) == functions
