"""Deleting and updating rows: what it leaves, what it refuses, what others see meanwhile."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.commit.committer import Committer
from paimonlab.errors import (
    ColumnNotFoundError,
    CorruptDataError,
    DataError,
    FilesConflictError,
    SchemaError,
    UnsupportedError,
)
from paimonlab.formats.deletion_vectors import decode_deletion_vector
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.spec.snapshot import CommitKind, Snapshot
from paimonlab.table.inside import definition_of, store_of, with_definition
from paimonlab.table.table import Table

VECTORS = {"deletion-vectors.enabled": "true"}
BUCKETS = {"bucket": "2", "bucket-key": "k"}
COLUMNS = {"k": "INT NOT NULL", "v": "STRING"}


def new_table(
    path: Path,
    options: Mapping[str, str],
    columns: Mapping[str, str] | None = None,
    **definition: Any,
) -> Table:
    catalog = paimonlab.connect(path)
    catalog.create_database("db", exist_ok=True)
    table = catalog.create_table("db.t", columns or COLUMNS, options=options, **definition)
    assert isinstance(table, Table)
    return table


def write(table: Table, *keys: int) -> None:
    table.write(pa.table({"k": pa.array(keys, pa.int32()), "v": [f"v{key}" for key in keys]}))


def keys(table: Table, **scan: Any) -> list[int]:
    return sorted(table.scan(["k"], **scan).to_arrow().column("k").to_pylist())


def values(table: Table) -> dict[int, Any]:
    return {row["k"]: row["v"] for row in table.scan().to_arrow().to_pylist()}


def indexes(table: Table, snapshot: Snapshot | None = None) -> list[IndexManifestEntry]:
    snapshot = snapshot or table.snapshot
    if snapshot is None or snapshot.index_manifest is None:
        return []
    return store_of(table).manifests.read_index(snapshot.index_manifest)


def data_files(table: Table) -> int:
    return table.scan().plan().files.num_rows


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


class Interference:
    """Lets others commit between the reading and the commit of a statement, a few times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *others: Callable[[], object]) -> None:
        self.others = list(others)
        self.commits = 0
        append = Committer.append

        def late(
            committer: Committer, messages: Sequence[CommitMessage], **request: Any
        ) -> Snapshot | None:
            if request.get("checked_id") is not None and self.others:
                other = self.others.pop(0)
                kept, self.others = self.others, []
                other()
                self.others = kept
            self.commits += 1
            return append(committer, messages, **request)

        monkeypatch.setattr(Committer, "append", late)


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


def new_table_with(table: Table, options: Mapping[str, str]) -> Table:
    return with_definition(table, definition_of(table).with_options(options))


def junk(table: Table) -> list[str]:
    """Names of data and index files that no snapshot has."""
    known = {
        name
        for snapshot in table.snapshots.list()
        for name in (
            *table.scan(snapshot=snapshot.id).plan().files["file_name"].to_pylist(),
            *(index.file_name for index in indexes(table, snapshot)),
        )
    }
    found = [
        path.name
        for folder in ("bucket-*", "index")
        for path in Path(table.path).glob(folder + "/*")
    ]
    return sorted(set(found) - known)


# Primary-key tables.


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


# Values.


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("n + 1", 8),
        (5, 5),
        (None, None),
        (paimonlab.col("t"), 3),
        ("CASE WHEN n > 5 THEN t ELSE 0 END", 3),
    ],
)
def test_values_are_texts_constants_or_columns(
    given: object, wanted: object, tmp_path: Path
) -> None:
    table = new_table(tmp_path, {}, {"n": "INT", "t": "TINYINT"})
    table.write(pa.table([[7], [3]], schema=table.arrow_schema))

    table.update({"n": given})

    assert table.scan(["n"]).to_arrow().to_pylist() == [{"n": wanted}]


MOMENT = dt.datetime(2024, 2, 29, 12, 30)


@pytest.mark.parametrize(
    ("column_type", "given", "wanted"),
    [
        ("DATE", "DATE '2024-02-29'", dt.date(2024, 2, 29)),
        ("DATE", dt.date(2024, 2, 29), dt.date(2024, 2, 29)),
        ("TIMESTAMP(6)", "TIMESTAMP '2024-02-29 12:30:00'", MOMENT),
        ("TIMESTAMP(3)", MOMENT, MOMENT),
        ("DECIMAL(5, 2)", "1.005", Decimal("1.01")),
        ("DECIMAL(5, 2)", Decimal("1.5"), Decimal("1.50")),
        ("BYTES", b"ab", b"ab"),
        ("BYTES", "X'6162'", b"ab"),
        ("BOOLEAN", "1 < 2", True),
        ("BOOLEAN", paimonlab.col("k") == 1, True),
        ("STRING", "k", "1"),
        ("DOUBLE", "1 / 4", 0.25),
        ("TINYINT", "k + 126", 127),
    ],
)
def test_values_become_those_of_the_column(
    column_type: str, given: object, wanted: object, tmp_path: Path
) -> None:
    table = new_table(tmp_path, {}, {"k": "INT", "c": column_type})
    table.write(pa.table({"k": pa.array([1], pa.int32())}))

    table.update({"c": given})

    assert table.scan(["c"]).to_arrow().to_pylist() == [{"c": wanted}]


@pytest.mark.parametrize(
    ("assignments", "error", "words"),
    [
        ({"n": "n + 2147483647"}, DataError, "overflow"),
        ({"n": "1 / (n - 7)"}, DataError, "division by zero"),
        ({"t": "n * 100"}, DataError, "t"),
        ({"m": "m * 100"}, DataError, "m"),
        ({"r": "NULL"}, DataError, "NOT NULL"),
        ({"n": "'text'"}, UnsupportedError, "CAST"),
        ({"n": 1.5}, DataError, "n"),
        ({"n": "x + 1"}, ColumnNotFoundError, "x"),
        ({"x": "1"}, ColumnNotFoundError, "x"),
        ({"n": "n +"}, SchemaError, "expression"),
        ({"s": "reverse(s)"}, UnsupportedError, "reverse"),
        ({"s": "my_function(s)"}, UnsupportedError, "my_function"),
        ({}, ValueError, "at least one"),
    ],
)
def test_what_has_no_value_is_an_error_and_changes_nothing(
    assignments: dict[str, object], error: type[Exception], words: str, tmp_path: Path
) -> None:
    columns = {"n": "INT", "t": "TINYINT", "m": "DECIMAL(4, 2)", "s": "STRING", "r": "INT NOT NULL"}
    table = new_table(tmp_path, VECTORS, columns)
    table.write(
        pa.table(
            [[7, 1], [3, 4], [Decimal("1.25")] * 2, ["a", "b"], [0, 0]], schema=table.arrow_schema
        )
    )

    with pytest.raises(error, match=words):
        table.update(assignments)

    assert table.snapshot is not None
    assert table.snapshot.id == 1
    assert junk(table) == []


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
