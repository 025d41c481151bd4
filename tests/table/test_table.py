from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars  # noqa: ICN001 - pl is paimonlab here
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import (
    ColumnNotFoundError,
    DataError,
    SchemaError,
    SnapshotNotFoundError,
    TagNotFoundError,
)


@pytest.fixture
def append(catalog: pl.Catalog) -> pl.Table:
    return catalog.create_table("db.events", {"id": "BIGINT", "v": "STRING"})


@pytest.fixture
def orders(catalog: pl.Catalog) -> pl.Table:
    return catalog.create_table(
        "db.orders",
        {"dt": "STRING", "id": "BIGINT", "amount": "DECIMAL(12, 2)", "note": "STRING"},
        primary_keys=["dt", "id"],
        partition_keys=["dt"],
        options={"bucket": "2"},
    )


def rows(scan: pl.Scan) -> list[tuple[object, ...]]:
    return sorted((tuple(row.values()) for row in scan.to_arrow().to_pylist()), key=repr)


def test_an_empty_table_has_no_rows_but_columns(append: pl.Table) -> None:
    scan = append.scan()

    assert scan.to_arrow().schema == append.arrow_schema
    assert (scan.count(), scan.snapshot, scan.plan().splits) == (0, None, [])


def test_rows_come_back_from_an_append_table(append: pl.Table) -> None:
    first = append.write(pa.table({"v": ["a", None], "id": [1, 2]}))
    second = append.write(pa.table({"id": pa.array([3], pa.int8())}))

    assert first is not None
    assert second is not None
    assert (first.id, second.id, second.total_record_count) == (1, 2, 3)
    assert rows(append.scan()) == [(1, "a"), (2, None), (3, None)]


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"id": [1, 2], "v": ["a", "b"]}),
        polars.DataFrame({"id": [1, 2], "v": ["a", "b"]}),
        pa.record_batch({"id": [1, 2], "v": ["a", "b"]}),
        pa.table({"id": [1, 2], "v": ["a", "b"]}).to_reader(),
    ],
    ids=["pandas", "polars", "batch", "reader"],
)
def test_anything_that_speaks_arrow_is_written(append: pl.Table, data: object) -> None:
    append.write(data)

    assert rows(append.scan()) == [(1, "a"), (2, "b")]


def test_nothing_to_write_is_no_commit(append: pl.Table) -> None:
    assert append.write(append.arrow_schema.empty_table()) is None
    assert append.snapshot is None


def test_an_upsert_replaces_rows_of_the_same_key(orders: pl.Table) -> None:
    orders.write(pa.table({"dt": ["a", "a", "b"], "id": [1, 2, 1], "note": ["x", "y", "z"]}))
    orders.write(pa.table({"dt": ["a", "b", "b"], "id": [2, 1, 3], "note": ["Y", "Z", "n"]}))

    assert rows(orders.scan(["dt", "id", "note"])) == [
        ("a", 1, "x"),
        ("a", 2, "Y"),
        ("b", 1, "Z"),
        ("b", 3, "n"),
    ]
    assert orders.scan().count() == 4


def test_the_last_row_of_a_key_in_one_batch_wins(orders: pl.Table) -> None:
    orders.write(pa.table({"dt": ["a"] * 3, "id": [1, 1, 1], "note": ["x", "y", "z"]}))

    assert rows(orders.scan(["note"])) == [("z",)]


def test_row_kinds_delete(orders: pl.Table) -> None:
    orders.write(pa.table({"dt": ["a", "a"], "id": [1, 2], "note": ["x", "y"]}))
    orders.write(pa.table({"dt": ["a", "a"], "id": [1, 3], "k": ["-D", "+I"]}), row_kinds="k")
    orders.write(pa.table({"dt": ["a"], "id": [3], "k": pa.array([3], pa.int8())}), row_kinds="k")

    assert rows(orders.scan(["id", "note"])) == [(2, "y")]


def test_a_sequence_field_decides_before_the_order_of_arrival(catalog: pl.Catalog) -> None:
    table = catalog.create_table(
        "db.s",
        {"id": "INT", "ts": "INT", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "1", "sequence.field": "ts"},
    )

    table.write(pa.table({"id": [1, 1, 2], "ts": [5, 4, None], "v": ["new", "old", "null"]}))
    table.write(pa.table({"id": [1, 2], "ts": [3, 1], "v": ["older", "one"]}))

    assert rows(table.scan(["id", "v"])) == [(1, "new"), (2, "one")]


