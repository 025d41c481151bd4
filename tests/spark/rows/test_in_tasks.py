"""DELETE and UPDATE whose conditions and values tasks evaluate, against Spark and a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, functions

from paimonlab.catalog import Catalog
from paimonlab.errors import DataError, UnsupportedError
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.rows import running
from paimonlab.spark.rows.catalyst_trees import trees_of
from paimonlab.spark.rows.expression_trees import Columns, Tree, bound, names_of
from paimonlab.spark.rows.in_tasks import is_simple
from paimonlab.spark.rows.python_jobs import run_tasks
from paimonlab.spark.rows.statements import as_list
from paimonlab.spark.rows.tree_pruning import pruning
from paimonlab.spec.predicates.predicate import bind, evaluate
from paimonlab.spec.types.arrow import from_arrow
from paimonlab.spec.types.data_types import DataField
from tests.random_changes.kinds import KINDS, our_columns
from tests.spark.rows.test_statements import COLUMNS, counts, five_rows, rows
from tests.spark.test_expressions import ERRORS, SAME, rows_with_divisors, shown

pytestmark = pytest.mark.usefixtures("interpreted")

CONDITIONS = [
    "l % 100 = 10",
    "l % 4 = 2 OR i IS NULL",
    "i = 3",
    "l BETWEEN -3 AND 4 AND s NOT BETWEEN 'b' AND 'c'",
    "concat(s, '!') = 'abc!' AND nvl(i, 3) = 3",
    "3 < i",
    "t <= 1Y",
    "t = l",
    "i + 1L > l",
    "l = -3",
    "l > 5000000000",
    "i IN (0, 3)",
    "i NOT IN (0, 3)",
    "i IN (0, 3, NULL)",
    "i IN (l, 3)",
    "s IN ('abc', '')",
    "s = 'abc'",
    "s < 'b'",
    "s LIKE 'a%c'",
    "s NOT LIKE '%!%' OR s IS NULL",
    "d > 1",
    "f < d",
    "f <=> d",
    "d IN (1.5D, -2.25D)",
    "d / 2 > 0.5D",
    "d % 1 = 0.5D",
    "m > 1.25",
    "m = w",
    "m IN (99.99, 1.25)",
    "b",
    "NOT b AND i = 0",
    "b = true OR b IS NULL",
    "day = DATE '2000-01-01'",
    "day >= DATE '1969-12-31' AND day < DATE '2024-02-29'",
    "day IN (DATE '2024-02-29', DATE '0001-01-01')",
    "wall < TIMESTAMP_NTZ '2024-02-29 12:00:00'",
    "wall = TIMESTAMP_NTZ '2024-02-29 12:00:00.123456'",
    "instant >= TIMESTAMP '1969-12-31 23:59:59.5Z'",
    "instant IN (TIMESTAMP '2024-02-29 12:00:00.123456Z')",
    "coalesce(i, t, 7) > 2",
    "CASE WHEN i > 0 THEN l > 3 WHEN i IS NULL THEN b END",
    "IF(b, l, i) > 0",
    "-i > 2",
]
"""Over the columns of `rows`; none is Spark's to evaluate."""
OF_SPARK = [
    "upper(s) = 'ABC'",
    "cast(s AS INT) = 1",
    "cast(d AS INT) = 1",
    "m + 1 > 2",
    "try_cast(l AS INT) = 1",
    "try_add(i, 1) = 4",
    "nullif(i, 3) IS NULL",
    "s COLLATE UTF8_LCASE = 'ABC'",
    "s LIKE upper('a%')",
    "rand() < 0.5",
    "day > current_date() - 1",
]


def values() -> pa.RecordBatch:
    """Return five rows of a column of each type."""
    micros = pa.array([0, None, -500_000, 1_709_208_000_123_456, 1], pa.int64())
    found = rows_with_divisors().append_column("wall", micros.cast(pa.timestamp("us")))
    return found.append_column("instant", micros.cast(pa.timestamp("us", "UTC")))


@pytest.fixture(scope="module", autouse=True)
def view(spark: SparkSession) -> None:
    frame = spark.createDataFrame(pa.Table.from_batches([values()]))
    wall = functions.expr("CAST(instant AS TIMESTAMP_NTZ)")
    frame.coalesce(1).withColumn("wall", wall).createOrReplaceTempView("expressions")


