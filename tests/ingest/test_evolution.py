from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paimonlab.ingest.changes import SourceSchema
from paimonlab.ingest.evolution import Evolution, Evolve, evolution, merged
from paimonlab.spec.schema.definition import Schema, TableSchema, new_table_schema
from paimonlab.spec.schema.schema_changes import (
    AddColumn,
    DropColumn,
    RenameColumn,
    SchemaChange,
    UpdateColumnComment,
    UpdateColumnDefault,
    UpdateColumnNullability,
    UpdateColumnType,
    UpdateComment,
    apply_changes,
)
from paimonlab.spec.types.data_types import DataType
from paimonlab.spec.types.text import format_type
from tests.ingest.drawing import source

_TEXT = (Path(__file__).parents[1] / "cases" / "ingest_evolution.txt").read_text(encoding="utf-8")
_CASES = re.findall(
    r"(?ms)^(\S[^\n]*)\n(.*?)^----\n(.*?)(?=^\S|\Z)", re.sub(r"\A(#.*\n|\s*\n)*", "", _TEXT)
)
assert len(_CASES) > 15


def _table(schema: SourceSchema) -> TableSchema:
    fields = {column.name: column.type for column in schema.columns}
    return new_table_schema(Schema(fields, primary_keys=schema.primary_keys), time_millis=0)


@pytest.mark.parametrize("mode", list(Evolve))
@pytest.mark.parametrize(("title", "given", "expected"), _CASES)
def test_case_file(title: str, given: str, expected: str, mode: Evolve) -> None:
    said = dict(line.split(maxsplit=1) for line in given.strip().splitlines())
    renamed = dict([said["renamed"].split()]) if "renamed" in said else {}
    wanted = dict(line.split(maxsplit=1) for line in expected.strip().splitlines())
    table = _table(source(said["table"]))

    step = evolution(
        table, source(said["before"]), source(said["after"]), mode=mode, renamed=renamed
    )

    assert _drawn(step) == wanted[mode.value].strip(), title
    if step.refusal is None and mode is not Evolve.STRICT:
        _check_again(table, step, source(said["after"]), mode, renamed)


def _check_again(
    table: TableSchema, step: Evolution, after: SourceSchema, mode: Evolve, renamed: dict[str, str]
) -> None:
    """A change that was made is not made again, and its rows fit the table."""
    changed = apply_changes(table, step.changes, has_snapshots=True, time_millis=1)
    again = evolution(changed, after, after, mode=mode, renamed=renamed)

    assert again.changes == ()
    assert again.refusal is None
    assert set(after.names) <= set(changed.field_names)


def _drawn(step: Evolution) -> str:
    if step.refusal is not None:
        return f"stops: {step.refusal}"
    parts = [_change(change) for change in step.changes]
    return "; ".join([*parts, *(f"note: {note}" for note in step.notes)]) or "-"


def _change(change: SchemaChange) -> str:
    drawn = ""
    match change:
        case AddColumn(name, kind):
            drawn = f"add {name} {_type(kind)}"
        case UpdateColumnType(name, kind):
            drawn = f"type {name} {_type(kind)}"
        case DropColumn(name):
            drawn = f"drop {name}"
        case RenameColumn(old, new):
            drawn = f"rename {old} {new}"
        case UpdateColumnNullability(name, nullable):
            assert nullable
            drawn = f"nullable {name}"
        case UpdateColumnDefault(name, default):
            drawn = f"default {name} {default}"
        case UpdateColumnComment(name, comment):
            drawn = f"comment {name} {comment}"
        case UpdateComment(comment):
            drawn = f"comment {comment}"
    assert drawn, change
    return drawn


def _type(kind: Any) -> str:
    assert isinstance(kind, DataType)
    return format_type(kind)


def test_a_comment_is_taken_when_it_changes_in_the_source_only() -> None:
    plain = source("id BIGINT NOT NULL, v STRING KEY(id)")
    told = replace(
        plain, columns=(plain.columns[0], replace(plain.columns[1], comment="new")), comment="t"
    )
    mine = apply_changes(
        _table(plain), [UpdateColumnComment("v", "mine")], has_snapshots=True, time_millis=0
    )

    assert _drawn(evolution(mine, plain, told)) == "comment v new; comment t"
    assert _drawn(evolution(mine, told, told)) == "-"
    assert _drawn(evolution(mine, None, told)) == "comment t"


def test_shards_keep_what_one_of_them_drops() -> None:
    before, after = source("id INT NOT NULL, v INT KEY(id)"), source("id INT NOT NULL KEY(id)")

    step = evolution(_table(before), before, after, mode=Evolve.EXACT, is_shared=True)

    assert step.changes == ()


def test_a_key_that_was_chosen_may_change_in_the_source() -> None:
    before = source("id INT NOT NULL, v INT KEY(id)")
    after = source("id INT NOT NULL, v INT")

    assert evolution(_table(before), before, after).refusal is not None
    assert evolution(_table(before), before, after, has_own_key=True).refusal is None


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        ("id INT KEY(id)", "id INT KEY(id)", "id INT KEY(id)"),
        ("id INT KEY(id)", "id BIGINT, v INT NOT NULL KEY(id)", "id BIGINT, v INT KEY(id)"),
        ("id INT, v INT NOT NULL KEY(id)", "id INT KEY(id)", "id INT, v INT KEY(id)"),
    ],
)
def test_shards_have_the_columns_of_all(left: str, right: str, both: str) -> None:
    assert merged(source(left), source(right)) == source(both)


@pytest.mark.parametrize(
    ("left", "right", "why"),
    [
        ("id INT KEY(id)", "id INT", r"their primary keys differ: \(id\) and none"),
        ("v INT", "v STRING", "column 'v' is INT in one and STRING in another"),
    ],
)
def test_shards_that_differ_too_much_are_refused(left: str, right: str, why: str) -> None:
    found = merged(source(left), source(right))

    assert isinstance(found, str)
    assert re.search(why, found)
