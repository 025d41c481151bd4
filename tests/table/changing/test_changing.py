"""Deleting and updating rows: what it leaves, what it refuses, what others see meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.errors import CorruptDataError, FilesConflictError, SchemaError
from paimonlab.formats.deletion_vectors import decode_deletion_vector
from paimonlab.spec.snapshot import CommitKind
from paimonlab.table.table import Table
from tests.table.changing.changed_tables import (
    BUCKETS,
    VECTORS,
    Interference,
    data_files,
    indexes,
    junk,
    keys,
    new_table,
    new_table_with,
    values,
    write,
)

APPEND = {
    "vectors": VECTORS,
    "vectors, buckets": VECTORS | BUCKETS,
    "rewriting": {},
    "rewriting, buckets": BUCKETS,
}


@pytest.fixture(params=APPEND)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Table:
    """Append tables of each kind, with six rows."""
    made = new_table(tmp_path, APPEND[request.param])
    write(made, 1, 2, 3, 4, 5, 6)
    return made


def test_a_delete_is_one_overwrite(table: Table) -> None:
    snapshot = table.delete("k > 4")

    assert snapshot is not None
    assert (snapshot.id, snapshot.commit_kind) == (2, CommitKind.OVERWRITE)
    assert keys(table) == [1, 2, 3, 4]
    assert keys(table, snapshot=1) == [1, 2, 3, 4, 5, 6]


def test_an_update_is_one_overwrite(table: Table) -> None:
    snapshot = table.update({"v": "'new'"}, where="k IN (1, 6)")

    assert snapshot is not None
    assert (snapshot.id, snapshot.commit_kind) == (2, CommitKind.OVERWRITE)
    assert values(table) == {1: "new", 2: "v2", 3: "v3", 4: "v4", 5: "v5", 6: "new"}


def test_where_no_row_matches_nothing_is_committed(table: Table) -> None:
    assert table.delete("k = 9") is None
    assert table.delete("k > NULL") is None
    assert table.delete("false") is None
    assert table.update({"v": "'x'"}, where="v = 'nobody'") is None
    assert table.snapshot is not None
    assert table.snapshot.id == 1


def test_rows_for_which_the_condition_is_unknown_stay(table: Table) -> None:
    table.write(pa.table({"k": pa.array([7], pa.int32()), "v": pa.nulls(1, pa.string())}))

    table.delete("NOT v = 'v1'")

    assert keys(table) == [1, 7]


def test_an_update_reads_old_values_only(tmp_path: Path) -> None:
    table = new_table(tmp_path, VECTORS, {"k": "INT", "a": "INT", "b": "INT"})
    table.write(pa.table([[1], [10], [20]], schema=table.arrow_schema))

    table.update({"a": "b", "b": paimonlab.col("a")})

    assert table.scan().to_arrow().to_pylist() == [{"k": 1, "a": 20, "b": 10}]


def test_all_rows_of_a_file_take_the_file_with_them(table: Table) -> None:
    table.delete("k >= 1")

    assert keys(table) == []
    assert data_files(table) == 0
    assert not any(index.deletion_vectors for index in indexes(table))


def test_a_row_is_deleted_once(tmp_path: Path) -> None:
    table = new_table(tmp_path, VECTORS)
    write(table, 1, 2, 3, 4)

    for key in (1, 3):
        table.delete(f"k = {key}")
    table.delete("k <= 3")

    (index,) = indexes(table)
    assert [vector.cardinality for vector in index.deletion_vectors or ()] == [3]
    assert keys(table) == [4]
    assert table.scan().count() == 1


def test_vectors_that_do_not_change_stay_in_their_files(tmp_path: Path) -> None:
    table = new_table(tmp_path, VECTORS | {"deletion-vector.index-file.target-size": "1 b"})
    for first in (1, 11, 21):
        write(table, first, first + 1)
    table.delete("k IN (1, 11, 21)")
    before = {index.file_name for index in indexes(table)}

    write(table, 31, 32)
    table.delete("k = 31")

    after = {index.file_name for index in indexes(table)}
    assert len(before) == 3
    assert before < after
    assert len(after) == 4


def test_a_vector_that_changes_takes_those_beside_it_along(tmp_path: Path) -> None:
    table = new_table(tmp_path, VECTORS)
    for first in (1, 11):
        write(table, first, first + 1, first + 2)
    table.delete("k IN (1, 11)")
    (before,) = indexes(table)

    table.delete("k = 2")

    (after,) = indexes(table)
    assert after.file_name != before.file_name
    assert sorted(v.cardinality or 0 for v in after.deletion_vectors or ()) == [1, 2]
    assert keys(table) == [3, 12, 13]


@pytest.mark.parametrize("bitmap64", ["false", "true"])
@pytest.mark.parametrize("beside_data", ["false", "true"])
def test_index_files_are_what_the_options_say(
    bitmap64: str, beside_data: str, tmp_path: Path
) -> None:
    options = {"deletion-vectors.bitmap64": bitmap64, "index-file-in-data-file-dir": beside_data}
    table = new_table(tmp_path, VECTORS | options)
    write(table, 1, 2, 3)

    table.delete("k = 2")

    (index,) = indexes(table)
    folder = "bucket-0" if beside_data == "true" else "index"
    data = Path(table.path, folder, index.file_name).read_bytes()
    assert len(data) == index.file_size_bytes
    assert decode_deletion_vector(data[1:], path="").positions().tolist() == [1]
    assert (data[5] == 0xD1) == (bitmap64 == "true")
    assert keys(table) == [1, 3]


def test_vectors_of_both_kinds_go_together(tmp_path: Path) -> None:
    table = new_table(tmp_path, VECTORS)
    write(table, 1, 2, 3, 4)
    table.delete("k = 1")
    catalog = paimonlab.connect(tmp_path)

    catalog.alter_table("db.t", paimonlab.SetOption("deletion-vectors.bitmap64", "true"))
    again = catalog.table("db.t")
    assert isinstance(again, Table)
    again.delete("k = 3")

    assert keys(again) == [2, 4]


def test_a_file_without_its_index_file_is_not_read(tmp_path: Path) -> None:
    table = new_table(tmp_path, VECTORS)
    write(table, 1, 2, 3)
    table.delete("k = 2")
    (index,) = indexes(table)

    Path(table.path, "index", index.file_name).unlink()

    with pytest.raises(CorruptDataError, match="index file with the deletion vectors is missing"):
        table.scan().to_arrow()


# Whole partitions.


@pytest.fixture
def partitioned(tmp_path: Path) -> Table:
    made = new_table(
        tmp_path, VECTORS, {"p": "STRING", "k": "INT", "v": "STRING"}, partition_keys=["p"]
    )
    made.write(
        pa.table([["x", "x", "y", None], [1, 2, 3, 4], list("abcd")], schema=made.arrow_schema)
    )
    return made


def test_a_condition_on_partitions_reads_no_row(
    partitioned: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimonlab.table.changing.append.find_matches", None)

    partitioned.delete("p = 'x'")

    assert keys(partitioned) == [3, 4]
    assert partitioned.delete("p = 'x'") is None
    partitioned.delete("p IS NULL")
    assert keys(partitioned) == [3]


@pytest.mark.parametrize("keyed", [True, False])
def test_deletes_of_partitions_are_rows_where_that_is_asked_for(
    keyed: bool,
    tmp_path: Path,
) -> None:
    columns = {"k": "INT NOT NULL", "p": "STRING NOT NULL"}
    options = {"delete.force-produce-changelog": "true"}
    options |= {"bucket": "1", "changelog-producer": "input"} if keyed else {}
    key = {"primary_keys": ["k", "p"]} if keyed else {}
    table = new_table(tmp_path, options, columns, partition_keys=["p"], **key)
    table.write(pa.table({"k": pa.array([1, 2, 3], pa.int32()), "p": ["x", "x", "y"]}))

    table.delete("p = 'x'")

    assert keys(table) == [3]
    if keyed:
        latest = table.snapshots.latest()
        assert latest is not None
        kind = CommitKind.APPEND
        assert (latest.commit_kind, latest.changelog_record_count) == (kind, 2)
    snapshot = table.delete("true")  # all rows: files alone, in Java as well
    assert snapshot is not None
    assert snapshot.commit_kind is CommitKind.OVERWRITE
    assert keys(table) == []


def test_dropping_partitions_drops_their_vectors(partitioned: Table) -> None:
    partitioned.delete("k IN (1, 3)")
    write_again = pa.table([["y", "y"], [5, 6], ["e", "f"]], schema=partitioned.arrow_schema)
    partitioned.write(write_again)
    partitioned.delete("k = 5")

    partitioned.drop_partitions([{"p": "y"}])

    assert keys(partitioned) == [2, 4]
    assert len(indexes(partitioned)) == 1


def test_overwriting_drops_vectors_of_what_it_replaces(partitioned: Table) -> None:
    partitioned.delete("k IN (1, 3)")

    partitioned.overwrite(pa.table([["y"], [9], ["z"]], schema=partitioned.arrow_schema))

    assert keys(partitioned) == [2, 4, 9]
    assert len(indexes(partitioned)) == 1


def test_truncating_leaves_nothing(partitioned: Table) -> None:
    partitioned.delete("k = 1")

    snapshot = partitioned.truncate()

    assert snapshot.commit_kind is CommitKind.OVERWRITE
    assert keys(partitioned) == []
    assert indexes(partitioned) == []
    assert partitioned.delete("true") is None


def test_an_update_may_move_rows_of_append_tables_to_other_partitions(partitioned: Table) -> None:
    partitioned.update({"p": "'z'"}, where="k <= 3")

    rows = partitioned.scan(where="p = 'z'").to_arrow()
    assert sorted(rows.column("k").to_pylist()) == [1, 2, 3]
    assert keys(partitioned) == [1, 2, 3, 4]


# What others do meanwhile.


def test_a_delete_runs_again_when_others_changed_the_file(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    Interference(monkeypatch, lambda: table.delete("k = 1"))

    table.delete("k = 2")

    assert keys(table) == [3, 4, 5, 6]


def test_an_update_runs_again_on_the_rows_that_others_made(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    Interference(monkeypatch, lambda: table.update({"v": "v || '+'"}, where="k <= 3"))

    table.update({"v": "v || '!'"}, where="k = 2")

    assert values(table)[2] == "v2+!"
    assert values(table)[1] == "v1+"


def test_rows_that_others_deleted_do_not_come_back_by_an_update(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    Interference(monkeypatch, lambda: table.delete("k IN (2, 5)"))

    table.update({"v": "'new'"})

    assert values(table) == {1: "new", 3: "new", 4: "new", 6: "new"}


def test_rows_that_others_append_stay(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    interference = Interference(monkeypatch, lambda: write(table, 7))

    table.delete("k = 1")

    assert keys(table) == [2, 3, 4, 5, 6, 7]
    assert interference.commits == 2


def test_a_statement_gives_up_after_four_runs(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [
        lambda key=key: table.update({"v": "'x'"}, where=f"k <= {key}") for key in range(2, 6)
    ]
    Interference(monkeypatch, *others)

    with pytest.raises(FilesConflictError):
        table.delete("k = 1")

    assert keys(table) == [1, 2, 3, 4, 5, 6]
    assert junk(table) == []


def test_a_file_that_was_rewritten_gets_no_vector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compaction between the delete and its commit: the rows would come back."""
    table = new_table(tmp_path, VECTORS)
    write(table, 1, 2, 3)

    def compact() -> None:
        rewriting = new_table_with(table, {"deletion-vectors.enabled": "false"})
        rewriting.update({"v": "v || '~'"}, where="k > 0")

    Interference(monkeypatch, compact)

    table.delete("k = 1")

    assert values(table) == {2: "v2~", 3: "v3~"}


