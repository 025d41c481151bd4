"""What became of one row, beside a list of what was written."""

from __future__ import annotations

import datetime as dt
import math
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pm
from paimonlab.errors import ArgumentError, ColumnNotFoundError, UnsupportedError


@pytest.fixture
def catalog(tmp_path: Path) -> pm.Catalog:
    catalog = pm.connect(tmp_path)
    catalog.create_database("db")
    return catalog


def table_of(
    catalog: pm.Catalog, columns: dict[str, str], keys: list[str], **more: Any
) -> pm.Table:
    options = {"bucket": "1", "write-only": "true"} if keys else {}
    return catalog.create_table("db.t", columns, primary_keys=keys, options=options, **more)


def test_versions_are_those_of_a_dict(catalog: pm.Catalog, seed: int) -> None:
    """Write at random; lists of what each row was at each snapshot are the oracle."""
    chance = random.Random(seed)
    table = table_of(catalog, {"id": "INT NOT NULL", "x": "DOUBLE", "v": "STRING"}, ["id"])
    states: list[dict[int, dict[str, Any]]] = [{}]
    for _ in range(15):
        state = dict(states[-1])
        id = chance.randrange(3)
        row = {
            "id": id,
            "x": chance.choice([None, 0.5, math.inf]),
            "v": "a" * 200 + chance.choice("bc"),
        }
        before = table.snapshot
        if chance.random() < 0.25:
            table.delete(f"id = {id}")
            state.pop(id, None)
        else:
            table.write([row])
            state[id] = row
        after = table.snapshot
        if after is not None and (before is None or after.id > before.id):
            states.append(state)

    for id in range(3):
        history = table.history({"id": id})
        by_id = {version.snapshot.id: version for version in history}
        for number in range(1, len(states)):
            old, new = states[number - 1].get(id), states[number].get(id)
            version = by_id.get(number)
            if old == new:
                assert version is None or version.what == "rewritten"
                continue
            assert version is not None
            assert version.what == (
                "inserted" if old is None else "deleted" if new is None else "updated"
            )
            found = None if version.row is None else version.row.to_pylist()[0]
            assert found == new
            if old is not None and new is not None:
                assert version.changed == tuple(name for name in new if old[name] != new[name])
        frame = history.to_arrow()
        assert frame["row"].to_pylist() == [
            states[number].get(id) for number in frame["snapshot_id"].to_pylist()
        ]


def test_a_key_of_several_columns_is_found_by_their_values(catalog: pm.Catalog) -> None:
    columns = {"day": "DATE NOT NULL", "name": "STRING NOT NULL", "v": "INT"}
    table = table_of(catalog, columns, ["day", "name"], partition_keys=["day"])
    day = dt.date(2026, 1, 31)
    table.write([{"day": day, "name": "it's ☃", "v": 1}, {"day": day, "name": "b", "v": 1}])
    table.write([{"day": day, "name": "it's ☃", "v": 2}])

    history = table.history({"day": day, "name": "it's ☃"})

    assert [(version.what, version.changed) for version in history] == [
        ("inserted", ()),
        ("updated", ("v",)),
    ]
    assert {file.bucket_path for file in history[-1].files} == {"day=20484/bucket-0"}
    assert history.to_pandas()["row"][1]["v"] == 2
    assert "2 snapshots read" in repr(history)


def test_columns_are_those_of_today_and_nan_is_the_same(catalog: pm.Catalog) -> None:
    table = table_of(catalog, {"id": "INT NOT NULL", "a": "INT", "x": "DOUBLE"}, ["id"])
    table.write([{"id": 1, "a": 7, "x": math.nan}])
    changes = (pm.RenameColumn("id", "key"), pm.UpdateColumnType("a", "BIGINT"))
    table = catalog.alter_table("db.t", *changes, pm.AddColumn("b", "STRING"))
    table.write([{"key": 1, "a": 7, "x": math.nan, "b": "new"}])

    first, second = table.history({"key": 1})

    assert first.row is not None
    assert first.row.schema.field("a").type == pa.int64()
    assert second.changed == ("b",)


