from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.scan.split import DataSplit
from paimonlab.spark.reading import filters
from paimonlab.spark.reading.file_index import SnapshotFileIndex
from paimonlab.spec.predicates.predicate import Predicate


@pytest.fixture
def pruned_by(
    catalog: Catalog, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """Return a function from a condition in SQL to the predicate that prunes files."""
    table = catalog.create_table(
        "db.f",
        {
            "i": "INT",
            "a b": "STRING",
            "d": "DECIMAL(6, 2)",
            "da": "DATE",
            "n": "TIMESTAMP(6)",
            "z": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
            "x": "BYTES",
            "ok": "BOOLEAN",
            "f": "DOUBLE",
            "r": "ROW<y INT>",
        },
    )
    table.write(pa.table({"i": pa.array([1], pa.int32())}))
    seen: list[Predicate] = []
    chosen = SnapshotFileIndex._splits

    def watched(
        self: SnapshotFileIndex, predicate: Predicate, rows: frozenset[int] | None
    ) -> list[DataSplit]:
        seen.append(predicate)
        return chosen(self, predicate, rows)

    monkeypatch.setattr(SnapshotFileIndex, "_splits", watched)

    def ask(condition: str) -> str:
        spark.sql(f"SELECT count(*) FROM paimon.db.f WHERE {condition}").collect()
        return str(seen[-1])

    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    yield ask
    spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("i > 5", "(i IS NOT NULL AND i > 5)"),
        ("abs(i) > 5", "i IS NOT NULL"),
        ("i > 5 AND i % 2 = 0", "(i IS NOT NULL AND i > 5)"),
        ("i > 5 OR i % 2 = 0", "TRUE"),
        (
            "NOT (i = 5 OR i <=> 6)",
            "(i IS NOT NULL AND NOT i = 5 AND NOT (i IS NOT NULL AND i = 6))",
        ),
        ("i <=> null", "i IS NULL"),
        ("i IN (1, 2, 3)", "i IN (1, 2, 3)"),
        ("`a b` = 'it''s'", '(a b IS NOT NULL AND a b = "it\'s")'),
        ("`a b` LIKE 'ab%'", "(a b IS NOT NULL AND STARTSWITH(a b, 'ab'))"),
        ("`a b` LIKE '%ab%'", "(a b IS NOT NULL AND CONTAINS(a b, 'ab'))"),
        ("d >= 1.50", "(d IS NOT NULL AND d >= Decimal('1.50'))"),
        ("da < DATE'2024-02-29'", "(da IS NOT NULL AND da < datetime.date(2024, 2, 29))"),
        (
            "n = TIMESTAMP_NTZ'2024-07-01 12:00:00.000001'",
            "(n IS NOT NULL AND n = datetime.datetime(2024, 7, 1, 12, 0, 0, 1))",
        ),
        (
            "z = TIMESTAMP'2024-07-01 12:00:00'",
            f"(z IS NOT NULL AND z = {dt.datetime(2024, 7, 1, 16, tzinfo=dt.UTC)!r})",
        ),
        ("x = X'00FF'", r"(x IS NOT NULL AND x = b'\x00\xff')"),
        ("ok", "(ok IS NOT NULL AND ok = True)"),
        ("f < 1e300", "(f IS NOT NULL AND f < 1e+300)"),
        ("r.y = 1", "TRUE"),
        ("da < DATE'20000-01-01'", "da IS NOT NULL"),
    ],
)
def test_a_condition_becomes_what_is_surely_true_where_it_is(
    pruned_by: Any, condition: str, expected: str
) -> None:
    assert pruned_by(condition) == expected


