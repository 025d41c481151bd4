"""Random statements on every kind of table: the rows that SQL, Delta and Java say they leave.

``PAIMONLAB_SPARK_SEQUENCES`` says how many sequences there are for each kind of table, and Java
reads each; without it there is one for some kinds. One statement in four is run without Spark,
where that engine knows it. ``tests/random_changes/test_delta.py`` asks Delta about the same;
``python -m tests.random_changes.many`` runs hundreds of them in one session.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from tests.interop.conftest import java, java_tools, oracle, pytest_generate_tests
from tests.interop.oracle import JavaPaimon
from tests.interop.pair import Pair
from tests.random_changes.kinds import KINDS
from tests.random_changes.running import Running, second_table
from tests.random_changes.sequences import sequence

__all__ = ["java", "java_tools", "oracle", "pytest_generate_tests"]  # fixtures and their hook

STATEMENTS = int(os.environ.get("PAIMONLAB_SPARK_STATEMENTS", "5"))
"""Of each sequence."""
SEQUENCES = int(os.environ.get("PAIMONLAB_SPARK_SEQUENCES", "0"))
"""Of each kind of table; 0: one of some kinds, others each time."""
CHOSEN = random.Random(os.environ.get("PAIMONLAB_SEED") or os.urandom(8)).sample([*KINDS], 7)


@pytest.fixture
def others(catalog: Catalog, spark: SparkSession, seed: int) -> None:
    """Create the second table."""
    second_table(catalog, spark, seed)


@pytest.fixture
def taken_for_large(spark: SparkSession, seed: int) -> Iterator[None]:
    """Let Spark take small tables for large ones, in some runs: nothing is broadcast."""
    key = "spark.sql.autoBroadcastJoinThreshold"
    if random.Random(f"{seed} broadcasts").randrange(2):
        spark.conf.set(key, "-1")
    yield
    spark.conf.unset(key)


@pytest.mark.usefixtures("others", "taken_for_large")
@pytest.mark.parametrize("name", [] if SEQUENCES else CHOSEN[2:])
def test_statements_leave_the_rows_that_sql_says(
    name: str, catalog: Catalog, spark: SparkSession, seed: int
) -> None:
    Running(catalog, spark, sequence(name, seed, 0, STATEMENTS)).run()


@pytest.mark.interop
@pytest.mark.usefixtures("others", "taken_for_large")
@pytest.mark.parametrize("name", [*KINDS] if SEQUENCES else CHOSEN[:2])
def test_java_reads_what_statements_leave(
    name: str, catalog: Catalog, java: JavaPaimon, spark: SparkSession, seed: int
) -> None:
    pair = Pair(catalog, java)
    for number in range(max(SEQUENCES, 1)):
        running = Running(catalog, spark, sequence(name, seed, number, STATEMENTS))
        running.run()
        running.java_reads_it(pair)