def test_progress_is_told(table: Table) -> None:
    told: list[tuple[int, int, str]] = []

    table.delete("k = 1", progress=lambda *done: told.append(done))

    assert told[-1][0] == told[-1][1]
    assert {unit for _, _, unit in told} == {"files"}


# What went wrong elsewhere.


def test_appends_and_overwrites_of_others_hand_the_vectors_on(partitioned: Table) -> None:
    """A snapshot without the index manifest would bring deleted rows back."""
    partitioned.delete("k = 1")
    schema = partitioned.arrow_schema

    partitioned.write(pa.table([["x"], [10], ["a"]], schema=schema))
    partitioned.overwrite(pa.table([["y"], [11], ["b"]], schema=schema))
    writer = partitioned.new_writer()
    writer.write(pa.table([["x"], [12], ["c"]], schema=schema))
    partitioned.commit(writer.prepare_commit())
    partitioned.tags.create("kept")

    assert keys(partitioned) == [2, 4, 10, 11, 12]
    assert keys(partitioned, tag="kept") == [2, 4, 10, 11, 12]


@pytest.mark.parametrize("buckets", [{}, BUCKETS], ids=str)
def test_rewriting_a_file_obeys_its_vector_and_takes_it_along(
    buckets: Mapping[str, str], tmp_path: Path
) -> None:
    table = new_table(tmp_path, {**VECTORS, **buckets})
    write(table, 1, 2, 3, 4)
    table.delete("k = 1")

    rewriting = new_table_with(table, {"deletion-vectors.enabled": "false"})
    rewriting.update({"v": "'x'"}, where="k >= 2")

    assert values(rewriting) == {2: "x", 3: "x", 4: "x"}
    assert not any(index.deletion_vectors for index in indexes(table))


