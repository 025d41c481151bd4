"""Ids and commit numbers that statements leave: what the connector's own tests expect of them.

Source: apache/paimon@1.4.2 ``RowTrackingTestBase``: its statements and answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import UnsupportedError

TRACKED = "'row-tracking.enabled' = 'true'"
VECTORS = f"{TRACKED}, 'deletion-vectors.enabled' = 'true'"
APART = f"{TRACKED}, 'data-evolution.enabled' = 'true'"
TEXTS = "a INT, b INT, c STRING"
NUMBERS = "a INT, b INT, c INT"
THREE = "INSERT INTO t SELECT /*+ REPARTITION(1) */ id, id, id FROM range(1, 4)"
FIVE = (
    "INSERT INTO t VALUES (1, 10, 'c1'), (2, 20, 'c2'), (3, 30, 'c3'), (4, 40, 'c4'), (5, 50, 'c5')"
)
CLAUSES = (
    "WHEN MATCHED AND t.a = 5 THEN UPDATE SET b = s.b + t.b "
    "WHEN MATCHED AND s.c > 'c2' THEN UPDATE SET b = s.b, c = s.c "
    "WHEN NOT MATCHED AND c > 'c9' THEN INSERT (a, b, c) VALUES (s.a, b * 1.1, c) "
    "WHEN NOT MATCHED THEN INSERT (a, b, c) VALUES (s.a, b, c)"
)
BY_SOURCE = (
    "WHEN NOT MATCHED BY SOURCE AND a = 2 THEN UPDATE SET b = b * 10 "
    "WHEN NOT MATCHED BY SOURCE THEN DELETE"
)
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Case:
    """Statements on a table ``t``, and the rows it has then, with ids and commit numbers."""

    columns: str
    options: str
    statements: tuple[str, ...]
    rows: Rows
    source: str = ""
    """Rows of a table ``s`` of the columns a, b, c, ids 0, 1, 2, …"""


CASES = {
    "compact": Case(
        NUMBERS,
        f"{TRACKED}, 'compaction.min.file-num' = '2'",
        (*(f"INSERT INTO t VALUES ({n}, {n}, {n})" for n in (1, 2, 3)), "CALL sys.compact('db.t')"),
        [(1, 1, 1, 0, 1), (2, 2, 2, 1, 2), (3, 3, 3, 2, 3)],
    ),
    **{
        f"delete-{name}": Case(
            NUMBERS,
            options,
            (THREE, "DELETE FROM t WHERE a = 2", "DELETE FROM t WHERE _ROW_ID = 2"),
            [(1, 1, 1, 0, 1)],
        )
        for name, options in {"rewritten": TRACKED, "vectors": VECTORS}.items()
    },
    **{
        f"update-{name}": Case(
            NUMBERS,
            options,
            (
                THREE,
                "UPDATE t SET b = 22 WHERE a = 2",
                "UPDATE t SET b = 222 WHERE _ROW_ID = 1",
                "INSERT INTO t VALUES (4, 4, 4), (5, 5, 5)",
            ),
            [
                *[(1, 1, 1, 0, 1), (2, 222, 2, 1, 3), (3, 3, 3, 2, 1)],
                *[(4, 4, 4, 3, 4), (5, 5, 5, 4, 4)],
            ],
        )
        for name, options in {"rewritten": TRACKED, "vectors": VECTORS}.items()
    },
    **{
        f"merge-of-all-clauses-{name}": Case(
            TEXTS,
            options,
            (FIVE, f"MERGE INTO t USING s ON t.a = s.a {CLAUSES} {BY_SOURCE}"),
            [
                *[(1, 10, "c1", 0, 1), (2, 200, "c2", 1, 2), (3, 300, "c33", 2, 2)],
                *[(5, 550, "c5", 4, 2), (7, 700, "c77", 5, 2), (9, 990, "c99", 6, 2)],
            ],
            "(1, 100, 'c11'), (3, 300, 'c33'), (5, 500, 'c55'), (7, 700, 'c77'), (9, 900, 'c99')",
        )
        for name, options in {"rewritten": TRACKED, "vectors": VECTORS}.items()
    },
    **{
        f"merge-{file_format}": Case(
            NUMBERS,
            f"{APART}, 'file.format' = '{file_format}'",
            (
                "INSERT INTO t SELECT /*+ REPARTITION(1) */ id, id, id FROM range(2, 4)",
                (
                    "MERGE INTO t USING (SELECT * FROM VALUES (1, 11), (2, 22) AS v (a, b)) s "
                    "ON t.a = s.a "
                    "WHEN MATCHED THEN UPDATE SET t.b = s.b "
                    "WHEN NOT MATCHED THEN INSERT (a, b, c) VALUES (a, b, 11)"
                ),
            ),
            [(1, 11, 11, 2, 2), (2, 22, 2, 0, 2), (3, 3, 3, 1, 2)],
        )
        for file_format in ("parquet", "avro")
    },
    "merge-by-column": Case(
        TEXTS,
        APART,
        (FIVE, f"MERGE INTO t USING s ON t.a = s.a {CLAUSES}"),
        [
            *[(1, 10, "c1", 0, 2), (2, 20, "c2", 1, 2), (3, 300, "c33", 2, 2), (4, 40, "c4", 3, 2)],
            *[(5, 550, "c5", 4, 2), (7, 700, "c77", 5, 2), (9, 990, "c99", 6, 2)],
        ],
        "(1, 100, 'c11'), (3, 300, 'c33'), (5, 500, 'c55'), (7, 700, 'c77'), (9, 900, 'c99')",
    ),
    "merge-by-id": Case(
        TEXTS,
        APART,
        (FIVE, f"MERGE INTO t USING s ON t._ROW_ID = s.a {CLAUSES}"),
        [
            *[(1, 10, "c1", 0, 2), (2, 20, "c2", 1, 2), (3, 300, "c33", 2, 2), (4, 40, "c4", 3, 2)],
            *[(5, 550, "c5", 4, 2), (6, 700, "c77", 5, 2), (8, 990, "c99", 6, 2)],
        ],
        "(0, 100, 'c11'), (2, 300, 'c33'), (4, 500, 'c55'), (6, 700, 'c77'), (8, 900, 'c99')",
    ),
    "merge-of-two-ids": Case(
        TEXTS,
        APART,
        (
            "INSERT INTO t VALUES (1, 10, 'c1'), (2, 20, 'c2'), (3, 30, 'c3')",
            "MERGE INTO t USING s ON t._ROW_ID = s._ROW_ID "
            + CLAUSES.replace("t.a = 5", "t.a = 2"),
        ),
        [
            *[(1, 10, "c1", 0, 2), (2, 320, "c2", 1, 2), (3, 500, "c55", 2, 2)],
            *[(7, 700, "c77", 3, 2), (9, 990, "c99", 4, 2)],
        ],
        "(1, 100, 'c11'), (3, 300, 'c33'), (5, 500, 'c55'), (7, 700, 'c77'), (9, 900, 'c99')",
    ),
    "merge-of-itself": Case(
        TEXTS,
        APART,
        (
            FIVE,
            (
                "MERGE INTO t USING t AS s ON t._ROW_ID = s._ROW_ID "
                "WHEN MATCHED AND t.a = 5 THEN UPDATE SET b = s.b + t.b "
                "WHEN MATCHED AND s.c > 'c2' THEN UPDATE SET b = s.b * 3, c = concat(t.c, s.c)"
            ),
        ),
        [
            *[(1, 10, "c1", 0, 2), (2, 20, "c2", 1, 2), (3, 90, "c3c3", 2, 2)],
            *[(4, 120, "c4c4", 3, 2), (5, 100, "c5", 4, 2)],
        ],
    ),
}


@pytest.fixture
def current(catalog: Catalog, spark: SparkSession) -> Iterator[None]:
    """Let names without a database mean those of db."""
    spark.sql("USE paimon.db")
    yield
    spark.sql("USE spark_catalog.default")


@pytest.mark.usefixtures("current")
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_rows_have_the_ids_that_the_connector_gives_them(case: Case, spark: SparkSession) -> None:
    if case.source:
        spark.sql(f"CREATE TABLE s ({TEXTS}) TBLPROPERTIES ({APART})")
        spark.sql(f"INSERT INTO s VALUES {case.source}")
    spark.sql(f"CREATE TABLE t ({case.columns}) TBLPROPERTIES ({case.options})")

    for statement in case.statements:
        spark.sql(statement)

    if case.options.startswith(TRACKED) and APART not in case.options:
        plan = spark.table("t")._jdf.queryExecution().executedPlan().toString()
        assert "by Python" not in plan, "Spark reads files with ids itself"
    found = spark.sql("SELECT *, _ROW_ID, _SEQUENCE_NUMBER FROM t ORDER BY a").collect()
    assert without_order_of_new(found) == without_order_of_new(case.rows)


def without_order_of_new(rows: Any) -> tuple[Rows, list[int]]:
    """Take the ids of rows above 5 apart: which task was the first decides about them."""
    return (
        [(*row[:3], row[3] if row[0] <= 5 else None, row[4]) for row in rows],
        sorted(row[3] for row in rows),
    )


def test_columns_that_have_files_of_their_own_are_not_put_in_order(
    catalog: Catalog, spark: SparkSession
) -> None:
    spark.sql(f"CREATE TABLE paimon.db.t ({NUMBERS}) TBLPROPERTIES ({APART})")
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 1, 1)")

    with pytest.raises(UnsupportedError, match=r"data-evolution\.enabled"):
        spark.sql(
            "CALL paimon.sys.compact(table => 'db.t', order_strategy => 'order', order_by => 'a')"
        )
