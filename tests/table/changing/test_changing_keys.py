"""Deleting and updating rows of primary-key tables: also where rows may not become older."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from paimonlab.errors import DataError, SchemaError, UnsupportedError
from paimonlab.spec.snapshot import CommitKind
from paimonlab.table.table import Table
from tests.table.changing.changed_tables import (
    VECTORS,
    Interference,
    keys,
    new_table,
    new_table_with,
    values,
    write,
)


@pytest.fixture
def keyed(tmp_path: Path) -> Table:
    made = new_table(tmp_path, {"bucket": "2"}, primary_keys=["k"])
    write(made, 1, 2, 3, 4, 5, 6)
    return made


def test_rows_of_keys_are_deleted_by_their_values(keyed: Table) -> None:
    snapshot = keyed.delete("v = 'v2' OR v = 'v5'")

    assert snapshot is not None
    assert snapshot.commit_kind is CommitKind.APPEND
    assert keys(keyed) == [1, 3, 4, 6]


def test_rows_of_keys_are_updated(keyed: Table) -> None:
    keyed.update({"v": "concat(v, '/', k)"}, where="k < 3")

    assert values(keyed) == {1: "v1/1", 2: "v2/2", 3: "v3", 4: "v4", 5: "v5", 6: "v6"}


def test_the_key_itself_is_not_updated(keyed: Table) -> None:
    with pytest.raises(SchemaError, match="'k' is a column of the primary key"):
        keyed.update({"k": "k + 1"})


def test_an_update_of_keys_sees_what_others_wrote(
    keyed: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    Interference(monkeypatch, lambda: keyed.update({"v": "v || '+'"}))

    keyed.update({"v": "v || '!'"}, where="k = 2")

    assert values(keyed)[2] == "v2+!"


def test_a_delete_of_keys_sees_what_others_wrote(
    keyed: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    Interference(monkeypatch, lambda: keyed.update({"v": "'stay'"}, where="k = 2"))

    keyed.delete("v = 'v2'")

    assert values(keyed)[2] == "stay"


@pytest.mark.parametrize(
    "options",
    [
        {"merge-engine": "first-row"},
        {"merge-engine": "partial-update"},
        {"merge-engine": "aggregation"},
        {"ignore-delete": "true"},
    ],
    ids=str,
)
def test_where_deletes_do_nothing_they_are_refused(options: dict[str, str], keyed: Table) -> None:
    with pytest.raises(UnsupportedError):
        new_table_with(keyed, options).delete("k = 1")


@pytest.mark.parametrize("engine", ["first-row", "aggregation"])
def test_where_rows_do_not_replace_rows_updates_are_refused(engine: str, keyed: Table) -> None:
    with pytest.raises(UnsupportedError, match="merge-engine"):
        new_table_with(keyed, {"merge-engine": engine}).update({"v": "'x'"})


@pytest.fixture
def partial(tmp_path: Path) -> Table:
    options = {"bucket": "1", "merge-engine": "partial-update"}
    made = new_table(tmp_path, options, primary_keys=["k"])
    write(made, 1, 2)
    return made


def test_a_partial_update_is_updated_but_to_null(partial: Table) -> None:
    partial.update({"v": "'x'"}, where="k = 1")
    with pytest.raises(UnsupportedError, match="'v' would keep its old value"):
        partial.update({"v": None})

    assert values(partial) == {1: "x", 2: "v2"}


def test_rows_that_would_be_added_up_are_not_updated(partial: Table) -> None:
    table = new_table_with(partial, {"fields.v.aggregate-function": "listagg"})

    with pytest.raises(UnsupportedError, match=r"fields\.v\.aggregate-function"):
        table.update({"v": "'x'"})


@pytest.fixture
def ordered(tmp_path: Path) -> Callable[[dict[str, str]], Table]:
    """Return what makes a table with two rows, of which ``n`` says how new they are."""

    def made(options: dict[str, str]) -> Table:
        columns = {"k": "INT NOT NULL", "n": "INT", "v": "STRING", "w": "STRING"}
        table = new_table(tmp_path, {"bucket": "1"} | options, columns, primary_keys=["k"])
        table.write(
            [{"k": 1, "n": 10, "v": "a", "w": "a"}, {"k": 2, "n": None, "v": "b", "w": "b"}]
        )
        return table

    return made


GROUP = {"merge-engine": "partial-update", "fields.n.sequence-group": "v"}
Ordered = Callable[[dict[str, str]], Table]


@pytest.mark.parametrize(
    ("options", "lost", "kept"),
    [
        ({"sequence.field": "n"}, 9, 11),
        ({"sequence.field": "n"}, None, 10),
        ({"sequence.field": "n", "sequence.field.sort-order": "descending"}, 11, 9),
        ({"sequence.field": "n,w"}, 9, 11),
        (GROUP, 9, 11),
    ],
    ids=str,
)
def test_an_update_that_makes_a_row_older_is_an_error(
    options: dict[str, str], lost: int | None, kept: int, ordered: Ordered
) -> None:
    table = ordered(options)

    if lost is not None or "merge-engine" not in options:
        with pytest.raises(DataError, match="the row with k = 1 would stay as it is: by"):
            table.update({"n": lost, "v": "'x'"}, where="k = 1")
    table.update({"n": kept, "v": "'y'"}, where="k = 1")

    assert values(table) == {1: "y", 2: "b"}


def test_columns_that_have_no_order_yet_are_not_updated_in_silence(ordered: Ordered) -> None:
    table = ordered(GROUP)

    with pytest.raises(DataError, match=r"k = 2 would stay as it is: .* where 'n' is NULL"):
        table.update({"v": "'x'"})
    table.update({"w": "'x'"})
    table.update({"v": "'x'", "n": 1}, where="k = 2")

    assert table.scan(["k", "n", "v", "w"]).to_arrow().to_pylist() == [
        {"k": 1, "n": 10, "v": "a", "w": "x"},
        {"k": 2, "n": 1, "v": "x", "w": "x"},
    ]


def test_deletes_that_a_sequence_group_ignores_are_errors(ordered: Ordered) -> None:
    removing = {"partial-update.remove-record-on-sequence-group": "n"}
    table = ordered(GROUP | removing)

    with pytest.raises(DataError, match=r"k = 2 would stay as it is: .* where 'n' is NULL"):
        table.delete("k > 0")
    table.delete("k = 1")

    assert keys(table) == [2]


def test_a_merge_does_not_make_rows_older(ordered: Ordered) -> None:
    table = ordered({"sequence.field": "n"})
    source = pa.table({"k": pa.array([1, 3], pa.int32()), "n": pa.array([5, 5], pa.int32())})

    merge = table.merge(source, on="t.k = s.k").when_not_matched_insert({"k": "s.k", "n": "s.n"})
    with pytest.raises(DataError, match=r"s\.n >= t\.n"):
        merge.when_matched_update({"n": "s.n"}).execute()
    merge = table.merge(source, on="t.k = s.k").when_not_matched_insert({"k": "s.k", "n": "s.n"})
    merge.when_matched_update({"n": "s.n"}, where="s.n >= t.n").execute()

    assert dict(zip(*table.scan(["k", "n"]).to_arrow().to_pydict().values(), strict=True)) == {
        1: 10,
        2: None,
        3: 5,
    }


def test_rows_that_wait_for_compaction_are_changed_too(tmp_path: Path) -> None:
    options = VECTORS | {"bucket": "1", "write-only": "true"}
    table = new_table(tmp_path, options, primary_keys=["k"])
    write(table, 1, 2, 3)

    table.update({"v": "v || '!'"}, where="k > 1")
    table.delete("v = 'v2!'")

    assert keys(table) == []
    merged = table.scan(options={"deletion-vectors.merge-on-read": "true"}).to_arrow()
    assert sorted(merged.column("v").to_pylist()) == ["v1", "v3!"]
