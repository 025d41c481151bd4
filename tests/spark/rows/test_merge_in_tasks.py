"""MERGE of small sources into tables without keys: tasks that read files look the source up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import DataError
from paimonlab.spark.rows import changes, merge_in_tasks, python_jobs, running
from paimonlab.spark.rows.key_numbers import NumberedKeys
from paimonlab.table.table import Table
from tests.spark.rows.test_statements import COLUMNS, counts, five_rows, rows

VECTORS = {"deletion-vectors.enabled": "true"}
UPSERT = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"


def rows_of(table: Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table.scan().to_arrow().to_pylist()]


@pytest.fixture
def joins(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Count the joins of target and source."""
    seen: list[object] = []
    change = changes.changed_rows

    def counted(*arguments: Any, **options: Any) -> Any:
        seen.append(arguments)
        return change(*arguments, **options)

    monkeypatch.setattr(running, "changed_rows", counted)
    return seen


def merge(spark: SparkSession, source: str, rest: str, on: str = "t.id = s.id") -> tuple[int, ...]:
    return counts(spark, f"MERGE INTO paimon.db.t t USING ({source}) s ON {on} {rest}")


@pytest.mark.parametrize("kind", ["append", "append-vectors"])
def test_clauses_decide_in_tasks(
    kind: str, catalog: Catalog, spark: SparkSession, joins: list[object]
) -> None:
    table = five_rows(catalog, kind)
    values = "(1, 'x1', 1L), (2, 'x2', 2L), (3, 'x3', 3L), (8, 'x8', 8L), (9, 'x9', 9L)"
    source = f"SELECT * FROM VALUES {values}, (NULL, 'none', 0L) AS s (id, v, n)"
    found = merge(
        spark,
        source,
        """
        WHEN MATCHED AND s.n = 3 AND t.n > 0 THEN DELETE
        WHEN MATCHED AND t.v = 'a1' THEN UPDATE SET v = concat(t.v, s.v), n = t.n + s.n
        WHEN MATCHED AND t.n < s.n THEN DELETE
        WHEN NOT MATCHED AND s.id = 8 THEN INSERT (id, v) VALUES (s.id, upper(s.v))
        WHEN NOT MATCHED AND s.n > 8 THEN INSERT *
        """,
    )

    assert found == (4, 1, 1, 2)
    assert rows(table) == [
        *((1, "a1x1", 11), (2, "a2", 20), (4, "a4", 40), (5, "a5", 50)),
        *((8, "X8", None), (9, "x9", 9)),
    ]
    assert sorted(spark.table("paimon.db.t").collect()) == rows(table)
    assert not joins


@pytest.mark.parametrize("options", [{}, VECTORS])
def test_files_without_pairs_stay(
    options: dict[str, str], catalog: Catalog, spark: SparkSession, joins: list[object]
) -> None:
    table = catalog.create_table("db.t", COLUMNS, options=options)
    for first in (0, 10, 20):
        ids = pa.array(range(first, first + 10), pa.int32())
        table.write(pa.table({"id": ids, "v": ["a"] * 10, "n": pa.array(range(10), pa.int64())}))
    before = {path.name for path in Path(table.path).rglob("*.parquet")}
    source = "SELECT id, 'b' AS v, 0L AS n FROM VALUES (10), (11), (40) AS s (id)"
    never = "WHEN MATCHED AND t.n > 100 THEN DELETE"
    assert merge(spark, source, never) == (0, 0, 0, 0)
    assert table.snapshots.latest().id == 3  # type: ignore[union-attr]
    assert merge(spark, source, UPSERT) == (3, 2, 0, 1)

    files = table.scan().plan().files["file_name"].to_pylist()
    assert len(before & {*files}) == (3 if options else 2)
    left = rows(table)
    assert [row for row in left if row[1] == "b"] == [(10, "b", 0), (11, "b", 0), (40, "b", 0)]
    assert len(left) == 31
    everything = "SELECT int(id) AS id FROM range(30)"
    assert merge(spark, everything, "WHEN MATCHED THEN DELETE") == (30, 0, 30, 0)
    assert rows(table) == [(40, "b", 0)]
    assert not joins


