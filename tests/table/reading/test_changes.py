"""Changes between snapshots, against what was written and against a dict."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import SchemaError, SnapshotNotFoundError, TagNotFoundError, UnsupportedError

SEEDS = range(6)


@pytest.fixture
def keyed(catalog: pl.Catalog) -> pl.Table:
    table = catalog.create_table(
        "db.t", {"id": "INT", "v": "STRING"}, primary_keys=["id"], options={"bucket": "2"}
    )
    write(table, ("+I", 1, "a"), ("+I", 2, "b"))
    write(table, ("+U", 1, "a2"), ("-D", 2, "b"), ("+I", 3, "c"))
    write(table, ("+U", 3, "c"))
    return table


def write(table: pl.Table, *rows: tuple[str, int, str | None]) -> None:
    kinds, ids, values = zip(*rows, strict=True)
    data = pa.table(
        {"id": pa.array(ids, pa.int32()), "v": pa.array(values, pa.string()), "kind": list(kinds)}
    )
    if table.primary_keys:
        table.write(data, row_kinds="kind")
    else:
        table.write(data.drop_columns("kind"))


def rows(changes: Any) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in changes.to_arrow().to_pylist())


def test_a_delta_is_what_appends_wrote(keyed: pl.Table) -> None:
    assert rows(keyed.changes(1, 2)) == [("+I", 3, "c"), ("+U", 1, "a2"), ("-D", 2, "b")]
    assert rows(keyed.changes(0, 1)) == [("+I", 1, "a"), ("+I", 2, "b")]
    assert rows(keyed.changes(2, 2)) == []


def test_the_first_column_is_the_kind(keyed: pl.Table) -> None:
    changes = keyed.changes(0, 3, columns=["v"])

    assert changes.arrow_schema.names == ["rowkind", "v"]
    assert changes.to_arrow().schema == changes.arrow_schema
    assert changes.count() == 6


def test_changes_are_filtered_by_their_own_values(keyed: pl.Table) -> None:
    assert rows(keyed.changes(0, 3, where="v = 'b'")) == [("+I", 2, "b"), ("-D", 2, "b")]
    assert rows(keyed.changes(0, 3, where="id = 3", columns=["id"])) == [("+I", 3), ("+U", 3)]


def test_a_scan_with_incremental_options_shows_new_rows_only(keyed: pl.Table) -> None:
    scan = keyed.scan(options={"incremental-between": "1,2"})

    assert rows(scan) == [(1, "a2"), (3, "c")]
    assert scan.count() == 2
    assert keyed.scan(["v"], limit=1, options={"incremental-between": "1,3"}).count() == 1


def test_a_difference_compares_the_states(keyed: pl.Table) -> None:
    keyed.tags.create("first", snapshot=1)
    keyed.tags.create("third", snapshot=3)

    assert rows(keyed.changes(1, 3, mode="diff")) == rows(keyed.changes("first", "third"))
    assert rows(keyed.scan(options={"incremental-between": "first,third"})) == [
        (1, "a2"),
        (3, "c"),
    ]


def test_a_difference_is_of_merged_rows(catalog: pl.Catalog) -> None:
    table = catalog.create_table(
        "db.p",
        {"k": "INT", "a": "STRING", "b": "INT"},
        primary_keys=["k"],
        options={"bucket": "1", "merge-engine": "partial-update", "write-only": "true"},
    )
    for a, b in (("w", 0), ("x", 1), (None, 9), (None, 9)):
        data = {"k": pa.array([1], pa.int32()), "a": pa.array([a]), "b": pa.array([b], pa.int32())}
        table.write(pa.table(data))

    assert rows(table.changes(2, 3, mode="diff")) == [("+I", 1, "x", 9)]
    assert rows(table.changes(3, 4, mode="diff")) == []


def test_a_range_of_tags_may_mean_the_commits(keyed: pl.Table) -> None:
    keyed.tags.create("first", snapshot=1)
    keyed.tags.create("third", snapshot=3)
    options = {"incremental-between-tag-to-snapshot": "true", "incremental-between": "first,third"}

    assert rows(keyed.changes("first", "third", mode="delta")) == rows(keyed.changes(1, 3))
    assert rows(keyed.scan(options=options)) == [(1, "a2"), (3, "c"), (3, "c")]


def test_a_snapshot_that_is_not_there_is_named(keyed: pl.Table) -> None:
    with pytest.raises(SnapshotNotFoundError, match=r"no snapshot 99\. Its snapshots are 1 to"):
        keyed.changes(1, 99)
    with pytest.raises(SnapshotNotFoundError, match="no snapshot 99"):
        keyed.changes(99, 99)


def test_an_empty_table_has_no_snapshots_to_compare(catalog: pl.Catalog) -> None:
    table = catalog.create_table("db.empty", {"k": "INT"})

    assert table.changes(0, 0).count() == 0
    for mode in ("auto", "diff"):
        with pytest.raises(SnapshotNotFoundError, match="no snapshot 9"):
            table.changes(3, 9, mode=mode)


def test_times_choose_snapshots(keyed: pl.Table) -> None:
    times = {one.id: one.time_millis for one in keyed.snapshots.list()}
    before_all = f"{times[1] - 10},{times[1]}"

    first = keyed.scan(options={"incremental-between-timestamp": before_all})
    all_later = keyed.scan(
        options={"incremental-between-timestamp": f"{times[1]},{times[3] + 10_000}"}
    )
    none = keyed.scan(
        options={"incremental-between-timestamp": f"{times[3] + 1},{times[3] + 10_000}"}
    )

    assert rows(first) == [(1, "a"), (2, "b")]
    assert rows(all_later) == [(1, "a2"), (3, "c"), (3, "c")]
    assert rows(none) == []


def test_overwrites_do_not_count(keyed: pl.Table) -> None:
    keyed.overwrite(pa.table({"id": pa.array([9], pa.int32()), "v": ["z"]}))

    assert rows(keyed.changes(3, 4)) == []
    assert rows(keyed.changes(3, 4, mode="diff")) == [
        ("+I", 9, "z"),
        ("-D", 1, "a2"),
        ("-D", 3, "c"),
    ]


def test_an_append_table_only_gains_rows(catalog: pl.Catalog) -> None:
    table = catalog.create_table("db.a", {"id": "INT", "v": "STRING"})
    write(table, ("+I", 1, "a"))
    write(table, ("+I", 2, None))

    assert rows(table.changes(1, 2)) == [("+I", 2, None)]
    assert rows(table.changes(1, 2, mode="diff")) == [("+I", 2, None)]
    table.overwrite(pa.table({"id": pa.array([9], pa.int32()), "v": ["z"]}))
    with pytest.raises(UnsupportedError, match="rewritten or deleted"):
        table.changes(1, 3, mode="diff").to_arrow()


def test_points_that_are_not_there_are_errors(keyed: pl.Table) -> None:
    with pytest.raises(SnapshotNotFoundError):
        keyed.changes(1, 9)
    with pytest.raises(ValueError, match="forward"):
        keyed.changes(3, 1)
    with pytest.raises(TagNotFoundError):
        keyed.scan(options={"incremental-between": "a,b"})
    with pytest.raises(SchemaError, match="comma"):
        keyed.scan(options={"incremental-between": "1"})
    with pytest.raises(ValueError, match="mode"):
        keyed.changes(1, 2, mode="odd")  # type: ignore[arg-type]


def test_a_plan_of_changes_is_refused_where_rows_are_planned(keyed: pl.Table) -> None:
    with pytest.raises(UnsupportedError, match="plan of changes"):
        keyed.scan(options={"incremental-between": "1,2"}).plan()


@pytest.mark.parametrize("seed", SEEDS)
def test_random_differences_agree_with_a_dict(catalog: pl.Catalog, seed: int) -> None:
    random_ = random.Random(seed)
    table = catalog.create_table(
        "db.r",
        {"id": "INT", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "3", "write-only": "true"},
    )
    states: list[dict[int, str | None]] = [{}]
    for _ in range(6):
        state, changed = dict(states[-1]), []
        for key in random_.sample(range(20), 6):
            value = random_.choice(["x", "y", None])
            is_delete = random_.random() < 0.3
            changed.append(("-D" if is_delete else "+I", key, value))
            state.pop(key, None) if is_delete else state.__setitem__(key, value)
        write(table, *changed)
        states.append(state)

    for start in range(1, 7):
        for end in range(start, 7):
            old, new = states[start], states[end]
            found = table.changes(start, end, mode="diff").to_arrow().to_pylist()
            assert len({row["id"] for row in found}) == len(found)
            applied = dict(old)
            for row in found:
                if row["rowkind"] == "-D":
                    applied.pop(row["id"], None)
                else:
                    applied[row["id"]] = row["v"]
            assert applied == new, f"seed {seed}, {start} to {end}"
            where = table.changes(start, end, mode="diff", where="v = 'x'").to_arrow()
            wanted = [row for row in found if row["v"] == "x"]
            assert sorted(map(repr, where.to_pylist())) == sorted(map(repr, wanted))
