from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyspark
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import (
    SchemaError,
    SnapshotNotFoundError,
    TagNotFoundError,
    UnsupportedError,
)
from paimonlab.table.table import Table

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def table(catalog: Catalog) -> Table:
    """Make a primary-key table: snapshot 1 has 1 and 2, snapshot 2 changes 1, 3 adds 3."""
    made = catalog.create_table(
        "db.t", {"id": "BIGINT", "v": "STRING"}, primary_keys=["id"], options={"bucket": "1"}
    )
    made.write(pa.table({"id": [1, 2], "v": ["a", "b"]}))
    time.sleep(0.02)  # snapshots of different milliseconds
    made.write(pa.table({"id": [1], "v": ["A"]}))
    time.sleep(0.02)
    made.write(pa.table({"id": [3], "v": ["c"]}))
    made.tags.create("first", snapshot=1)
    return made


def values(spark: SparkSession, clause: str) -> str:
    """Read the table as text: ``1a 2b``."""
    sql = f"SELECT id, v FROM paimon.db.t {clause} ORDER BY id"
    return " ".join(f"{row.id}{row.v}" for row in spark.sql(sql).collect())


def moment(millis: int) -> str:
    """Write a time as SQL does, in the session's zone, which is UTC here."""
    return (datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=millis)).strftime(
        "%Y-%m-%d %H:%M:%S.%f"
    )


def test_a_version_is_a_snapshot_a_tag_or_a_watermark(spark: SparkSession, table: Table) -> None:
    writer = table.new_writer("u")
    writer.write(pa.table({"id": [2], "v": ["B"]}))
    table.commit(writer.prepare_commit(1), identifier=1, user="u", watermark=7000)

    for clause, expected in (
        ("", "1A 2B 3c"),
        ("VERSION AS OF 1", "1a 2b"),
        ("VERSION AS OF 2", "1A 2b"),
        ("VERSION AS OF '3'", "1A 2b 3c"),
        ("VERSION AS OF 'first'", "1a 2b"),
        ("FOR SYSTEM_VERSION AS OF 2", "1A 2b"),
        ("VERSION AS OF 'watermark-6999'", "1A 2B 3c"),
    ):
        assert values(spark, clause) == expected, clause
    with pytest.raises(SnapshotNotFoundError, match=r"db\.t"):
        values(spark, "VERSION AS OF 'watermark-7001'")


def test_a_timestamp_is_the_latest_snapshot_at_or_before_it(
    spark: SparkSession, table: Table
) -> None:
    first, second, third = (snapshot.time_millis for snapshot in table.snapshots.list())

    assert values(spark, f"TIMESTAMP AS OF '{moment(first)}'") == "1a 2b"
    assert values(spark, f"TIMESTAMP AS OF '{moment(second - 1)}'") == "1a 2b"
    assert values(spark, f"TIMESTAMP AS OF '{moment(second)}'") == "1A 2b"
    assert values(spark, f"TIMESTAMP AS OF timestamp_millis({third})") == "1A 2b 3c"
    assert values(spark, "TIMESTAMP AS OF '2999-01-01'") == "1A 2b 3c"


def test_a_timestamp_is_read_in_the_sessions_zone(spark: SparkSession, table: Table) -> None:
    first = table.snapshots.list()[0].time_millis
    spark.conf.set("spark.sql.session.timeZone", "+02:00")
    try:
        two_hours_later = moment(first + 2 * 3_600_000)
        assert values(spark, f"TIMESTAMP AS OF '{two_hours_later}'") == "1a 2b"
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_a_point_that_is_not_there_is_an_error(spark: SparkSession, table: Table) -> None:
    for clause in (
        "VERSION AS OF 99",
        "VERSION AS OF 'no-such-tag'",
        "VERSION AS OF 'watermark-5'",
        "TIMESTAMP AS OF '1999-01-01'",
    ):
        with pytest.raises(SnapshotNotFoundError, match=r"db\.t"):
            values(spark, clause)


def test_an_empty_table_has_no_past(spark: SparkSession, catalog: Catalog) -> None:
    catalog.create_table("db.t", {"id": "INT", "v": "STRING"})

    assert values(spark, "") == ""
    with pytest.raises(SnapshotNotFoundError):
        values(spark, "VERSION AS OF 1")


def test_two_versions_meet_in_one_query(spark: SparkSession, table: Table) -> None:
    changed = spark.sql(
        "SELECT new.id, old.v, new.v FROM paimon.db.t new "
        "JOIN paimon.db.t VERSION AS OF 1 old ON new.id = old.id WHERE new.v <> old.v"
    )

    assert [tuple(row) for row in changed.collect()] == [(1, "a", "A")]


def test_the_past_has_the_columns_of_its_time(
    spark: SparkSession, catalog: Catalog, table: Table
) -> None:
    spark.sql("ALTER TABLE paimon.db.t RENAME COLUMN v TO w")
    spark.sql("ALTER TABLE paimon.db.t ADD COLUMN n INT")
    altered = catalog.table("db.t")
    assert isinstance(altered, Table)
    altered.write(pa.table({"id": [4], "w": ["d"], "n": [4]}))

    assert spark.sql("SELECT * FROM paimon.db.t VERSION AS OF 3").columns == ["id", "v"]
    assert spark.sql("SELECT * FROM paimon.db.t VERSION AS OF 4").columns == ["id", "w", "n"]
    assert values(spark, "VERSION AS OF 2") == "1A 2b"