def read(spark: SparkSession, texts: Sequence[str]) -> tuple[list[Tree], Columns, DataFrame]:
    """Return expressions as tasks get them, their columns, and the query for Spark's answers."""
    answers = (functions.expr(text).alias(f"answer {at}") for at, text in enumerate(texts))
    asked = spark.table("expressions").select("*", *answers)
    bridge = Bridge(spark)
    plan = asked._jdf.queryExecution().analyzed()
    attributes = as_list(bridge, plan.children().head().output())
    projected = as_list(bridge, plan.projectList())[len(attributes) :]
    trees = trees_of(bridge, [*projected, *attributes])
    schema, ids = values().schema, trees[len(projected) :]
    names = {str(one.detail): name for one, name in zip(ids, schema.names, strict=True)}
    return trees[: len(projected)], Columns(names, schema, "db.t"), asked


def test_conditions_are_what_spark_says(spark: SparkSession) -> None:
    given = values()
    schema = given.schema
    fields = [DataField(at, one.name, from_arrow(one.type)) for at, one in enumerate(schema)]
    trees, columns, asked = read(spark, CONDITIONS)
    answers = asked.toArrow()
    for at, (text, tree) in enumerate(zip(CONDITIONS, trees, strict=True)):
        made = bound(tree, columns)
        expected = answers.column(f"answer {at}").to_pylist()

        assert made.evaluate(given).to_pylist() == expected, text
        assert names_of(tree, columns), text
        known = pruning(tree, columns)
        if known is not None:
            kept = evaluate(bind(known, fields, "db.t"), given).to_pylist()
            assert all(may for may, is_true in zip(kept, expected, strict=True) if is_true), text


def test_values_are_those_of_spark(spark: SparkSession) -> None:
    """Whatever is evaluated here; some has to be, and what Spark takes for an error is one."""
    given, here, errors = values(), 0, 0
    trees, columns, asked = read(spark, [*SAME, *ERRORS])
    answers = asked.select(*(f"`answer {at}`" for at in range(len(SAME)))).toArrow()
    for at, tree in enumerate(trees):
        try:
            made = bound(tree, columns)
        except UnsupportedError:
            continue
        if at >= len(SAME):
            errors += 1
            with pytest.raises(DataError):
                made.evaluate(given)
            continue
        here += 1
        assert shown(made.evaluate(given)) == shown(answers.column(f"answer {at}")), SAME[at]

    assert here > 40
    assert errors > 5


def test_what_is_not_known_is_for_spark(spark: SparkSession) -> None:
    trees, columns, _ = read(spark, OF_SPARK)
    for tree in trees:
        with pytest.raises(UnsupportedError):
            bound(tree, columns)