def test_a_row_of_an_append_table_is_found_by_any_column_and_null(catalog: pm.Catalog) -> None:
    table = table_of(catalog, {"id": "INT", "v": "STRING"}, [])
    table.write([{"id": 1, "v": None}])
    table.tags.create("one")
    table.write([{"id": 2, "v": "x"}])
    table.delete("id = 1")

    history = table.history({"v": None})

    assert [(version.what, version.tags) for version in history] == [
        ("inserted", ("one",)),
        ("deleted", ()),
    ]
    assert table.history(pm.col("id") == 9).to_arrow()["what"].to_pylist() == ["absent"]
    left_out = table.history("id = 2", last=1)
    assert (len(left_out), left_out.read_count, left_out.left_out_count) == (2, 2, 1)


def test_what_was_not_read_may_have_changed_the_row(catalog: pm.Catalog) -> None:
    table = table_of(catalog, {"id": "INT NOT NULL", "v": "STRING"}, ["id"])
    for number in range(5):
        table.write([{"id": 1, "v": str(number)}])

    def told(last: int | None = None) -> list[tuple[str, int, int, int]]:
        history = table.history({"id": 1}, last=last)
        columns = history.to_arrow()
        assert columns["earliest_snapshot_id"].to_pylist() == [one.earliest_id for one in history]
        return [(v.what, v.earliest_id, v.snapshot.id, v.left_out_count) for v in history]

    assert told()[:2] == [("inserted", 1, 1, 0), ("updated", 2, 2, 0)]
    assert told(2) == [("present", 1, 4, 3), ("updated", 5, 5, 0)]
    shown = repr(table.history({"id": 1}, last=2)[0])
    assert shown == (
        "<RowVersion: present since snapshot 4 or before: 3 older snapshots were not read>"
    )
    table.tags.create("two", snapshot=2)
    assert told(1) == [("present", 1, 2, 1), ("updated", 3, 5, 2)]
    table.maintenance.expire_snapshots(retain_max=1, retain_min=1)
    assert told() == [("present", 1, 2, 0), ("updated", 3, 5, 0)]
    assert repr(table.history({"id": 1})[1]) == (
        "<RowVersion: updated (v) between snapshots 2 and 5: 2 older snapshots are not kept>"
    )


def test_progress_is_reported(catalog: pm.Catalog) -> None:
    table = table_of(catalog, {"id": "INT NOT NULL"}, ["id"])
    table.write([{"id": 1}])
    reports: list[tuple[int, int, str]] = []

    table.history({"id": 1}, progress=lambda *report: reports.append(report))

    assert reports == [(1, 1, "snapshots")]


def test_what_is_not_one_row_is_refused(catalog: pm.Catalog) -> None:
    table = table_of(catalog, {"id": "INT NOT NULL", "k": "INT NOT NULL", "v": "INT"}, ["id", "k"])
    table.write([{"id": 1, "k": 1}, {"id": 1, "k": 2}])

    with pytest.raises(ArgumentError, match=r"db.t: give k as well"):
        table.history({"id": 1})
    with pytest.raises(ArgumentError, match=r"id is one value, not list"):
        table.history({"id": [1], "k": 1})
    with pytest.raises(ArgumentError, match=r"rows of db.t, whose key is id, k$"):
        table.history("id = 1")
    with pytest.raises(ColumnNotFoundError, match="idd"):
        table.history({"idd": 1, "id": 1, "k": 1})
    with pytest.raises(UnsupportedError, match=r"give the primary key: id = 5 AND k = 5"):
        table.history("v = 1")
    with pytest.raises(TypeError, match=r"are list\(table.snapshots\)"):
        table.history()
    with pytest.raises(TypeError, match=r"or by a condition, got int"):
        table.history(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="last must be at least 1"):
        table.history({"id": 1, "k": 1}, last=0)