def test_columns_filters_and_limits(orders: pl.Table) -> None:
    orders.write(
        pa.table(
            {
                "dt": ["a", "a", "b", "b"],
                "id": [1, 2, 3, 4],
                "amount": pa.array([Decimal("1.50"), None, Decimal("30.00"), Decimal("4.25")]),
            }
        )
    )

    assert rows(orders.scan(["id"], "amount > 4")) == [(3,), (4,)]
    assert rows(orders.scan(["amount"], "dt = 'b' AND id = 4")) == [(Decimal("4.25"),)]
    assert rows(orders.scan(["id"], pl.col("amount").is_null())) == [(2,)]
    assert orders.scan(limit=3).to_arrow().num_rows == 3
    assert orders.scan(where="dt = 'a'").count() == 2
    assert orders.scan(where="dt = 'zzz'").plan().splits == []


def test_time_travel_by_snapshot_tag_timestamp_and_version(orders: pl.Table) -> None:
    first = orders.write(pa.table({"dt": ["a"], "id": [1], "note": ["old"]}))
    orders.tags.create("before")
    orders.write(pa.table({"dt": ["a"], "id": [1], "note": ["new"]}))
    assert first is not None
    moment = datetime.fromtimestamp(first.time_millis / 1000 + 0.0005).astimezone()

    assert rows(orders.scan(["note"])) == [("new",)]
    for scan in (
        orders.scan(["note"], snapshot=1),
        orders.scan(["note"], tag="before"),
        orders.scan(["note"], version="before"),
        orders.scan(["note"], version=1),
        orders.scan(["note"], timestamp=first.time_millis),
        orders.scan(["note"], timestamp=moment),
        orders.scan(["note"], options={"scan.snapshot-id": "1"}),
        orders.scan(["note"], options={"scan.tag-name": "before"}),
    ):
        assert rows(scan) == [("old",)]


@pytest.mark.parametrize(
    ("name", "verb"),
    [("orders", "scan"), ("orders", "follow"), ("orders$files", "scan"), ("orders$ro", "scan")],
)
def test_an_option_of_a_read_that_is_not_known_is_refused(
    catalog: pl.Catalog, orders: pl.Table, name: str, verb: str
) -> None:
    read = getattr(catalog.relation(f"db.{name}"), verb)

    with pytest.raises(
        SchemaError, match=r"'scan\.snapshotid' is not known\. Did you mean 'scan\.snapshot-id'"
    ):
        read(options={"scan.snapshotid": "1"})

    read(options={"scan.infer-parallelism": "false"})  # of Flink


def test_a_point_in_time_that_is_not_there_is_an_error(orders: pl.Table) -> None:
    orders.write(pa.table({"dt": ["a"], "id": [1]}))

    with pytest.raises(SnapshotNotFoundError, match="9"):
        orders.scan(snapshot=9)
    with pytest.raises(TagNotFoundError, match=r"no tag 'x'"):
        orders.scan(tag="x")
    with pytest.raises(SnapshotNotFoundError):
        orders.scan(timestamp=0)
    with pytest.raises(SnapshotNotFoundError, match="neither"):
        orders.scan(version="x")
    with pytest.raises(ValueError, match="one point in time"):
        orders.scan(snapshot=1, tag="x")
    with pytest.raises(ValueError, match="is no time"):
        orders.scan(timestamp="last week")


def test_tags_are_created_listed_and_deleted(orders: pl.Table) -> None:
    orders.write(pa.table({"dt": ["a"], "id": [1]}))

    orders.tags.create("t", time_retained=timedelta(days=1))

    assert list(orders.tags.list()) == ["t"]
    assert orders.tags.get("t").id == 1
    orders.tags.delete("t")
    assert orders.tags.list() == {}


def test_overwrite_replaces_partitions_of_the_data_by_default(orders: pl.Table) -> None:
    orders.write(pa.table({"dt": ["a", "a", "b"], "id": [1, 2, 3]}))

    snapshot = orders.overwrite(pa.table({"dt": ["a"], "id": [9]}))

    assert rows(orders.scan(["dt", "id"])) == [("a", 9), ("b", 3)]
    assert snapshot.commit_kind is pl.CommitKind.OVERWRITE


