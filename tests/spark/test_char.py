"""Columns of CHAR(n) against tables of Spark's own with the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession, functions

from paimonlab import UpdateColumnType
from paimonlab.catalog import Catalog
from paimonlab.commit.committer import Committer
from paimonlab.commit.scope import OverwriteScope
from paimonlab.scan.split import DataSplit
from paimonlab.spark.reading.file_index import SnapshotFileIndex
from paimonlab.spec.types.text import format_type
from paimonlab.table.table import Table

COLUMNS = {
    "id": "INT",
    "c": "CHAR(5)",
    "v": "VARCHAR(5)",
    "s": "STRING",
    "a": "ARRAY<CHAR(3)>",
    "r": "ROW<i CHAR(3), n INT>",
}
SPARK_COLUMNS = (
    "id INT, c CHAR(5), v VARCHAR(5), s STRING, a ARRAY<CHAR(3)>, r STRUCT<i: CHAR(3), n: INT>"
)
BARE = [(1, "ab"), (2, "xy"), (3, "abcde"), (4, None), (5, ""), (6, "ä")]
"""Values of the keys, as Flink or ``Table.write`` store them: not padded."""
OWN = "spark_catalog.default.chars"

MANY = ", ".join(f"'{number}'" for number in range(20))
EXPRESSIONS = [
    "c = 'ab'",
    "'ab  ' = c",
    "c = 'ab     '",
    "c = ''",
    "c <=> 'xy'",
    "c <> 'ab'",
    "c IN ('ab', 'xy ', 'none')",
    f"c IN ('ab', {MANY})",
    "c NOT IN ('ab', 'xy')",
    "c < 'b'",
    "c > 'ab'",
    "c BETWEEN 'ab' AND 'xy'",
    "c LIKE 'ab'",
    "c LIKE 'ab%'",
    "c = s",
    "c = v",
    "v = 'ab'",
    "a[0] = 'x'",
    "array_contains(a, 'x  ')",
    "r.i = 'x'",
    "r.i = c",
    "length(c)",
    "length(a[0])",
    "length(r.i)",
    "concat(c, '|')",
]
QUERIES = [
    "SELECT *, {expressions} FROM {t} ORDER BY id",
    f"SELECT id FROM {{t}} WHERE c = 'ab' OR c IN ('xy', 'ä  ', {MANY}) ORDER BY id",
    "SELECT x.id, y.id FROM {t} x JOIN {t} y ON x.c = y.r.i JOIN {t} z ON x.c = z.c ORDER BY 1, 2",
    "SELECT x.id FROM {t} x JOIN (VALUES ('ab'), ('xy   ')) y (c) ON x.c = y.c ORDER BY 1",
    "SELECT id FROM {t} WHERE c IN (SELECT c FROM {t} WHERE c = 'xy') ORDER BY id",
    "SELECT c, count(*), max(c) FROM {t} GROUP BY c ORDER BY c",
    "WITH w AS (SELECT id, c AS d FROM {t}) SELECT id FROM w WHERE d = 'ab'",
]


def answers(spark: SparkSession, table: str) -> list[Any]:
    """Ask a table everything."""
    listed = ", ".join(f"{text} AS e{place}" for place, text in enumerate(EXPRESSIONS))
    queries = [query.format(t=table, expressions=listed) for query in QUERIES]
    return [spark.sql(query).collect() for query in queries]


def rows(texts: list[tuple[int, str | None]]) -> pa.Table:
    parts = [None if text is None else text[:1] for _, text in texts]
    return pa.table(
        {
            "id": pa.array([number for number, _ in texts], pa.int32()),
            **{name: [text for _, text in texts] for name in ("c", "v", "s")},
            "a": [[part] for part in parts],
            "r": [{"i": part, "n": 1} for part in parts],
        }
    )


@pytest.fixture(scope="module")
def own(spark: SparkSession) -> Iterator[list[Any]]:
    """Make a table of Spark's own, whose values Spark pads; return what it answers."""
    spark.sql(f"CREATE TABLE {OWN} ({SPARK_COLUMNS}) USING parquet")
    spark.createDataFrame(rows(BARE)).createOrReplaceTempView("bare")
    spark.sql(f"INSERT INTO {OWN} SELECT * FROM bare")
    yield answers(spark, OWN)
    spark.sql(f"DROP TABLE {OWN}")


