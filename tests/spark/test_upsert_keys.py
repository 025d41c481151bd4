"""``upsert-key``: INSERT into append tables replaces rows of the same keys."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import DataError, SchemaError, UnsupportedError
from paimonlab.spark.writing.upserts import merge_text
from paimonlab.spec.snapshot import CommitKind, Snapshot
from tests.spark.streaming.running import forget_last_batch, run, stream, write_to
from tests.spark.test_ddl import plain_table, rows

pytestmark = pytest.mark.usefixtures("interpreted")

Row = tuple[Any, ...]


def created(spark: SparkSession, columns: str, more: str = "", **options: str) -> None:
    """Make ``t``; names of options have ``_`` for ``-`` and ``__`` for ``.``."""
    given = {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    spark.sql(f"CREATE TABLE paimon.db.t ({columns}) {more} TBLPROPERTIES ({properties})")


def inserted(spark: SparkSession, values: str) -> None:
    """Insert rows into ``t``."""
    spark.sql(f"INSERT INTO paimon.db.t VALUES {values}")


def stored(spark: SparkSession) -> list[Row]:
    """Return the rows of ``t``."""
    return sorted(rows(spark, "SELECT * FROM paimon.db.t"), key=repr)


def latest(catalog: Catalog) -> Snapshot:
    """Return the latest snapshot of ``t``."""
    snapshot = plain_table(catalog, "db.t").scan().snapshot
    assert snapshot is not None
    return snapshot


@pytest.mark.parametrize("vectors", ["false", "true"])
def test_rows_of_the_same_keys_are_replaced(
    vectors: str, spark: SparkSession, catalog: Catalog
) -> None:
    created(spark, "k INT, a INT, b STRING", upsert_key="k", deletion_vectors__enabled=vectors)

    inserted(spark, "(1, 1, 'c1'), (NULL, 2, 'c2'), (3, 3, 'c3')")
    inserted(spark, "(NULL, 22, 'c22'), (1, 11, 'c11'), (4, 4, 'c4')")

    assert stored(spark) == [(1, 11, "c11"), (3, 3, "c3"), (4, 4, "c4"), (None, 22, "c22")]
    assert latest(catalog).commit_kind is CommitKind.OVERWRITE


def test_of_rows_with_sequence_fields_the_newest_counts(
    spark: SparkSession, catalog: Catalog
) -> None:
    columns = "k1 INT, k2 INT, ts1 INT, ts2 INT, c STRING"
    created(spark, columns, upsert_key="k1,k2", sequence__field="ts1,ts2")

    inserted(
        spark,
        "(NULL, NULL, 2, 1, 'v3'), (NULL, NULL, 2, 2, 'v4'), (NULL, NULL, 1, 1, 'v1'), "
        "(NULL, NULL, 1, 2, 'v2'), (1, NULL, 1, 1, 'v1'), (1, 2, 1, 1, 'v1'), (1, 2, 2, 1, 'v2')",
    )
    first = [(1, 2, 2, 1, "v2"), (1, None, 1, 1, "v1"), (None, None, 2, 2, "v4")]
    assert stored(spark) == first
    inserted(
        spark,
        "(NULL, NULL, 2, 1, 'v44'), (1, NULL, 2, 1, 'v2'), (NULL, 1, 1, 1, 'v1'), "
        "(1, 2, 2, 2, 'v3'), (1, 1, 1, 1, 'v1')",
    )

    assert stored(spark) == [
        (1, 1, 1, 1, "v1"),
        (1, 2, 2, 2, "v3"),
        (1, None, 2, 1, "v2"),
        (None, 1, 1, 1, "v1"),
        (None, None, 2, 2, "v4"),
    ]


def test_inserts_of_every_form_are_those_of_a_dict(spark: SparkSession, catalog: Catalog) -> None:
    seed = random.randrange(1 << 30)
    choose = random.Random(seed)
    created(
        spark,
        "k INT, n CHAR(3), at BIGINT, v STRING",
        "PARTITIONED BY (k)",
        upsert_key="n,k",
        sequence__field="at",
    )
    model: dict[tuple[int, str | None], tuple[int, str]] = {}
    for number in range(3):
        batch = [
            (choose.randrange(3), choose.choice(["a", "b", "c", None]), at, f"{number}-{at}")
            for at in choose.sample(range(100), 6)
        ]
        frame = spark.createDataFrame(batch, "k INT, n STRING, at BIGINT, v STRING")
        if number % 2:
            frame.writeTo("paimon.db.t").append()
        else:
            frame.createOrReplaceTempView("batch")
            spark.sql("INSERT INTO paimon.db.t BY NAME SELECT v, at, n, k FROM batch")
        for k, n, at, v in batch:
            key = (k, None if n is None else n.ljust(3))
            if key not in model or model[key][0] <= at:
                model[key] = (at, v)

        expected = [(k, n, at, v) for (k, n), (at, v) in model.items()]
        assert stored(spark) == sorted(expected, key=repr), f"seed {seed}"


def test_a_query_of_the_table_itself_and_a_new_table_are_upserted(
    spark: SparkSession, catalog: Catalog
) -> None:
    query = "SELECT * FROM VALUES (1, 1, 'a'), (1, 2, 'b'), (2, 1, 'c') AS r(id, at, v)"
    options = "TBLPROPERTIES ('upsert-key' = 'id', 'sequence.field' = 'at')"
    spark.sql(f"CREATE TABLE paimon.db.t {options} AS {query}")
    assert stored(spark) == [(1, 2, "b"), (2, 1, "c")]
    spark.sql("INSERT INTO paimon.db.t SELECT id, at + 1, upper(v) FROM paimon.db.t")
    assert stored(spark) == [(1, 3, "B"), (2, 2, "C")]
    spark.sql("INSERT OVERWRITE paimon.db.t VALUES (5, 1, 'x'), (5, 2, 'y')")
    assert stored(spark) == [(5, 1, "x"), (5, 2, "y")], "an overwrite replaces rows as they are"
    spark.sql(f"CREATE OR REPLACE TABLE paimon.db.t {options} AS {query}")
    assert stored(spark) == [(1, 2, "b"), (2, 1, "c")]


def test_several_new_rows_of_one_row_are_an_error(spark: SparkSession, catalog: Catalog) -> None:
    created(spark, "k INT, v STRING", upsert_key="k")
    inserted(spark, "(1, 'a'), (1, 'b')")
    assert stored(spark) == [(1, "a"), (1, "b")], "new rows are not compared with each other"

    with pytest.raises(DataError, match="k = 1"):
        inserted(spark, "(1, 'c'), (1, 'd')")

    inserted(spark, "(1, 'e')")
    assert stored(spark) == [(1, "e"), (1, "e")]


def test_batches_of_a_stream_are_upserted_once(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    created(spark, "k INT, v STRING", upsert_key="k")
    spark.sql("CREATE TABLE paimon.db.s (k INT, v STRING)")
    spark.sql("INSERT INTO paimon.db.s VALUES (1, 'a'), (2, 'b')")
    inserted(spark, "(1, 'old')")

    def store(batch: DataFrame, _: int) -> None:
        batch.writeTo("paimon.db.t").append()

    with pytest.raises(UnsupportedError, match=r"upsert-key = 'k'.*foreachBatch"):
        write_to(stream(spark, "paimon.db.s"), "paimon.db.t", tmp_path / "a")
    for _ in range(2):
        run(stream(spark, "paimon.db.s"), tmp_path / "b", store)
        assert stored(spark) == [(1, "a"), (2, "b")]
        assert latest(catalog).id == 2
        forget_last_batch(tmp_path / "b")


@pytest.mark.parametrize(
    ("options", "error", "named"),
    [
        ("'upsert-key' = 'k', 'primary-key' = 'k'", SchemaError, r"'upsert-key' = 'k'.*\(k\)"),
        ("'upsert-key' = 'nope'", SchemaError, "upsert-key 'nope' is not a column"),
        ("'upsert-key' = 'm'", SchemaError, "upsert-key 'm' must not be of type"),
        (
            "'upsert-key' = 'k', 'sequence.field.sort-order' = 'descending'",
            UnsupportedError,
            "sequence.field.sort-order = 'descending'",
        ),
    ],
)
def test_keys_that_cannot_be_are_refused(
    options: str, error: type[Exception], named: str, spark: SparkSession, catalog: Catalog
) -> None:
    with pytest.raises(error, match=named):
        spark.sql(f"CREATE TABLE paimon.db.t (k INT, m MAP<INT, INT>) TBLPROPERTIES ({options})")


def test_other_writers_do_not_append(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    created(spark, "k INT, v STRING", upsert_key="k")
    table = plain_table(catalog, "db.t")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "rows.csv").write_text("1,a\n")

    with pytest.raises(UnsupportedError, match=r"upsert-key = 'k'.*table\.merge"):
        table.write({"k": [1], "v": ["a"]})
    with pytest.raises(UnsupportedError, match="upsert-key = 'k'"):
        table.new_writer()
    with pytest.raises(UnsupportedError, match=r"COPY INTO db.t with upsert-key = 'k'"):
        spark.sql(f"COPY INTO paimon.db.t FROM '{tmp_path}/in' FILE_FORMAT = (TYPE = CSV)")

    table.merge(
        {"k": [1], "v": ["a"]}, "k"
    ).when_matched_update().when_not_matched_insert().execute()
    assert stored(spark) == [(1, "a")]
    spark.sql("ALTER TABLE paimon.db.t RENAME COLUMN k TO id")
    inserted(spark, "(1, 'b')")
    assert stored(spark) == [(1, "b")]


def test_the_merge_is_that_of_the_connector() -> None:
    text = merge_text(["c", "db", "t"], ["k"], ["at"], ["k", "at"])

    assert text.endswith(
        "ON old.k <=> new.k WHEN MATCHED AND old.at <= new.at THEN UPDATE SET k = new.k, "
        "at = new.at WHEN NOT MATCHED THEN INSERT (k, at) VALUES (new.k, new.at)"
    )


def test_rows_go_to_the_branch_that_is_meant(spark: SparkSession, catalog: Catalog) -> None:
    created(spark, "k INT, v STRING", upsert_key="k")
    inserted(spark, "(1, 'a')")
    spark.sql("CALL paimon.sys.create_branch('db.t', 'dev')")
    spark.conf.set("spark.paimon.branch", "dev")
    try:
        inserted(spark, "(1, 'b')")
        inserted(spark, "(1, 'c')")
        spark.sql("INSERT INTO paimon.db.`t$branch_main` VALUES (1, 'd')")
        assert stored(spark) == [(1, "c")]
        spark.conf.set("spark.paimon.upsert-key", "v")
        with pytest.raises(UnsupportedError, match="upsert-key = 'v' for"):
            inserted(spark, "(1, 'e')")
    finally:
        spark.conf.unset("spark.paimon.upsert-key")
        spark.conf.unset("spark.paimon.branch")
    assert stored(spark) == [(1, "d")]