def test_vectors_are_obeyed_whatever_the_option_says(tmp_path: Path) -> None:
    table = new_table(tmp_path, VECTORS)
    write(table, 1, 2)
    table.delete("k = 1")

    assert keys(new_table_with(table, {"deletion-vectors.enabled": "false"})) == [2]


@pytest.mark.parametrize("value", ["true", "false"])
def test_vectors_are_not_switched_over_rows_of_keys(value: str, tmp_path: Path) -> None:
    """Rows that were merged without vectors would show beside those that replaced them."""
    switched = {"deletion-vectors.enabled": str(value == "false").lower()}
    options = {"bucket": "1", "write-only": "true"} | switched
    table = new_table(tmp_path, options, primary_keys=["k"])
    catalog = paimonlab.connect(tmp_path)
    write(table, 1)
    change = paimonlab.SetOption("deletion-vectors.enabled", value)

    with pytest.raises(SchemaError, match=r"deletion-vectors\.modifiable"):
        catalog.alter_table("db.t", change)

    catalog.alter_table("db.t", paimonlab.SetOption("deletion-vectors.modifiable", "true"))
    catalog.alter_table("db.t", change)


@pytest.mark.parametrize("options", [VECTORS, {}], ids=str)
def test_a_null_and_a_nan_are_not_deleted_by_a_comparison(
    options: Mapping[str, str], tmp_path: Path
) -> None:
    table = new_table(tmp_path, options, {"d": "DOUBLE"})
    numbers = [1.0, None, float("nan"), 5.0]
    table.write(pa.table([numbers], schema=table.arrow_schema))

    table.delete("d < 3")
    table.delete("d != 5 AND d < 10")

    assert str(table.scan().to_arrow().column("d").to_pylist()) == "[None, nan, 5.0]"


def test_rows_with_ids_keep_them_when_others_are_deleted(tmp_path: Path) -> None:
    table = new_table(tmp_path, VECTORS | {"row-tracking.enabled": "true"})
    write(table, 1, 2, 3)
    write(table, 4, 5)

    table.delete("k IN (1, 4)")

    rows = table.scan(["k", "_ROW_ID"]).to_arrow().to_pylist()
    assert {row["k"]: row["_ROW_ID"] for row in rows} == {2: 1, 3: 2, 5: 4}


@pytest.mark.parametrize("vectors", [VECTORS, {}], ids=str)
def test_files_outside_the_table_are_changed(vectors: Mapping[str, str], tmp_path: Path) -> None:
    options = {
        "data-file.external-paths": f"file:{tmp_path}/elsewhere",
        "data-file.external-paths.strategy": "round-robin",
    }
    table = new_table(tmp_path / "warehouse", {**options, **vectors})
    write(table, 1, 2, 3)

    table.delete("k = 1")
    table.update({"v": "'x'"}, where="k = 2")
    table.delete("k = 3")

    assert values(table) == {2: "x"}