def unpadded(catalog: Catalog, **options: str) -> Table:
    table = catalog.create_table(
        "db.t", COLUMNS, primary_keys=["id"], options={"bucket": "1"} | options
    )
    table.write(rows([(1, "old"), *BARE[2:4]]))  # files overlap: some rows are masked
    table.write(rows([*BARE[:2], *BARE[4:]]))
    return table


@pytest.mark.parametrize("reader", ["spark", "paimonlab"])
def test_char_columns_are_compared_and_read_as_spark_does(
    own: list[Any], catalog: Catalog, spark: SparkSession, reader: str
) -> None:
    unpadded(catalog, **({} if reader == "spark" else {"file.format": "orc"}))

    assert answers(spark, "paimon.db.t") == own
    pinned = "SELECT id, c FROM paimon.db.t VERSION AS OF 2 WHERE c = 'ab'"
    assert spark.sql(pinned).collect() == [(1, "ab   ")]
    plan = spark.sql("SELECT * FROM paimon.db.t")._jdf.queryExecution().toString()
    assert ("BatchScan" in plan) == (reader == "paimonlab"), plan


def test_rows_that_spark_wrote_are_the_same(
    own: list[Any], catalog: Catalog, spark: SparkSession
) -> None:
    catalog.create_table("db.t", COLUMNS, primary_keys=["id"], options={"bucket": "1"})
    spark.sql(f"INSERT INTO paimon.db.t SELECT * FROM {OWN}")

    assert answers(spark, "paimon.db.t") == own


def test_data_frames_compare_char_columns_alike(catalog: Catalog, spark: SparkSession) -> None:
    unpadded(catalog)
    frame = spark.table("paimon.db.t")

    assert frame.where(frame.c == "ab").select("id").collect() == [(1,)]
    assert frame.where(functions.col("c").isin("ab", "xy")).count() == 2


def test_a_table_made_of_a_query_keeps_lengths(catalog: Catalog, spark: SparkSession) -> None:
    unpadded(catalog)

    spark.sql("CREATE TABLE paimon.db.copy AS SELECT id, c, v, s, a, r FROM paimon.db.t")

    copy = catalog.table("db.copy")
    assert isinstance(copy, Table)
    named = {field.name: format_type(field.type) for field in copy.schema.fields}
    assert named == COLUMNS


def test_a_session_that_does_not_pad_reads_what_is_stored(
    catalog: Catalog, spark: SparkSession
) -> None:
    unpadded(catalog)
    query = "SELECT id, length(c) FROM paimon.db.t WHERE c = 'ab'"
    assert spark.sql(query).collect() == [(1, 5)]
    for setting, value, wanted in [
        ("spark.sql.readSideCharPadding", "false", [(1, 2)]),
        ("spark.sql.legacy.charVarcharAsString", "true", [(1, 2)]),
    ]:
        spark.conf.set(setting, value)
        try:
            assert spark.sql(query).collect() == wanted, setting
        finally:
            spark.conf.unset(setting)
    assert spark.sql(query).collect() == [(1, 5)]


def test_a_wider_char_is_padded_to_its_new_length(catalog: Catalog, spark: SparkSession) -> None:
    table = catalog.create_table("db.t", {"id": "INT", "c": "CHAR(2)"})
    table.write(pa.table({"id": pa.array([1], pa.int32()), "c": ["a"]}))
    altered = catalog.alter_table("db.t", UpdateColumnType("c", "CHAR(4)"))
    altered.write(pa.table({"id": pa.array([2], pa.int32()), "c": ["a"]}))

    found = spark.sql("SELECT id, c FROM paimon.db.t WHERE c = 'a' ORDER BY id")

    assert found.collect() == [(1, "a   "), (2, "a   ")]


