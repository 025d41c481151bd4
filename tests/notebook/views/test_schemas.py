"""The history of a schema: what differs, by ids; beside what Java shows."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from paimonlab.notebook import commands, views
from paimonlab.notebook.views.schemas.drawing import draw, markdown
from paimonlab.table.table import Table
from tests.analysis.snapshots.made_snapshots import snapshot
from tests.analysis.test_schema_history import field, schema
from tests.golden.expected import expected, values
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page
from tests.notebook.views.test_timeline import READ, golden_table


def history_of(table: Table) -> views.SchemaHistory:
    value = commands.schemas(table).value
    assert isinstance(value, views.SchemaHistory)
    return value


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
