"""What the catalog tells of tables: partitions, defaults, functions; and what it does not keep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.catalog import connect as connect_catalog
from paimonlab.errors import DataError, UnsupportedError
from paimonlab.spark import connect
from tests.spark.plans import files_read
from tests.spark.test_ddl import plain_table, rows

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def days(catalog: Catalog) -> str:
    """Make a table of four rows in three files of two days."""
    table = catalog.create_table(
        "db.days", {"id": "INT", "dt": "DATE", "hh": "INT"}, partition_keys=["dt", "hh"]
    )
    schema = table.arrow_schema
    for ids, day, hour in (([1, 2], "2024-01-09", 2), ([3], "2024-01-10", 1), ([4], None, 1)):
        count = len(ids)
        columns = {"id": ids, "dt": [day] * count, "hh": [hour] * count}
        table.write(
            pa.table({name: pa.array(values) for name, values in columns.items()}).cast(schema)
        )
    return "paimon.db.days"


def test_a_partition_has_statistics(spark: SparkSession, catalog: Catalog, days: str) -> None:
    spec = "PARTITION (dt = DATE'2024-01-09', hh = 2)"
    (told,) = (
        row
        for row in catalog.system_table("db.days$partitions").scan().to_arrow().to_pylist()
        if row["partition"] == "dt=2024-01-09/hh=2"
    )

    described = {row[0]: row[1] for row in rows(spark, f"DESCRIBE EXTENDED {days} {spec}")}
    shown = rows(spark, f"SHOW TABLE EXTENDED IN paimon.db LIKE 'days' {spec}")[0][3]

    size = str(told["file_size_in_bytes"])
    assert [described[name] for name in ("recordCount", "fileCount")] == ["2", "1"]
    assert described["fileSizeInBytes"] == size
    for text in ("recordCount: 2", f"fileSizeInBytes: {size}", "lastFileCreationTime: "):
        assert text in shown
    with pytest.raises(AnalysisException, match=r"(?i)partition spec"):
        spark.sql(f"DESCRIBE EXTENDED {days} PARTITION (hh = 1)")


def test_the_greatest_partition_is_a_constant_that_chooses_files(
    spark: SparkSession, catalog: Catalog, days: str
) -> None:
    assert rows(spark, f"SELECT paimon.sys.max_pt('{days}')") == [("2024-01-10",)]
    frame = spark.sql(f"SELECT id FROM {days} WHERE dt = CAST(paimon.SYS.Max_PT('{days}') AS DATE)")
    assert files_read(frame) == 1
    assert [tuple(row) for row in frame.collect()] == [(3,)]
    assert ("paimon.sys.max_pt",) in rows(spark, "SHOW FUNCTIONS IN paimon.sys")
    catalog.create_table("db.none", {"id": "INT", "dt": "INT"}, partition_keys=["dt"])
    catalog.create_table("db.plain", {"id": "INT"})
    for name, error in (("none", DataError), ("plain", UnsupportedError)):
        with pytest.raises(error, match=name):
            spark.sql(f"SELECT paimon.sys.max_pt('paimon.db.{name}')").collect()
    with pytest.raises(UnsupportedError, match=r"sys\.max_pt\('database\.table'\)"):
        spark.sql("SELECT paimon.sys.max_pt(1)")


def test_bucket_functions_say_where_rows_are(spark: SparkSession, catalog: Catalog) -> None:
    types = {"id": "BIGINT", "name": "STRING", "price": "DECIMAL(10, 2)", "dt": "DATE"}
    types |= {"at": "TIMESTAMP", "seen": "TIMESTAMP WITH LOCAL TIME ZONE"}
    names = {"default": "bucket", "mod": "mod_bucket", "hive": "hive_bucket"}
    for table, key, function in (
        ("many", "id,name,price,dt,at,seen", "default"),
        ("one", "name", "default"),
        ("rest", "id", "mod"),
        ("hive", "id,name,price,dt", "hive"),
    ):
        options = {"bucket": "7", "bucket-key": key, "bucket-function.type": function}
        catalog.create_table(f"db.{table}", types, options=options)
        spark.sql(
            f"INSERT INTO paimon.db.{table} SELECT if(id % 9 = 0, NULL, id - 40), "
            "if(id % 7 = 0, NULL, repeat('é', cast(id % 11 AS INT))), id / 3, "
            "if(id % 5 = 0, NULL, date_add(DATE'1969-12-01', cast(id AS INT))), "
            "CAST(timestamp_micros(id * 700001) AS TIMESTAMP_NTZ), "
            "if(id % 3 = 0, NULL, timestamp_micros(-id)) FROM range(80)"
        )
        call = f"paimon.sys.{names[function]}(7, {key})"
        places = f"SELECT {call}, __paimon_bucket FROM paimon.db.{table}"
        found = rows(spark, places)
        assert len(found) == 80
        assert all(ours == stored for ours, stored in found), call
        counts = f"SELECT {call}, count(*) FROM paimon.db.{table} WHERE {call} > 2 GROUP BY {call}"
        stored = [place for _, place in found]
        assert sorted(rows(spark, counts)) == [
            (place, stored.count(place)) for place in sorted(set(stored)) if place > 2
        ]

    signs = "paimon.sys.mod_bucket(3, -7), paimon.sys.mod_bucket(3, NULL :: INT)"
    assert rows(spark, f"SELECT {signs}") == [(2, 0)]
    for call, advice in (
        ("bucket('a', 1)", "number of buckets"),
        ("bucket(4)", "number of buckets"),
        ("bucket(4, array(1))", "dates"),
        ("mod_bucket(4, 'a')", "INT or BIGINT"),
        ("hive_bucket(4, array(1))", "dates and truth values"),
    ):
        with pytest.raises(UnsupportedError, match=advice):
            spark.sql(f"SELECT paimon.sys.{call}")


def test_nested_defaults_are_those_of_plain_spark(spark: SparkSession, catalog: Catalog) -> None:
    columns = (
        "id INT, m MAP<INT, STRING> DEFAULT map(9, 'it''s', 10, NULL), a ARRAY<DOUBLE> DEFAULT "
        "array(1D, 2.5D), e ARRAY<INT> DEFAULT array(), s STRUCT<x: INT, d: DATE> DEFAULT "
        "named_struct('x', 1, 'd', DATE'2024-01-01')"
    )
    spark.sql(f"CREATE TABLE spark_catalog.default.defaults ({columns}) USING parquet")
    try:
        spark.sql(f"CREATE TABLE paimon.db.t ({columns})")
        for table in ("spark_catalog.default.defaults", "paimon.db.t"):
            spark.sql(f"INSERT INTO {table} (id) VALUES (1)")
            spark.sql(f"INSERT INTO {table} (id, a) VALUES (2, array(7))")

        found: Any = rows(spark, "SELECT * FROM paimon.db.t ORDER BY id")
        assert found == rows(spark, "SELECT * FROM spark_catalog.default.defaults ORDER BY id")
    finally:
        spark.sql("DROP TABLE spark_catalog.default.defaults")
    spark.sql("ALTER TABLE paimon.db.t ALTER COLUMN a SET DEFAULT ARRAY(3D)")
    spark.sql("INSERT INTO paimon.db.t (id) VALUES (3)")
    assert rows(spark, "SELECT a FROM paimon.db.t WHERE id = 3") == [([3.0],)]
    assert plain_table(catalog, "db.t").schema.field("a").default_value == "ARRAY(3D)"
    with pytest.raises(UnsupportedError, match="of literals"):
        spark.sql("CREATE TABLE paimon.db.u (d ARRAY<DATE> DEFAULT array(current_date()))")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("CREATE VIEW paimon.db.v AS SELECT id FROM paimon.db.days", "CREATE TEMPORARY VIEW"),
        (
            "CREATE OR REPLACE VIEW paimon.db.v AS SELECT 1 AS x",
            "CREATE VIEW db.v in catalog paimon",
        ),
        ("CREATE FUNCTION paimon.db.f (x INT) RETURNS INT RETURN x + 1", "TEMPORARY FUNCTION"),
        ("CREATE FUNCTION paimon.db.f AS 'a.B'", "CREATE FUNCTION db.f in catalog paimon"),
    ],
)
@pytest.mark.usefixtures("days")
def test_what_a_catalog_of_files_cannot_keep_is_refused(
    statement: str, message: str, spark: SparkSession
) -> None:
    with pytest.raises(UnsupportedError, match=message):
        spark.sql(statement)


def test_temporary_views_follow_the_table_and_other_catalogs_keep_theirs(
    spark: SparkSession, days: str
) -> None:
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW of_days AS SELECT id FROM {days} WHERE hh = 1")
    spark.sql(f"INSERT INTO {days} VALUES (5, DATE'2024-02-01', 1)")
    assert sorted(rows(spark, "SELECT * FROM of_days")) == [(3,), (4,), (5,)]
    spark.sql("CREATE OR REPLACE VIEW spark_catalog.default.one AS SELECT 1 AS x")
    assert rows(spark, "SELECT * FROM spark_catalog.default.one") == [(1,)]
    spark.sql("DROP VIEW spark_catalog.default.one")
    spark.catalog.dropTempView("of_days")


def test_what_show_create_table_says_makes_the_table_again(
    spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(
        "CREATE TABLE paimon.db.t (id INT NOT NULL COMMENT 'i''d', v STRING DEFAULT '', c CHAR(3), "
        "a ARRAY<INT> DEFAULT array(1), dt DATE) PARTITIONED BY (dt) COMMENT 'a \\'t\\'' "
        "TBLPROPERTIES ('primary-key' = 'id,dt', 'bucket' = '2')"
    )

    ((said,),) = rows(spark, "SHOW CREATE TABLE paimon.db.t")
    spark.sql(said.replace("paimon.db.t ", "paimon.db.u "))

    made, again = plain_table(catalog, "db.t").schema, plain_table(catalog, "db.u").schema
    assert (made.fields, made.primary_keys, made.partition_keys, made.comment) == (
        again.fields,
        again.primary_keys,
        again.partition_keys,
        again.comment,
    )
    assert made.options == again.options


def test_a_cached_table_has_what_is_written_to_it(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql("CREATE TABLE paimon.db.t (id INT) COMMENT 'c'")
    spark.sql("CACHE TABLE paimon.db.t")
    spark.sql("CACHE LAZY TABLE some AS SELECT id FROM paimon.db.t")

    spark.sql("INSERT INTO paimon.db.t VALUES (1), (2)")

    assert rows(spark, "SELECT id FROM paimon.db.t ORDER BY id") == [(1,), (2,)]
    plain_table(catalog, "db.t").write({"id": pa.array([3], pa.int32())})
    spark.sql("REFRESH TABLE paimon.db.t")
    assert rows(spark, "SELECT max(id) FROM paimon.db.t") == [(3,)]
    for statement in ("UNCACHE TABLE paimon.db.t", "UNCACHE TABLE some", "DROP VIEW some"):
        spark.sql(statement)
    with pytest.raises(AnalysisException, match="AS JSON is not supported for v2 tables"):
        spark.sql("DESCRIBE TABLE EXTENDED paimon.db.t AS JSON")


def test_columns_are_not_replaced(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql("CREATE TABLE paimon.db.t (id INT, v STRING)")
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 'a')")

    for columns in ("id INT, w BIGINT", "x INT"):
        with pytest.raises(UnsupportedError, match=r"REPLACE COLUMNS with (id|x).*use DROP COLUMN"):
            spark.sql(f"ALTER TABLE paimon.db.t REPLACE COLUMNS ({columns})")

    assert rows(spark, "SELECT * FROM paimon.db.t") == [(1, "a")]


def test_files_and_tables_of_other_formats_are_read_beside_tables_of_ours(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    catalog.create_table("db.t", {"id": "BIGINT"}).write(pa.table({"id": [1, 2]}))
    pq.write_table(pa.table({"id": [2, 3]}), tmp_path / "a.parquet")
    other = spark.newSession()
    connect(catalog.path, spark=other)
    other.sql("CREATE TABLE spark_catalog.default.pq (id BIGINT) USING parquet")
    try:
        other.sql("INSERT INTO spark_catalog.default.pq VALUES (2), (4)")
        other.sql("USE paimon.db")

        assert rows(other, f"SELECT count(*) FROM parquet.`{tmp_path}/a.parquet`") == [(2,)]
        assert rows(
            other,
            f"SELECT id FROM t JOIN parquet.`{tmp_path}/a.parquet` USING (id) "
            "JOIN spark_catalog.default.pq USING (id)",
        ) == [(2,)]
    finally:
        spark.sql("DROP TABLE spark_catalog.default.pq")


def test_an_option_says_which_database_is_current_at_first(
    spark: SparkSession, tmp_path: Path
) -> None:
    opened = connect_catalog({"warehouse": str(tmp_path), "defaultDatabase": "mine"})
    opened.create_database("mine")
    opened.create_table("mine.t", {"id": "INT"})
    connect({"warehouse": str(tmp_path), "defaultDatabase": "mine"}, catalog="other", spark=spark)

    spark.sql("USE other")
    try:
        assert rows(spark, "SHOW TABLES") == [("mine", "t", False)]
        assert rows(spark, "SELECT count(*) FROM t") == [(0,)]
        spark.sql("DROP TABLE t")
        assert opened.tables("mine") == []
    finally:
        spark.sql("USE spark_catalog.default")
