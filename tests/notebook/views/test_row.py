"""The life of one row beside a list of what was written."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import ArgumentError, SchemaError, UnsupportedError
from paimonlab.notebook import commands, views
from paimonlab.scan.plan import Plan, ScanRequest, plan
from paimonlab.table.memories import scan_plans
from paimonlab.table.table import Table


def life_of(table: Table, where: str, **options: int) -> views.RowLife:
    value = commands.row(table, where, **options).value
    assert isinstance(value, views.RowLife)
    return value


@pytest.fixture
def table(tmp_path: Path) -> Table:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    columns = {"id": "BIGINT NOT NULL", "v": "STRING"}
    options = {"bucket": "1", "write-only": "true"}
    return catalog.create_table("db.t", columns, primary_keys=["id"], options=options)


def write(table: Table, *rows: tuple[int, str | None]) -> None:
    ids, values = zip(*rows, strict=True)
    table.write(pa.table({"id": ids, "v": pa.array(values, "string")}))


def test_steps_are_those_of_a_list(
    table: Table, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Write at random; a list of what row 5 was at each snapshot is the oracle."""
    chance = random.Random(seed)
    planned: list[object] = []

    def counted(request: ScanRequest, *rest: Any, **named: Any) -> Plan:
        planned.append(request)
        return plan(request, *rest, **named)

    monkeypatch.setattr(scan_plans, "plan", counted)
    was: list[str | None] = [None]
    for _ in range(25):
        kind = chance.choice(["write", "write", "other", "delete", "compact"])
        now = was[-1]
        before = table.snapshot
        if kind == "write":
            now = chance.choice("abc")
            write(table, (5, now), (chance.randrange(10, 20), "x"))
        elif kind == "other":
            write(table, (7, chance.choice("abc")))
        elif kind == "delete":
            table.delete("id = 5")
            now = None
        else:
            table.compact(full=True)
        after = table.snapshot
        if after is not None and (before is None or after.id != before.id):
            was.append(now)

    planned.clear()
    steps = {step.snapshot_id: step for step in life_of(table, "id = 5").steps}

    assert len(planned) == len(was) - 1, "each snapshot is planned once"
    for id in range(1, len(was)):
        old, new = was[id - 1], was[id]
        expected = {
            (True, True): None,
            (True, False): "inserted",
            (False, True): "deleted",
            (False, False): "updated" if old != new else None,
        }[old is None, new is None]
        step = steps.get(id)
        if expected is None:
            assert step is None or step.what == "rewritten"
        else:
            assert step is not None
            assert step.what == expected
            assert step.values == (() if new is None else ("5", new))


def test_a_compaction_moves_it_and_tags_are_kept(table: Table) -> None:
    write(table, (5, "a"))
    write(table, (5, None))
    table.compact(full=True)
    table.tags.create("after", snapshot=3)
    write(table, (99, "far"))

    steps = life_of(table, "id = 5").steps

    assert [(step.snapshot_id, step.what, step.changed) for step in steps] == [
        (1, "inserted", ()),
        (2, "updated", ("v",)),
        (3, "rewritten", ()),
    ]
    assert [file.level for file in steps[2].files] == [5]
    assert steps[2].tags == ("after",)
    assert steps[2].values == ("5", None)


def test_a_row_that_is_there_from_the_beginning_may_be_older(table: Table) -> None:
    for value in "abc":
        write(table, (5, value))
    table.write(pa.table({"id": [6], "v": ["x"]}))

    first = commands.row(table, "id = 5", last=1)
    new = commands.row(table, "id = 6", last=1)

    why = "3 older snapshots were not read"
    assert [(step.what, step.earliest_id, step.unknown) for step in first.value.steps] == [
        ("present", 1, why)
    ]
    headline = f"No change in what was read: there since snapshot 4 or before; {why}"
    for said in (first.to_text(), first.to_html()):
        assert headline in said
        assert "present by then" in said
    table.tags.create("two", snapshot=2)
    gap = commands.row(table, "id = 5", last=1)
    assert "updated between 2 and 4" in gap.to_text()
    assert "1 change: updated between snapshots 2 and 4 (v)" in gap.to_html()
    assert "there since snapshot 2 or before: 1 older snapshot was not read" in gap.to_text()
    assert new.value.steps[0].what == "present", "no snapshot without it was read"


def test_a_renamed_column_is_the_same_and_a_new_one_was_null(table: Table, tmp_path: Path) -> None:
    write(table, (5, "a"))
    changes = (pl.RenameColumn("v", "w"), pl.AddColumn("x", "INT"))
    changed = pl.connect(tmp_path).alter_table("db.t", *changes)
    changed.write(pa.table({"id": [5], "w": ["a"], "x": pa.array([1], "int32")}))

    first, second = life_of(changed, "id = 5").steps

    assert first.values == ("5", "a", None)
    assert (second.values, second.changed) == (("5", "a", "1"), ("x",))


def test_what_does_not_find_one_row_by_its_key_is_refused(table: Table) -> None:
    write(table, (5, "a"), (6, "a"))

    with pytest.raises(UnsupportedError, match=r"found by v .*give the primary key: id = 5"):
        commands.row(table, "v = 'a'")
    with pytest.raises(SchemaError, match=r"BIGINT is neither true nor false.*is id = 5$"):
        commands.row(table, "id")
    with pytest.raises(UnsupportedError, match=r"'5' as a condition(?s:.)*such as id = 5$"):
        commands.row(table, "5")
    with pytest.raises(ArgumentError, match=r"^the life of a row: id > 4 finds several rows"):
        commands.row(table, "id > 4")
    with pytest.raises(ValueError, match="last"):
        commands.row(table, "id = 5", last=0)


def test_a_row_that_never_was_has_no_steps(table: Table) -> None:
    write(table, (5, "a"))

    view = commands.row(table, "id = 4")

    assert view.value.steps == ()
    assert "1 snapshot read" in view.to_text()


def test_of_many_columns_those_that_changed_are_shown(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    names = [f"c{number}" for number in range(30)]
    columns = {"id": "BIGINT NOT NULL", **dict.fromkeys(names, "INT")}
    table = catalog.create_table("db.t", columns, primary_keys=["id"], options={"bucket": "1"})
    row = {"id": 1, **dict.fromkeys(names, 0)}
    table.write([row])
    table.write([{**row, "c17": 5}])

    view = table.show.row("id = 1")

    heads = [column.name for column in view.grid.columns]
    assert heads[-2:] == ["id", "c17"]
    assert "29 columns more, shown here if they change" in view.grid.footer
    assert len(view.value.columns) == 31


def test_html_leaves_files_out_before_values(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"dt": "STRING", "id": "BIGINT", "v": "STRING"})
    table.write([{"dt": "d005", "id": 777, "v": "the only one"}])

    said = table.show.row("id = 777").to_html()

    # Not the value, though it is at the right of them.
    assert "files: by the pointer, over the first column" in said
