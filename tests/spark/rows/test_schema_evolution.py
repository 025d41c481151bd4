"""Rows that bring columns and types: ``write.merge-schema`` and ``WITH SCHEMA EVOLUTION``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import IntegerType, LongType

from paimonlab.catalog import Catalog
from paimonlab.errors import UnsupportedError
from paimonlab.spec.types.text import parse_type
from paimonlab.table.table import Table
from tests.spark.rows.test_statements import rows

pytestmark = pytest.mark.usefixtures("interpreted")

OPTION = "write.merge-schema"
SETTING = f"spark.paimon.{OPTION}"
CASTS, WIDENS = f"{OPTION}.explicit-cast", f"{OPTION}.type-widening"
LARGEST = 2**63 - 1


@pytest.fixture
def table(catalog: Catalog) -> Table:
    """Return table db.t without rows."""
    return catalog.create_table("db.t", {"id": "BIGINT", "v": "STRING", "n": "INT"})


@pytest.fixture
def settings(spark: SparkSession) -> Iterator[dict[str, str]]:
    """Return settings that are unset afterwards."""
    given: dict[str, str] = {}
    yield given
    for key in given:
        spark.conf.unset(key)


def types(catalog: Catalog) -> dict[str, str]:
    found = catalog.table("db.t")
    assert isinstance(found, Table)
    return {field.name: str(field.type) for field in found.schema.fields}


def latest(catalog: Catalog) -> list[tuple[object, ...]]:
    found = catalog.table("db.t")
    assert isinstance(found, Table)
    return rows(found)


def test_columns_are_never_made_narrower(
    table: Table, catalog: Catalog, spark: SparkSession
) -> None:
    before = types(catalog)
    spark.sql(f"INSERT INTO paimon.db.t VALUES ({LARGEST}, 'a', 1)")

    spark.sql("INSERT WITH SCHEMA EVOLUTION INTO paimon.db.t BY NAME SELECT 1 id, 2 v, 3Y n")
    spark.sql(
        "MERGE WITH SCHEMA EVOLUTION INTO paimon.db.t t USING (SELECT 1 id, 4S n, 'e' more) s "
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"
    )

    assert types(catalog) == before | {"more": types(catalog)["v"]}
    assert latest(catalog) == [(1, "2", 4, "e"), (LARGEST, "a", 1, None)]
    with pytest.raises(AnalysisException, match="CANNOT_SAFELY_CAST"):
        spark.sql("INSERT WITH SCHEMA EVOLUTION INTO paimon.db.t BY NAME SELECT 'abc' id")


def test_rows_that_are_written_by_name_bring_columns_and_wider_types(
    table: Table, catalog: Catalog, spark: SparkSession, settings: dict[str, str]
) -> None:
    del table
    new = spark.sql("SELECT 1L id, 'x' a")
    for option in ({}, {OPTION: "false"}):
        with pytest.raises(AnalysisException, match="EXTRA_COLUMNS"):
            new.writeTo("paimon.db.t").options(**option).append()

    new.writeTo("paimon.db.t").option(OPTION, "true").append()
    again = spark.sql("SELECT 2L id, 5L n, 'y' b").write.option(OPTION, "true")
    again.mode("append").saveAsTable("paimon.db.t")
    settings["spark.paimon.*.db.t." + OPTION] = "true"
    spark.conf.set("spark.paimon.*.db.t." + OPTION, "true")
    spark.sql("WITH q AS (SELECT 3L id, 7 c) INSERT INTO paimon.db.t BY NAME SELECT * FROM q")
    spark.sql(
        "MERGE INTO paimon.db.t t USING (SELECT 3L id, 'm' v, 2L c, 'z' d) s "
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"
    )
    spark.sql("INSERT INTO paimon.db.t VALUES (4, 'w', 6, NULL, NULL, NULL, NULL)")

    schema = spark.table("paimon.db.t").schema
    assert [schema[name].dataType for name in ("n", "c")] == [LongType()] * 2
    expected = [
        (1, None, None, "x", None, None, None),
        (2, None, 5, None, "y", None, None),
        (3, "m", None, None, None, 2, "z"),
        (4, "w", 6, None, None, None, None),
    ]
    assert latest(catalog) == expected
    found = spark.sql("SELECT * FROM paimon.db.t").collect()
    assert sorted(map(tuple, found)) == expected


def test_nested_types_stay_that_have_the_rows(
    table: Table, catalog: Catalog, spark: SparkSession
) -> None:
    del table
    for value in ("'a', array('x'), 'b', 1L", "'a', array(10L), 'b', 2"):
        new = spark.sql(f"SELECT 1L id, named_struct({value}) s").write.option(OPTION, "true")
        new.mode("append").saveAsTable("paimon.db.t")

    assert dict(spark.table("paimon.db.t").dtypes)["s"] == "struct<a:array<string>,b:bigint>"
    found = spark.sql("SELECT s.a, s.b FROM paimon.db.t ORDER BY s.b").collect()
    assert found == [(["x"], 1), (["10"], 2)]


def test_types_change_with_loss_only_if_that_is_asked_for(
    table: Table, catalog: Catalog, spark: SparkSession, settings: dict[str, str]
) -> None:
    del table
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 'a', 1)")
    settings |= {SETTING: "true", f"{SETTING}.type-widening": "false"}
    for key, value in settings.items():
        spark.conf.set(key, value)
    spark.sql("INSERT INTO paimon.db.t BY NAME SELECT 2L id, 7L n")  # cast, as without the option
    assert spark.table("paimon.db.t").schema["n"].dataType == IntegerType()
    spark.conf.unset(f"{SETTING}.type-widening")

    text = "INSERT INTO paimon.db.t BY NAME SELECT 3L id, '8' n"
    with pytest.raises(AnalysisException, match="CANNOT_SAFELY_CAST"):
        spark.sql(text)
    settings[f"{SETTING}.explicit-cast"] = "true"
    spark.conf.set(f"{SETTING}.explicit-cast", "true")
    spark.sql(text)

    assert latest(catalog) == [(1, "a", "1"), (2, None, "7"), (3, None, "8")]


def test_a_write_says_itself_how_types_change(
    table: Table, catalog: Catalog, spark: SparkSession, settings: dict[str, str]
) -> None:
    del table
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 'a', 1)")
    longer = spark.sql("SELECT 2L id, 7L n")
    longer.writeTo("paimon.db.t").options(**{OPTION: "true", WIDENS: "false"}).append()
    assert spark.table("paimon.db.t").schema["n"].dataType == IntegerType()

    text = spark.sql("SELECT 3L id, '8' n, 'x' a")
    for own in ({}, {CASTS: "false"}):
        with pytest.raises(AnalysisException, match="CANNOT_SAFELY_CAST"):
            text.writeTo("paimon.db.t").options(**{OPTION: "true"}, **own).append()
    assert set(types(catalog)) == {"id", "v", "n", "a"}, "Spark adds columns first"
    text.write.options(**{OPTION: "true", CASTS: "true"}).mode("append").saveAsTable("paimon.db.t")
    assert latest(catalog) == [(1, "a", "1", None), (2, None, "7", None), (3, None, "8", "x")]
    with pytest.raises(AnalysisException, match="CANNOT_SAFELY_CAST"):
        spark.sql("INSERT WITH SCHEMA EVOLUTION INTO paimon.db.t BY NAME SELECT 'y' id")
    settings |= {SETTING: "true", f"{SETTING}.type-widening": "false"}
    for key, value in settings.items():
        spark.conf.set(key, value)
    other = spark.sql("SELECT 4L id, 5 n")
    other.writeTo("paimon.db.t").option(WIDENS, "true").option(CASTS, "true").append()

    assert latest(catalog) == [
        *((1, "a", "1", None), (2, None, "7", None)),
        *((3, None, "8", "x"), (4, None, "5", None)),
    ]


@pytest.mark.parametrize(
    ("column", "stored", "new", "becomes", "expected"),
    [
        ("STRING", "'abc'", "5", "STRING", ["abc", "5"]),
        ("STRING", "'abc'", "DATE '2026-01-01'", "STRING", ["abc", "2026-01-01"]),
        ("VARCHAR(5)", "'abc'", "true", "VARCHAR(5)", ["abc", "true"]),
        ("ARRAY<STRING>", "array('abc')", "array(1.5BD)", "ARRAY<STRING>", [["abc"], ["1.5"]]),
        ("ROW<a STRING>", "struct('b')", "named_struct('a', 5)", None, [("b",), ("5",)]),
        ("DOUBLE", "double('Infinity')", "3.25BD", "DOUBLE", [float("inf"), 3.25]),
        ("DATE", "DATE '2026-01-01'", "'abc'", "STRING", ["2026-01-01", "abc"]),
        ("BOOLEAN", "true", "5", "INT", [1, 5]),
    ],
)
def test_no_column_becomes_what_its_values_are_not(
    catalog: Catalog,
    spark: SparkSession,
    column: str,
    stored: str,
    new: str,
    becomes: str | None,
    expected: list[object],
) -> None:
    catalog.create_table("db.t", {"id": "INT", "c": column})
    spark.sql(f"INSERT INTO paimon.db.t VALUES (1, {stored})")

    rows_of_it = spark.sql(f"SELECT 2 id, {new} c")
    rows_of_it.writeTo("paimon.db.t").option(OPTION, "true").option(CASTS, "true").append()

    found = spark.sql("SELECT c FROM paimon.db.t ORDER BY id").collect()
    assert [row.c for row in found] == expected
    table = catalog.table("db.t")
    assert isinstance(table, Table)
    assert becomes is None or table.schema.fields[1].type == parse_type(becomes)


def test_where_columns_cannot_be_merged_that_is_an_error(
    table: Table,
    catalog: Catalog,
    spark: SparkSession,
    settings: dict[str, str],
) -> None:
    del table
    frame = spark.sql("SELECT 1L id, 'x' v, 1 n")
    for key in (CASTS, WIDENS):
        with pytest.raises(UnsupportedError, match=f"{key} = 'true' .* without {OPTION}"):
            frame.writeTo("paimon.db.t").option(key, "true").append()
        with pytest.raises(UnsupportedError, match=r"paimon\.db\.t by position"):
            frame.write.option(OPTION, "true").option(key, "true").insertInto("paimon.db.t")
    with pytest.raises(UnsupportedError, match=r"paimon\.db\.t by position"):
        frame.write.option(OPTION, "true").insertInto("paimon.db.t")
    settings[SETTING] = "true"
    spark.conf.set(SETTING, "true")
    with pytest.raises(AnalysisException, match="TOO_MANY_DATA_COLUMNS"):
        spark.sql("INSERT INTO paimon.db.t SELECT 1L, 'a', 1, 2")  # names say nothing here

    assert latest(catalog) == []
    assert set(types(catalog)) == {"id", "v", "n"}
