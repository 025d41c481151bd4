from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import paimonlab as pl
from paimonlab.catalog import Catalog
from paimonlab.catalog.hive.catalog import HiveCatalog
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spark import connect
from tests.catalog.conftest import hive as hive  # noqa: PLC0414 - a fixture
from tests.catalog.conftest import hive_uri as hive_uri  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.usefixtures("interpreted")

NAME = "metastore"


@pytest.fixture
def catalog(spark: SparkSession, hive_uri: str, tmp_path: Path) -> Iterator[Catalog]:
    options = {
        "metastore": "hive",
        "uri": hive_uri,
        "warehouse": str(tmp_path / "w"),
        "lock.enabled": "true",
    }
    connect(options, catalog=NAME, spark=spark)
    yield pl.connect(options)
    spark.sql("USE spark_catalog.default")


def rows(spark: SparkSession, query: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in spark.sql(query).collect())


def known_partitions(catalog: Catalog, table: str = "u") -> list[str]:
    """Return the partitions that the metastore knows."""
    assert isinstance(catalog, HiveCatalog)
    return sorted(catalog._metastore.ask("get_partition_names", "db", table, -1))


def parameters(catalog: Catalog, table: str, database: str = "db") -> dict[str, str]:
    """Return the parameters that the metastore knows of a table."""
    assert isinstance(catalog, HiveCatalog)
    return dict(catalog._metastore.ask("get_table", database, table).parameters)


