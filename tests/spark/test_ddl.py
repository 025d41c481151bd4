from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import PaimonError, SchemaError, TableNotFoundError, UnsupportedError
from paimonlab.spark import connect
from paimonlab.spec.types.text import format_type
from paimonlab.table.table import Table
from tests.spark.plans import calls_into_jvm

ORDERS = """
CREATE TABLE paimon.db.orders (
  id BIGINT NOT NULL COMMENT 'key', amount DECIMAL(12, 2), note STRING, dt STRING)
PARTITIONED BY (dt)
COMMENT 'all orders'
TBLPROPERTIES ('primary-key' = 'id,dt', 'bucket' = '4')
"""


def rows(spark: SparkSession, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in spark.sql(sql).collect()]


def plain_table(catalog: Catalog, name: str = "db.orders") -> Table:
    table = catalog.table(name)
    assert isinstance(table, Table)
    return table


def columns(catalog: Catalog, name: str = "db.orders") -> dict[str, str]:
    return {
        field.name: format_type(field.type) for field in plain_table(catalog, name).schema.fields
    }


# Databases


def test_databases_are_made_shown_and_dropped(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql("CREATE DATABASE paimon.other")
    spark.sql("CREATE DATABASE IF NOT EXISTS paimon.other")

    assert rows(spark, "SHOW DATABASES IN paimon") == [("db",), ("other",)]
    assert rows(spark, "SHOW NAMESPACES IN paimon LIKE 'o*'") == [("other",)]
    assert ("Namespace Name", "other") in rows(spark, "DESCRIBE DATABASE paimon.other")

    spark.sql("DROP DATABASE paimon.other")

    assert catalog.databases() == ["db"]


def test_a_database_with_tables_is_dropped_by_cascade_only(
    spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(ORDERS)
    with pytest.raises(AnalysisException, match="SCHEMA_NOT_EMPTY"):
        spark.sql("DROP DATABASE paimon.db")
    assert catalog.tables("db") == ["orders"]

    spark.sql("DROP DATABASE paimon.db CASCADE")

    assert catalog.databases() == []


def test_tables_can_be_named_without_catalog_and_database(
    spark: SparkSession, catalog: Catalog
) -> None:
    other = spark.newSession()
    connect(catalog.path, spark=other)
    other.sql("USE paimon")
    assert rows(other, "SHOW TABLES") == []
    other.sql("CREATE TABLE short (id INT)")  # makes the database `default`, which is current
    other.sql("USE paimon.db")
    other.sql("CREATE TABLE shorter (id INT)")

    assert rows(other, "SHOW TABLES IN default") == [("default", "short", False)]
    assert rows(other, "SHOW TABLES") == [("db", "shorter", False)]


@pytest.mark.parametrize(
    ("sql", "condition"),
    [
        ("CREATE DATABASE paimon.db", "SCHEMA_ALREADY_EXISTS"),
        ("DROP DATABASE paimon.nope", "SCHEMA_NOT_FOUND"),
        ("USE paimon.nope", "SCHEMA_NOT_FOUND"),
        ("SHOW TABLES IN paimon.nope", "SCHEMA_NOT_FOUND"),
        ("CREATE TABLE paimon.nope.t (id INT)", "SCHEMA_NOT_FOUND"),
        ("SELECT * FROM paimon.db.nope", "TABLE_OR_VIEW_NOT_FOUND"),
        ("SELECT * FROM paimon.nope.nope", "TABLE_OR_VIEW_NOT_FOUND"),
        ("INSERT INTO paimon.db.nope VALUES (1)", "TABLE_OR_VIEW_NOT_FOUND"),
        ("DROP TABLE paimon.db.nope", "TABLE_OR_VIEW_NOT_FOUND"),
        ("DESCRIBE paimon.db.nope", "TABLE_OR_VIEW_NOT_FOUND"),
        ("ALTER TABLE paimon.db.nope ADD COLUMN c INT", "TABLE_OR_VIEW_NOT_FOUND"),
        ("CREATE TABLE paimon.db.orders (id INT)", "TABLE_OR_VIEW_ALREADY_EXISTS"),
        ("CREATE TABLE paimon.db.t (id INT, id STRING)", "COLUMN_ALREADY_EXISTS"),
        ("ALTER TABLE paimon.db.orders DROP COLUMN nope", "UNRESOLVED_COLUMN"),
        ("DROP VIEW paimon.db.nope", "VIEW_NOT_FOUND"),
        ("SELECT paimon.db.nope(1)", "UNRESOLVED_ROUTINE"),
    ],
)
def test_what_is_missing_or_taken_is_an_analysis_error_of_the_right_condition(
    sql: str, condition: str, spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(ORDERS)

    with pytest.raises(AnalysisException) as caught:
        spark.sql(sql)

    assert str(caught.value.getCondition()).startswith(condition)


def test_what_is_missing_is_told_with_the_names_near_it(
    spark: SparkSession, catalog: Catalog
) -> None:
    for name in ("db.Orders", "db.customers"):
        catalog.create_table(name, {"id": "INT"})
    spark.sql("USE paimon.db")
    try:
        for statement, near in (
            ("SELECT * FROM paimon.db.orders", " Did you mean 'db.Orders'?"),
            ("DELETE FROM custmers", " Did you mean 'db.customers'?"),
            ("SELECT * FROM `orders$files`", " Did you mean 'db.Orders'?"),
            ("INSERT INTO paimon.dbs.Orders VALUES (1)", " Did you mean 'db'?"),
            ("SELECT * FROM paimon.db.zzz", ""),
        ):
            with pytest.raises(AnalysisException) as caught:
                spark.sql(statement)
            assert f"cannot be found.{near} Verify" in str(caught.value)
            assert ("Did you mean" in str(caught.value)) == bool(near)
    finally:
        spark.sql("USE spark_catalog.default")
    with pytest.raises(TableNotFoundError, match=r"not found\. Did you mean 'db\.Orders'\?$"):
        catalog.table("db.orders")


# CREATE TABLE


def test_a_table_gets_its_keys_options_and_comments(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(ORDERS)

    table = plain_table(catalog)
    assert table.primary_keys == ("id", "dt")
    assert table.partition_keys == ("dt",)
    assert table.options == {"bucket": "4"}
    assert table.comment == "all orders"
    assert table.schema.field("id").description == "key"
    assert columns(catalog) == {
        "id": "BIGINT NOT NULL",
        "amount": "DECIMAL(12, 2)",
        "note": "STRING",
        "dt": "STRING NOT NULL",
    }


def test_every_type_of_spark_is_stored_as_paimons(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(
        """
        CREATE TABLE paimon.db.wide (
          a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h DECIMAL(38, 18),
          i CHAR(3), j VARCHAR(9), k STRING, l BINARY, m DATE, n TIMESTAMP_NTZ, o TIMESTAMP,
          p ARRAY<INT>, q MAP<STRING, DOUBLE>, r STRUCT<x: INT, y: ARRAY<STRING>>)
        """
    )

    assert columns(catalog, "db.wide") == {
        "a": "BOOLEAN",
        "b": "TINYINT",
        "c": "SMALLINT",
        "d": "INT",
        "e": "BIGINT",
        "f": "FLOAT",
        "g": "DOUBLE",
        "h": "DECIMAL(38, 18)",
        "i": "CHAR(3)",
        "j": "VARCHAR(9)",
        "k": "STRING",
        "l": "BYTES",
        "m": "DATE",
        "n": "TIMESTAMP(6)",
        "o": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        "p": "ARRAY<INT>",
        "q": "MAP<STRING NOT NULL, DOUBLE>",
        "r": "ROW<x INT, y ARRAY<STRING>>",
    }


def test_options_can_stand_in_options_too(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(
        "CREATE TABLE paimon.db.t (id INT) USING paimon "
        "OPTIONS ('bucket' = '2', 'bucket-key' = 'id')"
    )

    assert plain_table(catalog, "db.t").options == {"bucket": "2", "bucket-key": "id"}


def test_if_not_exists_leaves_what_is_there(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(ORDERS)

    spark.sql("CREATE TABLE IF NOT EXISTS paimon.db.orders (other INT)")

    assert "other" not in columns(catalog)


def test_literal_defaults_are_kept_as_values(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(
        "CREATE TABLE paimon.db.t (a INT DEFAULT 5, b STRING DEFAULT 'it''s', "
        "c DATE DEFAULT DATE '2024-01-31', d DECIMAL(4, 1) DEFAULT 1.5, e INT DEFAULT NULL, f INT)"
    )

    fields = plain_table(catalog, "db.t").schema.fields
    assert [field.default_value for field in fields] == [
        "5",
        "it's",
        "2024-01-31",
        "1.5",
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("(id INT) USING parquet", "USING parquet for db.t"),
        ("(id INT) USING avro", "USING avro"),
        ("(id INT) LOCATION '/elsewhere'", "LOCATION"),
        ("(id INT) PARTITIONED BY (bucket(4, id))", r"bucket\(4, id\)"),
        ("(id INT) PARTITIONED BY (days(d))", "d"),
        ("(id INT) CLUSTERED BY (id) INTO 4 BUCKETS", r"bucket\(4, id\)"),
        ("(id INT) CLUSTER BY (id)", "cluster_by"),
        ("(id INTERVAL DAY)", "'id' of type interval day"),
        ("(id STRING COLLATE UNICODE_CI)", "'id' of type string collate"),
        ("(d DATE DEFAULT current_date())", r"'d' DEFAULT current_date\(\)"),
        ("(id INT) TBLPROPERTIES ('pk-clustering-override' = 'true')", "pk-clustering-override"),
        ("(id INT) TBLPROPERTIES ('bukcet' = '4')", "bukcet"),
        ("(id INT) TBLPROPERTIES ('primary-key' = 'nope', 'bucket' = '1')", "nope"),
        ("(id INT) TBLPROPERTIES ('type' = 'object-table')", "type"),
        ("(id INT, b BINARY) TBLPROPERTIES ('blob-field' = 'b')", "blob-field = 'b'"),
        ("(id INT, v ARRAY<FLOAT>) TBLPROPERTIES ('vector-field' = 'v')", "vector-field = 'v'"),
        ("(id INT) TBLPROPERTIES ('chain-table.enabled' = 'true')", "chain-table.enabled = 'true'"),
        ("(id INT) TBLPROPERTIES ('file.format' = 'lance')", "file.format = 'lance'"),
        ("(id INT) TBLPROPERTIES ('query-auth.enabled' = 'true')", "query-auth.enabled = 'true'"),
        (
            "(id INT) TBLPROPERTIES ('visibility-callback.enabled' = 'true')",
            "visibility-callback.enabled = 'true'",
        ),
        ("(id INT, CHECK (id > 0))", r"CHECK \(id > 0\)"),
        ("(id INT GENERATED ALWAYS AS (1 + 1))", "(?i)generated"),
    ],
)
def test_a_definition_that_cannot_be_is_refused_naming_the_part(
    sql: str, named: str, spark: SparkSession, catalog: Catalog
) -> None:
    with pytest.raises((PaimonError, AnalysisException, ParseException), match=named):
        spark.sql(f"CREATE TABLE paimon.db.t {sql}")

    assert catalog.tables("db") == []


# Looking at tables


def test_tables_are_listed_and_described(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(ORDERS)

    assert rows(spark, "SHOW TABLES IN paimon.db") == [("db", "orders", False)]
    assert rows(spark, "SHOW TABLES IN paimon.db LIKE 'x*'") == []
    assert rows(spark, "SHOW COLUMNS IN paimon.db.orders") == [
        ("id",),
        ("amount",),
        ("note",),
        ("dt",),
    ]
    assert rows(spark, "DESCRIBE paimon.db.orders") == [
        ("id", "bigint", "key"),
        ("amount", "decimal(12,2)", None),
        ("note", "string", None),
        ("dt", "string", None),
        ("# Partition Information", "", ""),
        ("# col_name", "data_type", "comment"),
        ("dt", "string", None),
    ]
    assert spark.catalog.tableExists("paimon.db.orders")
    assert not spark.catalog.tableExists("paimon.db.nope")
    assert [table.name for table in spark.catalog.listTables("paimon.db")] == ["orders"]


def test_describe_extended_shows_place_and_options(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(ORDERS)

    described = {row[0]: row[1] for row in rows(spark, "DESCRIBE EXTENDED paimon.db.orders")}

    assert described["Comment"] == "all orders"
    assert described["Provider"] == "paimon"
    assert described["Location"] == plain_table(catalog).path
    assert described["Table Properties"] == "[bucket=4,primary-key=id,dt]"


def test_properties_are_shown(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(ORDERS)

    assert rows(spark, "SHOW TBLPROPERTIES paimon.db.orders") == [
        ("bucket", "4"),
        ("primary-key", "id,dt"),
    ]
    assert rows(spark, "SHOW TBLPROPERTIES paimon.db.orders ('bucket')") == [("bucket", "4")]


def test_what_show_create_table_prints_makes_the_same_table(
    spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(ORDERS)
    spark.sql("ALTER TABLE paimon.db.orders ADD COLUMN flag STRING")
    spark.sql("ALTER TABLE paimon.db.orders ALTER COLUMN flag SET DEFAULT 'it''s'")
    before = plain_table(catalog).schema
    statement = rows(spark, "SHOW CREATE TABLE paimon.db.orders")[0][0]

    spark.sql("DROP TABLE paimon.db.orders")
    spark.sql(statement)

    after = plain_table(catalog).schema
    assert after.fields == before.fields
    assert (after.primary_keys, after.partition_keys) == (
        before.primary_keys,
        before.partition_keys,
    )
    assert (after.options, after.comment) == (before.options, before.comment)


def test_there_are_no_views_and_no_functions(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(ORDERS)

    assert rows(spark, "SHOW VIEWS IN paimon.db") == []
    assert rows(spark, "SHOW USER FUNCTIONS IN paimon.db") == []


# ALTER TABLE


def test_columns_are_added_where_they_are_wanted(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(ORDERS)

    spark.sql(
        "ALTER TABLE paimon.db.orders ADD COLUMNS (a INT FIRST, b STRING COMMENT 'b!' AFTER id)"
    )
    spark.sql("ALTER TABLE paimon.db.orders ADD COLUMN c DECIMAL(5, 1)")

    assert list(columns(catalog)) == ["a", "id", "b", "amount", "note", "dt", "c"]
    assert plain_table(catalog).schema.field("b").description == "b!"
    assert columns(catalog)["c"] == "DECIMAL(5, 1)"


def test_columns_are_renamed_retyped_moved_commented_and_dropped(
    spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(ORDERS)

    for change in (
        "RENAME COLUMN note TO remark",
        "ALTER COLUMN amount TYPE DECIMAL(14, 2)",
        "ALTER COLUMN amount COMMENT 'money'",
        "ALTER COLUMN remark FIRST",
        "ALTER COLUMN remark AFTER id",
        "ADD COLUMN gone INT",
        "DROP COLUMN gone",
        "DROP COLUMN IF EXISTS never",
    ):
        spark.sql(f"ALTER TABLE paimon.db.orders {change}")

    assert columns(catalog) == {
        "id": "BIGINT NOT NULL",
        "remark": "STRING",
        "amount": "DECIMAL(14, 2)",
        "dt": "STRING NOT NULL",
    }
    assert plain_table(catalog).schema.field("amount").description == "money"


def test_nested_fields_are_added_and_renamed(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql("CREATE TABLE paimon.db.t (id INT, r STRUCT<x: INT>)")

    spark.sql("ALTER TABLE paimon.db.t ADD COLUMN r.y STRING")
    spark.sql("ALTER TABLE paimon.db.t RENAME COLUMN r.x TO z")

    assert columns(catalog, "db.t")["r"] == "ROW<z INT, y STRING>"


def test_options_and_the_comment_are_set_and_unset(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(ORDERS)

    spark.sql(
        "ALTER TABLE paimon.db.orders SET TBLPROPERTIES ('write-only' = 'true', 'comment' = 'c')"
    )
    assert plain_table(catalog).options == {"bucket": "4", "write-only": "true"}
    assert plain_table(catalog).comment == "c"

    spark.sql("ALTER TABLE paimon.db.orders UNSET TBLPROPERTIES ('write-only')")
    spark.sql("COMMENT ON TABLE paimon.db.orders IS 'd'")
    assert plain_table(catalog).options == {"bucket": "4"}
    assert plain_table(catalog).comment == "d"


def test_defaults_are_set_and_dropped(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(ORDERS)

    spark.sql("ALTER TABLE paimon.db.orders ALTER COLUMN note SET DEFAULT 'none'")
    assert plain_table(catalog).schema.field("note").default_value == "none"

    spark.sql("ALTER TABLE paimon.db.orders ALTER COLUMN note DROP DEFAULT")
    assert plain_table(catalog).schema.field("note").default_value is None


@pytest.mark.parametrize("target", ["db.renamed", "renamed", "paimon.db.renamed"])
def test_a_table_is_renamed(target: str, spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(ORDERS)

    spark.sql(f"ALTER TABLE paimon.db.orders RENAME TO {target}")

    assert catalog.tables("db") == ["renamed"]


def test_a_name_that_is_taken_is_not_overwritten(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(ORDERS)
    spark.sql("CREATE TABLE paimon.db.taken (id INT)")

    with pytest.raises(AnalysisException, match="ALREADY_EXISTS"):
        spark.sql("ALTER TABLE paimon.db.orders RENAME TO db.taken")

    assert catalog.tables("db") == ["orders", "taken"]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("DROP COLUMN id", "id"),
        ("DROP COLUMN dt", "dt"),
        ("RENAME COLUMN dt TO day", "dt"),
        ("ALTER COLUMN id DROP NOT NULL", "id"),
        ("ADD COLUMN id2 INT NOT NULL", "id2"),
        ("ADD COLUMN i INTERVAL DAY", "'i' of type interval"),
        ("SET TBLPROPERTIES ('primary-key' = 'dt')", "primary-key"),
        ("SET TBLPROPERTIES ('pk-clustering-override' = 'true')", "pk-clustering-override"),
        ("SET TBLPROPERTIES ('bukcet' = '4')", "bukcet"),
        ("SET LOCATION '/elsewhere'", "LOCATION"),
        ("CLUSTER BY (id)", "ALTER TABLE … CLUSTER BY"),
        ("ADD CONSTRAINT positive CHECK (id > 0)", "ADD CONSTRAINT"),
        ("DROP CONSTRAINT IF EXISTS positive", "DROP CONSTRAINT"),
    ],
)
def test_a_change_that_cannot_be_is_refused_and_nothing_changes(
    change: str, named: str, spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(ORDERS)
    before = plain_table(catalog).schema

    with pytest.raises((PaimonError, AnalysisException), match=named):
        spark.sql(f"ALTER TABLE paimon.db.orders {change}")

    assert plain_table(catalog).schema == before


def test_all_changes_of_a_statement_happen_or_none(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(ORDERS)

    with pytest.raises(PaimonError):
        spark.sql("ALTER TABLE paimon.db.orders ADD COLUMNS (fine INT, bad INT NOT NULL)")

    assert "fine" not in columns(catalog)


def test_a_definition_takes_few_calls_into_the_jvm(
    spark: SparkSession, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def create(name: str) -> None:
        spark.sql(f"CREATE TABLE paimon.db.{name} (id BIGINT, v STRING)")

    create("first")

    assert calls_into_jvm(monkeypatch, lambda: create("second")) <= 51
    assert catalog.tables("db") == ["first", "second"]


# What is refused


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE VIEW paimon.db.v AS SELECT 1",
        "DROP VIEW paimon.db.orders",
        "DROP TABLE paimon.db.orders PURGE",
        "ANALYZE TABLE paimon.db.orders COMPUTE STATISTICS NOSCAN",
        "CREATE OR REPLACE TABLE paimon.db.`orders$files` (id INT)",
        "CREATE TABLE paimon.db.other USING parquet AS SELECT 1 AS id",
        "ALTER TABLE paimon.db.orders ADD PARTITION (dt = 'x')",
        "ALTER TABLE paimon.db.orders PARTITION (dt = 'x') RENAME TO PARTITION (dt = 'y')",
        "CREATE DATABASE paimon.new COMMENT 'kept nowhere'",
        "CREATE DATABASE paimon.new LOCATION '/elsewhere'",
        "ALTER DATABASE paimon.db SET DBPROPERTIES ('a' = 'b')",
        "CREATE TABLE paimon.a.b.c (id INT)",
        "CREATE TABLE paimon.db.`t$snapshots` (id INT)",
    ],
)
def test_a_statement_that_is_not_there_is_refused_loudly(
    sql: str, spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(ORDERS)

    with pytest.raises((PaimonError, AnalysisException)):
        spark.sql(sql)

    assert catalog.databases() == ["db"]
    assert catalog.tables("db") == ["orders"]
    assert plain_table(catalog).snapshot is None


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (
            "MSCK REPAIR TABLE paimon.db.orders",
            r"MSCK REPAIR TABLE of paimon\.db\.orders.* commits",
        ),
        ("ALTER TABLE paimon.db.orders RECOVER PARTITIONS", r"RECOVER PARTITIONS of .*commits"),
        (
            "LOAD DATA INPATH '/x' INTO TABLE paimon.db.orders",
            r"LOAD DATA INTO TABLE paimon\.db\.orders.* use COPY INTO paimon\.db\.orders FROM ",
        ),
    ],
)
def test_a_statement_about_files_of_hive_says_what_does_it_here(
    sql: str, said: str, spark: SparkSession, catalog: Catalog
) -> None:
    spark.sql(ORDERS)

    with pytest.raises(UnsupportedError, match=said):
        spark.sql(sql)
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql(sql.replace("orders", "missing"))

    assert plain_table(catalog).snapshot is None


def test_dropping_takes_the_table_away(spark: SparkSession, catalog: Catalog) -> None:
    spark.sql(ORDERS)

    spark.sql("DROP TABLE paimon.db.orders")
    spark.sql("DROP TABLE IF EXISTS paimon.db.orders")

    assert catalog.tables("db") == []


def test_a_message_of_paimon_is_not_lost(spark: SparkSession, catalog: Catalog) -> None:
    with pytest.raises(SchemaError) as caught:
        spark.sql("CREATE TABLE paimon.db.t (id INT) TBLPROPERTIES ('bukcet' = '4')")

    assert "Py4J" not in str(caught.value)
    assert "bucket" in str(caught.value)  # what was meant
