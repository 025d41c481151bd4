"""Tables as the sink of a stream, and statements inside of ``foreachBatch``: each row once."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from paimonlab.catalog import Catalog
from paimonlab.errors import CommitHistoryExpiredError, DataError, SchemaError, UnsupportedError
from paimonlab.table.table import Table
from tests.spark.streaming.running import forget_last_batch, run, stream, write_to

COLUMNS = {"id": "BIGINT", "v": "STRING"}
LIMIT = {
    "scan.mode": "from-snapshot",
    "scan.snapshot-id": "1",
    "read.stream.maxFilesPerTrigger": "1",
}


@pytest.fixture
def source(catalog: Catalog) -> Table:
    """Return an append table with three commits of two rows."""
    made = catalog.create_table("db.s", COLUMNS)
    for number in range(3):
        add(made, 2 * number, 2 * number + 1)
    return made


def add(table: Table, *ids: int, v: str = "a") -> None:
    """Commit rows."""
    table.write(pa.table({"id": list(ids), "v": [v] * len(ids)}))


def ids_of(table: Table) -> list[int]:
    """Return the ids of all rows."""
    return sorted(table.scan().to_arrow()["id"].to_pylist())


def snapshots_of(table: Table) -> int:
    """Return how many snapshots a table has had."""
    latest = table.scan().snapshot
    return latest.id if latest is not None else 0


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        ([], {}),
        ([], {"bucket": "2", "bucket-key": "id"}),
        (["id"], {"bucket": "2"}),
        (["id"], {}),
    ],
    ids=["append", "append buckets", "keys", "dynamic buckets"],
)
def test_a_batch_that_runs_again_is_written_once(
    spark: SparkSession,
    source: Table,
    catalog: Catalog,
    tmp_path: Path,
    keys: list[str],
    options: dict[str, str],
) -> None:
    sink = catalog.create_table("db.t", COLUMNS, primary_keys=keys, options=options)
    rows = stream(spark, "paimon.db.s", LIMIT)

    write_to(rows, "paimon.db.t", tmp_path / "c")
    first, count = ids_of(sink), snapshots_of(sink)
    forget_last_batch(tmp_path / "c")
    write_to(rows, "paimon.db.t", tmp_path / "c")
    again, same_count = ids_of(sink), snapshots_of(sink)
    forget_last_batch(tmp_path / "c")
    add(source, 6, 7)
    write_to(rows, "paimon.db.t", tmp_path / "c")

    assert first == again == [0, 1, 2, 3, 4, 5]
    assert count == same_count
    assert ids_of(sink) == [0, 1, 2, 3, 4, 5, 6, 7]


def test_update_mode_replaces_rows_by_their_key(
    spark: SparkSession, source: Table, catalog: Catalog, tmp_path: Path
) -> None:
    sink = catalog.create_table(
        "db.t", {"k": "BIGINT", "n": "BIGINT"}, primary_keys=["k"], options={"bucket": "1"}
    )
    plain = catalog.create_table("db.p", {"k": "BIGINT", "n": "BIGINT"})
    counts = (
        stream(spark, "paimon.db.s", LIMIT)
        .groupBy((f.col("id") % 2).alias("k"))
        .agg(f.count("*").alias("n"))
    )

    write_to(counts, "paimon.db.t", tmp_path / "c", "update")
    add(source, 7)
    forget_last_batch(tmp_path / "c")
    write_to(counts, "paimon.db.t", tmp_path / "c", "update")

    assert sorted(map(tuple, (row.values() for row in sink.scan().to_arrow().to_pylist()))) == [
        (0, 3),
        (1, 4),
    ]
    with pytest.raises(Exception, match="does not support Update mode"):
        write_to(counts, "paimon.db.p", tmp_path / "p", "update")
    assert plain.scan().count() == 0


def test_complete_mode_replaces_all_rows(
    spark: SparkSession, source: Table, catalog: Catalog, tmp_path: Path
) -> None:
    sink = catalog.create_table("db.t", {"n": "BIGINT"})
    counts = stream(spark, "paimon.db.s", LIMIT).agg(f.count("*").alias("n"))

    write_to(counts, "paimon.db.t", tmp_path / "c", "complete")
    add(source, 6)
    write_to(counts, "paimon.db.t", tmp_path / "c", "complete")
    forget_last_batch(tmp_path / "c")
    write_to(counts, "paimon.db.t", tmp_path / "c", "complete")

    assert sink.scan().to_arrow().to_pydict() == {"n": [7]}


def test_a_batch_of_which_the_snapshot_expired_is_an_error(
    spark: SparkSession, source: Table, catalog: Catalog, tmp_path: Path
) -> None:
    sink = catalog.create_table("db.t", COLUMNS)
    rows = stream(spark, "paimon.db.s", LIMIT)
    write_to(rows, "paimon.db.t", tmp_path / "c")
    add(sink, 100)
    add(sink, 101)
    sink.maintenance.expire_snapshots(retain_max=1)
    add(source, 6)

    write_to(rows, "paimon.db.t", tmp_path / "c")  # a new batch: nothing is unclear
    for _ in range(2):
        add(sink, 102)
    sink.maintenance.expire_snapshots(retain_max=1)
    forget_last_batch(tmp_path / "c")
    with pytest.raises(CommitHistoryExpiredError):
        write_to(rows, "paimon.db.t", tmp_path / "c")

    assert ids_of(sink) == [*range(7), 100, 101, 102, 102]


def test_statements_of_a_batch_that_runs_again_are_done_once(
    spark: SparkSession, source: Table, catalog: Catalog, tmp_path: Path
) -> None:
    sink = catalog.create_table("db.t", COLUMNS)
    other = catalog.create_table("db.o", COLUMNS, options={"bucket": "2", "bucket-key": "id"})
    emptied = catalog.create_table("db.e", COLUMNS)
    fails_at: list[int] = []

    def each(batch: DataFrame, number: int) -> None:
        batch.createOrReplaceTempView("batch")
        session = batch.sparkSession
        session.sql("TRUNCATE TABLE paimon.db.e")
        session.sql("INSERT INTO paimon.db.t SELECT id, 'sql' FROM batch")
        if number in fails_at:
            raise RuntimeError("killed")
        batch.selectExpr("id + 100 AS id", "v").writeTo("paimon.db.t").append()
        session.sql("INSERT INTO paimon.db.o SELECT * FROM batch")
        session.sql("INSERT OVERWRITE paimon.db.o SELECT id + 1, v FROM paimon.db.o")

    rows = stream(spark, "paimon.db.s", LIMIT)
    run(rows, tmp_path / "c", each)
    forget_last_batch(tmp_path / "c")
    add(emptied, 99)
    run(rows, tmp_path / "c", each)
    assert ids_of(emptied) == [99]
    add(source, 6, 7)
    fails_at.append(3)
    with pytest.raises(Exception, match="killed"):
        run(rows, tmp_path / "c", each)
    fails_at.clear()
    run(rows, tmp_path / "c", each)

    assert ids_of(sink) == sorted([*range(8), *range(100, 108)])
    assert ids_of(emptied) == []
    # Each batch moves all rows that are there by one.
    assert ids_of(other) == sorted([4, 5, 5, 6, 6, 7, 7, 8])


@pytest.mark.parametrize("keys", [["id"], []], ids=["keys", "append"])
def test_rows_are_changed_once_by_a_batch_that_runs_again(
    keys: list[str], spark: SparkSession, source: Table, catalog: Catalog, tmp_path: Path
) -> None:
    options = {"bucket": "1"} if keys else {}
    columns = {"id": "INT NOT NULL", "n": "BIGINT"}
    sums = catalog.create_table("db.sums", columns, primary_keys=keys, options=options)

    def each(batch: DataFrame, number: int) -> None:
        batch.createOrReplaceTempView("batch")
        session = batch.sparkSession
        session.sql("""
            MERGE INTO paimon.db.sums t
            USING (SELECT cast(0 AS INT) AS id, sum(id) AS n FROM batch) s ON t.id = s.id
            WHEN MATCHED THEN UPDATE SET n = t.n + s.n WHEN NOT MATCHED THEN INSERT *
            """)
        session.sql("UPDATE paimon.db.sums SET n = n + 100")

    rows = stream(spark, "paimon.db.s", LIMIT)
    run(rows, tmp_path / "c", each)
    forget_last_batch(tmp_path / "c")
    run(rows, tmp_path / "c", each)

    assert sums.scan().to_arrow().to_pylist() == [{"id": 0, "n": 15 + 3 * 100}]


def test_a_batch_that_runs_again_with_other_statements_is_an_error(
    spark: SparkSession, source: Table, catalog: Catalog, tmp_path: Path
) -> None:
    sink = catalog.create_table("db.t", COLUMNS)
    verbs = ["INTO"]

    def each(batch: DataFrame, _: int) -> None:
        batch.createOrReplaceTempView("batch")
        batch.sparkSession.sql(f"INSERT {verbs[0]} paimon.db.t SELECT * FROM batch")

    rows = stream(spark, "paimon.db.s", LIMIT)
    run(rows, tmp_path / "c", each)
    forget_last_batch(tmp_path / "c")
    verbs[0] = "OVERWRITE"
    errors: list[BaseException] = []

    def noted(batch: DataFrame, number: int) -> None:
        try:
            each(batch, number)
        except DataError as error:
            errors.append(error)
            raise

    with pytest.raises(Exception, match="runs again with"):
        run(rows, tmp_path / "c", noted)

    assert len(errors) == 1
    assert ids_of(sink) == [0, 1, 2, 3, 4, 5]


def test_rows_of_a_stream_that_do_not_fit_are_refused(
    spark: SparkSession, source: Table, catalog: Catalog, tmp_path: Path
) -> None:
    sink = catalog.create_table("db.t", COLUMNS)
    padded = catalog.create_table("db.c", {"id": "BIGINT", "v": "CHAR(3)"})
    moving = catalog.create_table(
        "db.m", {**COLUMNS, "p": "INT"}, primary_keys=["id"], partition_keys=["p"]
    )
    rows = stream(spark, "paimon.db.s", LIMIT)
    cases = [
        (rows.select("id"), "t", SchemaError),
        (rows.selectExpr("CAST(id AS INT) AS id", "v"), "t", SchemaError),
        (rows.selectExpr("*", "1 AS more"), "t", SchemaError),
        (rows, "c", UnsupportedError),
        (rows.selectExpr("*", "1 AS p"), "m", UnsupportedError),
    ]
    for number, (given, name, error) in enumerate(cases):
        with pytest.raises(error):
            write_to(given, f"paimon.db.{name}", tmp_path / str(number))
    with pytest.raises(AnalysisException):
        write_to(rows, "paimon.db.`t$files`", tmp_path / "files")

    assert [ids_of(each) for each in (sink, padded, moving)] == [[], [], []]


def test_a_stream_goes_on_with_columns_that_its_sink_gets(
    spark: SparkSession, source: Table, catalog: Catalog, tmp_path: Path
) -> None:
    catalog.create_table("db.t", COLUMNS)
    rows = stream(spark, "paimon.db.s")
    write_to(rows, "paimon.db.t", tmp_path / "c")
    spark.sql("ALTER TABLE paimon.db.t ADD COLUMN more INT")
    add(source, 6)

    with pytest.raises(SchemaError, match="more"):
        write_to(rows, "paimon.db.t", tmp_path / "c")
    write_to(rows.selectExpr("*", "7 AS more"), "paimon.db.t", tmp_path / "c")

    found = spark.table("paimon.db.t").orderBy("id").collect()
    assert [row["id"] for row in found] == [0, 1, 2, 3, 4, 5, 6]
    assert [row["more"] for row in found] == [*[None] * 6, 7]


@pytest.mark.parametrize("keys", [[], ["id"]], ids=["append", "keys"])
def test_rows_of_a_stream_bring_their_columns(
    spark: SparkSession, source: Table, catalog: Catalog, tmp_path: Path, keys: list[str]
) -> None:
    columns = {"id": "BIGINT", "v": "STRING", "n": "INT", "r": "ROW<a INT>"}
    catalog.create_table("db.t", columns, primary_keys=keys)
    rows = stream(spark, "paimon.db.s", LIMIT)
    merges = {"write.merge-schema": "true"}
    wider = rows.selectExpr(
        "id + 10 AS id", "v", "id * 5000000000 AS n", "struct(1 AS a, 'b' AS b) AS r", "true AS w"
    )

    write_to(rows.select("v", "id"), "paimon.db.t", tmp_path / "a", **merges)
    write_to(wider, "paimon.db.t", tmp_path / "b", **merges)
    forget_last_batch(tmp_path / "b")
    write_to(wider, "paimon.db.t", tmp_path / "b", **merges)
    narrower = rows.selectExpr("id + 20 AS id", "CAST(id AS INT) AS n")
    write_to(narrower, "paimon.db.t", tmp_path / "c", **merges)

    found = spark.sql("SELECT id, v, n, r.a, r.b, w FROM paimon.db.t ORDER BY id").collect()
    expected = [
        *((number, "a", None, None, None, None) for number in range(6)),
        *((number + 10, "a", number * 5000000000, 1, "b", True) for number in range(6)),
        *((number + 20, None, number, None, None, None) for number in range(6)),
    ]
    assert list(map(tuple, found)) == expected
    assert catalog.table("db.t").schema.id == 1
    cases = [
        (rows.selectExpr("id", "'x' AS n"), SchemaError),
        (rows.selectExpr("id", "1 AS V"), SchemaError),
    ]
    for number, (given, error) in enumerate(cases):
        with pytest.raises(error):
            write_to(given, "paimon.db.t", tmp_path / f"{number}", **merges)


def test_columns_are_found_by_name(
    spark: SparkSession, source: Table, catalog: Catalog, tmp_path: Path
) -> None:
    sink = catalog.create_table("db.t", COLUMNS)

    write_to(stream(spark, "paimon.db.s").select("v", "id"), "paimon.db.t", tmp_path / "c")

    assert ids_of(sink) == [0, 1, 2, 3, 4, 5]


def test_statements_are_counted_whatever_job_groups_they_are_in(
    spark: SparkSession, source: Table, catalog: Catalog, tmp_path: Path
) -> None:
    sink = catalog.create_table("db.t", COLUMNS)

    def each(batch: DataFrame, _: int) -> None:
        context = batch.sparkSession.sparkContext
        for number in range(2):
            context.setJobGroup(f"part {number}", "one of two writes")
            batch.selectExpr(f"id + {100 * number} AS id", "v").writeTo("paimon.db.t").append()

    rows = stream(spark, "paimon.db.s", LIMIT)
    run(rows, tmp_path / "c", each)
    forget_last_batch(tmp_path / "c")
    run(rows, tmp_path / "c", each)

    assert ids_of(sink) == sorted([*range(6), *range(100, 106)])
