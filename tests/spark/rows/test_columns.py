"""Statements on rows with CHAR columns, with ids, and with columns in files of their own."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import SparkRuntimeException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import DataError, UnsupportedError
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.table.table import Table
from tests.spark.rows.test_statements import counts, rows

SOURCE = "(SELECT 1 AS id, 'm' AS v UNION ALL SELECT 8, 'n')"
MERGE = f"MERGE INTO paimon.db.t t USING {SOURCE} s ON t.id = s.id "
TRACKED = {"row-tracking.enabled": "true"}
APART = TRACKED | {"data-evolution.enabled": "true"}


@pytest.mark.parametrize("keys", [["c"], []], ids=["keys", "append"])
def test_char_columns_keep_the_values_that_are_stored(
    keys: list[str], catalog: Catalog, spark: SparkSession
) -> None:
    made = catalog.create_table(
        "db.t",
        {"id": "INT", "c": "CHAR(5) NOT NULL", "v": "VARCHAR(3)"},
        primary_keys=keys,
        options={"bucket": "1"} if keys else {},
    )
    given = {"id": pa.array([1, 2, 3], pa.int32()), "c": ["a", "b", "c    "], "v": ["x", "y", "z"]}
    made.write(pa.table(given))

    assert counts(spark, "UPDATE paimon.db.t SET v = 'w' WHERE c = 'a'") == (1,)
    assert counts(spark, "DELETE FROM paimon.db.t WHERE c IN ('b ', 'x')") == (1,)
    merge = """
        MERGE INTO paimon.db.t t
        USING (SELECT 7 AS id, 'a    ' AS c, 'm' AS v UNION ALL SELECT 8, 'q    ', 'n') s
        ON t.c = s.c
        WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
        """
    assert counts(spark, merge) == (2, 1, 0, 1)

    a = "a" if keys else "a    "  # a key stays as it is, other values are padded
    assert rows(made) == [(3, "c    ", "z"), (7, a, "m"), (8, "q    ", "n")]
    with pytest.raises(SparkRuntimeException, match="EXCEED_LIMIT_LENGTH"):
        spark.sql("UPDATE paimon.db.t SET v = 'long'")


def ids_of(table: Table) -> list[tuple[Any, ...]]:
    found = table.scan(columns=["id", "v", "_ROW_ID", "_SEQUENCE_NUMBER"]).to_arrow()
    return sorted(tuple(row.values()) for row in found.to_pylist())


def test_updated_rows_keep_their_ids(catalog: Catalog, spark: SparkSession) -> None:
    made = catalog.create_table("db.t", {"id": "INT", "v": "STRING"}, options=TRACKED)
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 'a'), (2, 'b'), (3, 'c')")

    assert counts(spark, "UPDATE paimon.db.t SET v = 'z' WHERE id = 2") == (1,)
    clauses = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    assert counts(spark, MERGE + clauses) == (2, 1, 0, 1)

    *old, new = ids_of(made)
    assert old == [(1, "m", 0, 3), (2, "z", 1, 2), (3, "c", 2, 1)]
    assert new == (8, "n", 3, 3)


def live_files(table: Table) -> dict[str, DataFileMeta]:
    return {file.file_name: file for split in table.scan().plan().splits for file in split.files}


def test_only_the_columns_that_are_updated_are_written(
    catalog: Catalog, spark: SparkSession
) -> None:
    columns = {"id": "INT", "v": "STRING", "n": "INT"}
    made = catalog.create_table("db.t", columns, options=APART)
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 'a', 10), (2, 'b', 20), (3, 'c', 30)")
    spark.sql("INSERT INTO paimon.db.t VALUES (4, 'd', 40)")
    before = live_files(made)

    assert counts(spark, "UPDATE paimon.db.t SET v = concat(v, n) WHERE id IN (2, 3)") == (2,)
    after = live_files(made)
    assert set(before) < set(after)
    assert [after[name].write_cols for name in set(after) - set(before)] == [("v",)]
    merge = (
        MERGE
        + """
        WHEN MATCHED AND t.n > 0 THEN UPDATE SET v = s.v, n = t.n + 1
        WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)
        WHEN NOT MATCHED BY SOURCE AND t.id = 4 THEN UPDATE SET n = -1
        """
    )
    assert counts(spark, merge) == (3, 2, 0, 1)

    expected = [(1, "m", 11), (2, "b20", 20), (3, "c30", 30), (4, "d", -1), (8, "n", None)]
    assert rows(made) == expected
    assert [row[2] for row in ids_of(made)] == [0, 1, 2, 3, 4]
    alone = MERGE + "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET n = 0"
    assert counts(spark, alone) == (3, 3, 0, 0)

    ids = ids_of(made)
    spark.sql("CALL paimon.sys.compact(table => 'db.t', options => 'compaction.min.file-num=2')")
    (file,) = live_files(made).values()
    assert (file.first_row_id, file.row_count, file.write_cols) == (0, 5, None)
    assert [row[:3] for row in ids_of(made)] == [row[:3] for row in ids]
    assert counts(spark, alone) == (3, 3, 0, 0)


def test_what_data_evolution_cannot_do_is_an_error(catalog: Catalog, spark: SparkSession) -> None:
    made = catalog.create_table("db.t", {"id": "INT", "v": "STRING"}, options=APART)
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 'a')")
    twice = "(SELECT 1 AS id, 'm' AS v UNION ALL SELECT 1, 'n')"

    with pytest.raises(DataError, match=r"id = 1\)"):
        spark.sql(
            f"MERGE INTO paimon.db.t t USING {twice} s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET v = s.v"
        )
    for sql in ("DELETE FROM paimon.db.t WHERE id = 1", MERGE + "WHEN MATCHED THEN DELETE"):
        with pytest.raises(UnsupportedError, match=r"data-evolution\.enabled"):
            spark.sql(sql)

    assert rows(made) == [(1, "a")]
    assert counts(spark, "DELETE FROM paimon.db.t") == (1,)
    assert rows(made) == []


@pytest.mark.parametrize("keys", [["id"], []], ids=["keys", "append"])
def test_schema_evolution_adds_columns(
    keys: list[str], catalog: Catalog, spark: SparkSession
) -> None:
    options = {"bucket": "1"} if keys else {}
    columns = {"id": "INT NOT NULL", "v": "STRING"}
    catalog.create_table("db.t", columns, primary_keys=keys, options=options)
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 'a'), (2, 'b')")
    source = "(SELECT 2 AS id, 'm' AS v, 7 AS n UNION ALL SELECT 3, 'c', 8)"
    clauses = "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    merge = f"INTO paimon.db.t t USING {source} s ON t.id = s.id {clauses}"

    assert counts(spark, f"MERGE WITH SCHEMA EVOLUTION {merge}") == (2, 1, 0, 1)
    changed = catalog.table("db.t")
    assert isinstance(changed, Table)
    assert rows(changed) == [(1, "a", None), (2, "m", 7), (3, "c", 8)]
