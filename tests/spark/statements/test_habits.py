"""What those type who know other table formats: it works, or the answer is what to type."""

from __future__ import annotations

import re

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.sql_engine import changes, engine
from paimonlab.sql_engine.tables import Sources
from tests.spark.test_ddl import rows

pytestmark = pytest.mark.usefixtures("interpreted")


def test_a_primary_key_is_a_clause(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(
        "CREATE TABLE paimon.db.t (id INT, dt STRING, v STRING, PRIMARY KEY (dt, id) NOT ENFORCED)"
        " PARTITIONED BY (dt)"
    )
    spark.sql("CREATE OR REPLACE TABLE paimon.db.u (id INT PRIMARY KEY, v STRING)")
    spark.sql("INSERT INTO paimon.db.u VALUES (1, 'a'), (1, 'b')")

    table = catalog.table("db.t")
    assert (table.primary_keys, table.partition_keys) == (("dt", "id"), ("dt",))
    assert not table.arrow_schema.field("id").nullable
    assert catalog.table("db.u").scan().to_arrow().to_pylist() == [{"id": 1, "v": "b"}]


@pytest.mark.parametrize(
    ("columns", "properties"),
    [
        ("id INT, CHECK (id > 0)", ""),
        ("id INT, UNIQUE (id)", ""),
        ("id INT, PRIMARY KEY (idd)", ""),
        ("id INT PRIMARY KEY, v INT", "TBLPROPERTIES ('primary-key' = 'v')"),
    ],
)
def test_other_constraints_make_no_table(
    columns: str, properties: str, spark: SparkSession, catalog: Catalog
) -> None:
    with pytest.raises((UnsupportedError, SchemaError)):
        spark.sql(f"CREATE TABLE paimon.db.t ({columns}) {properties}")
    assert catalog.tables("db") == []


def test_optimize_compacts_and_history_is_shown(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql("CREATE TABLE paimon.db.t (id INT PRIMARY KEY, v STRING)")
    for number in (1, 2):
        spark.sql(f"INSERT INTO paimon.db.t VALUES (1, 'v{number}')")
    spark.sql("USE paimon.db")
    try:
        assert rows(spark, "OPTIMIZE t FULL") == [(True,)]
        history = spark.sql("DESCRIBE HISTORY t LIMIT 2").collect()
    finally:
        spark.sql("USE spark_catalog.default")

    assert [(row.snapshot_id, row.commit_kind) for row in history] == [
        (3, "COMPACT"),
        (2, "APPEND"),
    ]
    assert catalog.system_table("db.t$files").scan().count() == 1
    assert catalog.table("db.t").scan().to_arrow().to_pylist() == [{"id": 1, "v": "v2"}]


def test_a_column_of_a_table_called_history_is_described(
    spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql("CREATE TABLE paimon.db.history (a INT)")
    spark.sql("USE paimon.db")
    try:
        described = rows(spark, "DESCRIBE history a")
    finally:
        spark.sql("USE spark_catalog.default")

    assert ("data_type", "int") in described


def test_what_deletes_is_answered_with_calls_that_run(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = catalog.create_table("db.t", {"id": "INT", "v": "STRING"})
    for number in (1, 2, 3):
        table.write([{"id": number, "v": "a"}])
    second = table.snapshots.get(2)
    time = spark.sql(f"SELECT CAST(timestamp_millis({second.time_millis}) AS STRING)").head()
    assert time is not None
    for statement, expected in (
        ("RESTORE TABLE paimon.db.t TO VERSION AS OF 3", [1, 2, 3]),
        (f"RESTORE TABLE paimon.db.t TO TIMESTAMP AS OF '{time[0]}'", [1, 2]),
        ("EXPIRE SNAPSHOTS paimon.db.t", [1, 2]),
        ("VACUUM paimon.db.t RETAIN 1 HOURS DRY RUN", [1, 2]),
        ("CREATE TABLE paimon.db.u DEEP CLONE paimon.db.t", [1, 2]),
        ("ALTER TABLE paimon.db.t CREATE BRANCH b AS OF VERSION 1 RETAIN 7 DAYS", [1, 2]),
        ("ALTER TABLE paimon.db.t CREATE OR REPLACE BRANCH c", [1, 2]),
        ("ALTER TABLE paimon.db.t DROP BRANCH IF EXISTS c", [1, 2]),
        ("ALTER TABLE paimon.db.t DROP TAG c", [1, 2]),
    ):
        before = table.snapshots.ids()
        with pytest.raises(UnsupportedError) as told:
            spark.sql(statement)
        assert table.snapshots.ids() == before
        calls = re.findall(r"CALL [^;]*?\)", str(told.value))
        assert calls
        for call in calls:
            spark.sql(call)
        assert table.snapshots.ids() == expected
    assert catalog.tables("db") == ["t", "u"]
    assert (table.branches.list(), list(table.tags.list())) == (["b"], ["b"])
    counts = [catalog.table(name).scan().count() for name in ("db.t", "db.t$branch_b", "db.u")]
    assert counts == [2, 1, 2]


def test_what_nothing_does_is_answered_with_what_is_like_it(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = catalog.create_table("db.t", {"id": "INT", "dt": "STRING"}, partition_keys=["dt"])
    table.write([{"id": 1, "dt": "a"}, {"id": 2, "dt": "b"}])
    spark.sql("USE paimon.db")
    try:
        for statement, said in (
            ("ALTER TABLE t ADD PARTITION FIELD days(ts)", "partition columns of a table stay"),
            ("ALTER TABLE t WRITE ORDERED BY id", "clustering.incremental"),
            ("ALTER TABLE t SET IDENTIFIER FIELDS id", "PRIMARY KEY"),
            ("SELECT * FROM t.history", r"write `t\$snapshots`, or DESCRIBE HISTORY t"),
            ("SELECT * FROM db.t.HISTORY", r"write `t\$snapshots`, or DESCRIBE HISTORY t"),
            ("SELECT * FROM paimon.db.t.files", r"write `t\$files`"),
            ("SELECT * FROM db.t.tag_monday", "VERSION AS OF 'monday'"),
            ("SELECT * FROM table_changes('t', 1)", "paimon_incremental_query"),
            ("CREATE TABLE u (id INT) CLUSTER BY (id)", "'clustering.columns' = 'id'"),
            (
                "CREATE TABLE u (id INT) PARTITIONED BY (bucket(8, id))",
                "'bucket' = '8', 'bucket-key'",
            ),
            ("CREATE TABLE u (d DATE) PARTITIONED BY (years(d))", "partition by it; d stays"),
        ):
            with pytest.raises(UnsupportedError, match=said):
                spark.sql(statement)
        with pytest.raises(UnsupportedError, match=r"run CALL paimon\.sys\.compact\("):
            spark.sql("CALL paimon.system.rewrite_data_files(table => 'db.t')")
        with pytest.raises(SchemaError, match="like it is 'changelog-producer'"):
            spark.sql("ALTER TABLE t SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')")
        files = catalog.system_table("db.t$files").scan().to_arrow()["file_size_in_bytes"]
        (detail,) = spark.sql("DESCRIBE DETAIL t").collect()
        alike = engine.run(engine.plan("DESCRIBE DETAIL db.t", Sources(catalog))).to_pylist()
        history = rows(spark, "DESCRIBE HISTORY t")
        assert history == [
            tuple(row.values())
            for row in engine.run(
                engine.plan("DESCRIBE HISTORY db.t", Sources(catalog))
            ).to_pylist()
        ]
        assert rows(spark, "REORG TABLE t WHERE dt = 'a' APPLY (PURGE)") == [(True,)]
    finally:
        spark.sql("USE spark_catalog.default")
    assert alike == [detail.asDict()]
    assert detail.asDict() == {
        "format": "paimon",
        "name": "paimon.db.t",
        "description": None,
        "location": table.path,
        "lastModified": detail.lastModified,
        "partitionColumns": ["dt"],
        "primaryKey": [],
        "numFiles": 2,
        "sizeInBytes": sum(files.to_pylist()),
    }
    assert catalog.tables("db") == ["t"]


def test_changes_of_other_databases_are_answered_with_a_merge_that_does_them(
    spark: SparkSession, catalog: Catalog
) -> None:
    """Both engines say the same words; each runs what the other one was told."""
    table = catalog.create_table("db.t", {"id": "INT", "v": "STRING"}, primary_keys=["id"])
    table.write([{"id": number, "v": "a"} for number in (1, 2, 3, 4, 5, 6)])
    catalog.create_table("db.s", {"id": "INT", "v": "STRING"}).write([{"id": 1, "v": "new"}])
    for statement, after in (
        ("UPDATE paimon.db.t SET v = s.v FROM paimon.db.s AS s WHERE s.id = t.id", [1]),
        ("DELETE FROM paimon.db.t AS old USING (SELECT 2 AS k) AS s WHERE old.id = s.k", [1]),
        ("DELETE old FROM paimon.db.t old JOIN (SELECT 6 AS k) s ON s.k = old.id;", [1]),
        (
            "UPDATE paimon.db.t SET v = 'new' WHERE v IS DISTINCT FROM 'new' ORDER BY id LIMIT 1;",
            [1, 3],
        ),
        ("DELETE FROM paimon.db.t WHERE id > 3 ORDER BY id DESC LIMIT 1", [1, 3]),
    ):
        with pytest.raises(UnsupportedError) as told:
            spark.sql(statement)
        with pytest.raises(UnsupportedError) as alike:
            changes.run(statement, Sources(catalog, catalog_name="paimon"))
        assert str(alike.value) == str(told.value)
        merge = told.value.reason.removeprefix("write ")
        if "FROM paimon.db.s" in statement:
            spark.sql(merge)
        else:
            changes.run(merge, Sources(catalog, catalog_name="paimon"))
        found = catalog.table("db.t").scan().to_arrow().to_pylist()
        assert sorted(row["id"] for row in found if row["v"] == "new") == after
    assert sorted(catalog.table("db.t").scan().to_arrow()["id"].to_pylist()) == [1, 3, 4]


def test_names_of_with_are_no_targets(spark: SparkSession, catalog: Catalog) -> None:
    catalog.create_table("db.t", {"id": "INT"}).write([{"id": 1}, {"id": 2}])
    for change in (
        "DELETE FROM c WHERE id = 1",
        "UPDATE c AS x SET id = 3",
        "MERGE INTO C USING paimon.db.t ON c.id = t.id WHEN MATCHED THEN DELETE",
    ):
        statement = f"WITH c AS (SELECT * FROM paimon.db.t) {change}"
        with pytest.raises(UnsupportedError, match="which is a query of WITH") as told:
            spark.sql(statement)
        with pytest.raises(UnsupportedError) as alike:
            changes.run(statement, Sources(catalog, catalog_name="paimon"))
        assert str(alike.value) == str(told.value)
    spark.sql("WITH c AS (SELECT 1 AS id) DELETE FROM paimon.db.t WHERE id IN (SELECT id FROM c)")
    assert catalog.table("db.t").scan().to_arrow().to_pylist() == [{"id": 2}]


def test_tables_of_others_are_left_to_spark(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW plain AS SELECT 1 AS a")
    with pytest.raises(ParseException):
        spark.sql("OPTIMIZE spark_catalog.default.plain")
    with pytest.raises(ParseException):
        spark.sql("DELETE FROM spark_catalog.default.plain LIMIT 1")
    with pytest.raises(ParseException):
        spark.sql("VACUUM '/tmp/somewhere'")
    with pytest.raises(AnalysisException):
        spark.sql("DESCRIBE HISTORY spark_catalog.default.plain")
