"""What procedures compact."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from paimonlab import SetOption
from paimonlab.errors import ArgumentError, PaimonError, SchemaError, UnsupportedError
from paimonlab.spec.snapshot import CommitKind
from paimonlab.table.compacting.idle_partitions import idle_partitions
from paimonlab.table.inside import store_of
from paimonlab.table.table import Table
from tests.procedures.conftest import Lake, rows_of, write

DONE = [{"result": True}]


def files_of(lake: Lake, name: str = "db.t") -> dict[str, int]:
    """Count the live files of each partition."""
    files = lake.catalog.system_table(f"{name}$files").scan().to_arrow()
    return dict(sorted(Counter(files["partition"].to_pylist()).items()))


def fill(table: Table, count: int = 3) -> list[tuple[int, str, str]]:
    """Write so many files into each of the partitions 2026-01-01 and 2026-01-02."""
    for number in range(count):
        write(table, (number, f"v{number}", "2026-01-01"), (number, f"w{number}", "2026-01-02"))
    return rows_of(table)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, (1, 1)),
        ({"compact_strategy": "full"}, (1, 1)),
        ({"compact_strategy": "FULL"}, (1, 1)),
        ({"compact_strategy": "minor"}, (3, 3)),
        ({"partitions": "dt=2026-01-01"}, (1, 3)),
        ({"partitions": "dt='2026-01-01'"}, (1, 3)),
        ({"partitions": "dt=2026-01-01;dt=2026-01-02"}, (1, 1)),
        ({"partitions": "dt=2026-01-03"}, (3, 3)),
        ({"partitions": " "}, (1, 1)),
        ({"where": "dt > '2026-01-01'"}, (3, 1)),
        ({"order_strategy": "none"}, (1, 1)),
        ({"partition_idle_time": "1 d"}, (3, 3)),
        ({"partition_idle_time": "0 s"}, (1, 1)),
        ({"partition_idle_time": "0 s", "partitions": "dt=2026-01-02"}, (3, 1)),
        ({"partition_idle_time": "0 s", "where": "dt < '2026-01-02'"}, (1, 3)),
        ({"compact_strategy": "minor", "options": "num-sorted-run.compaction-trigger=3"}, (1, 1)),
    ],
)
def test_what_a_call_chooses_is_compacted_whatever_write_only_says(
    lake: Lake, arguments: dict[str, str], expected: tuple[int, int]
) -> None:
    before = fill(lake.keyed(write_only="true"))

    assert lake.call("compact", table="db.t", **arguments) == DONE

    assert tuple(files_of(lake).values()) == expected
    assert rows_of(lake.table()) == before


@pytest.mark.parametrize(
    ("count", "arguments", "expected"),
    [
        (3, {}, 3),
        (5, {}, 1),
        (3, {"compact_strategy": "minor"}, 3),
        (3, {"compact_strategy": "full"}, 1),
        (3, {"options": "compaction.min.file-num=3"}, 1),
        (3, {"order_strategy": "order", "order_by": "k"}, 1),
        (3, {"order_strategy": "ZORDER", "order_by": "v, k"}, 1),
        (3, {"order_strategy": "hilbert", "order_by": "k,v", "where": "dt < '2026-01-02'"}, 1),
    ],
)
def test_small_files_of_append_tables_wait_for_more_of_them_unless_all_are_asked_for(
    lake: Lake, count: int, arguments: dict[str, str], expected: int
) -> None:
    before = fill(lake.append(), count)

    assert lake.call("compact", table="db.t", **arguments) == DONE

    assert files_of(lake)["{2026-01-01}"] == expected
    assert rows_of(lake.table()) == before


def test_rows_are_in_the_order_that_is_asked_for(lake: Lake) -> None:
    table = lake.append()
    write(table, (3, "x", "a"), (1, "y", "a"))
    write(table, (2, "z", "a"), (4, "w", "a"))

    lake.call("compact", "db.t", order_strategy="order", order_by="k")

    assert table.scan(["k"]).to_arrow()["k"].to_pylist() == [1, 2, 3, 4]


REFUSED: list[tuple[dict[str, str], str]] = [
    ({"partitions": "dt=a", "where": "dt = 'a'"}, "give partitions or where, not both"),
    ({"compact_strategy": "some"}, "compact_strategy => 'some' is neither 'full' nor 'minor'"),
    ({"order_by": "k"}, "order_by => 'k' needs an order_strategy"),
    ({"order_strategy": "none", "order_by": "k"}, "order_by => 'k' needs an order_strategy"),
    ({"order_strategy": "order"}, "order_strategy => 'order' needs order_by"),
    ({"order_strategy": "peano", "order_by": "k"}, "order_strategy => 'peano' is not one of"),
    ({"order_strategy": "order", "order_by": "dt"}, "order_by has partition columns: dt"),
    (
        {"order_strategy": "order", "order_by": "k", "partition_idle_time": "1 d"},
        "give order_strategy or partition_idle_time, not both",
    ),
    (
        {"order_strategy": "order", "order_by": "k", "compact_strategy": "minor"},
        "order_strategy rewrites everything",
    ),
    ({"partition_idle_time": "soon"}, "partition_idle_time => 'soon' is not a duration"),
    ({"partitions": "dt"}, "partitions has 'dt'; write it as key=value"),
    ({"options": "a"}, "options has 'a'; write it as key=value"),
    ({"order_strategy": "order", "order_by": "no"}, "no column 'no'"),
    ({"partitions": "v=a"}, "'v' is no partition column"),
    ({"buckets": "0"}, "buckets => '0' is for tables with a fixed number of buckets"),
    ({"where": "v = 'a'"}, "where must look at partition columns only"),
    ({"options": "no-such=1"}, "option 'no-such' is not known"),
    ({"options": "bucket=4"}, "option 'bucket' cannot"),
    ({"options": "merge-engine=first-row"}, "option 'merge-engine' cannot be changed"),
    ({"options": "scan.snapshot-id=1"}, "scan.snapshot-id = '1' in options of sys.compact"),
]


def test_arguments_that_mean_nothing_are_refused_and_nothing_is_done(lake: Lake) -> None:
    fill(lake.append(), 5)

    for arguments, message in REFUSED:
        with pytest.raises(PaimonError) as refused:
            lake.call("compact", table="db.t", **arguments)
        assert message in str(refused.value)

    assert len(lake.table().snapshots.list()) == 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0-1", (1, 1, 2, 2)), (" 3 , 1-2 ", (2, 1, 1, 1)), ("2", (2, 2, 1, 2)), ("", (1, 1, 1, 1))],
)
def test_buckets_are_numbers_and_ranges(lake: Lake, text: str, expected: tuple[int, ...]) -> None:
    table = lake.catalog.create_table(
        "db.t",
        {"k": "INT NOT NULL", "v": "STRING", "dt": "STRING NOT NULL"},
        primary_keys=["k"],
        options={"bucket": "4", "write-only": "true"},
    )
    for first in (0, 40):
        write(table, *((number, "v", "x") for number in range(first, first + 40)))

    assert lake.call("compact", table="db.t", compact_strategy="full", buckets=text) == DONE

    files = lake.catalog.system_table("db.t$files").scan().to_arrow()
    assert tuple(Counter(sorted(files["bucket"].to_pylist())).values()) == expected
    assert len(rows_of(lake.table())) == 80


@pytest.mark.parametrize("text", ["4", "2-4", "3-1", "a", "1;2", "-1", "1-", ","])
def test_buckets_that_are_none_of_the_table_are_refused(lake: Lake, text: str) -> None:
    fill(lake.keyed(bucket="4"), 1)

    with pytest.raises(ArgumentError, match="not among 0 to 3"):
        lake.call("compact", table="db.t", buckets=text)


def test_partitions_that_have_expired_are_compacted_too(lake: Lake) -> None:
    before = fill(
        lake.append(partition__expiration_time="7 d", partition__timestamp_formatter="yyyy-MM-dd")
    )

    lake.call("compact", table="db.t", options="compaction.min.file-num=2")

    assert files_of(lake) == {"{2026-01-01}": 1, "{2026-01-02}": 1}
    assert rows_of(lake.table()) == before


def test_partitions_to_rescale_are_named_without_quotes(lake: Lake) -> None:
    before = fill(lake.keyed(), 2)

    lake.call("rescale", table="db.t", bucket_num=4, partitions="dt=2026-01-01")

    files = lake.catalog.system_table("db.t$files").scan().to_arrow().to_pylist()
    buckets = {file["partition"]: set[int]() for file in files}
    for file in files:
        buckets[file["partition"]].add(file["bucket"])
    assert buckets["{2026-01-02}"] == {0}
    assert len(buckets["{2026-01-01}"]) > 1
    assert rows_of(lake.table()) == before


def test_rows_of_tables_with_a_key_have_its_order(lake: Lake) -> None:
    fill(lake.keyed())

    with pytest.raises(UnsupportedError, match="has a primary key"):
        lake.call("compact", "db.t", order_strategy="order", order_by="v")


def test_a_table_that_keeps_its_order_by_itself_takes_no_other(lake: Lake) -> None:
    table = lake.append(clustering__incremental="true", clustering__columns="k")
    fill(table)

    with pytest.raises(ArgumentError, match=r"clustering\.incremental"):
        lake.call("compact", "db.t", order_strategy="order", order_by="v")
    before = rows_of(table)
    assert lake.call("compact", "db.t", compact_strategy="full") == DONE

    assert set(files_of(lake).values()) == {1}
    assert rows_of(table) == before


def test_the_bucket_number_of_an_append_table_stays(lake: Lake) -> None:
    fill(lake.keyed())

    with pytest.raises(SchemaError, match="bucket"):
        lake.call("compact", "db.t", options="bucket=2")
    assert lake.call("compact", "db.t", options="bucket=1") == DONE


def test_partitions_are_idle_by_their_newest_file(lake: Lake) -> None:
    table = lake.keyed()
    assert len(idle_partitions(store_of(table), 0)) == 0
    fill(table, 1)
    first = table.snapshots.get(1).time_millis
    end = first + timedelta(days=1) // timedelta(milliseconds=1)

    assert len(idle_partitions(store_of(table), first - 3_600_000)) == 0
    assert len(idle_partitions(store_of(table), end)) == 2


def test_manifests_are_compacted(lake: Lake) -> None:
    table = lake.keyed()
    fill(table, 6)

    assert lake.call("compact_manifest", "db.t") == DONE
    assert lake.call("compact_manifest", "db.t", "manifest.target-file-size=1 mb") == DONE

    latest = table.snapshot
    assert latest is not None
    assert latest.commit_kind is CommitKind.COMPACT
    manifests = lake.catalog.system_table("db.t$manifests").scan().to_arrow()
    assert manifests.num_rows == 1
    assert len(rows_of(table)) == 12


def test_options_of_a_call_are_not_kept(lake: Lake) -> None:
    fill(lake.keyed())

    lake.call("compact", "db.t", options="num-sorted-run.compaction-trigger=3")

    assert "num-sorted-run.compaction-trigger" not in lake.table().options


def test_options_that_are_set_go_before_those_of_the_table(lake: Lake) -> None:
    fill(lake.append(), 3)
    lake.catalog.alter_table("db.t", SetOption("compaction.min.file-num", "3"))

    lake.call("compact", "db.t", options="compaction.min.file-num=4")
    assert set(files_of(lake).values()) == {3}
    lake.call("compact", "db.t")
    assert set(files_of(lake).values()) == {1}


def test_tables_of_databases_are_compacted_that_whole_names_match(lake: Lake) -> None:
    for name in ("db.a", "db.b", "db.ab", "other.a"):
        lake.catalog.create_database(name.partition(".")[0], exist_ok=True)
        table = lake.catalog.create_table(
            name,
            {"id": "BIGINT"},
            primary_keys=["id"],
            options={"bucket": "1", "write-only": "true"},
        )
        for number in (1, 2):
            table.write(pa.table({"id": [number]}))

    (answer,) = lake.call(
        "compact_database",
        including_databases="d.*",
        including_tables=r"db\.a.*",
        excluding_tables="db.ab",
    )

    assert answer == {"result": "Compact database finished. Success: 1, Failed: 0"}
    assert [len(lake.table(name).scan().plan().files) for name in ("db.a", "db.b", "db.ab")] == [
        1,
        2,
        2,
    ]
    assert lake.call("compact_database")[0]["result"].endswith("Success: 4, Failed: 0")
    assert len(lake.table("other.a").scan().plan().files) == 1


def test_a_table_that_cannot_be_compacted_does_not_keep_others_from_it(lake: Lake) -> None:
    for name, column in (("db.a", "x"), ("db.b", "id")):
        table = lake.catalog.create_table(name, {column: "BIGINT"}, options={"write-only": "true"})
        for number in range(6):
            table.write(pa.table({column: [number]}))
    data = next(Path(lake.table("db.a").path).rglob("data-*.parquet"))
    data.write_bytes(b"damaged")

    (answer,) = lake.call("compact_database", options="compaction.min.file-num=2")

    assert answer["result"] == "Compact database finished. Success: 1, Failed: 1"
    assert len(lake.table("db.b").scan().plan().files) == 1
    with pytest.raises(SchemaError, match="nope"):
        lake.call("compact_database", options="nope=1")
    with pytest.raises(ArgumentError, match="including_tables"):
        lake.call("compact_database", including_tables="(")