def test_overwrite_of_a_named_partition(orders: pl.Table) -> None:
    orders.write(pa.table({"dt": ["a", "a", "b"], "id": [1, 2, 3]}))

    orders.overwrite(pa.table({"id": [7]}), partition={"dt": "b"})
    orders.overwrite(orders.arrow_schema.empty_table(), partition={"dt": "a"})

    assert rows(orders.scan(["dt", "id"])) == [("b", 7)]
    with pytest.raises(DataError, match="other values"):
        orders.overwrite(pa.table({"dt": ["x"], "id": [7]}), partition={"dt": "b"})
    with pytest.raises(SchemaError, match="no partition column"):
        orders.overwrite(pa.table({"id": [7]}), partition={"id": 1})


def test_overwrite_of_the_whole_table(orders: pl.Table, append: pl.Table) -> None:
    orders.write(pa.table({"dt": ["a", "b"], "id": [1, 3]}))
    append.write(pa.table({"id": [1]}))

    orders.overwrite(pa.table({"dt": ["c"], "id": [1]}), dynamic=False)
    append.overwrite(pa.table({"id": [2]}))

    assert rows(orders.scan(["dt", "id"])) == [("c", 1)]
    assert rows(append.scan(["id"])) == [(2,)]


def test_dropped_partitions_are_gone(orders: pl.Table) -> None:
    orders.write(pa.table({"dt": ["a", "b", "c"], "id": [1, 2, 3]}))

    orders.drop_partitions([{"dt": "a"}, {"dt": "c"}])

    assert rows(orders.scan(["dt", "id"])) == [("b", 2)]
    assert orders.snapshot is not None
    assert orders.snapshot.total_record_count == 1


def test_lookup_finds_rows_by_key(orders: pl.Table) -> None:
    orders.write(pa.table({"dt": ["a", "a", "b"], "id": [1, 2, 1], "note": ["x", "y", "z"]}))
    orders.write(pa.table({"dt": ["a"], "id": [2], "note": ["Y"]}))

    found = orders.lookup({"dt": ["a", "b", "b"], "id": [2, 1, 2]}, columns=["id", "note"])

    assert sorted(map(tuple, (row.values() for row in found.to_pylist()))) == [(1, "z"), (2, "Y")]
    with pytest.raises(DataError, match="primary key columns dt, id"):
        orders.lookup({"id": [1]})


def test_a_single_value_of_a_key_is_one_value(orders: pl.Table) -> None:
    orders.write({"dt": ["ab", "a", "b"], "id": [1, 1, 2], "note": ["x", "y", "z"]})

    assert orders.lookup({"dt": "ab", "id": 1})["note"].to_pylist() == ["x"]
    assert orders.lookup({"dt": "b", "id": [1, 2]})["note"].to_pylist() == ["z"]
    assert orders.lookup({"dt": "b", "id": []}).num_rows == 0
    with pytest.raises(DataError, match="differ in length"):
        orders.lookup({"dt": ["a", "b"], "id": [1]})


def test_a_writer_commits_many_times_and_each_commit_once(orders: pl.Table) -> None:
    writer = orders.new_writer(user="job")
    for number in range(3):
        writer.write(pa.table({"dt": ["a"], "id": [number], "note": [f"n{number}"]}))
        messages = writer.prepare_commit(number)
        first = orders.commit(messages, identifier=number, user=writer.user)
        again = orders.commit(messages, identifier=number, user=writer.user)
        assert first is not None
        assert again is not None
        assert first.id == again.id

    assert rows(orders.scan(["id", "note"])) == [(0, "n0"), (1, "n1"), (2, "n2")]


def test_commit_messages_travel_as_bytes(orders: pl.Table) -> None:
    writer = orders.new_writer()
    writer.write(pa.table({"dt": ["a", "b"], "id": [1, 2]}))
    messages = [pl.CommitMessage.from_bytes(m.to_bytes()) for m in writer.prepare_commit()]

    orders.commit(messages)

    assert orders.scan().count() == 2


