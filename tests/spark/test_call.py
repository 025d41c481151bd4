"""CALL in Spark SQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Row, SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import (
    ArgumentError,
    NotFoundError,
    PaimonError,
    ReadOnlyError,
    UnsupportedError,
)
from paimonlab.procedures import PROCEDURES
from paimonlab.spark import connect
from paimonlab.spark.listening import TOLD_KEY, hearing
from paimonlab.table.table import Table

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def table(spark: SparkSession, catalog: Catalog) -> Iterator[Table]:
    """Make a table of three snapshots, with its database current in Spark."""
    made = catalog.create_table(
        "db.t",
        {"k": "INT NOT NULL", "v": "STRING"},
        primary_keys=["k"],
        options={"bucket": "1", "write-only": "true"},
    )
    for value in ("one", "two", "three"):
        made.write(pa.table({"k": pa.array([1], pa.int32()), "v": [value]}))
    spark.sql("USE paimon.db")
    yield made
    spark.sql("USE spark_catalog.default")


def call(spark: SparkSession, text: str, **args: Any) -> list[Row]:
    return spark.sql(f"CALL {text}", args=args or None).collect()


def values(spark: SparkSession) -> list[str]:
    return [row.v for row in spark.sql("SELECT v FROM paimon.db.t").collect()]


@pytest.mark.parametrize(
    "text",
    [
        "paimon.sys.create_tag(table => 'db.t', tag => 'x', snapshot => 2)",
        "sys.create_tag('t', 'x', 2)",
        "SYS.Create_Tag('paimon.db.t', snapshot => 2, TAG => 'x')",
        "sys.create_tag(table => '`db`.`t`', tag => concat('', 'x'), snapshot => 1 + 1)",
    ],
)
def test_arguments_come_by_name_and_by_place(spark: SparkSession, table: Table, text: str) -> None:
    assert call(spark, text) == [Row(result=True)]

    assert {name: tag.id for name, tag in table.tags.list().items()} == {"x": 2}


def test_parameters_of_a_statement_are_arguments(spark: SparkSession, table: Table) -> None:
    call(spark, "sys.create_tag(:t, tag => :tag)", t="t", tag="it's")

    assert list(table.tags.list()) == ["it's"]


def test_the_default_database_is_the_current_one(spark: SparkSession, table: Table) -> None:
    spark.sql("USE spark_catalog.default")

    with pytest.raises(NotFoundError, match="database default not found"):
        call(spark, "paimon.sys.create_tag('t', 'x')")

    assert not table.tags.list()


def test_a_result_has_the_columns_of_the_procedure(spark: SparkSession, table: Table) -> None:
    with hearing(spark) as heard:
        frame = spark.sql("CALL sys.rollback(table => 't', snapshot => 2)")

    assert frame.schema.simpleString() == (
        "struct<previous_snapshot_id:bigint,current_snapshot_id:bigint>"
    )
    assert [tuple(row) for row in frame.collect()] == [(3, 2)]
    assert frame.count() == 1
    assert table.snapshots.latest().id == 2  # type: ignore[union-attr]
    assert heard[0].startswith("back to snapshot 2, without 1 snapshot (3)")
    with hearing(spark) as heard:
        spark.sql("OPTIMIZE t")
    assert heard[0].startswith("db.t: compacted 1 bucket, 2 files")
    assert spark.conf.get(TOLD_KEY, None) is None


def test_what_spark_remembers_of_a_table_is_not_shown_after_a_call(
    spark: SparkSession, table: Table
) -> None:
    spark.sql("CACHE TABLE paimon.db.t")
    assert values(spark) == ["three"]
    call(spark, "sys.rollback('t', snapshot => 1)")
    assert values(spark) == ["one"]
    table.write(pa.table({"k": pa.array([1], pa.int32()), "v": ["again"]}))
    assert values(spark) == ["again"]  # snapshot 2 as before, but another one
    call(spark, "sys.compact('t', compact_strategy => 'full')")
    assert values(spark) == ["again"]
    assert table.snapshot is not None
    assert table.snapshot.commit_kind.value == "COMPACT"
    levels = spark.sql("SELECT level FROM paimon.db.`t$files`").collect()
    assert [row.level for row in levels] == [5]
    spark.sql("UNCACHE TABLE paimon.db.t")


def test_a_call_obeys_options_of_the_session(spark: SparkSession, table: Table) -> None:
    settings = {
        "spark.paimon.snapshot.num-retained.max": "2",
        "spark.paimon.paimon.db.t.snapshot.num-retained.min": "1",
        "spark.paimon.scan.snapshot-id": "2",
    }
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        assert call(spark, "sys.expire_snapshots('t', retain_min => 2)") == [
            Row(deleted_snapshots_count=1)
        ]
        assert call(spark, "sys.expire_snapshots('t', retain_max => 1)") == [
            Row(deleted_snapshots_count=1)
        ]
        spark.conf.set("spark.paimon.bucket", "7")
        with pytest.raises(UnsupportedError, match=r"spark\.paimon\.bucket = '7'"):
            call(spark, "sys.compact('t')")
    finally:
        for key in (*settings, "spark.paimon.bucket"):
            spark.conf.unset(key)

    assert table.snapshots.ids() == [3]


def test_explain_calls_nothing(spark: SparkSession, table: Table) -> None:
    spark.sql("EXPLAIN CALL sys.rollback('t', snapshot => 1)").collect()

    assert table.snapshot is not None
    assert table.snapshot.id == 3


def test_procedures_are_listed_and_described(spark: SparkSession, table: Table) -> None:
    del table
    listed = spark.sql("SHOW PROCEDURES IN paimon.sys").collect()
    described = spark.sql("DESCRIBE PROCEDURE sys.compact").collect()

    assert {(row.catalog, row.schema, row.procedure_name) for row in listed} == {
        ("paimon", "sys", name) for name in PROCEDURES
    }
    assert PROCEDURES["compact"].description in described[1].procedure_desc


def test_every_procedure_can_be_bound(spark: SparkSession, table: Table) -> None:
    del table
    for procedure in PROCEDURES.values():
        given = ", ".join(
            f"`{one.name}` => CAST(NULL AS STRING)"
            for one in procedure.parameters
            if one.is_required
        )
        spark.sql(f"EXPLAIN CALL sys.{procedure.name}({given})").collect()


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("sys.create_tags('t', 'x')", NotFoundError, "Did you mean 'create_tag'"),
        ("sys.create_tag('nix', 'x')", NotFoundError, r"db\.nix"),
        ("sys.create_tag('other.db.t', 'x')", ArgumentError, "catalog other"),
        ("sys.create_tag('t', 'x', snapshot => 99)", NotFoundError, "99"),
        ("sys.create_tag('t', 'x', snapshot => 1.5)", ArgumentError, r"decimal\(2,1\)"),
        (
            "sys.create_tag('t', 'x', snapshot => '1')",
            ArgumentError,
            "string is not a valid BIGINT",
        ),
        ("sys.create_tag(NULL, 'x')", ArgumentError, "needs table"),
        ("sys.create_tag(array('t'), 'x')", ArgumentError, "array<string>"),
        ("sys.rollback('t')", ArgumentError, "give one of"),
        ("system.compact('t')", UnsupportedError, r"run CALL \w+\.sys\.compact\(…\)"),
        ("system.ancestors_of('t')", NotFoundError, r"; write SELECT \* FROM db\.t\$snapshots"),
        ("sys.rollback('t$snapshots', snapshot => 1)", PaimonError, "system table"),
        ("sys.create_global_index('t', 'k', 'btree')", UnsupportedError, "create_global_index"),
        ("sys.migrate_table('hive', 'db.t')", UnsupportedError, "is in no Hive metastore"),
        (
            "sys.migrate_table('hive', 'db.t', target_table => 'db.x')",
            UnsupportedError,
            "in no Hive metastore",
        ),
    ],
)
def test_errors_are_ours(
    spark: SparkSession, table: Table, text: str, error: type[PaimonError], said: str
) -> None:
    with pytest.raises(error, match=said) as caught:
        call(spark, text)

    assert "py4j" not in str(caught.value).lower()
    assert not table.tags.list()
    assert table.snapshot is not None
    assert table.snapshot.id == 3


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("create_tag('t', 'x')", "UNRESOLVED_ROUTINE"),
        ("sys.create_tag('t')", "REQUIRED_PARAMETER_NOT_FOUND"),
        ("sys.create_tag('t', 'x', nix => 1)", "UNRECOGNIZED_PARAMETER_NAME"),
        ("sys.expire_snapshots('t', retain_last => 1)", "It is retain_min. SQLSTATE"),
        ("sys.expire_snapshots('t', dry_run => true)", "call --dry-run"),
        ("sys.create_tag('t', 'x', tag => 'y')", "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT"),
    ],
)
def test_names_and_numbers_of_arguments_are_checked_by_spark(
    spark: SparkSession, table: Table, text: str, condition: str
) -> None:
    with pytest.raises(Exception, match=condition):
        call(spark, text)

    assert not table.tags.list()


def test_arguments_never_become_null_without_a_word(spark: SparkSession, table: Table) -> None:
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        with pytest.raises(ArgumentError, match="string is not a valid BIGINT"):
            call(spark, "sys.create_tag('t', 'x', snapshot => 'two')")
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")

    assert not table.tags.list()


def test_a_catalog_that_is_read_only_refuses_every_change(
    spark: SparkSession, table: Table, warehouse: Path
) -> None:
    connect({"warehouse": str(warehouse), "read-only": "true"}, catalog="safe", spark=spark)
    spark.sql("CREATE OR REPLACE TEMP VIEW new AS SELECT 1 AS k, 'x' AS v")

    for change in (
        "CALL safe.sys.rollback('t', snapshot => 1)",
        "INSERT INTO safe.db.t SELECT * FROM new",
        "INSERT OVERWRITE safe.db.t SELECT * FROM new",
        "DROP TABLE safe.db.t",
        "ALTER TABLE safe.db.t SET TBLPROPERTIES ('bucket' = '2')",
        "CREATE TABLE safe.db.u (k INT)",
        "CREATE DATABASE safe.x",
        "DROP DATABASE safe.db CASCADE",
    ):
        with pytest.raises(ReadOnlyError):
            spark.sql(change)
    with pytest.raises(ReadOnlyError):
        spark.table("new").writeTo("safe.db.t").append()

    assert [row.v for row in spark.sql("SELECT v FROM safe.db.t").collect()] == ["three"]
    assert values(spark) == ["three"]


def test_messages_do_not_show_what_a_table_is_called_inside_of_spark(
    spark: SparkSession, table: Table
) -> None:
    with pytest.raises(AnalysisException, match="UNRESOLVED_COLUMN") as caught:
        spark.sql(f"SELECT nix FROM paimon.{table.name}").collect()

    assert "paimonlab_" not in str(caught.value)
    assert str(caught.value).endswith("line 1 pos 7")