def test_dataframe_options_of_spark_travel_too(spark: SparkSession, table: Table) -> None:
    read = spark.read.option("versionAsOf", "1").table("paimon.db.t")
    stamp = moment(table.snapshots.list()[1].time_millis)
    timed = spark.read.option("timestampAsOf", stamp).table("paimon.db.t")

    assert sorted(row.v for row in read.collect()) == ["a", "b"]
    assert sorted(row.v for row in timed.collect()) == ["A", "b"]


paimon_options = pytest.mark.skipif(
    pyspark.__version__ < "4.3", reason="Spark 4.2 does not tell a catalog the options of a read"
)


@paimon_options
@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("scan.snapshot-id", "2", ["A", "b"]),
        ("scan.tag-name", "first", ["a", "b"]),
        ("scan.version", "first", ["a", "b"]),
    ],
)
def test_paimons_own_options_travel_too(
    key: str, value: str, expected: list[str], spark: SparkSession, table: Table
) -> None:
    frame = spark.read.option(key, value).table("paimon.db.t")

    assert sorted(row.v for row in frame.collect()) == expected


@paimon_options
def test_a_tag_that_is_not_there_is_an_error(spark: SparkSession, table: Table) -> None:
    with pytest.raises(TagNotFoundError, match="frist"):
        spark.read.option("scan.tag-name", "frist").table("paimon.db.t")


@paimon_options
@pytest.mark.parametrize(
    ("query", "said"),
    [
        (
            "t WITH ('scan.mode' = 'latest')",
            r"scan\.mode = 'latest'.* SET spark\.paimon\.scan\.mode",
        ),
        (
            "t VERSION AS OF 1 WITH ('scan.version' = '2')",
            r"scan\.version = '2' with VERSION AS OF",
        ),
        ("`t$files` WITH ('scan.ignore-lost-files' = 'true')", r"scan\.ignore-lost-files"),
    ],
)
def test_an_option_that_a_read_cannot_set_is_refused(
    query: str, said: str, spark: SparkSession, table: Table
) -> None:
    with pytest.raises((UnsupportedError, AnalysisException), match=said):
        spark.sql(f"SELECT * FROM paimon.db.{query}")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM paimon.db.t WITH ('scan.tag-nme' = 'first')",
        "SELECT 1 WHERE EXISTS (SELECT 1 FROM paimon.db.t WITH ('scan.tag-nme' = 'first'))",
        "SELECT * FROM paimon.db.t$files WITH ('scan.tag-nme' = 'first')",
        "INSERT INTO paimon.db.t WITH ('scan.tag-nme' = 'first') VALUES (9, 'x')",
    ],
)
def test_an_option_that_nothing_knows_is_refused_in_sql(
    query: str, spark: SparkSession, table: Table
) -> None:
    with pytest.raises(SchemaError, match=r"'scan\.tag-nme' is not known.*scan\.tag-name"):
        spark.sql(query.replace("t$files", "`t$files`"))

    assert values(spark, "") == "1A 2b 3c"


def test_an_option_that_nothing_knows_is_refused_of_data_frames(
    spark: SparkSession, table: Table
) -> None:
    wrong = {"header": "true"}

    for reading in (spark.read, spark.read.format("paimon")):
        with pytest.raises(SchemaError, match="'header' is not known"):
            reading.options(**wrong).table("paimon.db.t").collect()
    with pytest.raises(SchemaError, match="'header' is not known"):
        spark.readStream.options(**wrong).table("paimon.db.t")
    with pytest.raises(SchemaError, match="'header' is not known"):
        spark.read.format("paimon").options(**wrong).load(table.path)


def test_options_of_one_read_are_not_for_writes(spark: SparkSession, table: Table) -> None:
    row = spark.createDataFrame([(9, "x")], "id bigint, v string")
    refused = (UnsupportedError, AnalysisException)  # Spark 4.3: what was is a view

    with pytest.raises(refused):
        row.writeTo("paimon.db.t").option("scan.tag-name", "first").append()
    with pytest.raises(refused):
        spark.sql("INSERT INTO paimon.db.t WITH ('scan.tag-name' = 'first') VALUES (9, 'x')")

    assert values(spark, "") == "1A 2b 3c"


@paimon_options
def test_options_are_known_in_capital_letters(spark: SparkSession, table: Table) -> None:
    frame = spark.read.option("SCAN.Tag-Name", "first").table("paimon.db.t")

    assert sorted(row.v for row in frame.collect()) == ["a", "b"]


def test_the_past_is_not_written_to(spark: SparkSession, table: Table) -> None:
    with pytest.raises(Exception, match=r"(?i)syntax|time travel"):
        spark.sql("INSERT INTO paimon.db.t VERSION AS OF 1 VALUES (9, 'x')")

    assert table.snapshot is not None
    assert table.snapshot.id == 3


@pytest.mark.skipif(pyspark.__version__ >= "4.3", reason="Spark 4.3 tells a catalog these options")
def test_options_that_spark_keeps_to_itself_are_refused(
    catalog: Catalog, spark: SparkSession
) -> None:
    catalog.create_table("db.t", {"id": "INT"}).write(pa.table({"id": pa.array([1], pa.int32())}))
    reading = spark.read.option("scan.snapshot-id", "1")

    with pytest.raises(UnsupportedError, match=r"scan\.snapshot-id = '1' .* db.t in Spark"):
        reading.table("paimon.db.t")
    query = "SELECT 1 WHERE EXISTS (SELECT 1 FROM paimon.db.t WITH ('scan.tag-name' = 'a'))"
    with pytest.raises(UnsupportedError, match=r"scan\.tag-name"):
        spark.sql(query)
    spark.range(1).createOrReplaceTempView("others")
    assert reading.table("others").count() == 1
