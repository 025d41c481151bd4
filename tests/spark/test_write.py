from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession, functions

from paimonlab.catalog import Catalog
from paimonlab.commit.committer import Committer
from paimonlab.errors import (
    CommitError,
    DataError,
    FilesConflictError,
    PaimonError,
    SchemaError,
    UnsupportedError,
)
from paimonlab.spark.writing import partition_overwrite, shuffle
from paimonlab.spark.writing import write as writing
from paimonlab.spark.writing.commits import commit_scope
from paimonlab.spec.schema.change_kinds import SetOption
from paimonlab.spec.snapshot import CommitKind
from paimonlab.table.table import Table
from tests.spark.plans import calls_into_jvm


@pytest.fixture
def dynamic(spark: SparkSession) -> Iterator[None]:
    """Let INSERT OVERWRITE replace just the partitions that the rows have."""
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    yield
    spark.conf.unset("spark.sql.sources.partitionOverwriteMode")


@pytest.fixture
def keyed(catalog: Catalog) -> Table:
    """Return table db.k (id, dt, v) with primary key id, dt, partition dt and two buckets."""
    return catalog.create_table(
        "db.k",
        {"id": "BIGINT NOT NULL", "dt": "STRING NOT NULL", "v": "INT"},
        primary_keys=["id", "dt"],
        partition_keys=["dt"],
        options={"bucket": "2", "write-only": "true"},
    )


@pytest.fixture
def plain(catalog: Catalog) -> Table:
    """Return append table db.a (a INT, dt STRING) with partition dt."""
    return catalog.create_table("db.a", {"a": "INT", "dt": "STRING"}, partition_keys=["dt"])


def rows(table: Table) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in table.scan().to_arrow().to_pylist())


def test_insert_into_a_keyed_table_upserts(keyed: Table, spark: SparkSession) -> None:
    spark.sql("INSERT INTO paimon.db.k VALUES (1, 'x', 10), (2, 'x', 20), (1, 'y', 30)")
    spark.sql("INSERT INTO paimon.db.k SELECT 1, 'x', 11")

    assert rows(keyed) == [(1, "x", 11), (1, "y", 30), (2, "x", 20)]
    assert [
        tuple(row) for row in spark.sql("SELECT * FROM paimon.db.k ORDER BY id, dt").collect()
    ] == rows(keyed)
    kinds = [snapshot.commit_kind for snapshot in keyed.snapshots.list()]
    assert kinds == [CommitKind.APPEND] * 2


def test_rows_of_a_statement_are_written_by_one_task(catalog: Catalog, spark: SparkSession) -> None:
    table = catalog.create_table("db.few", {"a": "INT"})

    spark.sql("INSERT INTO paimon.db.few VALUES (1), (2), (3), (4)")
    spark.sql("INSERT INTO paimon.db.few SELECT id FROM range(4, 8, 1, 2)")

    assert rows(table) == [(n,) for n in (1, 2, 3, 4, 4, 5, 6, 7)]
    assert [len(split.files) for split in table.scan().plan().splits] == [3]


def test_few_rows_of_a_statement_are_not_shuffled_into_buckets(
    keyed: Table, spark: SparkSession
) -> None:
    context = spark.sparkContext
    context.setJobGroup("few rows", "an INSERT")

    spark.sql("INSERT INTO paimon.db.k VALUES (1, 'x', 1), (2, 'y', 2), (3, 'x', 3), (1, 'x', 4)")
    context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]

    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup("few rows")]
    assert sum(len(job.stageIds) for job in jobs if job is not None) == 1
    assert rows(keyed) == [(1, "x", 4), (2, "y", 2), (3, "x", 3)]


