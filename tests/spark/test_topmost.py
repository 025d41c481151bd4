from __future__ import annotations

import os
import random

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.spark.reading.optimizing.topmost import Order, needed
from paimonlab.spec.predicates.pruning import ColumnStats
from tests.spark.plans import files_read

Values = list[int | None]
SEED = int(os.environ.get("PAIMONLAB_SEED", random.randrange(1 << 30)))


def first(values: Values, order: Order, limit: int) -> Values:
    """Sort without statistics."""
    present = sorted((one for one in values if one is not None), reverse=not order.is_rising)
    nulls: Values = [None] * (len(values) - len(present))
    return ([*nulls, *present] if order.nulls_first else [*present, *nulls])[:limit]


def stats_of(files: list[Values], rng: random.Random) -> ColumnStats:
    """Describe files as writers do: bounds may be wider than the values, and anything unknown."""
    lows: Values = []
    highs: Values = []
    nulls: Values = []
    for file in files:
        present = [one for one in file if one is not None]
        is_known = present and rng.random() < 0.9
        lows.append(min(present) - rng.randrange(2) if is_known else None)
        highs.append(max(present) + rng.randrange(2) if is_known else None)
        nulls.append(file.count(None) if rng.random() < 0.9 else None)
    counts = [len(file) for file in files]
    return ColumnStats(*(pa.array(one, pa.int64()) for one in (lows, highs, nulls, counts)))


def test_files_that_are_left_out_have_none_of_the_first_rows() -> None:
    rng = random.Random(SEED)
    left_out = 0
    for _ in range(1500):
        spread = rng.choice([3, 30, 300])
        files: list[Values] = []
        for _ in range(rng.randrange(1, 8)):
            start, null_share = rng.randrange(100), rng.choice([0, 0, 0.3, 1])
            size = rng.randrange(1, 9)
            file = [
                None if rng.random() < null_share else start + rng.randrange(spread)
                for _ in range(size)
            ]
            files.append(file)
        kept = [[one for one in file if rng.random() < 0.9] for file in files]  # others are deleted
        sure = np.array([len(file) for file in kept], np.int64)
        order = Order("c", is_rising=rng.random() < 0.5, nulls_first=rng.random() < 0.5)
        limit = rng.randrange(1, 12)

        flags = needed(stats_of(files, rng), sure, order, limit)

        left_out += int((~flags).sum())
        some = [one for file, flag in zip(kept, flags, strict=True) if flag for one in file]
        every = [one for file in kept for one in file]
        assert first(some, order, limit) == first(every, order, limit), (
            SEED,
            files,
            kept,
            order,
            limit,
        )
    assert left_out > 500


QUERIES = [
    # a query, and the most files of four that it may read; None: any number
    ("SELECT id, n FROM {} ORDER BY id LIMIT 5", 1),
    ("SELECT s FROM {} ORDER BY id DESC LIMIT 5", 1),
    ("SELECT id AS x, s FROM {} ORDER BY x LIMIT 3 OFFSET 2", 1),
    ("SELECT id FROM {} ORDER BY s DESC, id LIMIT 12", 2),
    ("SELECT n, id FROM {} ORDER BY n, id LIMIT 3", 2),  # nulls come first: two files have some
    ("SELECT n, id FROM {} ORDER BY n NULLS LAST, id LIMIT 15", 2),
    ("SELECT n, id FROM {} ORDER BY n DESC NULLS FIRST, id LIMIT 30", None),
    ("SELECT id FROM {} ORDER BY d DESC, id LIMIT 10", 1),
    ("SELECT id FROM {} WHERE id > 15 ORDER BY id LIMIT 5", None),
    ("SELECT id FROM {} ORDER BY id % 7, id LIMIT 5", None),
    ("SELECT id, v FROM (SELECT id, rand(1) < 2 AS v FROM {}) ORDER BY id LIMIT 4", 1),
    ("SELECT max(id) FROM (SELECT id FROM {} ORDER BY id LIMIT 4)", 1),
]
KINDS = {
    "append": {},
    "compacted": {"bucket": "1", "target-file-size": "1 b", "write-only": "true"},
    "vectors": {"deletion-vectors.enabled": "true"},
}
ASKED = {"append": QUERIES, "compacted": QUERIES[::2], "vectors": QUERIES[1::2]}
"""What a kind of table is asked: one all, the others every second query."""


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_rows_of_an_order_are_in_few_files(
    kind: str, catalog: Catalog, spark: SparkSession
) -> None:
    columns = {"id": "INT", "n": "INT", "s": "STRING", "d": "DATE"}
    keys = ["id"] if kind == "compacted" else []
    table = catalog.create_table("db.t", columns, primary_keys=keys, options=KINDS[kind])
    for start in range(0, 80, 20):
        ids = range(start, start + 20)
        table.write(
            pa.table(
                {
                    "id": pa.array(ids, pa.int32()),
                    "n": pa.array(
                        [i // 2 if start < 40 or i % 2 else None for i in ids], pa.int32()
                    ),
                    "s": [f"a text of which statistics have a part {i:03}" for i in ids],
                    "d": pa.array([i // 7 for i in ids], pa.date32()),
                }
            )
        )
    if kind == "vectors":
        spark.sql("DELETE FROM paimon.db.t WHERE id IN (0, 1, 22, 79)")
    rows = table.scan().to_arrow()
    spark.createDataFrame(rows).createOrReplaceTempView("plain_rows")

    for query, most in ASKED[kind]:
        frame = spark.sql(query.format("paimon.db.t"))
        assert frame.collect() == spark.sql(query.format("plain_rows")).collect(), query
        if most is not None:
            # A text's bounds are cut where all files begin alike.
            limit = 4 if "ORDER BY s" in query else most
            assert files_read(frame) <= limit, query


def test_rows_that_others_replace_do_not_count_among_the_first(
    catalog: Catalog, spark: SparkSession
) -> None:
    options = {"bucket": "1", "write-only": "true"}
    columns = {"id": "INT", "v": "INT"}
    table = catalog.create_table("db.t", columns, primary_keys=["id"], options=options)
    for number in range(3):
        ids = range(10 * number, 10 * number + 30)
        values = {"id": ids, "v": [100 * number + one for one in ids]}
        table.write(pa.table({name: pa.array(one, pa.int32()) for name, one in values.items()}))
    table.delete("id < 5")
    spark.createDataFrame(table.scan().to_arrow()).createOrReplaceTempView("plain_rows")

    for order in ("id", "id DESC", "v", "v DESC"):
        query = f"SELECT id, v FROM {{}} ORDER BY {order} LIMIT 12"
        assert (
            spark.sql(query.format("paimon.db.t")).collect()
            == spark.sql(query.format("plain_rows")).collect()
        ), order
