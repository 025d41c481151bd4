from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import UnsupportedError
from paimonlab.table.table import Table

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def table(catalog: Catalog) -> Table:
    """Make a table of partitions (a, 1) (a, 2) (b, 1) and one of null and an odd text."""
    made = catalog.create_table(
        "db.t", {"id": "BIGINT", "dt": "STRING", "h": "INT"}, partition_keys=["dt", "h"]
    )
    made.write(
        pa.table(
            {
                "id": [1, 2, 3, 4, 5],
                "dt": ["a", "a", "b", None, "x=/ %ü"],
                "h": pa.array([1, 2, 1, 1, None], pa.int32()),
            }
        )
    )
    return made


def shown(spark: SparkSession, clause: str = "") -> list[str]:
    return sorted(row[0] for row in spark.sql(f"SHOW PARTITIONS paimon.db.t {clause}").collect())


def ids(table: Table) -> list[int]:
    return sorted(table.scan().to_arrow().column("id").to_pylist())


def test_partitions_are_shown(spark: SparkSession, table: Table) -> None:
    assert shown(spark) == [
        "dt=a/h=1",
        "dt=a/h=2",
        "dt=b/h=1",
        "dt=null/h=1",
        "dt=x%3D%2F %25ü/h=null",
    ]
    assert shown(spark, "PARTITION (dt = 'a')") == ["dt=a/h=1", "dt=a/h=2"]
    assert shown(spark, "PARTITION (h = 1, dt = 'b')") == ["dt=b/h=1"]
    assert shown(spark, "PARTITION (dt = 'nope')") == []


def test_an_empty_table_has_no_partitions(spark: SparkSession, catalog: Catalog) -> None:
    catalog.create_table("db.t", {"id": "BIGINT", "dt": "STRING"}, partition_keys=["dt"])

    assert shown(spark) == []


def test_a_partition_is_dropped_with_its_rows(spark: SparkSession, table: Table) -> None:
    spark.sql("ALTER TABLE paimon.db.t DROP PARTITION (dt = 'a', h = 1)")

    assert ids(table) == [2, 3, 4, 5]
    assert "dt=a/h=1" not in shown(spark)
    assert table.snapshot is not None
    assert table.snapshot.commit_kind.value == "OVERWRITE"


def test_partitions_are_dropped_together_in_one_commit(spark: SparkSession, table: Table) -> None:
    spark.sql(
        "ALTER TABLE paimon.db.t DROP PARTITION (dt = 'a', h = 1), PARTITION (dt = 'b', h = 1)"
    )

    assert ids(table) == [2, 4, 5]
    assert table.snapshot is not None
    assert table.snapshot.id == 2


def test_a_text_that_has_to_be_escaped_names_its_partition(
    spark: SparkSession, table: Table
) -> None:
    table.write(pa.table({"id": [6], "dt": ["x=/ %ü"], "h": pa.array([3], pa.int32())}))

    spark.sql("ALTER TABLE paimon.db.t DROP PARTITION (dt = 'x=/ %ü', h = 3)")

    assert ids(table) == [1, 2, 3, 4, 5]


def test_a_partition_that_is_not_there_is_an_error_unless_said_otherwise(
    spark: SparkSession, table: Table
) -> None:
    with pytest.raises(AnalysisException, match="PARTITIONS_NOT_FOUND"):
        spark.sql("ALTER TABLE paimon.db.t DROP PARTITION (dt = 'z', h = 9)")

    spark.sql("ALTER TABLE paimon.db.t DROP IF EXISTS PARTITION (dt = 'z', h = 9)")

    assert ids(table) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "clause",
    [
        "DROP PARTITION (nope = 1)",
        "ADD PARTITION (dt = 'q', h = 7)",
        "PARTITION (dt = 'a', h = 1) RENAME TO PARTITION (dt = 'q', h = 1)",
        "DROP PARTITION (dt = 'a', h = 1) PURGE",
    ],
)
def test_what_cannot_be_done_with_partitions_is_refused(
    clause: str, spark: SparkSession, table: Table
) -> None:
    with pytest.raises((AnalysisException, UnsupportedError)):
        spark.sql(f"ALTER TABLE paimon.db.t {clause}")

    assert ids(table) == [1, 2, 3, 4, 5]


def test_a_table_without_partitions_says_so(spark: SparkSession, catalog: Catalog) -> None:
    catalog.create_table("db.t", {"id": "BIGINT"})

    with pytest.raises(AnalysisException, match=r"(?i)partition"):
        spark.sql("SHOW PARTITIONS paimon.db.t")


@pytest.mark.parametrize(
    ("type_text", "value", "other", "literal"),
    [
        ("BOOLEAN", True, False, "true"),
        ("TINYINT", -1, 2, "-1"),
        ("SMALLINT", -300, 2, "-300"),
        ("INT", 7, 8, "7"),
        ("BIGINT", 2**40, 8, str(2**40)),
        ("DECIMAL(12, 2)", Decimal("-1.50"), Decimal("1.50"), "-1.50"),
        ("DECIMAL(30, 2)", Decimal("12345678901234567890.50"), None, "12345678901234567890.50"),
        ("DATE", date(1969, 12, 31), date(2024, 1, 31), "DATE '1969-12-31'"),
        ("TIMESTAMP(3)", datetime(2024, 1, 2, 3, 4, 5, 678000), None, "'2024-01-02 03:04:05.678'"),
        ("STRING", "ü ", "u", "'ü '"),
    ],
)
def test_every_type_of_key_names_its_partition(
    type_text: str, value: Any, other: Any, literal: str, spark: SparkSession, catalog: Catalog
) -> None:
    made = catalog.create_table("db.t", {"id": "INT", "k": type_text}, partition_keys=["k"])
    keys = pa.array([value, other], made.arrow_schema.field("k").type)
    made.write(pa.table({"id": pa.array([1, 2], pa.int32()), "k": keys}))
    assert len(shown(spark)) == 2

    spark.sql(f"ALTER TABLE paimon.db.t DROP PARTITION (k = {literal})")

    assert ids(made) == [2]