def test_an_insert_takes_few_calls_into_the_jvm(
    plain: Table, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    insert = "INSERT INTO paimon.db.a VALUES (1, 'x'), (2, 'y')"
    spark.sql(insert)

    # once it was 1,988: options were asked for one by one
    assert calls_into_jvm(monkeypatch, lambda: spark.sql(insert)) < 250
    assert len(plain.scan().to_arrow()) == 4


def test_the_driver_compacts_buckets_of_append_tables(
    catalog: Catalog, spark: SparkSession
) -> None:
    options = {"bucket": "1", "bucket-key": "a", "compaction.min.file-num": "2"}
    table = catalog.create_table("db.b", {"a": "INT"}, options=options)
    for number in range(2):
        spark.sql(f"INSERT INTO paimon.db.b VALUES ({number})")

    assert rows(table) == [(0,), (1,)]
    kinds = [snapshot.commit_kind for snapshot in table.snapshots.list()]
    assert kinds == [CommitKind.APPEND, CommitKind.APPEND, CommitKind.COMPACT]
    assert table.scan().plan().files.num_rows == 1


def test_a_commit_looks_only_at_what_came_after_the_driver_planned(
    keyed: Table, spark: SparkSession, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[int | None] = []
    append = Committer.append

    def noted(self: Committer, *given: Any, **named: Any) -> Any:
        checked.append(named["checked_id"])
        return append(self, *given, **named)

    monkeypatch.setattr(Committer, "append", noted)
    for number in range(2):
        spark.sql(f"INSERT INTO paimon.db.k VALUES ({number}, 'x', 1)")
    catalog.alter_table("db.k", SetOption("bucket", "3"))
    with pytest.raises(CommitError, match="bucket"):
        spark.sql("INSERT INTO paimon.db.k VALUES (3, 'x', 1)")

    assert checked == [0, 1, None]


def test_one_task_writes_a_bucket(keyed: Table, spark: SparkSession) -> None:
    frame = spark.range(0, 1000, 1, 7).selectExpr("id", "concat('d', id % 3) dt", "1 v")

    frame.writeTo("paimon.db.k").append()

    plan = keyed.scan().plan()
    assert {(split.bucket_path, len(split.files)) for split in plan.splits} == {
        (f"dt=d{day}/bucket-{bucket}", 1) for day in range(3) for bucket in range(2)
    }
    assert keyed.scan().count() == 1000


def test_keys_that_spark_has_no_expression_for(catalog: Catalog, spark: SparkSession) -> None:
    table = catalog.create_table(
        "db.big",
        {"k": "DECIMAL(30, 2) NOT NULL", "t": "TIMESTAMP(6) NOT NULL", "v": "INT"},
        primary_keys=["k", "t"],
        options={"bucket": "3", "write-only": "true"},
    )
    frame = spark.range(0, 100, 1, 4).selectExpr(
        "cast(id as decimal(30, 2)) k", "timestamp_ntz'2024-01-01 00:00:00.000001' t", "1 v"
    )
    frame.writeTo("paimon.db.big").append()

    assert table.scan().count() == 100
    assert sum(len(split.files) for split in table.scan().plan().splits) == 3
    assert (
        table.lookup({"k": [Decimal(7)], "t": [dt.datetime(2024, 1, 1, 0, 0, 0, 1)]}).num_rows == 1
    )


def test_columns_by_name_and_defaults_to_null(keyed: Table, spark: SparkSession) -> None:
    spark.sql("INSERT INTO paimon.db.k (dt, id) VALUES ('x', 5)")
    frame = spark.createDataFrame([(7, 6, "y")], "v int, id long, dt string")
    frame.writeTo("paimon.db.k").append()
    frame.selectExpr("id + 1 id", "dt", "v").write.mode("append").saveAsTable("paimon.db.k")
    frame.selectExpr("id + 2", "dt", "v").write.insertInto("paimon.db.k")

    assert rows(keyed)[1:] == [(6, "y", 7), (7, "y", 7), (8, "y", 7)]
    assert rows(keyed)[0] == (5, "x", None)


def test_all_types_arrive(catalog: Catalog, spark: SparkSession) -> None:
    table = catalog.create_table(
        "db.types",
        {
            "b": "BOOLEAN",
            "i1": "TINYINT",
            "f": "FLOAT",
            "d": "DECIMAL(20, 3)",
            "c": "CHAR(3)",
            "by": "BYTES",
            "da": "DATE",
            "n": "TIMESTAMP(3)",
            "z": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
            "ar": "ARRAY<STRING>",
            "m": "MAP<STRING, INT>",
            "r": "ROW<x INT, y ARRAY<BIGINT>>",
        },
    )
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        spark.sql(
            """INSERT INTO paimon.db.types SELECT true, cast(-5 AS tinyint), 1.5, 12.345, 'ab',
            X'00FF', DATE'2024-02-29', TIMESTAMP_NTZ'2024-03-31 02:30:00.123',
            TIMESTAMP'2024-07-01 12:00:00.000001', array('a', null), map('k', 1),
            named_struct('x', 1, 'y', array(2L))"""
        )
        spark.sql("INSERT INTO paimon.db.types (b) VALUES (null)")
        found = spark.sql("SELECT * FROM paimon.db.types WHERE b").toArrow()
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")

    (row,) = [row for row in table.scan().to_arrow().to_pylist() if row["b"]]
    assert row == {
        "b": True,
        "i1": -5,
        "f": 1.5,
        "d": Decimal("12.345"),
        "c": row["c"],
        "by": b"\x00\xff",
        "da": dt.date(2024, 2, 29),
        "n": dt.datetime(2024, 3, 31, 2, 30, 0, 123000),
        "z": dt.datetime(2024, 7, 1, 10, 0, 0, 1, tzinfo=row["z"].tzinfo),
        "ar": ["a", None],
        "m": [("k", 1)],
        "r": {"x": 1, "y": [2]},
    }
    assert row["c"].strip() == "ab"
    assert found["z"].cast(pa.int64())[0].as_py() == 1719828000000001
    assert found["n"].to_pylist() == [row["n"]]


def test_overwrite_replaces_the_whole_table(keyed: Table, spark: SparkSession) -> None:
    spark.sql("INSERT INTO paimon.db.k VALUES (1, 'x', 10), (2, 'y', 20)")
    spark.sql("INSERT OVERWRITE paimon.db.k VALUES (3, 'z', 30)")

    assert rows(keyed) == [(3, "z", 30)]
    assert keyed.snapshot is not None
    assert keyed.snapshot.commit_kind is CommitKind.OVERWRITE


def test_overwrite_with_no_rows_empties_the_table(keyed: Table, spark: SparkSession) -> None:
    spark.sql("INSERT INTO paimon.db.k VALUES (1, 'x', 10)")
    spark.sql("INSERT OVERWRITE paimon.db.k SELECT * FROM paimon.db.k WHERE id > 5")

    assert rows(keyed) == []


def test_overwrite_of_a_named_partition(plain: Table, spark: SparkSession) -> None:
    spark.sql("INSERT INTO paimon.db.a VALUES (1, 'x'), (2, 'y'), (3, null)")
    spark.sql("INSERT OVERWRITE paimon.db.a PARTITION (dt = 'x') SELECT 10")

    assert sorted(rows(plain), key=str) == [(10, "x"), (2, "y"), (3, None)]


def test_dynamic_overwrite_replaces_only_partitions_with_rows(
    keyed: Table, plain: Table, dynamic: None, spark: SparkSession
) -> None:
    spark.sql("INSERT INTO paimon.db.k VALUES (1, 'x', 10), (2, 'y', 20), (3, 'y', 30)")
    spark.sql("INSERT OVERWRITE paimon.db.k SELECT id, 'y', 1 FROM range(100, 300, 1, 3)")
    spark.sql("INSERT INTO paimon.db.a VALUES (1, 'x'), (2, 'y')")
    spark.sql("INSERT OVERWRITE paimon.db.a SELECT 5, 'x'")

    assert rows(keyed) == [(1, "x", 10), *((i, "y", 1) for i in range(100, 300))]
    assert rows(plain) == [(2, "y"), (5, "x")]
    assert spark.sql("SELECT count(*) FROM paimon.db.k").collect()[0][0] == 201


def test_a_dynamic_overwrite_of_rows_that_others_changed_is_refused(
    plain: Table, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark.sql("INSERT INTO paimon.db.a VALUES (1, 'x'), (2, 'y')")
    write = writing.written

    def overtaken(*arguments: Any, **options: Any) -> Any:
        messages = write(*arguments, **options)
        plain.write(pa.table({"a": pa.array([9], pa.int32()), "dt": ["y"]}))
        return messages

    monkeypatch.setattr(partition_overwrite, "written", overtaken)
    table = spark.table("paimon.db.a").selectExpr("a + 10 AS a", "dt")
    with pytest.raises(FilesConflictError, match="overwrite"):
        table.writeTo("paimon.db.a").overwritePartitions()
    table.where("dt = 'x'").writeTo("paimon.db.a").overwritePartitions()

    assert rows(plain) == [(2, "y"), (9, "y"), (9, "y"), (11, "x")]


def test_overwrite_partitions_of_the_data_frame_api(plain: Table, spark: SparkSession) -> None:
    spark.sql("INSERT INTO paimon.db.a VALUES (1, 'x'), (2, 'y')")
    frame = spark.createDataFrame([(7, "y")], "a int, dt string")
    frame.writeTo("paimon.db.a").overwritePartitions()
    assert rows(plain) == [(1, "x"), (7, "y")]

    frame.writeTo("paimon.db.a").overwrite(functions.col("dt") == "y")
    assert rows(plain) == [(1, "x"), (7, "y")]

    frame.writeTo("paimon.db.a").overwrite(functions.lit(True))
    assert rows(plain) == [(7, "y")]


def test_rows_outside_of_the_partition_to_overwrite_are_refused(
    plain: Table, spark: SparkSession, warehouse: Path
) -> None:
    spark.sql("INSERT INTO paimon.db.a VALUES (1, 'x')")
    before = set(warehouse.glob("**/*.parquet"))
    frame = spark.createDataFrame([(7, "z")], "a int, dt string")

    with pytest.raises(DataError, match="not all in the partitions to overwrite"):
        frame.writeTo("paimon.db.a").overwrite(functions.col("dt") == "x")

    assert rows(plain) == [(1, "x")]
    assert set(warehouse.glob("**/*.parquet")) == before


@pytest.mark.parametrize(
    "condition",
    [
        "day = DATE '2026-01-02'",
        "seen < TIMESTAMP '2026-01-02 03:04:05.5'",
        "at >= TIMESTAMP_NTZ '1969-12-31 23:59:59'",
        r"v = 'it\'s'",
        "a > -3",
    ],
)
def test_a_condition_that_is_refused_is_shown_as_it_is_written(
    condition: str, catalog: Catalog, spark: SparkSession
) -> None:
    types = {"day": "DATE", "seen": "TIMESTAMP_LTZ(6)", "at": "TIMESTAMP(6)", "v": "STRING"}
    options = {"sequence.field": "a", "bucket": "1"}
    catalog.create_table("db.d", {"a": "INT"} | types, primary_keys=["day"], options=options)
    values = "SELECT 1, DATE '2026-01-01', TIMESTAMP '2026-01-01', TIMESTAMP_NTZ '2026-01-01', 'v'"

    with pytest.raises(UnsupportedError) as caught:
        spark.sql(f"INSERT INTO paimon.db.d REPLACE WHERE {condition} {values}")

    assert caught.value.feature == f"overwriting rows of db.d where {condition}"


def test_create_table_as_select(catalog: Catalog, spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE paimon.db.c TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '2') "
        "AS SELECT id, cast(id * 2 AS string) s FROM range(10)"
    )

    table = catalog.table("db.c")
    assert table.primary_keys == ("id",)
    assert table.scan().count() == 10


def test_an_overwrite_by_rows_of_the_table_loses_no_update(
    plain: Table, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark.sql("INSERT INTO paimon.db.a VALUES (1, 'x'), (2, 'y')")

    def overtaken(*arguments: Any, **keywords: Any) -> None:
        plain.write(pa.table({"a": pa.array([3], pa.int32()), "dt": ["x"]}))
        commit_scope(*arguments, **keywords)

    monkeypatch.setattr("paimonlab.spark.writing.write.commit_scope", overtaken)
    with pytest.raises(FilesConflictError):
        spark.sql("INSERT OVERWRITE paimon.db.a SELECT a + 10, dt FROM paimon.db.a")
    assert rows(plain) == [(1, "x"), (2, "y"), (3, "x")]

    spark.sql("INSERT OVERWRITE paimon.db.a SELECT id, 'z' FROM range(1)")  # asks for no rows
    assert rows(plain) == [(0, "z")]


def test_a_table_reads_itself_while_it_is_written(keyed: Table, spark: SparkSession) -> None:
    spark.sql("INSERT INTO paimon.db.k SELECT id, 'x', 1 FROM range(10)")
    spark.sql("INSERT INTO paimon.db.k SELECT id + 5, dt, v + 1 FROM paimon.db.k")
    spark.sql("INSERT OVERWRITE paimon.db.k SELECT id, dt, v * 10 FROM paimon.db.k")

    assert rows(keyed) == [(i, "x", 10 if i < 5 else 20) for i in range(15)]


def test_options_of_one_write_are_refused_those_of_the_session_are_obeyed(
    plain: Table, spark: SparkSession
) -> None:
    frame = spark.createDataFrame([(7, "z")], "a int, dt string")

    with pytest.raises(UnsupportedError, match=r"data-file\.prefix"):
        frame.writeTo("paimon.db.a").option("data-file.prefix", "mine-").append()
    with pytest.raises(SchemaError, match=r"data-file\.prefix"):
        frame.writeTo("paimon.db.a").option("data-file.prefixx", "mine-").append()
    spark.conf.set("spark.paimon.paimon.db.a.data-file.prefix", "mine-")
    try:
        frame.writeTo("paimon.db.a").append()
    finally:
        spark.conf.unset("spark.paimon.paimon.db.a.data-file.prefix")

    (split,) = plain.scan().plan().splits
    assert split.files[0].file_name.startswith("mine-")


def test_no_rows_make_no_snapshot(keyed: Table, spark: SparkSession) -> None:
    spark.sql("INSERT INTO paimon.db.k SELECT id, 'x', 1 FROM range(10) WHERE id < 0")

    assert keyed.snapshot is None


def test_a_null_key_fails_and_leaves_nothing(
    keyed: Table, spark: SparkSession, warehouse: Path
) -> None:
    with pytest.raises(Exception, match=r"(?i)null"):
        spark.sql("INSERT INTO paimon.db.k SELECT if(id = 7, null, id), 'x', 1 FROM range(10)")

    assert keyed.snapshot is None
    assert list(warehouse.glob("**/*.parquet")) == []


def test_an_error_of_a_task_is_the_error_and_leaves_nothing(
    catalog: Catalog, spark: SparkSession, warehouse: Path
) -> None:
    table = catalog.create_table("db.short", {"a": "INT", "t": "TIMESTAMP(3)"})

    with pytest.raises(DataError, match="'t'"):
        spark.range(0, 100, 1, 4).selectExpr(
            "cast(id as int) a",
            "if(id = 99, timestamp_ntz'2024-01-01 00:00:00.0000001'"
            " + interval '0.000001' second, null) t",
        ).writeTo("paimon.db.short").append()

    assert table.snapshot is None
    assert list(warehouse.glob("**/*.parquet")) == []


def test_a_failing_query_leaves_nothing(keyed: Table, spark: SparkSession) -> None:
    with pytest.raises(Exception, match="boom"):
        spark.sql(
            "INSERT INTO paimon.db.k "
            "SELECT if(id = 7, raise_error('boom'), id), 'x', 1 FROM range(10)"
        )

    assert keyed.snapshot is None


def test_an_insert_can_be_cancelled(keyed: Table, spark: SparkSession) -> None:
    errors: list[BaseException] = []

    def insert() -> None:
        spark.sparkContext.setJobGroup("to cancel", "", interruptOnCancel=True)
        try:
            spark.sql(
                "INSERT INTO paimon.db.k "
                "SELECT id, 'x', cast(rand() AS int) FROM range(20000000000)"
            )
        except Exception as error:  # noqa: BLE001 - asserted below
            errors.append(error)

    thread = threading.Thread(target=insert)
    thread.start()
    while thread.is_alive() and not errors:
        if spark.sparkContext.statusTracker().getJobIdsForGroup("to cancel"):
            spark.sparkContext.cancelJobGroup("to cancel")
        thread.join(0.2)

    assert "cancelled job group" in str(errors[0])
    assert keyed.snapshot is None
    assert spark.sql("SELECT count(*) FROM paimon.db.k").collect()[0][0] == 0


def test_an_option_that_is_not_there_yet_refuses_the_write(
    catalog: Catalog, spark: SparkSession
) -> None:
    with pytest.raises((UnsupportedError, PaimonError)):
        spark.sql(
            "CREATE TABLE paimon.db.agg (id INT NOT NULL, v INT) TBLPROPERTIES "
            "('primary-key' = 'id', 'bucket' = '1', 'pk-clustering-override' = 'true')"
        )


def test_spark_goes_on_in_dynamic_buckets_that_we_wrote(
    catalog: Catalog, spark: SparkSession
) -> None:
    table = catalog.create_table(
        "db.dyn",
        {"k": "INT NOT NULL", "v": "INT"},
        primary_keys=["k"],
        options={"dynamic-bucket.target-row-num": "2"},
    )
    for value in (1, 2):
        table.write(
            pa.table({"k": pa.array(range(5), pa.int32()), "v": pa.array([value] * 5, pa.int32())})
        )

    spark.sql("INSERT INTO paimon.db.dyn VALUES (1, 3), (5, 3)")

    found = spark.sql("SELECT * FROM paimon.db.dyn ORDER BY k").collect()
    assert [tuple(row) for row in found] == [(0, 2), (1, 3), (2, 2), (3, 2), (4, 2), (5, 3)]


@pytest.mark.parametrize("options", [{}, {"bucket": "-2"}], ids=["append", "postponed"])
def test_one_task_writes_a_partition_where_the_table_asks_for_it(
    options: dict[str, str], catalog: Catalog, spark: SparkSession
) -> None:
    files = {}
    for strategy in ("none", "HASH"):
        table = catalog.create_table(
            f"db.by_{strategy.lower()}",
            {"id": "BIGINT", "p": "INT"},
            primary_keys=["id", "p"] if options else [],
            partition_keys=["p"],
            options=options | {"partition.sink-strategy": strategy},
        )
        rows = "SELECT id, CAST(id % 2 AS INT) FROM range(0, 100, 1, 4)"
        spark.sql(f"INSERT INTO paimon.{table.name} {rows}")
        files[strategy] = [path.parent for path in Path(table.path).rglob("bucket-*/*")]
        written = catalog.system_table(f"{table.name}$snapshots").scan().to_arrow()
        assert written["total_record_count"].to_pylist() == [100]

    assert len(set(files["none"])) == len(set(files["HASH"])) == 2
    assert len(files["HASH"]) == 2
    assert len(files["none"]) == 8


def test_partitions_that_are_written_to_are_marked_where_the_table_asks_for_it(
    catalog: Catalog, spark: SparkSession
) -> None:
    options = {"partition.end-input-to-done": "true"}
    columns = {"id": "INT", "p": "STRING"}
    table = catalog.create_table("db.m", columns, partition_keys=["p"], options=options)

    def marked() -> set[str]:
        return {path.parent.name for path in Path(table.path).rglob("_SUCCESS")}

    spark.sql("INSERT INTO paimon.db.m VALUES (1, 'a'), (2, 'b')")
    assert marked() == {"p=a", "p=b"}
    spark.sql("INSERT OVERWRITE paimon.db.m PARTITION (p = 'c') VALUES (3)")
    assert marked() == {"p=a", "p=b", "p=c"}
    for path in Path(table.path).rglob("_SUCCESS"):
        path.unlink()
    spark.sql("UPDATE paimon.db.m SET id = 4 WHERE p = 'b'")
    assert marked() == {"p=b"}

    spark.conf.set("spark.paimon.partition.mark-done-action", "http-report")
    try:
        with pytest.raises(UnsupportedError, match="mark-done-action"):
            spark.sql("INSERT INTO paimon.db.m VALUES (5, 'd')")
    finally:
        spark.conf.unset("spark.paimon.partition.mark-done-action")
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [1, 3, 4]
    assert not [path for path in Path(table.path).rglob("data-*") if "p=d" in str(path)]


@pytest.mark.parametrize("strategy", ["order", "zorder"])
def test_rows_are_put_in_order_as_they_are_written_if_the_table_asks_for_it(
    strategy: str, catalog: Catalog, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few rows by one task; many are first divided into ranges, one for each file."""
    spark.sql(
        "CREATE TABLE paimon.db.ordered (a INT, b INT) TBLPROPERTIES "
        f"('clustering.columns' = 'a,b', 'clustering.strategy' = '{strategy}')"
    )
    spark.sql("INSERT INTO paimon.db.ordered VALUES (2, 2), (1, 1), (3, 3)")
    assert spark.table("paimon.db.ordered").collect() == [(1, 1), (2, 2), (3, 3)]

    monkeypatch.setattr(shuffle, "_RANGE_BYTES", 1_000)
    spark.sql(
        "INSERT OVERWRITE paimon.db.ordered SELECT int(id * 7 % 40), int(id / 40) FROM range(1000)"
    )

    table = catalog.table("db.ordered")
    files = table.scan().plan().files["file_name"].to_pylist()
    columns = [pq.read_table(Path(table.path, "bucket-0", name))["a"].to_pylist() for name in files]
    lower, upper = sorted(columns, key=min)
    assert len(lower) + len(upper) == table.scan().count() == 1000
    assert abs(len(lower) - len(upper)) < 100
    assert max(lower) <= min(upper) + 1, "one value may be in both"
    if strategy == "order":
        assert (lower, upper) == (sorted(lower), sorted(upper))
