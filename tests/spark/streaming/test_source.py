"""Tables as the source of a stream."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import SchemaError, SnapshotExpiredError, UnsupportedError
from paimonlab.table.table import Table
from tests.spark.streaming.running import all_of, batches, forget_last_batch, ids, stream

NAME = "paimon.db.t"


@pytest.fixture
def table(catalog: Catalog) -> Table:
    """Return an append table with three commits of two rows."""
    made = catalog.create_table("db.t", {"id": "BIGINT", "v": "STRING"})
    for number in range(3):
        add(made, 2 * number, 2 * number + 1)
    return made


def add(table: Table, *ids: int) -> None:
    """Commit rows."""
    table.write(pa.table({"id": list(ids), "v": [f"v{number}" for number in ids]}))


def test_a_stream_starts_with_all_rows_and_goes_on_after_a_restart(
    spark: SparkSession, table: Table, tmp_path: Path
) -> None:
    first = batches(stream(spark, NAME), tmp_path / "c")
    add(table, 6, 7)
    add(table, 8)
    second = batches(stream(spark, NAME), tmp_path / "c")
    third = batches(stream(spark, NAME), tmp_path / "c")

    assert first == [[(number, f"v{number}") for number in range(6)]]
    assert ids(second) == [[6, 7, 8]]
    assert third == []


@pytest.mark.parametrize("mode", ["latest", "latest-full"])
def test_the_first_batch_runs_again_with_the_same_rows(
    spark: SparkSession, table: Table, tmp_path: Path, mode: str
) -> None:
    rows = stream(spark, NAME, {"scan.mode": mode})
    first = ids(batches(rows, tmp_path / "c"))
    forget_last_batch(tmp_path / "c")
    add(table, 7)

    again = ids(batches(rows, tmp_path / "c"))

    assert first == [[0, 1, 2, 3, 4, 5] if mode == "latest-full" else []]
    assert again == [*first, [7]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"scan.mode": "latest"}, []),
        ({"scan.mode": "from-snapshot", "scan.snapshot-id": "2"}, [2, 3, 4, 5]),
        ({"scan.snapshot-id": "3"}, [4, 5]),
        ({"scan.mode": "from-snapshot-full", "scan.snapshot-id": "2"}, [0, 1, 2, 3, 4, 5]),
        ({"scan.mode": "from-timestamp", "scan.timestamp-millis": "1"}, [0, 1, 2, 3, 4, 5]),
        ({"scan.mode": "full"}, [0, 1, 2, 3, 4, 5]),
        ({"scan.mode": "compacted-full"}, [0, 1, 2, 3, 4, 5]),
        (
            {"scan.mode": "from-creation-timestamp", "scan.creation-time-millis": "1"},
            [0, 1, 2, 3, 4, 5],
        ),
        (
            {"scan.mode": "from-file-creation-time", "scan.file-creation-time-millis": "1"},
            [0, 1, 2, 3, 4, 5],
        ),
    ],
)
def test_scan_modes_say_where_a_stream_starts(
    spark: SparkSession,
    table: Table,
    tmp_path: Path,
    options: dict[str, str],
    expected: list[int],
) -> None:
    found = batches(stream(spark, NAME, options), tmp_path / "c")
    add(table, 6)
    later = batches(stream(spark, NAME, options), tmp_path / "c")

    assert [row[0] for row in all_of(found)] == expected
    assert [row[0] for row in all_of(later)] == [6]


@pytest.mark.parametrize(
    ("limit", "sizes"),
    [
        ({"read.stream.maxFilesPerTrigger": "1"}, [2, 2, 2]),
        ({"read.stream.maxRowsPerTrigger": "3"}, [4, 2]),
        ({"read.stream.maxBytesPerTrigger": "1"}, [2, 2, 2]),
    ],
)
def test_limits_divide_what_is_there_into_batches(
    spark: SparkSession, table: Table, tmp_path: Path, limit: dict[str, str], sizes: list[int]
) -> None:
    options = {"scan.mode": "from-snapshot", "scan.snapshot-id": "1", **limit}

    found = batches(stream(spark, NAME, options), tmp_path / "c")

    assert [len(rows) for rows in found] == sizes
    assert [row[0] for row in all_of(found)] == [0, 1, 2, 3, 4, 5]


def test_kinds_of_rows_are_a_column(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    keyed = catalog.create_table(
        "db.k",
        {"id": "BIGINT", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "1", "changelog-producer": "lookup"},
    )
    keyed.write(pa.table({"id": [1, 2], "v": ["a", "b"]}))
    log = {"read.changelog": "true"}
    seen = {
        place: batches(stream(spark, name, options), tmp_path / place)
        for place, name, options in [
            ("log", "paimon.db.k", log),
            ("audit", "paimon.db.`k$audit_log`", {}),
            ("plain", "paimon.db.k", {}),
        ]
    }
    assert seen["log"] == seen["audit"] == [[("+I", 1, "a"), ("+I", 2, "b")]]
    assert seen["plain"] == [[(1, "a"), (2, "b")]]
    keyed.write(pa.table({"id": [2], "v": ["c"]}))
    keyed.delete("id = 1")

    changes = batches(stream(spark, "paimon.db.k", log), tmp_path / "log")
    plain = batches(stream(spark, "paimon.db.k"), tmp_path / "plain")

    assert all_of(changes) == [("+U", 2, "c"), ("-D", 1, "a"), ("-U", 2, "b")]
    assert all_of(plain) == [(2, "c")]


def test_a_consumer_keeps_snapshots_that_a_stream_has_not_read(
    spark: SparkSession, table: Table, tmp_path: Path
) -> None:
    options = {"consumer-id": "reader"}
    batches(stream(spark, NAME, options), tmp_path / "kept")
    batches(stream(spark, NAME), tmp_path / "lost")
    add(table, 6)
    batches(stream(spark, NAME, options), tmp_path / "kept")
    for number in range(7, 12):
        add(table, number)
    told = dict(table.consumers.list())["reader"]
    table.maintenance.expire_snapshots(retain_max=1)

    kept = batches(stream(spark, NAME, options), tmp_path / "kept")

    assert told <= 5
    assert [row[0] for row in all_of(kept)] == [7, 8, 9, 10, 11]


def test_changes_that_expired_are_an_error(
    spark: SparkSession, table: Table, tmp_path: Path
) -> None:
    batches(stream(spark, NAME), tmp_path / "c")
    for number in range(6, 9):
        add(table, number)
    table.maintenance.expire_snapshots(retain_max=1)

    with pytest.raises(Exception, match="expired") as caught:
        batches(stream(spark, NAME), tmp_path / "c")

    assert isinstance(caught.value, SnapshotExpiredError)


def test_what_cannot_be_streamed_is_refused(
    spark: SparkSession, table: Table, tmp_path: Path
) -> None:
    with pytest.raises(UnsupportedError, match="snapshots"):
        stream(spark, "paimon.db.`t$snapshots`")
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("SELECT * FROM STREAM paimon.db.nope")
    with pytest.raises(UnsupportedError, match="snapshots"):
        spark.sql("SELECT * FROM STREAM paimon.db.`t$snapshots`")
    with pytest.raises(SchemaError, match=r"scan\.mood"):
        batches(stream(spark, NAME, {"scan.mood": "latest"}), tmp_path / "c")
    with pytest.raises(SchemaError, match="maxFilesPerTrigger"):
        stream(spark, NAME, {"read.stream.maxFilesPerTrigger": "0"})


def test_a_stream_gets_every_row_once_whatever_the_limits(
    spark: SparkSession, table: Table, tmp_path: Path
) -> None:
    chance = random.Random(20261123)
    expected = list(range(6))
    found: list[int] = []
    for _ in range(4):
        for _ in range(chance.randint(0, 3)):
            new = list(range(len(expected), len(expected) + chance.randint(1, 4)))
            add(table, *new)
            expected += new
        limit = {"read.stream.maxFilesPerTrigger": str(chance.randint(1, 3))}
        found += [row[0] for row in all_of(batches(stream(spark, NAME, limit), tmp_path / "c"))]

    assert sorted(found) == expected


def test_sql_streams_one_table_and_reads_the_same_one(
    spark: SparkSession, table: Table, tmp_path: Path
) -> None:
    spark.catalog.setCurrentCatalog("paimon")
    try:
        text = (
            "WITH late AS (SELECT * FROM STREAM db.t WITH ('scan.snapshot-id' = '2')) "
            "SELECT late.id, t.v FROM late JOIN db.t USING (id) "
            "WHERE late.id > (SELECT min(id) + 2 FROM db.t)"
        )
        first = batches(spark.sql(text), tmp_path / "c")
        add(table, 6)  # the other side of the join is read as it is when the query starts
        second = batches(spark.sql(text), tmp_path / "c")
    finally:
        spark.catalog.setCurrentCatalog("spark_catalog")

    assert all_of(first) == [(number, f"v{number}") for number in (3, 4, 5)]
    assert all_of(second) == [(6, "v6")]


def test_a_statement_over_a_stream_changes_nothing(
    spark: SparkSession, table: Table, catalog: Catalog
) -> None:
    keyed = catalog.create_table(
        "db.k", {"id": "BIGINT", "v": "STRING"}, primary_keys=["id"], options={"bucket": "1"}
    )
    rows = "SELECT * FROM STREAM paimon.db.t"
    for text in (
        f"INSERT INTO paimon.db.k {rows}",
        f"INSERT OVERWRITE paimon.db.k {rows}",
        f"CREATE TABLE paimon.db.made AS {rows}",
        f"MERGE INTO paimon.db.k k USING ({rows}) s ON k.id = s.id WHEN NOT MATCHED THEN INSERT *",
        f"DELETE FROM paimon.db.t WHERE id IN ({rows.replace('*', 'id')})",
    ):
        with pytest.raises((AnalysisException, UnsupportedError), match=r"[Ss]tream"):
            spark.sql(text).collect()

    assert (keyed.scan().count(), table.scan().count()) == (0, 6)
    assert catalog.tables("db") == ["k", "t"]


def test_late_rows_are_left_out_by_a_watermark(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    events = catalog.create_table("db.e", {"id": "BIGINT", "at": "TIMESTAMP_LTZ(6)"})
    counts = spark.sql(
        "SELECT window.start AS hour, count(*) AS n FROM STREAM paimon.db.e "
        "WATERMARK at DELAY OF INTERVAL 10 MINUTES GROUP BY window(at, '1 hour')"
    ).selectExpr("hour(hour)", "n")
    found = []
    for minutes in ([5, 20, 65], [130], [50, 125], [250]):
        moments = [
            dt.datetime(2026, 1, 31, 0, tzinfo=dt.UTC) + dt.timedelta(minutes=one)
            for one in minutes
        ]
        events.write(pa.table({"id": list(range(len(minutes))), "at": moments}))
        found += batches(counts, tmp_path / "c")

    assert all_of(found) == [(0, 2), (1, 1), (2, 2)]  # that of minute 50 came too late
