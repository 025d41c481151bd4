"""Random statements on every kind of table, against a dictionary; Java reads what comes of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.table.table import Table
from tests.interop.conftest import java, java_tools, oracle, pytest_generate_tests
from tests.interop.oracle import JavaPaimon
from tests.interop.pair import Pair
from tests.spark.rows.test_statements import COLUMNS, KINDS, rows

__all__ = ["java", "java_tools", "oracle", "pytest_generate_tests"]  # fixtures and their hook

STATEMENTS = int(os.environ.get("PAIMONLAB_SPARK_STATEMENTS", "5"))
"""Of each sequence."""
SEQUENCES = int(os.environ.get("PAIMONLAB_SPARK_SEQUENCES", "1"))
"""Of each kind of table."""
MORE_KINDS: dict[str, dict[str, Any]] = {
    "keys-across-partitions": {"primary_keys": ["id"], "partition_keys": ["n"]},
    "postponed": {"primary_keys": ["id"], "options": {"bucket": "-2"}},
    "lookup-changelog": {
        "primary_keys": ["id"],
        "options": {"bucket": "1", "changelog-producer": "lookup"},
    },
    "row-ids": {"options": {"row-tracking.enabled": "true"}},
    "columns-apart": {
        "options": {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    },
    "first-row": {"primary_keys": ["id"], "options": {"bucket": "2", "merge-engine": "first-row"}},
}
"""Kinds of tables that only random statements try."""
Rows = dict[int, tuple[str | None, int | None]]


def statement(model: Rows, rng: np.random.Generator) -> tuple[str, Rows]:
    """Make up a statement; return it and the rows that it leaves."""
    low = int(rng.integers(0, 12))
    high = low + int(rng.integers(0, 6))
    some = [key for key in model if low <= key <= high]
    match int(rng.integers(0, 5)):
        case 0:
            new = {key: ("i", key) for key in range(low, high + 1) if key not in model}
            if not new:
                return "DELETE FROM paimon.db.t WHERE id < 0", dict(model)
            values = ", ".join(f"({key}, 'i', {key})" for key in new)
            return f"INSERT INTO paimon.db.t VALUES {values}", model | new
        case 1:
            left = {key: row for key, row in model.items() if key not in some}
            return f"DELETE FROM paimon.db.t WHERE id BETWEEN {low} AND {high}", left
        case 2:
            sql = f"UPDATE paimon.db.t SET v = concat(v, 'u'), n = n + {low} "
            changed = {key: updated(model[key], "u", low) for key in some}
            return sql + f"WHERE id >= {low} AND id <= {high}", model | changed
        case _:
            return merge(model, rng, low, high)


def updated(row: tuple[str | None, int | None], text: str, number: int) -> Any:
    return (None if row[0] is None else row[0] + text, None if row[1] is None else row[1] + number)


def merge(model: Rows, rng: np.random.Generator, low: int, high: int) -> tuple[str, Rows]:
    """Make up a MERGE with random clauses."""
    source = {key: (f"s{key}", key * 10) for key in range(low, high + 1)}
    values = ", ".join(f"({key}, '{v}', {n})" for key, (v, n) in source.items())
    limit = int(rng.integers(0, 15))
    deletes, inserts, by_source = (bool(flag) for flag in rng.integers(0, 2, 3))
    clauses = [f"WHEN MATCHED AND t.id < {limit} THEN DELETE"] if deletes else []
    clauses.append("WHEN MATCHED THEN UPDATE SET v = concat(t.v, s.v), n = s.n")
    if inserts:
        clauses.append(f"WHEN NOT MATCHED AND s.id <> {limit} THEN INSERT *")
    if by_source:
        clauses.append(f"WHEN NOT MATCHED BY SOURCE AND t.id > {limit} THEN UPDATE SET n = -1")
    result: Rows = {}
    for key, (v, n) in model.items():
        if key in source:
            if not (deletes and key < limit):
                result[key] = (None if v is None else v + source[key][0], source[key][1])
        else:
            result[key] = (v, -1 if by_source and key > limit else n)
    if inserts:
        result |= {k: row for k, row in source.items() if k not in model and k != limit}
    text = f"MERGE INTO paimon.db.t t USING (SELECT * FROM VALUES {values} AS s (id, v, n)) s "
    return text + "ON t.id = s.id " + " ".join(clauses), result


def first_rows(model: Rows, rng: np.random.Generator) -> tuple[str, Rows]:
    """Make up a statement for a table that keeps the first row of each key."""
    low = int(rng.integers(0, 12))
    new: Rows = {key: ("f", key) for key in range(low, low + int(rng.integers(1, 6)))}
    values = ", ".join(f"({key}, 'f', {key})" for key in new)
    if rng.integers(0, 2):
        return f"INSERT INTO paimon.db.t VALUES {values}", new | model
    sql = f"MERGE INTO paimon.db.t t USING (SELECT * FROM VALUES {values} AS s (id, v, n)) s "
    return sql + "ON t.id = s.id WHEN NOT MATCHED THEN INSERT *", new | model


def moving_rows(model: Rows, rng: np.random.Generator) -> tuple[str, Rows]:
    """Make up a statement for a table whose keys move between partitions when they come again."""
    low, partition = int(rng.integers(0, 12)), int(rng.integers(0, 3))
    keys = range(low, low + int(rng.integers(1, 6)))
    new: Rows = dict.fromkeys(keys, (f"p{partition}", partition))
    values = ", ".join(f"({key}, 'p{partition}', {partition})" for key in new)
    match int(rng.integers(0, 3)):
        case 0:
            left = {key: row for key, row in model.items() if key not in keys}
            return f"DELETE FROM paimon.db.t WHERE id BETWEEN {low} AND {keys[-1]}", left
        case 1:
            sql = f"MERGE INTO paimon.db.t t USING (SELECT * FROM VALUES {values} AS s (id, v, n)) "
            clauses = "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *"
            left = {key: row for key, row in model.items() if key not in keys}
            added = {key: row for key, row in new.items() if key not in model}
            return f"{sql} s ON t.id = s.id {clauses}", left | added
        case _:
            return f"INSERT INTO paimon.db.t VALUES {values}", model | new


def updates(model: Rows, rng: np.random.Generator) -> tuple[str, Rows]:
    """Make up a statement that deletes no row."""
    while True:
        sql, rows = statement(model, rng)
        if "DELETE" not in sql:
            return sql, rows


MADE_UP = {
    "first-row": first_rows,
    "keys-across-partitions": moving_rows,
    "columns-apart": updates,
}


@pytest.fixture
def taken_for_large(spark: SparkSession, rng: np.random.Generator) -> Iterator[None]:
    """Let Spark take small tables for large ones, in some runs: nothing is broadcast."""
    key = "spark.sql.autoBroadcastJoinThreshold"
    if rng.integers(0, 2):
        spark.conf.set(key, "-1")
    yield
    spark.conf.unset(key)


@pytest.mark.usefixtures("taken_for_large")
@pytest.mark.parametrize("kind", [*KINDS, *MORE_KINDS])
def test_statements_do_what_a_dictionary_does(
    kind: str, catalog: Catalog, spark: SparkSession, rng: np.random.Generator
) -> None:
    options = (KINDS | MORE_KINDS)[kind]
    made_up = MADE_UP.get(kind, statement)
    for _ in range(SEQUENCES):
        catalog.drop_table("db.t", missing_ok=True)
        table = catalog.create_table("db.t", COLUMNS, **options)
        run_sequence(table, spark, rng, made_up, waits=kind == "postponed")


def run_sequence(
    table: Table,
    spark: SparkSession,
    rng: np.random.Generator,
    made_up: Callable[[Rows, np.random.Generator], tuple[str, Rows]] = statement,
    *,
    waits: bool = False,
) -> None:
    """Run statements and compare; where rows wait for buckets each is followed by a compaction."""
    model: Rows = {key: ("a", key) for key in range(6)}
    values = ", ".join(f"({key}, 'a', {key})" for key in model)
    sqls = [f"INSERT INTO paimon.db.t VALUES {values}"]
    for number in range(STATEMENTS + 1):
        if number:
            sql, model = made_up(model, rng)
            sqls.append(sql)
        spark.sql(sqls[-1])
        if waits:
            spark.sql("CALL paimon.sys.compact(table => 'db.t')")
        assert rows(table) == sorted((key, *row) for key, row in model.items()), sqls
    found = spark.sql("SELECT * FROM paimon.db.t").collect()
    assert sorted(map(tuple, found)) == sorted((key, *row) for key, row in model.items())


@pytest.mark.interop
@pytest.mark.parametrize("kind", ["keyed", "append-vectors"])
def test_java_reads_what_statements_leave(
    kind: str, catalog: Catalog, java: JavaPaimon, spark: SparkSession, rng: np.random.Generator
) -> None:
    pair = Pair(catalog, java)
    run_sequence(catalog.create_table("db.t", COLUMNS, **KINDS[kind]), spark, rng)

    pair.assert_same("db.t")
