"""``format("paimon")``: tables by their folder, and what data frames write by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import PaimonError, SchemaError, TableNotFoundError, UnsupportedError
from paimonlab.spark import connect
from tests.spark.streaming.running import forget_last_batch
from tests.spark.test_ddl import plain_table, rows

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def path(spark: SparkSession, catalog: Catalog) -> str:
    """Return the folder of a table with two snapshots that have to be merged."""
    spark.sql(
        "CREATE TABLE paimon.db.t (id INT NOT NULL, v STRING, ts TIMESTAMP, a ARRAY<INT>) "
        "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1', 'write-only' = 'true')"
    )
    spark.sql(
        "INSERT INTO paimon.db.t VALUES "
        "(1, 'a', TIMESTAMP '2026-01-01 00:00:00', array(1)), (2, 'b', NULL, NULL)"
    )
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 'c', TIMESTAMP '2026-01-02 00:00:00', array(2))")
    return f"{catalog.path}/db.db/t"


def test_a_table_is_read_by_its_folder_as_by_its_name(spark: SparkSession, path: str) -> None:
    by_name = spark.table("paimon.db.t")
    by_path = spark.read.format("paimon").load(path)

    assert by_path.dtypes == by_name.dtypes
    assert sorted(by_path.collect()) == sorted(by_name.collect())
    assert by_path.where("id = 1").select("v").collect() == [("c",)]
    old = spark.read.format("paimon").option("scan.snapshot-id", "1").load(path)
    assert sorted(old.select("id", "v").collect()) == [(1, "a"), (2, "b")]
    some = spark.read.format("paimon").schema("v STRING").load(path)
    assert sorted(some.collect()) == [("b",), ("c",)]


def test_a_table_without_rows_is_read(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql("CREATE TABLE paimon.db.t (id INT) USING paimon")

    assert spark.read.format("paimon").load(f"{catalog.path}/db.db/t").collect() == []


def test_a_session_beside_the_first_has_the_format(
    spark: SparkSession, path: str, catalog: Catalog
) -> None:
    other = spark.newSession()
    connect(catalog.path, spark=other)

    assert other.read.format("paimon").load(path).count() == 2


def test_what_a_path_cannot_do_is_refused(spark: SparkSession, path: str, tmp_path: Path) -> None:
    read, rows_of_it = spark.read.format("paimon"), spark.table("paimon.db.t")
    before = sorted(rows_of_it.collect())

    with pytest.raises(TableNotFoundError, match="nope"):
        read.load(f"{Path(path).parent}/nope")
    with pytest.raises(UnsupportedError, match="without a path"):
        read.load()
    with pytest.raises(UnsupportedError, match=r"<database>\.db"):
        read.load(str(tmp_path))
    with pytest.raises(SchemaError, match="option 'zzz' is not known"):
        spark.read.format("paimon").option("zzz", "1").load(path)
    with pytest.raises(SchemaError, match="no column v:int"):
        spark.read.format("paimon").schema("v INT").load(path).collect()
    for mode in ("append", "overwrite"):
        with pytest.raises(UnsupportedError, match="no catalog of the Spark session has"):
            rows_of_it.write.format("paimon").mode(mode).save(f"{path}2")
    with pytest.raises(UnsupportedError, match="without a path"):
        rows_of_it.write.format("paimon").mode("append").save()
    with pytest.raises(AnalysisException, match="UNSUPPORTED_DATA_SOURCE_SAVE_MODE"):
        rows_of_it.write.format("paimon").save(path)

    assert sorted(spark.table("paimon.db.t").collect()) == before


def test_rows_are_written_to_a_folder_by_the_names_of_their_columns(
    spark: SparkSession, path: str
) -> None:
    sql = "SELECT id, v FROM paimon.db.t ORDER BY id"
    more = spark.sql("SELECT 'd' AS v, 4 AS id, NULL AS a, NULL AS ts")
    more.write.format("paimon").mode("append").save(path)
    assert rows(spark, sql) == [(1, "c"), (2, "b"), (4, "d")]
    more.write.format("paimon").mode("overwrite").save(f"file:{path}/")
    assert rows(spark, sql) == [(4, "d")]

    wider = spark.sql("SELECT 5 AS id, 'e' AS v, NULL AS ts, array(7L) AS a, map('k', 1.5D) AS m")
    writer = wider.write.format("paimon").mode("append")
    with pytest.raises(AnalysisException, match="TOO_MANY_DATA_COLUMNS"):
        writer.save(path)
    with pytest.raises(UnsupportedError, match="bucket = '7'"):
        more.write.format("paimon").mode("append").option("bucket", "7").save(path)
    writer.option("write.merge-schema", "true").save(path)
    assert rows(spark, "SELECT id, v, m FROM paimon.db.t ORDER BY id") == [
        (4, "d", None),
        (5, "e", {"k": 1.5}),
    ]
    assert dict(spark.table("paimon.db.t").dtypes)["a"] == "array<bigint>"


def test_options_name_the_table_that_is_read_and_written(
    spark: SparkSession, path: str, tmp_path: Path
) -> None:
    named = {"catalog": "paimon", "database": "db", "Table": "t"}
    for given, place in ((named, None), (named, path), ({"catalog": "paimon"}, f"file:{path}/")):
        read = spark.read.format("paimon").options(**given).load(place)
        assert sorted(read.select("id", "v").collect()) == [(1, "c"), (2, "b")]
    snapshots = {**named, "Table": "t$snapshots"}
    assert spark.read.format("paimon").options(**snapshots).load().count() == 2

    more = spark.sql("SELECT 'd' AS v, 4 AS id, NULL AS a, NULL AS ts")
    more.write.format("paimon").options(**named).mode("append").save()
    sql = "SELECT id, v FROM paimon.db.t ORDER BY id"
    assert rows(spark, sql) == [(1, "c"), (2, "b"), (4, "d")]
    more.write.format("paimon").options(**named).mode("overwrite").save(path)
    assert rows(spark, sql) == [(4, "d")]

    def refuse(match: str, place: str | None = path, **given: str) -> None:
        with pytest.raises(UnsupportedError, match=match):
            spark.read.format("paimon").options(**given).load(place)
        with pytest.raises(UnsupportedError, match=match):
            more.write.format("paimon").options(**given).mode("append").save(place)

    refuse(
        "database = 'db', table = 't' is not supported: name the catalog", None, **named_of("dt")
    )
    refuse("name database and table as well", None, catalog="paimon")
    refuse("has no Paimon catalog of that name", catalog="spark_catalog", database="db", table="t")
    refuse("has no Paimon catalog of that name", catalog="nope")
    refuse(f"db.t is in {path}", str(tmp_path / "t"), **named_of("cdt"))
    with pytest.raises(UnsupportedError, match="catalog and a schema"):
        spark.read.format("paimon").options(**named).schema("v STRING").load()
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.read.format("paimon").options(**{**named, "Table": "nope"}).load()
    assert rows(spark, sql) == [(4, "d")]


def named_of(letters: str) -> dict[str, str]:
    """Return the options that name ``paimon.db.t``, chosen by their first letters."""
    every = {"catalog": "paimon", "database": "db", "table": "t"}
    return {key: value for key, value in every.items() if key[0] in letters}


def test_a_folder_is_read_as_its_table_is(spark: SparkSession, path: str) -> None:
    read = spark.read.format("paimon").load(path).where("id = 1").select("v")
    plan = read._jdf.queryExecution().toString()

    assert "PythonTable" not in plan
    assert "filter: id = 1" in plan
    changelog = spark.read.format("paimon").option("read.changelog", "true").load(path)
    assert sorted(changelog.select("rowkind", "id").collect()) == [("+I", 1), ("+I", 2)]


def test_tables_are_streamed_by_folder_and_options(
    spark: SparkSession, path: str, tmp_path: Path
) -> None:
    read = spark.readStream.format("paimon")
    changes = read.option("read.changelog", "true").load(path)
    named = spark.readStream.format("paimon").options(**named_of("cdt")).load()
    for number, stream in enumerate((changes, named)):
        writer = stream.writeStream.format("memory").queryName(f"streamed_{number}")
        writer.trigger(availableNow=True).start().awaitTermination()
    assert sorted(rows(spark, "SELECT rowkind, id FROM streamed_0")) == [("+I", 1), ("+I", 2)]
    assert sorted(rows(spark, "SELECT id, v FROM streamed_1")) == [(1, "c"), (2, "b")]


def test_streams_go_into_folders(
    spark: SparkSession, catalog: Catalog, path: str, tmp_path: Path
) -> None:
    spark.sql("CREATE TABLE paimon.db.sink (id INT, v STRING)")
    sink = plain_table(catalog, "db.sink")

    def started(number: int, where: str | None, **options: str) -> None:
        changes = spark.readStream.table("paimon.db.t").select("id", "v")
        writing = changes.writeStream.format("paimon").options(**options)
        writing = writing.option("checkpointLocation", str(tmp_path / f"{number}"))
        writing.trigger(availableNow=True).start(where).awaitTermination()

    started(1, sink.path)
    started(2, f"file:{sink.path}/")
    started(3, None, catalog="paimon", database="db", table="sink")
    forget_last_batch(tmp_path / "3")
    started(3, None, catalog="paimon", database="db", table="sink")

    assert sorted(rows(spark, "SELECT id, v FROM paimon.db.sink")) == sorted(
        [(1, "c"), (2, "b")] * 3
    )
    assert sink.scan().snapshot is not None
    for number, (where, options, said) in enumerate(
        (
            (None, {}, "start.. without a path"),
            (f"{tmp_path}/w/db.db/t", {}, "no catalog of the Spark session has a table there"),
            (sink.path, {"bucket": "3"}, "bucket"),
            (sink.path, {"catalog": "paimon", "table": "t"}, "db.t is in"),
        )
    ):
        with pytest.raises((PaimonError, StreamingQueryException), match=said):
            started(10 + number, where, **options)


def test_a_new_table_of_another_format_names_the_one_to_give(
    spark: SparkSession, path: str, tmp_path: Path
) -> None:
    changes = spark.readStream.table("paimon.db.t")
    writing = changes.writeStream.option("checkpointLocation", str(tmp_path / "c"))
    with pytest.raises(UnsupportedError, match=r"USING parquet for db\.n .*\.format\('paimon'\)"):
        writing.toTable("paimon.db.n")
    with pytest.raises(UnsupportedError, match=r"USING parquet for db\.n .*\.format\('paimon'\)"):
        spark.table("paimon.db.t").write.saveAsTable("paimon.db.n")


def test_data_frames_create_append_to_and_replace_tables_by_name(
    spark: SparkSession, catalog: Catalog
) -> None:
    made = spark.range(3)
    writer = made.write.format("paimon")
    writer.saveAsTable("paimon.db.t")
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_ALREADY_EXISTS"):
        writer.mode("error").saveAsTable("paimon.db.t")
    writer.mode("ignore").saveAsTable("paimon.db.t")
    writer.mode("append").saveAsTable("paimon.db.t")
    writer.insertInto("paimon.db.t")
    assert spark.table("paimon.db.t").count() == 9

    writer.mode("overwrite").saveAsTable("paimon.db.t")
    assert sorted(rows(spark, "SELECT * FROM paimon.db.t")) == [(0,), (1,), (2,)]
    spark.range(7).write.mode("overwrite").insertInto("paimon.db.t")
    assert spark.table("paimon.db.t").count() == 7


def test_options_of_a_writer_define_a_new_table(spark: SparkSession, catalog: Catalog) -> None:
    made = spark.range(3).selectExpr("id", "'x' AS dt")
    writer = made.write.format("paimon").partitionBy("dt").option("primary-key", "id, dt")
    writer = writer.option("bucket", "2").option("target-file-size", "64MB")
    writer = writer.option("write.merge-schema", "true")
    writer.option("write.merge-schema.explicit-cast", "true").saveAsTable("paimon.db.t")

    table = plain_table(catalog, "db.t")
    assert (table.primary_keys, table.partition_keys) == (("id", "dt"), ("dt",))
    assert table.options == {"bucket": "2", "target-file-size": "64MB"}
    writer = made.write.format("paimon").option("bucket", "2").option("primary-key", "id,dt")
    writer.mode("append").saveAsTable("paimon.db.t")
    made.write.format("paimon").mode("append").saveAsTable("paimon.db.t")
    assert spark.table("paimon.db.t").count() == 3
    with pytest.raises(UnsupportedError, match=r"bucket = '3' .*ALTER TABLE"):
        writer.option("bucket", "3").mode("append").saveAsTable("paimon.db.t")
    other = spark.range(1).selectExpr("id", "'y' AS dt").write.format("paimon").partitionBy("dt")
    other = other.option("primary-key", "id,dt").option("bucket", "2").mode("overwrite")
    other.saveAsTable("paimon.db.t")
    assert rows(spark, "SELECT * FROM paimon.db.t") == [(0, "y")]
    assert rows(spark, "SHOW PARTITIONS paimon.db.t") == [("dt=y",)]

    made.writeTo("paimon.db.u").using("paimon").option("bucket", "2").tableProperty(
        "primary-key", "id"
    ).create()
    made.write.mode("append").insertInto("paimon.db.u")

    table = plain_table(catalog, "db.u")
    assert (table.primary_keys, table.options) == (("id",), {"bucket": "2"})
    assert spark.table("paimon.db.u").count() == 3


def test_writers_keep_options_of_iceberg_metadata_with_a_new_table(
    spark: SparkSession, catalog: Catalog
) -> None:
    given = {
        "bucket": "-1",
        "metadata.iceberg.manifest-compression": "snappy",
        "metadata.iceberg.manifest-legacy-version": "true",
        "metadata.iceberg.previous-versions-max": "5",
        "metadata.iceberg.storage": "hadoop-catalog",
        "metadata.iceberg.storage-location": "table-location",
    }
    writer = spark.range(1).write.format("paimon").option("primary-key", "id")
    writer.options(**given).saveAsTable("paimon.db.t")

    table = plain_table(catalog, "db.t")
    assert (table.primary_keys, table.options) == (("id",), given)


def test_no_other_catalog_gets_a_table_that_nobody_can_write_to(
    spark: SparkSession, catalog: Catalog
) -> None:
    with pytest.raises(UnsupportedError, match="catalog of another kind"):
        spark.sql("CREATE TABLE spark_catalog.default.t (id INT) USING paimon")
    with pytest.raises((UnsupportedError, AnalysisException)):
        spark.range(3).write.format("paimon").saveAsTable("spark_catalog.default.t")

    assert rows(spark, "SHOW TABLES IN spark_catalog.default LIKE 't'") == []
