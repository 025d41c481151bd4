"""Random statements on every kind of table, against a dictionary; Java reads what comes of them.

``PAIMONLAB_SPARK_SEQUENCES`` says how many sequences there are for each kind of table; of more than
one Java reads each.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.table.table import Table
from tests.interop.conftest import java, java_tools, oracle, pytest_generate_tests
from tests.interop.oracle import JavaPaimon
from tests.interop.pair import Pair
from tests.spark.rows.made_up import MADE_UP, MORE_KINDS, MadeUp, Rows, statement
from tests.spark.rows.test_statements import COLUMNS, KINDS, rows

__all__ = ["java", "java_tools", "oracle", "pytest_generate_tests"]  # fixtures and their hook

STATEMENTS = int(os.environ.get("PAIMONLAB_SPARK_STATEMENTS", "5"))
"""Of each sequence."""
SEQUENCES = int(os.environ.get("PAIMONLAB_SPARK_SEQUENCES", "1"))
"""Of each kind of table."""
ALL_KINDS = KINDS | MORE_KINDS
READ_BY_JAVA = [*ALL_KINDS] if SEQUENCES > 1 else ["keyed", "append-vectors"]


@pytest.fixture
def taken_for_large(spark: SparkSession, rng: np.random.Generator) -> Iterator[None]:
    """Let Spark take small tables for large ones, in some runs: nothing is broadcast."""
    key = "spark.sql.autoBroadcastJoinThreshold"
    if rng.integers(0, 2):
        spark.conf.set(key, "-1")
    yield
    spark.conf.unset(key)


def generators(kind: str, seed: int) -> Iterator[np.random.Generator]:
    """Yield the generator of each sequence for a kind of table; any can be repeated alone."""
    for number in range(SEQUENCES):
        yield np.random.default_rng([seed, [*ALL_KINDS].index(kind), number])


def run_sequence(
    kind: str, catalog: Catalog, spark: SparkSession, rng: np.random.Generator
) -> Table:
    """Make table db.t, run statements and compare after each."""
    catalog.drop_table("db.t", missing_ok=True)
    table = catalog.create_table("db.t", COLUMNS, **ALL_KINDS[kind])
    made_up: MadeUp = MADE_UP.get(kind, statement)
    model: Rows = {key: ("a", key) for key in range(6)}
    values = ", ".join(f"({key}, 'a', {key})" for key in model)
    sqls = [f"INSERT INTO paimon.db.t VALUES {values}"]
    for number in range(STATEMENTS + 1):
        if number:
            sql, model = made_up(model, rng)
            sqls.append(sql)
        spark.sql(sqls[-1])
        if kind == "postponed":  # rows wait for buckets, which a compaction gives
            spark.sql("CALL paimon.sys.compact(table => 'db.t')")
        left = rows(table)
        assert left == sorted_rows(model), (sqls, left)
    found = spark.sql("SELECT * FROM paimon.db.t").collect()
    assert sorted(map(tuple, found)) == sorted_rows(model), (sqls, found)
    return table


def sorted_rows(model: Rows) -> list[tuple[int, str | None, int | None]]:
    """Return the rows of a model."""
    return sorted((key, *row) for key, row in model.items())


@pytest.mark.usefixtures("taken_for_large")
@pytest.mark.parametrize("kind", ALL_KINDS)
def test_statements_do_what_a_dictionary_does(
    kind: str, catalog: Catalog, spark: SparkSession, seed: int
) -> None:
    for rng in generators(kind, seed):
        run_sequence(kind, catalog, spark, rng)


@pytest.mark.interop
@pytest.mark.parametrize("kind", READ_BY_JAVA)
def test_java_reads_what_statements_leave(
    kind: str, catalog: Catalog, java: JavaPaimon, spark: SparkSession, seed: int
) -> None:
    pair = Pair(catalog, java)
    for rng in generators(kind, seed):
        run_sequence(kind, catalog, spark, rng)
        pair.assert_same("db.t")