def test_an_in_with_very_many_values_prunes_nothing(
    pruned_by: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = ", ".join(map(str, range(0, 2002, 2)))

    assert sorted(map(int, re.findall(r"\d+", pruned_by(f"i IN ({values})")))) == [
        *range(0, 2002, 2)
    ]
    monkeypatch.setattr(filters, "_MOST_VALUES", 1000)
    assert "IN" not in pruned_by(f"i IN ({values}, -1)")


def test_a_filter_on_float_finds_the_rows_that_plain_spark_finds(
    catalog: Catalog, spark: SparkSession
) -> None:
    spark.sql("CREATE TABLE paimon.db.f (i INT, f FLOAT, p FLOAT) PARTITIONED BY (p)")
    spark.sql("INSERT INTO paimon.db.f VALUES (1, 12.3, 12.3), (2, 0.1, 0.1)")
    spark.sql("INSERT OVERWRITE paimon.db.f PARTITION (p = 0.1) VALUES (3, 0.1)")
    values = "VALUES (1, 12.3, 12.3), (3, 0.1, 0.1) AS t (i, f, p)"
    plain = spark.sql(f"SELECT int(i) AS i, float(f) AS f, float(p) AS p FROM {values}")
    plain.createOrReplaceTempView("plain")

    for where in ("f = float(12.3)", "f <= float(0.1)", "p = float(12.3)", "f IN (float(0.1), 2)"):
        expected = spark.sql(f"SELECT i FROM plain WHERE {where}").collect()
        assert len(expected) == 1
        assert spark.sql(f"SELECT i FROM paimon.db.f WHERE {where}").collect() == expected, where
    spark.catalog.dropTempView("plain")


def test_times_of_the_old_calendar_are_found(catalog: Catalog, spark: SparkSession) -> None:
    """A ``java.sql`` value of those years is another time than the one of the statement."""
    texts = [
        "1000-01-01 00:00:00",
        "1500-02-28 12:00:00",
        "1883-11-18 12:03:57",
        "1900-01-01 00:00:00",
    ]
    columns = {
        "id": "INT",
        "z": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        "n": "TIMESTAMP(6)",
        "d": "DATE",
    }
    table = catalog.create_table("db.t", columns)
    for number, text in enumerate(texts):
        moment = dt.datetime.fromisoformat(text)
        row = [{"id": number, "z": moment.replace(tzinfo=dt.UTC), "n": moment, "d": moment.date()}]
        table.write(pa.Table.from_pylist(row, table.arrow_schema))
    found, wanted = list[tuple[str, list[int]]](), list[tuple[str, list[int]]]()
    for number, text in enumerate(texts):
        for column, value in (
            ("z", f"TIMESTAMP '{text}'"),
            ("n", f"TIMESTAMP_NTZ '{text}'"),
            ("d", f"DATE '{text[:10]}'"),
        ):
            later = value.replace(text[:10], "2030-01-01")
            for condition in (f"{column} = {value}", f"{column} IN ({value}, {later})"):
                rows = spark.sql(f"SELECT id FROM paimon.db.t WHERE {condition}").collect()
                found.append((condition, [row.id for row in rows]))
                wanted.append((condition, [number]))

    assert found == wanted


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT"])
def test_filters_find_nan_which_statistics_leave_out(
    kind: str, catalog: Catalog, spark: SparkSession
) -> None:
    """Parquet's readers skip a row group by its least and greatest values, which NaN is not."""
    values = [math.nan, 1.0, None]
    catalog.create_table("db.t", {"d": kind, "s": f"ROW<d {kind}>"}).write(
        pa.table({"d": values, "s": [{"d": value} for value in values]}).cast(
            catalog.table("db.t").arrow_schema
        )
    )
    rows = "VALUES (float('NaN')), (float(1)), (NULL) AS t (d)"
    spark.sql(
        f"SELECT CAST(d AS {kind}) d, struct(CAST(d AS {kind}) AS d) s FROM {rows}"
    ).createOrReplaceTempView("plain")

    for condition in (
        "{} > 100",
        "{} >= 100",
        "{} <> 1",
        "{} = float('NaN')",
        "NOT ({} < 100)",
        "{} IN (float('NaN'), 7)",
        "{} = 7 OR {} > 100",
        "{} < 100",
        "{} <= 1",
        "{} <=> NULL",
    ):
        for name in ("d", "s.d"):
            where = condition.replace("{}", name)
            plain = spark.sql(f"SELECT string(d) FROM plain WHERE {where}").collect()
            found = spark.sql(f"SELECT string(d) FROM paimon.db.t WHERE {where}").collect()
            assert found == plain, where
    spark.catalog.dropTempView("plain")