@pytest.mark.parametrize("keys", [["c"], []], ids=["partition", "column"])
@pytest.mark.parametrize(
    ("condition", "files"),
    [
        ("c = 'de'", 1),
        ("'de ' = c", 1),
        ("c IN ('de', 'fr')", 2),
        (f"c IN ('fr', {MANY})", 1),
        ("c IN ('none', NULL)", 0),
        ("c = 'none'", 0),
    ],
)
def test_values_of_char_columns_still_choose_files(
    catalog: Catalog,
    spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    condition: str,
    files: int,
    keys: list[str],
) -> None:
    table = catalog.create_table("db.t", {"id": "INT", "c": "CHAR(4)"}, partition_keys=keys)
    for number, country in enumerate(["de", "fr  ", "it"]):
        table.write(pa.table({"id": pa.array([number], pa.int32()), "c": [country]}))

    listed: list[int] = []
    listing = SnapshotFileIndex._list

    def counting(
        self: SnapshotFileIndex, splits: Sequence[DataSplit], rows: frozenset[int] | None
    ) -> tuple[object, int]:
        listed.append(sum(len(split.files) for split in splits))
        return listing(self, splits, rows)

    monkeypatch.setattr(SnapshotFileIndex, "_list", counting)
    spark.sql(f"SELECT id FROM paimon.db.t WHERE {condition}").collect()

    assert listed == [files]


def test_partitions_by_char_are_found_with_and_without_blanks(
    catalog: Catalog, spark: SparkSession
) -> None:
    columns = {"id": "INT", "c": "CHAR(4)"}
    table = catalog.create_table("db.t", columns, partition_keys=["c"])
    table.write(pa.table({"id": pa.array([1, 2, 3], pa.int32()), "c": ["de", "fr", "it"]}))
    spark.sql("INSERT INTO paimon.db.t VALUES (4, 'it')")

    spark.sql("ALTER TABLE paimon.db.t DROP PARTITION (c = 'de')")
    spark.sql("ALTER TABLE paimon.db.t DROP PARTITION (c = 'it  ')")

    assert spark.sql("SELECT id FROM paimon.db.t").collect() == [(2,)]


@pytest.mark.parametrize("mode", ["static", "dynamic"])
def test_an_overwrite_of_a_partition_by_char_replaces_it(
    catalog: Catalog, spark: SparkSession, mode: str
) -> None:
    columns = {"id": "INT", "c": "CHAR(4)"}
    table = catalog.create_table("db.t", columns, partition_keys=["c"])
    table.write(pa.table({"id": pa.array([1, 2], pa.int32()), "c": ["de", "fr"]}))
    spark.sql("INSERT INTO paimon.db.t VALUES (3, 'de')")

    if mode == "static":
        spark.sql("INSERT OVERWRITE paimon.db.t PARTITION (c = 'de') VALUES (4)")
    else:
        spark.sql("SELECT 4 AS id, 'de' AS c").writeTo("paimon.db.t").overwritePartitions()

    assert spark.sql("SELECT id FROM paimon.db.t WHERE c = 'de'").collect() == [(4,)]
    assert spark.sql("SELECT id FROM paimon.db.t ORDER BY id").collect() == [(2,), (4,)]


def test_scopes_of_partitions_by_char_hold_one_value_each(
    catalog: Catalog, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {"id": "INT", "c": "CHAR(50)", "d": "CHAR(50)"}
    table = catalog.create_table("db.t", columns, partition_keys=["c", "d"])
    ids, texts = pa.array(range(3), pa.int32()), ["a", "b", "c"]
    table.write(pa.table({"id": ids, "c": texts, "d": texts}))
    sizes = []
    commit = Committer.overwrite

    def overwrite(committer: Committer, *given: Any, scope: OverwriteScope, **more: Any) -> Any:
        sizes.append(len(scope.rows or scope.values or ()))
        return commit(committer, *given, scope=scope, **more)

    monkeypatch.setattr(Committer, "overwrite", overwrite)
    same = "SELECT id + 10 AS id, c, d FROM paimon.db.t"
    spark.createDataFrame(spark.sql(same).toArrow()).writeTo("paimon.db.t").overwritePartitions()
    spark.sql("INSERT OVERWRITE paimon.db.t PARTITION (c = 'a', d = 'a') VALUES (20)")
    assert spark.sql("SELECT id FROM paimon.db.t ORDER BY id").collect() == [(11,), (12,), (20,)]
    spark.sql("ALTER TABLE paimon.db.t DROP PARTITION (c = 'b', d = 'b')")

    assert sizes == [3, 1, 1]
    assert spark.sql("SELECT id FROM paimon.db.t ORDER BY id").collect() == [(12,), (20,)]