def test_bad_rows_are_refused_and_leave_nothing(orders: pl.Table, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"key column 'id' has 1 null"):
        orders.write(pa.table({"dt": ["a", "a"], "id": [1, None]}))
    with pytest.raises(ColumnNotFoundError, match=r"'nots'.*Did you mean 'note'"):
        orders.write(pa.table({"dt": ["a"], "id": [1], "nots": ["x"]}))
    with pytest.raises(DataError, match=r"'amount'"):
        orders.write(pa.table({"dt": ["a"], "id": [1], "amount": [1.5]}))
    with pytest.raises(DataError, match=r"no column 'id'"):
        orders.write(pa.table({"dt": ["a"]}))
    with pytest.raises(DataError, match="twice"):
        orders.write(pa.Table.from_arrays([pa.array(["a"])] * 2, names=["dt", "dt"]))
    with pytest.raises(TypeError, match="__arrow_c_stream__"):
        orders.write({"dt", "id"})

    assert orders.snapshot is None
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_bad_batch_in_a_stream_leaves_no_file(catalog: pl.Catalog, tmp_path: Path) -> None:
    table = catalog.create_table(
        "db.small", {"id": "INT"}, primary_keys=["id"],
        options={"bucket": "1", "write-buffer-size": "1 kb"},
    )  # fmt: skip
    schema = pa.schema([("id", pa.int64())])
    good = pa.record_batch({"id": list(range(5000))})
    bad = pa.record_batch({"id": [2**40]})

    with pytest.raises(DataError):
        table.write(pa.RecordBatchReader.from_batches(schema, [good, good, bad]))

    assert table.snapshot is None
    assert not list(tmp_path.rglob("*.parquet"))


def test_a_small_buffer_writes_many_runs_and_the_same_rows(catalog: pl.Catalog) -> None:
    seed = 20261121
    random = np.random.default_rng(seed)
    table = catalog.create_table(
        "db.small", {"id": "INT", "v": "INT"}, primary_keys=["id"],
        options={"bucket": "3", "write-buffer-size": "64 kb"},
    )  # fmt: skip
    ids = random.integers(0, 5000, 30_000)
    data = pa.table({"id": pa.array(ids, pa.int32()), "v": pa.array(range(30_000), pa.int32())})

    table.write(data.to_reader(max_chunksize=1000))

    expected = dict(zip(ids.tolist(), range(30_000), strict=True))
    found = {row[0]: row[1] for row in rows(table.scan())}
    assert found == expected, f"seed {seed}"
    assert len(table.scan().plan().files) > 3


def test_old_files_are_read_through_the_new_schema(catalog: pl.Catalog) -> None:
    table = catalog.create_table("db.t", {"a": "INT", "b": "INT", "c": "STRING"})
    table.write(pa.table({"a": [1], "b": [10], "c": ["x"]}))
    table = catalog.alter_table(
        "db.t",
        pl.RenameColumn("b", "bb"),
        pl.UpdateColumnType("bb", "BIGINT"),
        pl.DropColumn("c"),
        pl.AddColumn("c", "DATE"),
    )
    table.write(pa.table({"a": [2], "bb": [2**40], "c": [date(2026, 1, 1)]}))

    assert rows(table.scan()) == [(1, 10, None), (2, 2**40, date(2026, 1, 1))]
    assert rows(table.scan(where="bb > 10")) == [(2, 2**40, date(2026, 1, 1))]
    assert rows(table.scan(snapshot=1)) == [(1, 10, "x")]


def test_a_scan_explains_itself(orders: pl.Table) -> None:
    orders.write(pa.table({"dt": ["a", "b"], "id": [1, 2]}))

    text = str(orders.scan(where="dt = 'a'").explain())

    assert "db.orders" in text
    assert "dt = 'a'" in text


def test_a_scan_speaks_arrow(orders: pl.Table) -> None:
    orders.write(pa.table({"dt": ["a"], "id": [1]}))

    assert pa.table(orders.scan(["id"])).to_pydict() == {"id": [1]}
    assert orders.scan(["id"]).to_pandas()["id"].tolist() == [1]


def test_arguments_of_other_libraries_are_answered_with_ours(append: pl.Table) -> None:
    with pytest.raises(TypeError, match=r"scan\(\) has no argument 'row_filter'; it is 'where'"):
        append.scan(row_filter="id = 1")  # type: ignore[call-arg]


def test_registered_accessors_are_attributes(append: pl.Table) -> None:
    pl.Table.register_accessor("shout", lambda table: table.name.upper())
    try:
        assert append.shout == "DB.EVENTS"
        assert "shout" in dir(append)
    finally:
        pl.Table._accessors.pop("shout")
    with pytest.raises(AttributeError, match=r"no attribute 'shout'"):
        _ = append.shout