def test_without_ansi_mode_numbers_are_for_spark(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        trees, columns, _ = read(spark, ["i + 1 = 4", "-i = 3", "cast(l AS INT) = 3"])
        for tree in trees:
            with pytest.raises(UnsupportedError):
                bound(tree, columns)
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let a statement fail for whose rows Spark makes a plan; the function undoes that."""

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("tasks evaluate this")

    monkeypatch.setattr(running, "changed_rows", refused)
    return monkeypatch.undo


def test_tasks_change_rows_where_they_read_them(
    catalog: Catalog, spark: SparkSession, without_spark: Callable[[], None]
) -> None:
    for kind in ("keyed", "append", "append-vectors", "keyed-vectors"):
        catalog.drop_table("db.t", missing_ok=True)
        table = five_rows(catalog, kind)
        update = "UPDATE paimon.db.t SET n = n * 2 + id, v = 'x' WHERE id % 2 = 1 AND n < 50"
        assert counts(spark, update) == (2,)
        assert counts(spark, "DELETE FROM paimon.db.t WHERE v = 'a2' OR id = 4") == (2,)
        assert counts(spark, "DELETE FROM paimon.db.t WHERE id > 4 AND n IS NULL") == (0,)

        assert rows(table) == [(1, "x", 21), (3, "x", 63), (5, "a5", 50)]
        assert sorted(spark.table("paimon.db.t").collect()) == rows(table)
        assert counts(spark, "DELETE FROM paimon.db.t WHERE id < 9") == (3,)
        assert rows(table) == []
    without_spark()


def test_a_condition_on_keys_and_values_is_of_the_newest_rows(
    catalog: Catalog, spark: SparkSession, without_spark: Callable[[], None]
) -> None:
    options = {"bucket": "1", "write-only": "true"}
    table = catalog.create_table("db.t", COLUMNS, primary_keys=["id"], options=options)
    for value in (7, 8):
        ids = pa.array(range(10), pa.int32())
        table.write(
            pa.table({"id": ids, "v": ["a"] * 10, "n": [value - (one > 6) for one in range(10)]})
        )
    assert counts(spark, "DELETE FROM paimon.db.t WHERE id % 2 = 1 AND n = 7 AND id < 9") == (1,)
    assert counts(spark, "UPDATE paimon.db.t SET n = 0 WHERE n = 8 AND id % 3 = 0") == (3,)
    expected = {one: 8 - (one > 6) for one in range(10) if one != 7} | dict.fromkeys((0, 3, 6), 0)
    assert [(row[0], row[2]) for row in rows(table)] == sorted(expected.items())
    without_spark()


def test_files_are_marked_or_written_again(
    catalog: Catalog, spark: SparkSession, without_spark: Callable[[], None]
) -> None:
    options = {"deletion-vectors.enabled": "true"}
    table = catalog.create_table("db.t", COLUMNS, options=options)
    for first in (0, 10):
        ids = pa.array(range(first, first + 10), pa.int32())
        columns = {"id": ids, "v": [str(one) for one in range(10)], "n": [7] * 10}
        table.write(pa.table(columns))
    spark.sql("DELETE FROM paimon.db.t WHERE id >= 3 AND id < 12")
    spark.sql("UPDATE paimon.db.t SET n = NULL WHERE id = 12")
    assert len(list(Path(table.path).rglob("*.parquet"))) == 3, "one of them has the updated row"
    assert [(row[0], row[2]) for row in rows(table)] == [
        *((0, 7), (1, 7), (2, 7)),
        (12, None),
        *((at, 7) for at in range(13, 20)),
    ]
    assert counts(spark, "DELETE FROM paimon.db.t WHERE id < 3 OR id = 12") == (4,)

    assert table.scan().plan().files["row_count"].to_pylist() == [10]
    without_spark()


def test_what_spark_never_looks_at_is_no_error(catalog: Catalog, spark: SparkSession) -> None:
    for kind in ("keyed", "append"):
        catalog.drop_table("db.t", missing_ok=True)
        table = five_rows(catalog, kind)
        spark.sql("UPDATE paimon.db.t SET n = 0 WHERE id = 1")
        before = rows(table)
        with pytest.raises(PySparkException, match="REMAINDER_BY_ZERO"):
            spark.sql("UPDATE paimon.db.t SET n = 7 % n WHERE id < 9")

        assert rows(table) == before
        assert counts(spark, "DELETE FROM paimon.db.t WHERE n <> 0 AND 100 % n = 20") == (1,)
        assert [row[0] for row in rows(table)] == [1, 2, 3, 5]


def test_rows_that_must_not_be_null_are_not(catalog: Catalog, spark: SparkSession) -> None:
    columns = {"id": "INT", "n": "INT NOT NULL"}
    for keys in ([], ["id"]):
        name = f"db.t{len(keys)}"
        options = {"bucket": "1"} if keys else {}
        table = catalog.create_table(name, columns, primary_keys=keys, options=options)
        spark.sql(f"INSERT INTO paimon.{name} VALUES (1, 1)")
        with pytest.raises(PySparkException, match="NOT_NULL"):
            spark.sql(f"UPDATE paimon.{name} SET n = IF(id = 1, NULL, n) WHERE id = 1")
        assert rows(table) == [(1, 1)]


def test_tasks_run_in_the_workers_that_queries_use(spark: SparkSession) -> None:
    def parent(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import os  # noqa: PLC0415 - what the test module has is not imported in the worker

        for batch in batches:
            yield batch.from_pydict({"id": [os.getppid()] * batch.num_rows})

    def parent_of_task(numbers: Iterable[int]) -> Iterator[bytes]:
        import os  # noqa: PLC0415
        import pickle  # noqa: PLC0415

        yield pickle.dumps((list(numbers), os.getppid()))

    (row,) = spark.range(1).mapInArrow(parent, "id bigint").collect()
    before = dict(spark.sparkContext.environment)
    found = run_tasks(Bridge(spark), parent_of_task, 2)
    assert found == [([0], row.id), ([1], row.id)]
    assert spark.sparkContext.environment == before


def test_each_kind_of_table_goes_one_way(catalog: Catalog) -> None:
    """Rows are changed by whoever reads their bucket or file, or pass through Spark."""
    through_spark = set[str]()
    for name, kind in KINDS.items():
        catalog.drop_table("db.t", missing_ok=True)
        table = catalog.create_table(
            "db.t",
            our_columns(kind.keys),
            primary_keys=kind.keys,
            partition_keys=kind.partitions,
            options=kind.options,
        )
        if not is_simple(table.scan()):
            through_spark.add(name)
    assert through_spark == {
        "append-buckets",
        "columns-apart",
        "columns-apart-partitions",
        "dynamic",
        "dynamic-partitions",
        "dynamic-vectors",
        "across-partitions",
        "across-partitions-vectors",
        "postponed",
        "postponed-partitions",
        "partial-dynamic-partitions",
        "partial-group-dynamic-partitions",
        "first-row-dynamic",
    }
