"""Tables whose merge engine makes new rows, through Spark: no mask over files can tell them."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog


def test_sums_are_filtered_after_they_are_made(catalog: Catalog, spark: SparkSession) -> None:
    table = catalog.create_table(
        "db.sums",
        {"k": "BIGINT NOT NULL", "v": "BIGINT", "s": "STRING"},
        primary_keys=["k"],
        options={
            "bucket": "2",
            "merge-engine": "aggregation",
            "fields.v.aggregate-function": "sum",
        },
    )
    for number in range(3):
        table.write(
            pa.table({"k": range(6), "v": [number * k for k in range(6)], "s": list("abcdef")})
        )
    spark.sql("INSERT INTO paimon.db.sums VALUES (5, 100, null), (9, 1, 'z')")

    found = spark.sql("SELECT k, v FROM paimon.db.sums WHERE v > 7 ORDER BY k").collect()

    assert [tuple(row) for row in found] == [(3, 9), (4, 12), (5, 115)]
    counted = spark.sql("SELECT count(*), sum(v) FROM paimon.db.sums").collect()
    assert tuple(counted[0]) == (7, 146)


def test_partial_rows_come_together(catalog: Catalog, spark: SparkSession) -> None:
    catalog.create_table(
        "db.parts",
        {"k": "INT NOT NULL", "a": "INT", "b": "STRING"},
        primary_keys=["k"],
        options={"bucket": "1", "merge-engine": "partial-update"},
    )
    spark.sql("INSERT INTO paimon.db.parts VALUES (1, 1, null), (2, 2, null)")
    spark.sql("INSERT INTO paimon.db.parts VALUES (1, null, 'x')")

    found = spark.sql("SELECT * FROM paimon.db.parts ORDER BY k").collect()

    assert [tuple(row) for row in found] == [(1, 1, "x"), (2, 2, None)]
