from __future__ import annotations

import random
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from paimonlab import SetOption
from paimonlab.catalog import Catalog
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.table.table import Table
from tests.spark.test_time_travel import paimon_options

pytestmark = pytest.mark.usefixtures("interpreted")


def found(frame: DataFrame) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in frame.collect())


@pytest.fixture
def table(catalog: Catalog, spark: SparkSession) -> Iterator[Table]:
    """Make a table of keys: snapshot 1 has 1 and 2, 2 changes 1 and adds 3, 3 deletes 2."""
    spark.sql("USE paimon.db")
    made = catalog.create_table(
        "db.t",
        {"id": "INT", "c": "CHAR(3)", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "1", "write-only": "true"},
    )
    for rows in ([(1, "a", "a"), (2, "b", "b")], [(1, "a", "A"), (3, "c", "c")]):
        made.write(pa.table(dict(zip(("id", "c", "v"), zip(*rows, strict=True), strict=True))))
    made.delete("id = 2")
    for number in (1, 2, 3):
        made.tags.create(f"tag{number}", snapshot=number)
    yield made
    spark.sql("USE spark_catalog.default")


QUERY = "SELECT id, v FROM paimon_incremental_query('t', {})"


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ("0, 1", [(1, "a"), (2, "b")]),
        ("'1', '2'", [(1, "A"), (3, "c")]),
        ("0, 3", [(1, "A"), (1, "a"), (2, "b"), (3, "c")]),
        ("1 + 1, 3", []),
        ("'tag1', 'tag3'", [(1, "A"), (3, "c")]),
    ],
)
def test_new_rows_of_commits(
    spark: SparkSession, table: Table, points: str, expected: list[tuple[object, ...]]
) -> None:
    assert found(spark.sql(QUERY.format(points))) == expected
    assert spark.sql(QUERY.format(points)).count() == len(expected)


def test_kinds_of_changes_are_those_of_the_audit_log(spark: SparkSession, table: Table) -> None:
    log = "SELECT rowkind, id FROM paimon_incremental_query('`t$audit_log`', {})"

    assert found(spark.sql(log.format("1, 3"))) == [("+I", 1), ("+I", 3), ("-D", 2)]
    only = spark.sql(log.format("1, 3") + " WHERE rowkind = '-D' AND id > 0")
    assert found(only) == [("-D", 2)]
    assert found(spark.sql(log.format("'tag1', 'tag3'"))) == sorted(
        (row["rowkind"], row["id"]) for row in table.changes("tag1", "tag3").to_arrow().to_pylist()
    )
    pairs = spark.sql("SELECT id FROM paimon_incremental_query('`t$binlog`', 1, 2)")
    assert found(pairs) == [([1],), ([3],)]


def test_names_and_times(spark: SparkSession, table: Table) -> None:
    times = [snapshot.time_millis for snapshot in table.snapshots.list()]
    between = "SELECT id FROM paimon_incremental_between_timestamp('{}', '{}', '{}')"

    for name in ("t", "db.t", "paimon.db.t", "`paimon`.db.`t`"):
        assert found(spark.sql(between.format(name, times[0], times[1]))) == [(1,), (3,)]
    spark.sql("USE spark_catalog.default")
    assert found(spark.sql(between.format("paimon.db.t", 0, times[0]))) == [(1,), (2,)]
    with pytest.raises(UnsupportedError, match=r"catalog\.database\.table"):
        spark.sql(between.format("db.t", 0, 1))


def test_a_tag_that_was_made_by_itself(spark: SparkSession, catalog: Catalog, table: Table) -> None:
    catalog.alter_table(
        "db.t",
        SetOption("tag.automatic-creation", "process-time"),
        SetOption("tag.creation-period", "daily"),
    )
    own = catalog.table("db.t")
    assert isinstance(own, Table)
    own.tags.create("2026-11-01", snapshot=1)
    own.tags.create("2026-11-04", snapshot=2)
    to_tag = "SELECT id, v FROM paimon_incremental_to_auto_tag('t', '{}')"

    assert found(spark.sql(to_tag.format("2026-11-04"))) == [(1, "A"), (3, "c")]
    assert found(spark.sql(to_tag.format("2026-11-01"))) == []


def test_calls_join_filter_and_hide_blanks_as_tables_do(spark: SparkSession, table: Table) -> None:
    joined = spark.sql(
        "SELECT new.id, old.v, new.v FROM paimon_incremental_query('t', 1, 2) AS new "
        "JOIN paimon_incremental_query('t', 0, 1) AS old ON new.id = old.id WHERE new.c = 'a'"
    )

    assert found(joined) == [(1, "a", "A")]
    assert found(spark.sql("SELECT c FROM paimon_incremental_query('t', 1, 2)")) == [
        ("a  ",),
        ("c  ",),
    ]
    plan = joined._jdf.queryExecution().executedPlan().toString()
    assert "columns: [id, c, v]" in plan
    assert "columns: [id, v]" in plan