def test_spark_has_the_tables_and_views_of_a_metastore(
    spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(f"CREATE DATABASE {NAME}.db COMMENT 'ours' WITH DBPROPERTIES ('a' = '1')")
    spark.sql(
        f"CREATE TABLE {NAME}.db.t (id BIGINT NOT NULL, day STRING NOT NULL, v STRING) "
        "PARTITIONED BY (day) TBLPROPERTIES ('primary-key' = 'id,day', 'bucket' = '2', "
        "'metastore.partitioned-table' = 'true')"
    )
    spark.sql(f"INSERT INTO {NAME}.db.t VALUES (1, 'x', 'a'), (2, 'y', 'b')")
    spark.sql(f"UPDATE {NAME}.db.t SET v = 'c' WHERE id = 2")
    spark.sql(f"ALTER TABLE {NAME}.db.t ADD COLUMN w INT")
    spark.sql(f"ALTER TABLE {NAME}.db.t RENAME TO u")
    assert known_partitions(catalog) == ["day=x", "day=y"]
    spark.sql(f"ALTER TABLE {NAME}.db.u DROP PARTITION (day = 'x')")
    assert known_partitions(catalog) == ["day=y"]
    spark.sql(f"CREATE VIEW {NAME}.db.w AS SELECT id + 1 AS n FROM {NAME}.db.u")

    assert (catalog.tables("db"), catalog.databases()) == (["u"], ["db", "default"])
    assert rows(spark, f"SELECT * FROM {NAME}.db.u") == [(2, "y", "c", None)]
    assert rows(spark, f"SHOW PARTITIONS {NAME}.db.u") == [("day=y",)]
    assert rows(spark, f"SELECT * FROM {NAME}.db.w") == [(3,)]
    assert catalog.database_options("db").items() >= {"comment": "ours", "a": "1"}.items()

    spark.sql(f"ALTER DATABASE {NAME}.db SET DBPROPERTIES ('a' = '2')")
    assert catalog.database_options("db")["a"] == "2"
    spark.sql(f"CREATE OR REPLACE TABLE {NAME}.db.r AS SELECT 2 AS id, 'x' AS v")
    spark.sql(f"CALL {NAME}.sys.repair('db')")
    spark.sql(f"DROP VIEW {NAME}.db.w")
    spark.sql(f"DROP DATABASE {NAME}.db CASCADE")
    assert catalog.databases() == ["default"]


def test_tables_are_where_their_maker_says(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    place = tmp_path / "elsewhere"
    spark.sql(f"USE {NAME}")
    spark.sql("CREATE DATABASE db")
    spark.sql(
        "CREATE TABLE db.t (id INT, pt INT) USING paimon PARTITIONED BY (pt) "
        f"TBLPROPERTIES ('primary-key' = 'id,pt', 'bucket' = '1') LOCATION '{place}'"
    )
    spark.sql("INSERT INTO db.t VALUES (1, 1)")
    assert catalog.table("db.t").path == str(place)
    described = spark.sql("DESCRIBE EXTENDED db.t").select("col_name", "data_type")
    shown: dict[str, str] = dict(described.collect())
    assert (shown["Type"], shown["Location"]) == ("EXTERNAL", str(place))

    spark.sql(f"CREATE TABLE db.again USING paimon LOCATION '{place}'")
    spark.sql(f"CREATE TABLE db.same (id INT NOT NULL, pt INT NOT NULL) LOCATION '{place}'")
    spark.sql("INSERT OVERWRITE db.again PARTITION (pt = 2) SELECT 2")
    for name in ("t", "again", "same"):
        assert rows(spark, f"SELECT * FROM db.{name}") == [(1, 1), (2, 2)]
        assert rows(spark, f"SHOW PARTITIONS db.{name}") == [("pt=1",), ("pt=2",)]
    spark.sql("ALTER TABLE db.same RENAME TO db.renamed")
    assert catalog.table("db.renamed").path == str(place)
    spark.sql(f"CREATE TABLE db.like_it LIKE db.t LOCATION '{tmp_path / 'like'}'")
    assert catalog.table("db.like_it").path == str(tmp_path / "like")
    for columns, query in (("(other INT)", ""), ("", "AS SELECT 3 AS id")):
        with pytest.raises(SchemaError, match="has other columns"):
            spark.sql(f"CREATE TABLE db.wrong {columns} USING paimon LOCATION '{place}' {query}")
    with pytest.raises(SchemaError, match="there is no table in"):
        spark.sql(f"CREATE TABLE db.wrong USING paimon LOCATION '{tmp_path / 'nothing'}'")
    assert catalog.tables("db") == ["again", "like_it", "renamed", "t"]
    spark.sql("CREATE TABLE db.managed (id INT, old INT, s STRUCT<a: INT, b: INT>, n INT)")
    spark.sql("INSERT INTO db.managed VALUES (1, 0, struct(2, 3), 4)")
    managed = Path(catalog.table("db.managed").path)
    evolving = ("DROP COLUMN n", "ADD COLUMN n INT", "DROP COLUMN s.a", "ADD COLUMN s.a INT")
    for change in (*evolving, "DROP COLUMN old"):
        spark.sql(f"ALTER TABLE db.managed {change}")
    evolved = "(id INT, s STRUCT<b: INT, a: INT>, n INT)"
    spark.sql(f"CREATE TABLE db.evolved {evolved} LOCATION '{managed}'")
    assert rows(spark, "SELECT id, s.b, s.a, n FROM db.evolved") == [(1, 3, None, None)]
    with pytest.raises(SchemaError, match="there are rows in"):
        spark.sql(f"CREATE TABLE db.wrong LOCATION '{managed}' AS SELECT * FROM db.evolved")
    assert len(rows(spark, "SELECT id FROM db.evolved")) == 1
    spark.sql("CREATE EXTERNAL TABLE db.kept (id INT)")
    kept = Path(catalog.table("db.kept").path)
    spark.sql("DROP TABLE db.kept")
    assert (kept / "schema" / "schema-0").is_file()
    for name in ("t", "again", "managed"):
        spark.sql(f"DROP TABLE db.{name}")
    assert (place / "snapshot").is_dir()
    assert not managed.exists()
    assert rows(spark, "SELECT * FROM db.renamed") == [(1, 1), (2, 2)]


def test_databases_and_partitions_are_those_of_the_metastore(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    spark.sql(f"CREATE DATABASE {NAME}.db LOCATION '{place}' COMMENT 'a comment'")
    options = catalog.database_options("db")
    assert (options["location"].removeprefix("file:"), options["comment"]) == (
        str(place),
        "a comment",
    )
    spark.sql(f"USE {NAME}.db")
    spark.sql(
        "CREATE TABLE u (id STRING, name STRING, pt STRING) USING paimon "
        "PARTITIONED BY (name, pt) TBLPROPERTIES ('metastore.partitioned-table' = 'true')"
    )
    assert catalog.table("db.u").path == f"{place}/u"
    spark.sql("INSERT INTO u VALUES ('1', 'n', 'cc'), ('1', 'n1', 'aa'), ('1', 'n2', 'bb')")
    assert known_partitions(catalog) == ["name=n/pt=cc", "name=n1/pt=aa", "name=n2/pt=bb"]
    spark.sql(
        "ALTER TABLE u DROP PARTITION (name='n1', `pt`='aa'), PARTITION (name='n2', `pt`='bb')"
    )
    assert rows(spark, "SHOW PARTITIONS u") == [("name=n/pt=cc",)]
    assert known_partitions(catalog) == ["name=n/pt=cc"]
    spark.sql("ALTER TABLE u SET TBLPROPERTIES ('write-buffer-spillable' = 'true')")
    assert "write-buffer-spillable" in parameters(catalog, "u")
    spark.sql("ALTER TABLE u UNSET TBLPROPERTIES ('write-buffer-spillable')")
    assert "write-buffer-spillable" not in parameters(catalog, "u")
    spark.sql("CREATE TABLE t1 (a INT, b INT DEFAULT 3) USING paimon")
    spark.sql("INSERT INTO t1 (a) VALUES (1)")
    assert rows(spark, "SELECT * FROM t1") == [(1, 3)]
    spark.sql("CREATE TABLE t2 USING paimon PARTITIONED BY (a) AS SELECT * FROM t1")
    assert catalog.table("db.t2").partition_keys == ("a",)
    with pytest.raises(UnsupportedError, match="location"):
        spark.sql("ALTER DATABASE db SET LOCATION '/elsewhere'")
    with pytest.raises(SchemaError, match="lower case"):
        spark.sql("CREATE TABLE tT (aA INT)")
    spark.sql("CREATE TABLE tt (aA INT)")
    spark.sql("INSERT INTO tt VALUES (1)")
    assert rows(spark, "SELECT aa FROM tt") == [(1,)]
    spark.sql(
        "CREATE TABLE e (id INT, pt STRING) PARTITIONED BY (pt) "
        "TBLPROPERTIES ('metastore.partitioned-table' = 'true')"
    )
    spark.sql("INSERT INTO e VALUES (1, '2024-06-01'), (2, '9998-06-01')")
    spark.sql(
        "CALL sys.expire_partitions(table => 'db.e', expiration_time => '1 d', "
        "timestamp_formatter => 'yyyy-MM-dd')"
    )
    assert known_partitions(catalog, "e") == ["pt=9998-06-01"]
    spark.range(2).write.format("paimon").mode("append").saveAsTable(f"{NAME}.db.frame")
    spark.range(2).write.format("paimon").mode("append").saveAsTable(f"{NAME}.db.frame")
    assert rows(spark, "SELECT * FROM frame") == [(0,), (0,), (1,), (1,)]
    spark.sql("CREATE VIEW v AS SELECT * FROM t1")
    spark.sql(f"USE {NAME}.default")
    spark.sql("DROP DATABASE db CASCADE")
    assert catalog.databases() == ["default"]


def test_format_tables_are_those_of_the_metastore(spark: SparkSession, catalog: Catalog) -> None:
    assert isinstance(catalog, HiveCatalog)
    spark.sql(f"CREATE DATABASE {NAME}.db")
    spark.sql(f"USE {NAME}.db")
    spark.sql("CREATE TABLE o (a INT, b STRING) USING orc")
    spark.sql(
        "CREATE TABLE c (a INT, b STRING) USING csv OPTIONS ('csv.field-delimiter' ';') "
        "PARTITIONED BY (p INT)"
    )
    spark.sql("INSERT INTO c VALUES (1, 'x;y', 7), (2, NULL, 8)")
    spark.sql("INSERT INTO o SELECT a, b FROM c")

    assert rows(spark, "SELECT * FROM o") == [(1, "x;y"), (2, None)]
    assert rows(spark, "SELECT a FROM c WHERE p = 7") == [(1,)]
    assert [row.tableName for row in spark.sql("SHOW TABLES").collect()] == ["c", "o"]
    assert "'csv.field-delimiter' = ';'" in str(rows(spark, "SHOW CREATE TABLE c"))
    assert parameters(catalog, "c")["table_type"] == "CSV"
    assert catalog.format_table("db.o").to_arrow().num_rows == 2
    with pytest.raises(UnsupportedError, match="TIMESTAMP"):
        spark.sql("CREATE TABLE t (at TIMESTAMP) USING parquet")
    spark.sql("DROP TABLE c")
    spark.sql(f"DROP DATABASE {NAME}.db CASCADE")
    assert catalog.databases() == ["default"]


def test_paimon_stands_beside_other_formats_over_a_metastore(
    spark: SparkSession, hive_uri: str, tmp_path: Path
) -> None:
    options = {"metastore": "hive", "uri": hive_uri, "warehouse": str(tmp_path / "w")}
    session = spark.newSession()
    connect(options, catalog="spark_catalog", spark=session)
    behind = pl.connect(options)
    session.sql("CREATE DATABASE both")
    session.sql("USE both")
    session.sql(
        "CREATE TABLE p (id INT, v STRING) USING paimon "
        "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1')"
    )
    session.sql("CREATE TABLE q USING parquet AS SELECT 2 AS id, 'B' AS v UNION SELECT 3, 'C'")
    session.sql("INSERT INTO p VALUES (1, 'a'), (2, 'b')")
    session.sql(
        "MERGE INTO p USING q ON p.id = q.id WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *"
    )

    assert rows(session, "SELECT * FROM p") == [(1, "a"), (2, "B"), (3, "C")]
    assert rows(session, "SELECT count(*) FROM p JOIN q USING (id, v)") == [(2,)]
    assert [row.tableName for row in session.sql("SHOW TABLES").collect()] == ["p", "q"]
    assert (behind.databases(), behind.tables("both")) == (["both", "default"], ["p"])
    assert parameters(behind, "p", "both")["table_type"] == "PAIMON"
    with pytest.raises(AnalysisException, match="ALREADY_EXISTS"):
        session.sql("CREATE TABLE q (id INT) USING paimon")
    session.sql("ALTER TABLE p RENAME TO r")
    session.sql("DELETE FROM r WHERE id = 1")
    assert behind.table("both.r").scan().count() == 2
    session.sql("DROP TABLE q")
    assert [row.tableName for row in session.sql("SHOW TABLES").collect()] == ["r"]
    session.sql("USE default")
    session.sql("DROP DATABASE both CASCADE")
    assert behind.databases() == ["default"]
    assert "both" not in {row[0] for row in rows(session, "SHOW DATABASES")}
    spark.sql("USE spark_catalog.default")