def test_several_keys_and_partitions(
    catalog: Catalog, spark: SparkSession, joins: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(python_jobs, "TASK_BYTES", 1)
    monkeypatch.setattr(merge_in_tasks, "TASK_BYTES", 1)
    table = catalog.create_table(
        "db.t", {"p": "STRING", "id": "BIGINT", "v": "STRING"}, partition_keys=["p"]
    )
    ids = [*range(6)] * 3
    parts = [p for p in "abc" for _ in range(6)]
    table.write(pa.table({"p": parts, "id": pa.array(ids, pa.int64()), "v": ["old"] * 18}))
    found = merge(
        spark,
        "SELECT * FROM VALUES ('a', 1, 7), ('b', 2, 8), ('b', NULL, 9), ('d', 4, 10), ('c', 5, 11)"
        " AS s (p, id, w)",
        "WHEN MATCHED THEN UPDATE SET v = cast(s.w AS STRING), p = if(s.w = 8, 'z', t.p) "
        "WHEN NOT MATCHED THEN INSERT (p, id, v) VALUES (s.p, s.id, 'new')",
        "t.p = s.p AND t.id = s.id AND t.p < 'c' AND s.w < 100 AND t.id + s.id < 100",
    )

    assert found == (5, 2, 0, 3)
    assert sorted((row for row in rows_of(table) if row[2] != "old"), key=str) == [
        *(("a", 1, "7"), ("b", None, "new"), ("c", 5, "new"), ("d", 4, "new"), ("z", 2, "8")),
    ]
    assert len(rows_of(table)) == 21
    assert not joins


def test_rows_of_any_type_pass_through(
    catalog: Catalog, spark: SparkSession, joins: list[object]
) -> None:
    table = catalog.create_table(
        "db.t",
        {
            "day": "DATE",
            "at": "TIMESTAMP(3)",
            "instant": "TIMESTAMP_LTZ(6)",
            "m": "DECIMAL(12, 2)",
            "b": "BYTES",
            "x": "ROW<a INT, l ARRAY<STRING>>",
            "k": "MAP<STRING, TIMESTAMP(6)>",
            "t": "TINYINT",
        },
    )
    made = (
        "SELECT date'2024-02-29' + i AS day, timestamp_ntz'2024-02-29 12:00:00.123' AS at, "
        "timestamp'2024-02-29 12:00:00.123456Z' + make_interval(0, 0, 0, i) AS instant, "
        "cast(i + 0.25 AS DECIMAL(12, 2)) AS m, cast('b' AS BINARY) AS b, "
        "named_struct('a', int(i), 'l', array('x', NULL)) AS x, "
        "map('a', timestamp_ntz'2024-02-29 12:00:00.123456') AS k, tinyint(i) AS t "
        "FROM (SELECT int(id) AS i FROM range({}, {}))"
    )
    spark.sql(f"INSERT INTO paimon.db.t {made.format(0, 4)}")
    on = "t.day = s.day AND t.instant = s.instant AND t.m = s.m AND t.t = s.t"
    found = merge(spark, made.format(2, 6), UPSERT, on)

    assert found == (4, 2, 0, 2)
    expected = sorted(map(str, spark.sql(made.format(0, 6)).collect()))
    assert sorted(map(str, spark.table("paimon.db.t").collect())) == expected
    assert table.scan().count() == 6
    assert not joins


def test_large_sources_are_joined(
    catalog: Catalog, spark: SparkSession, joins: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = five_rows(catalog, "append")
    source = "SELECT int(id) AS id, 'x' AS v, id AS n FROM range(4, 8)"
    for name, bound in (("_MOST_SOURCE_BYTES", 10), ("_MOST_ESTIMATED_BYTES", 10)):
        with monkeypatch.context() as patched:
            patched.setattr(merge_in_tasks, name, bound)
            assert merge(spark, source, UPSERT)[0] == 4
        assert len(joins) == 1
        joins.clear()
    assert merge(spark, source, UPSERT) == (4, 4, 0, 0)
    assert not joins
    assert rows(table)[3:] == [(number, "x", number) for number in range(4, 8)]


def test_what_is_wrong_is_what_spark_says(
    catalog: Catalog, spark: SparkSession, joins: list[object]
) -> None:
    table = five_rows(catalog, "append")
    before, names = rows(table), {path.name for path in Path(table.path).rglob("*.parquet")}
    twice = "SELECT * FROM VALUES (2, 'x', 1L), (2, 'y', 2L) AS s (id, v, n)"
    with pytest.raises(DataError, match="id = 2"):
        merge(spark, twice, UPSERT)
    assert merge(spark, twice, "WHEN NOT MATCHED THEN INSERT *") == (0, 0, 0, 0)
    zero = "SELECT * FROM VALUES (2, 'x', 0L), (9, 'y', 0L) AS s (id, v, n)"
    divided = "WHEN MATCHED THEN UPDATE SET n = t.n % s.n"
    with pytest.raises(PySparkException, match="REMAINDER_BY_ZERO"):
        merge(spark, zero, divided)
    assert joins
    assert rows(table) == before
    assert {path.name for path in Path(table.path).rglob("*.parquet")} == names

    looked_at = "WHEN MATCHED AND s.n <> 0 AND t.n % s.n = 0 THEN DELETE"
    assert merge(spark, zero, looked_at) == (0, 0, 0, 0)


def test_sources_of_files_and_of_nothing(
    catalog: Catalog, spark: SparkSession, joins: list[object], tmp_path: Path
) -> None:
    table = five_rows(catalog, "append-vectors")
    spark.range(3, 7).selectExpr("int(id) id", "'f' v", "id n").write.parquet(f"{tmp_path}/s")
    source = f"SELECT * FROM parquet.`{tmp_path}/s`"
    nothing = f"{source} WHERE n > 100"
    assert merge(spark, nothing, UPSERT) == (0, 0, 0, 0)
    null = "SELECT int(NULL) AS id, 'a' AS v, 1L AS n"
    assert merge(spark, null, "WHEN MATCHED THEN DELETE") == (0, 0, 0, 0)
    assert merge(spark, source, UPSERT) == (4, 3, 0, 1)
    assert rows(table)[2:] == [(number, "f", number) for number in range(3, 7)]
    table.delete("id > 2")
    itself = "SELECT id + 5 AS id, v, n FROM paimon.db.t"
    assert merge(spark, itself, UPSERT) == (2, 0, 0, 2)
    assert [row[0] for row in rows(table)] == [1, 2, 6, 7]
    assert not joins


@pytest.mark.parametrize("options", [{}, VECTORS])
def test_merges_leave_what_a_dictionary_has(
    options: dict[str, str],
    catalog: Catalog,
    spark: SparkSession,
    joins: list[object],
    rng: np.random.Generator,
) -> None:
    """Several files, some rows of which were deleted; keys of texts and numbers."""
    table = catalog.create_table(
        "db.t", {"k": "STRING", "id": "INT", "n": "BIGINT"}, options=options
    )
    model: dict[tuple[str, int], int] = {}
    for start in (0, 400, 800):
        new = {(f"k{one % 7}", one): one for one in range(start, start + 400)}
        model |= new
        table.write(
            pa.table(
                {
                    "k": [key for key, _ in new],
                    "id": pa.array([number for _, number in new], pa.int32()),
                    "n": pa.array([*new.values()], pa.int64()),
                }
            )
        )
    table.delete("n % 10 = 3")
    model = {key: n for key, n in model.items() if n % 10 != 3}
    for _ in range(3):
        numbers = rng.choice(1600, 300, replace=False).tolist()
        source = {(f"k{one % 7}", one): int(rng.integers(100)) for one in numbers}
        spark.createDataFrame(
            pa.table(
                {
                    "k": [key for key, _ in source],
                    "id": pa.array([number for _, number in source], pa.int32()),
                    "m": pa.array([*source.values()], pa.int64()),
                }
            )
        ).createOrReplaceTempView("given")
        found = merge(
            spark,
            "SELECT * FROM given",
            "WHEN MATCHED AND s.m < 30 THEN DELETE "
            "WHEN MATCHED AND t.n % 2 = 0 THEN UPDATE SET n = t.n + s.m "
            "WHEN NOT MATCHED AND s.m > 10 THEN INSERT (k, id, n) VALUES (s.k, s.id, -s.m)",
            "t.k = s.k AND t.id = s.id",
        )
        deleted = {key for key, m in source.items() if key in model and m < 30}
        updated = {
            key for key in source if key in model and key not in deleted and model[key] % 2 == 0
        }
        inserted = {key for key, m in source.items() if key not in model and m > 10}
        model |= {key: model[key] + source[key] for key in updated}
        model |= {key: -source[key] for key in inserted}
        for key in deleted:
            del model[key]
        changed = (len(updated), len(deleted), len(inserted))
        assert found == (sum(changed), *changed)
        assert {(k, one): n for k, one, n in rows(table)} == model
        assert len(rows(table)) == len(model)
    assert not joins
    assert not table.fsck(deep=True).findings


def test_numbered_keys_are_those_of_a_dictionary(rng: np.random.Generator) -> None:
    for columns in (1, 2, 3):
        names = [f"c{at}" for at in range(columns)]
        some = {tuple(rng.integers(0, 12, columns).tolist()) for _ in range(100)}
        keys = [*some]
        numbered = NumberedKeys(pa.table([*map(list, zip(*keys, strict=True))], names=names))
        number_of = dict(zip(keys, numbered.numbers.tolist(), strict=True))
        assert sorted(number_of.values()) == list(range(numbered.count)) == list(range(len(keys)))
        asked = [tuple(rng.integers(0, 14, columns).tolist()) for _ in range(500)]
        asked.append((None,) * columns)
        batch = pa.RecordBatch.from_arrays(
            [pa.array(one, pa.int64()) for one in zip(*asked, strict=True)], names=names
        )
        assert numbered.numbers_of(batch).tolist() == [number_of.get(key, -1) for key in asked]