@paimon_options
def test_options_of_a_read_mean_the_same(spark: SparkSession, table: Table) -> None:
    read = spark.read.option("incremental-between", "1,3")
    assert found(read.table("t").select("id", "v")) == [(1, "A"), (3, "c")]
    log = read.option("incremental-between-scan-mode", "diff").table("`t$audit_log`")
    assert found(log.select("rowkind", "id")) == [("+I", 1), ("+I", 3), ("-D", 2)]
    withs = "SELECT id FROM t WITH (`incremental-between` = '1,2')"
    assert found(spark.sql(withs)) == [(1,), (3,)]


def test_options_of_the_session_and_of_a_path_mean_the_same(
    spark: SparkSession, table: Table
) -> None:
    spark.conf.set("spark.paimon.incremental-between", "1,2")
    try:
        assert found(spark.sql("SELECT id FROM t")) == [(1,), (3,)]
        assert spark.sql("SELECT count(*) FROM t").collect() == [(2,)]
        assert found(spark.sql(QUERY.format("2, 3"))) == []
        spark.sql("CREATE TABLE u (id INT, v STRING) TBLPROPERTIES ('bucket' = '-1')")
        spark.conf.unset("spark.paimon.incremental-between")
        spark.conf.set("spark.paimon.*.db.t.incremental-between", "1,2")
        spark.sql("INSERT INTO u VALUES (1, 'x'), (2, 'y')")
        spark.sql("DELETE FROM u WHERE id IN (SELECT id FROM t)")
        assert found(spark.table("u")) == [(2, "y")]
    finally:
        spark.conf.unset("spark.paimon.incremental-between")
        spark.conf.unset("spark.paimon.*.db.t.incremental-between")
    by_path = spark.read.format("paimon").option("incremental-between", "1,2").load(table.path)
    assert found(by_path.select("id")) == [(1,), (3,)]


def test_random_ranges_are_those_of_the_library(spark: SparkSession, catalog: Catalog) -> None:
    random_source = random.Random(5)
    made = catalog.create_table(
        "db.log", {"p": "INT", "v": "INT"}, partition_keys=["p"], options={"write-only": "true"}
    )
    for number in range(6):
        made.write(
            pa.table(
                {
                    "p": pa.array([number % 2] * 3, pa.int32()),
                    "v": pa.array(range(number, number + 3), pa.int32()),
                }
            )
        )
    for _ in range(4):
        start, end = sorted(random_source.sample(range(7), 2))
        call = f"SELECT p, v FROM paimon_incremental_query('paimon.db.log', {start}, {end})"
        expected = made.changes(start, end).to_arrow().to_pylist()
        assert found(spark.sql(call)) == sorted((row["p"], row["v"]) for row in expected)
        some = spark.sql(f"{call} WHERE p = 1 AND v > 2")
        assert found(some) == sorted(
            (row["p"], row["v"]) for row in expected if row["p"] == 1 and row["v"] > 2
        )


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        ("paimon_incremental_query('t', 1)", UnsupportedError, "with 2 arguments"),
        ("paimon_incremental_query('t', rand(), 1)", UnsupportedError, "constants"),
        ("paimon_incremental_query('t', 3, 1)", ValueError, "forward"),
        ("paimon_incremental_query('`t$snapshots`', 1, 2)", UnsupportedError, "changes of db"),
        ("paimon_incremental_to_auto_tag('t', 'x')", SchemaError, "by itself"),
        ("vector_search('t', 'v', array(1.0), 3)", UnsupportedError, "vector_search"),
    ],
)
def test_calls_that_mean_nothing_are_errors(
    spark: SparkSession, table: Table, call: str, error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        spark.sql(f"SELECT * FROM {call}")


def test_system_tables_travel(spark: SparkSession, table: Table) -> None:
    files = "SELECT count(*) AS n FROM paimon.db.`t$files` {}"

    assert spark.sql(files.format("VERSION AS OF 'tag1'")).collect() == [(1,)]
    assert spark.sql(files.format("VERSION AS OF 3")).collect() == [(3,)]
    with pytest.raises(UnsupportedError, match="time travel of db"):
        spark.sql("SELECT * FROM paimon.db.`t$schemas` VERSION AS OF 1")
