"""Partitions with another number of buckets hold the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimonlab
from paimonlab.errors import FilesConflictError, UnsupportedError
from paimonlab.read.splits import read_split
from paimonlab.spec.snapshot import CommitKind
from paimonlab.table.inside import store_of
from paimonlab.table.table import Table

APPEND = {"bucket": "2", "bucket-key": "k"}
KEYED = {"bucket": "2"}
KINDS: list[tuple[Sequence[str], Sequence[str], dict[str, str]]] = [
    ([], [], APPEND | {"deletion-vectors.enabled": "true"}),
    ([], ["p"], APPEND),
    (["k"], [], KEYED),
    (["p", "k"], ["p"], KEYED | {"merge-engine": "aggregation", "changelog-producer": "input"}),
]


@pytest.fixture
def catalog(tmp_path: Path) -> paimonlab.Catalog:
    opened = paimonlab.connect(tmp_path)
    opened.create_database("db")
    return opened


def make(
    catalog: paimonlab.Catalog,
    keys: Sequence[str],
    partition: Sequence[str],
    options: Mapping[str, str],
) -> Table:
    columns = {"p": "STRING NOT NULL", "k": "INT NOT NULL", "n": "BIGINT"}
    table = catalog.create_table(
        "db.t", columns, primary_keys=keys, partition_keys=partition, options=options
    )
    for number in range(3):
        table.write(rows(10 * number, 20))
    return table


def open_again(catalog: paimonlab.Catalog) -> Table:
    table = catalog.table("db.t")
    assert isinstance(table, Table)
    return table


def rows(first: int, count: int) -> pa.Table:
    keys = range(first, first + count)
    return pa.table(
        {
            "p": ["xy"[key % 2] for key in keys],
            "k": pa.array(keys, pa.int32()),
            "n": [key * 10 + first for key in keys],
        }
    )


def seen(table: Table) -> list[tuple[object, ...]]:
    found = table.scan().to_arrow().to_pylist()
    return sorted(tuple(row.values()) for row in found)


def buckets_of(table: Table) -> dict[bytes, set[int]]:
    found: dict[bytes, set[int]] = {}
    for file in table.scan().plan().files.to_pylist():
        found.setdefault(file["partition"], set()).add(file["total_buckets"])
    return found


@pytest.mark.parametrize(("keys", "partition", "options"), KINDS, ids=str)
def test_rows_stay_as_they_are(
    keys: Sequence[str],
    partition: Sequence[str],
    options: dict[str, str],
    catalog: paimonlab.Catalog,
) -> None:
    table = make(catalog, keys, partition, options)
    if "merge-engine" not in options:
        table.delete("k IN (3, 25)")
    before = seen(table)

    for buckets in (5, 1):
        result = table.maintenance.rescale(buckets=buckets)

        table = open_again(catalog)
        assert seen(table) == before
        assert table.options["bucket"] == str(buckets)
        assert set(map(frozenset, buckets_of(table).values())) == {frozenset({buckets})}
        assert result.snapshot is not None
        assert result.snapshot.commit_kind is CommitKind.OVERWRITE
        assert result.snapshot.changelog_manifest_list is None
        assert len(result.partitions) == len(partition) + 1
        assert not table.maintenance.rescale(buckets=buckets).partitions, "nothing is left to do"
    table.write(rows(100, 5))
    assert set(before) < set(seen(table))
    if keys and not partition:
        assert table.lookup({"k": [7]}).num_rows == 1
    assert table.fsck(deep=True).is_clean


def test_rows_of_a_bucket_keep_their_order(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, [], [], {"bucket": "1", "bucket-key": "k"})
    numbers = {key: [row[2] for row in in_order(table) if row[1] == key] for key in range(40)}

    table.maintenance.rescale(buckets=3)

    after = in_order(open_again(catalog))
    assert {key: [row[2] for row in after if row[1] == key] for key in range(40)} == numbers


def in_order(table: Table) -> list[tuple[object, ...]]:
    """Return the rows bucket by bucket, in the order in which they were written."""
    scan = table.scan()
    batches = (
        read_split(one, scan.read_plan(), store_of(table).file_io) for one in scan.plan().splits
    )
    return [
        tuple(row.values()) for split in batches for batch in split for row in batch.to_pylist()
    ]


def test_one_partition_alone(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, ["p", "k"], ["p"], KEYED)
    before = seen(table)

    table.maintenance.rescale(buckets=3, partitions=[{"p": "x"}])

    table = open_again(catalog)
    assert seen(table) == before
    assert sorted(map(sorted, buckets_of(table).values())) == [[2], [3]]
    table.write(rows(100, 4).filter(pc.equal(rows(100, 4)["p"], "x")))
    with pytest.raises(FilesConflictError, match="3 buckets meet files of 2 buckets"):
        table.write(rows(200, 4))
    halfway = table.snapshot
    assert halfway is not None
    table.maintenance.rescale(buckets=3)
    table.write(rows(200, 4))
    assert len(seen(table)) == len(before) + 2 + 4
    changed = table.changes(halfway.id, halfway.id + 2, mode="diff").to_arrow()
    assert changed.sort_by("k").to_pylist() == [
        {"rowkind": "+I", **row} for row in rows(200, 4).to_pylist()
    ]


def test_a_dry_run_changes_nothing(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, ["k"], [], KEYED)

    plan = table.maintenance.rescale(buckets=3, dry_run=True)

    assert plan.is_dry_run
    assert plan.changes_option
    assert [(one.buckets_before, one.before.files > 0) for one in plan.partitions] == [(2, True)]
    assert str(plan).startswith("db.t: would move 60 rows of 1 partition ")
    assert open_again(catalog).options["bucket"] == "2"


def test_it_runs_again_if_others_write(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, [], [], APPEND)
    others = [5]

    def disturb(done: int, total: int, unit: str) -> None:
        assert (done, total, unit) == (1, 1, "partitions")
        if others:
            open_again(catalog).delete(f"k = {others.pop()}")

    table.maintenance.rescale(buckets=3, progress=disturb)

    table = open_again(catalog)
    assert {row[1] for row in seen(table)} == {*range(40)} - {5}
    named = {
        name
        for one in table.snapshots.list()
        for name in table.scan(snapshot=one.id).plan().files["file_name"].to_pylist()
    }
    there = {path.name for path in Path(table.path).rglob("data-*") if path.is_file()}
    assert there == named


TOLD: dict[str, dict[str, str]] = {
    "lookup": {"changelog-producer": "lookup"},
    "lookup, gentle": {
        "changelog-producer": "lookup",
        "lookup-compact": "gentle",
        "merge-engine": "aggregation",
        "fields.n.aggregate-function": "sum",
    },
    "full-compaction": {"changelog-producer": "full-compaction"},
    "vectors": {"deletion-vectors.enabled": "true"},
    "vectors, lookup": {"deletion-vectors.enabled": "true", "changelog-producer": "lookup"},
    "first-row": {"merge-engine": "first-row"},
}


@pytest.mark.parametrize(
    ("kind", "bucket"), [*((kind, "2") for kind in TOLD), ("lookup", "-2"), ("vectors", "-2")]
)
def test_rows_that_wait_for_compaction_are_told_once(
    kind: str, bucket: str, catalog: paimonlab.Catalog
) -> None:
    options = TOLD[kind]
    usual = {"bucket": bucket, "write-only": "true", "write-buffer-size": "1 kb"}
    usual |= {"target-file-size": "4 kb", "postpone.default-bucket-num": "2"}
    waiting = make(catalog, ["p", "k"], ["p"], KEYED | options | usual)
    twin = make_twin(catalog, options | usual)
    if bucket == "-2":
        waiting.compact()
        twin.compact()
    else:
        twin.compact(full=True)
    levels = {"lookup": "0", "full-compaction": "5"}

    result = open_again(catalog).maintenance.rescale(buckets=3)

    table = open_again(catalog)
    after = seen(table)
    assert len(after) == 40
    assert after == seen(twin)
    assert result.snapshot is not None
    files = catalog.system_table("db.t$files").scan().to_arrow()
    assert set(files["level"].to_pylist()) == {5}, levels
    assert told(table) == (after if "changelog-producer" in options else [])
    latest = table.snapshot
    table.compact(full=True)
    assert open_again(catalog).snapshot == latest, "nothing is left to be told or compacted"
    table.write(rows(0, 50))
    table.compact(full=True)
    assert len(seen(table)) == 50
    if "changelog-producer" in options:
        assert told(table) == seen(table)
    assert table.fsck(deep=True).is_clean


@pytest.mark.parametrize("kind", ["lookup", "full-compaction", "vectors, lookup", "first-row"])
def test_rows_that_come_meanwhile_are_told_too(kind: str, catalog: paimonlab.Catalog) -> None:
    table = make(catalog, ["p", "k"], ["p"], KEYED | TOLD[kind] | {"write-only": "true"})
    meanwhile = [rows(90, 10), rows(35, 10)]

    def disturb(*_: object) -> None:
        if meanwhile:
            # As a writer that was opened before: the option is not looked at again.
            table.write(meanwhile.pop())

    table.maintenance.rescale(buckets=3, progress=disturb)

    table = open_again(catalog)
    assert not meanwhile
    assert {row[1] for row in seen(table)} == {*range(45), *range(90, 100)}
    if "changelog-producer" in TOLD[kind]:
        assert told(table) == seen(table)
    assert table.fsck(deep=True).is_clean


def make_twin(catalog: paimonlab.Catalog, options: dict[str, str]) -> Table:
    catalog.create_database("other")
    columns = {"p": "STRING NOT NULL", "k": "INT NOT NULL", "n": "BIGINT"}
    twin = catalog.create_table(
        "other.t", columns, primary_keys=["p", "k"], partition_keys=["p"], options=options
    )
    for number in range(3):
        twin.write(rows(10 * number, 20))
    return twin


def told(table: Table) -> list[tuple[object, ...]]:
    """Return what all changes that were ever told make together."""
    state: dict[object, tuple[object, ...]] = {}
    for last in table.snapshots.ids():
        changes = table.changes(last - 1, last, mode="changelog").to_arrow().to_pylist()
        for kind, *values in (tuple(change.values()) for change in changes):
            if kind in ("-U", "-D"):
                assert state.pop(values[1]) == tuple(values)
            else:
                assert values[1] not in state
                state[values[1]] = tuple(values)
    return sorted(state.values())


def test_rows_that_wait_for_a_bucket_go_on_waiting(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, ["p", "k"], ["p"], {"bucket": "-2"})
    table.compact()
    table.write(rows(100, 10))
    before = seen(table)
    disturbed: list[object] = []

    def disturb(*_: object) -> None:
        if not disturbed:
            disturbed.append(open_again(catalog).write(rows(200, 10)))

    result = table.maintenance.rescale(buckets=3, progress=disturb)

    table = open_again(catalog)
    assert seen(table) == before
    assert (result.changes_option, table.options["bucket"]) == (False, "-2")
    assert disturbed
    assert set(map(frozenset, buckets_of(table).values())) == {frozenset({3})}
    table.compact()
    assert len(seen(table)) == len(before) + 20
    assert set(map(frozenset, buckets_of(table).values())) == {frozenset({3})}
    assert table.fsck(deep=True).is_clean


def test_kinds_that_are_columns_are_columns_alone(catalog: paimonlab.Catalog) -> None:
    columns = {"k": "INT NOT NULL", "n": "BIGINT", "kind": "STRING"}
    options = {
        "bucket": "2",
        "merge-engine": "aggregation",
        "rowkind.field": "kind",
        "fields.n.aggregate-function": "sum",
        "fields.kind.aggregate-function": "min",
    }
    options["fields.kind.ignore-retract"] = "true"
    table = catalog.create_table("db.t", columns, primary_keys=["k"], options=options)
    for kind in ("+I", "+U"):
        table.write(
            pa.table({"k": pa.array([1, 2], pa.int32()), "n": [4, 5], "kind": [kind, kind]})
        )
    before = seen(table)

    table.maintenance.rescale(buckets=1)

    assert len(before) == 2
    assert seen(open_again(catalog)) == before


@pytest.mark.parametrize(
    ("keys", "options", "message"),
    [
        ([], {}, "in no bucket"),
        (["k"], {"bucket": "-1"}, "an index of its keys"),
    ],
)
def test_what_it_does_not_fit_is_refused(
    keys: Sequence[str], options: dict[str, str], message: str, catalog: paimonlab.Catalog
) -> None:
    columns = {"k": "INT NOT NULL", "n": "BIGINT"}
    table = catalog.create_table("db.t", columns, primary_keys=keys, options=options)

    with pytest.raises(UnsupportedError, match=message):
        table.maintenance.rescale(buckets=3)
    with pytest.raises(ValueError, match="at least 1"):
        table.maintenance.rescale(buckets=0)


def test_an_empty_table_gets_the_option_alone(catalog: paimonlab.Catalog) -> None:
    catalog.create_table("db.t", {"k": "INT"}, options={"bucket": "2", "bucket-key": "k"})

    result = open_again(catalog).maintenance.rescale(buckets=3)

    assert (result.snapshot, result.partitions) == (None, ())
    assert open_again(catalog).options["bucket"] == "3"
