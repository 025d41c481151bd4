"""The history of a schema: what differs, by ids; beside what Java shows."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from paimonlab.analysis.schema_history import differences
from paimonlab.notebook import commands, views
from paimonlab.notebook.views.schemas.drawing import draw, markdown
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.data_types import ArrayType, DataField, RowType
from paimonlab.spec.types.text import parse_type
from paimonlab.table.table import Table
from tests.golden.expected import expected, values
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page
from tests.notebook.views.test_timeline import READ, golden_table
from tests.notebook.views.test_views import snapshot


def field(id: int, name: str, text: str = "INT", **more: Any) -> DataField:
    return DataField(id, name, parse_type(text), **more)


def schema(id: int, *fields: DataField, **more: Any) -> TableSchema:
    return TableSchema(id, fields, highest_field_id=99, **more)


def told(before: TableSchema, after: TableSchema) -> list[tuple[str, str, str | None, str | None]]:
    return [(one.aspect, one.name, one.before, one.after) for one in differences(before, after)]


def history_of(table: Table) -> views.SchemaHistory:
    value = commands.schemas(table).value
    assert isinstance(value, views.SchemaHistory)
    return value


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


SEVERAL = {"br_fallback", "dataevo", "defaults", "rescale"}
"""Tables that were altered, beside those whose names begin with ``evo``."""
CHOSEN = [
    case
    for place, case in enumerate(READ)
    if place % 8 == 0 or case.table.startswith("evo") or case.table in SEVERAL
]


@pytest.mark.parametrize("case", CHOSEN, ids=str)
def test_schemas_are_those_that_java_shows(case: Any) -> None:
    system = expected(case).system_tables()
    assert "rows" in system.get("schemas", {}), "Java was asked for every one of these tables"
    fields = system["schemas"]["fields"]
    rows = [dict(zip(fields, row, strict=True)) for row in values(system["schemas"]["rows"])]
    rows.sort(key=lambda row: int(row["schema_id"]))
    table = golden_table(case)

    history = history_of(table)

    assert [
        (one.id, list(one.primary_keys), list(one.partition_keys), one.options)
        for one in history.versions
    ] == [
        (
            row["schema_id"],
            *(json.loads(row[name]) for name in ("primary_keys", "partition_keys", "options")),
        )
        for row in rows
    ]
    for version, row in zip(history.versions, rows, strict=True):
        top = [one for one in version.columns if one.depth == 0]
        theirs = json.loads(row["fields"])
        assert [(one.field_id, one.name) for one in top] == [(f["id"], f["name"]) for f in theirs]
        assert [one.comment for one in top] == [f.get("description") for f in theirs]
        assert [one.default for one in top] == [f.get("defaultValue") for f in theirs]
        assert version.comment == (row["comment"] or version.comment)
    for version in history.versions:
        ids = [one.id for one in table.snapshots.list() if one.schema_id == version.id]
        use = version.used_by
        assert (use is None) == (not ids)
        assert use is None or (use.first_snapshot, use.last_snapshot) == (ids[0], ids[-1])


def applied(version: views.SchemaVersion, found: Sequence[views.SchemaDifference]) -> Any:
    """Change the names of columns, by their ids, as the differences say."""
    names: dict[int | None, str] = {one.field_id: last(one.name) for one in version.columns}
    for one in found:
        if one.aspect == "column" and one.after is None:
            names.pop(one.field_id)
        elif one.aspect in {"column", "name"}:
            names[one.field_id] = last(one.name)
    return names


def last(name: str) -> str:
    return name.rpartition(".")[2]


@pytest.mark.parametrize("case", [case for case in READ if case.table.startswith("evo")], ids=str)
def test_differences_lead_from_one_schema_to_the_next(case: Any) -> None:
    versions = history_of(golden_table(case)).versions

    assert any(version.differences for version in versions)
    for before, after in pairwise(versions):
        wanted = {one.field_id: last(one.name) for one in after.columns}
        assert applied(before, after.differences) == wanted


def test_markdown_is_a_diff_that_names_cannot_leave() -> None:
    evil = "x\n```\n# free"
    history = views.schema_history(
        "t",
        [
            replace(schema(0, field(0, "a")), time_millis=1_357_016_400_000),
            schema(1, field(0, evil), options={"bucket": "2"}),
        ],
        [snapshot(1), snapshot(2, schema_id=1)],
    )

    text = draw(history).to_markdown()

    assert text == markdown(history)
    assert "- column a\n+ column x\\n```\\n# free\n+ option bucket = 2\n" in text
    assert "**schema 0**, 2013-01-01 05:00:00 UTC, snapshots: 1" in text
    assert len(re.findall("^```", text, re.MULTILINE)) == 4


def test_hostile_names_are_only_text() -> None:
    fields = [field(0, EVIL, description=EVIL, default_value=EVIL)]
    history = views.schema_history(
        EVIL, [schema(0, field(0, "a")), schema(1, *fields, options={EVIL: EVIL})], []
    )

    drawn = draw(history)
    page = Page(drawn.to_html())

    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES
    assert "\u202e" not in drawn.to_markdown()


def test_repeatable_hides_times() -> None:
    history = views.schema_history("t", [replace(schema(0, field(0, "a")), time_millis=9)], [])

    assert views.repeatable_schemas(history).versions[0].time_millis is None
