"""Statements with subqueries, nested columns, partitions without a value; what they commit."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.spec.snapshot import CommitKind
from tests.spark.rows.test_statements import KINDS, counts, rows

pytestmark = pytest.mark.usefixtures("interpreted")


def test_subqueries_choose_rows(catalog: Catalog, spark: SparkSession) -> None:
    made = catalog.create_table("db.t", {"id": "INT", "dt": "STRING"}, partition_keys=["dt"])
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 'a'), (2, null), (3, 'b'), (4, 'b'), (5, 'c')")
    found = "EXISTS (SELECT 1 FROM VALUES (5) AS x (k) WHERE k > 7)"

    assert counts(spark, "DELETE FROM paimon.db.t WHERE dt IS NULL") == (1,)
    assert counts(spark, f"DELETE FROM paimon.db.t WHERE {found}") == (0,)
    kept = "(SELECT k FROM VALUES (1), (3), (5) AS x (k))"
    assert counts(spark, f"DELETE FROM paimon.db.t WHERE id NOT IN {kept}") == (1,)
    assert rows(made) == [(1, "a"), (3, "b"), (5, "c")]
    assert counts(spark, f"DELETE FROM paimon.db.t WHERE NOT {found}") == (3,)


def test_fields_of_structs_are_updated(catalog: Catalog, spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE paimon.db.t (id INT, s STRUCT<a: INT, b: STRING>, m MAP<INT, STRING>) "
        "TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1')"
    )
    spark.sql("INSERT INTO paimon.db.t SELECT 1, struct(1, 'a'), map(1, 'a')")
    source = "(SELECT 1 AS id, 'q' AS v)"
    merge = f"MERGE INTO paimon.db.t t USING {source} x ON t.id = x.id WHEN MATCHED THEN "

    assert counts(spark, merge + "UPDATE SET s.b = x.v") == (1, 1, 0, 0)
    assert counts(spark, "UPDATE paimon.db.t SET m = map(2, 'n') WHERE s.a = 1") == (1,)
    for assignment in ("m.key = 11", "s.b = 'x', s = struct(11, 'x')"):
        with pytest.raises(AnalysisException, match="INVALID_ROW_LEVEL_OPERATION_ASSIGNMENTS"):
            spark.sql(f"UPDATE paimon.db.t SET {assignment}")

    (row,) = spark.sql("SELECT s.a, s.b, m FROM paimon.db.t").collect()
    assert tuple(row) == (1, "q", {2: "n"})


@pytest.mark.parametrize("kind", ["append", "append-vectors"])
def test_what_takes_rows_away_is_an_overwrite(
    kind: str, catalog: Catalog, spark: SparkSession
) -> None:
    made = catalog.create_table("db.t", {"id": "INT", "v": "INT"}, **KINDS[kind])
    insert = "WHEN NOT MATCHED THEN INSERT *"
    merge = f"MERGE INTO paimon.db.t t USING (SELECT 9 AS id, 9 AS v) s ON t.id = s.id {insert}"
    statements = ["INSERT INTO paimon.db.t VALUES (1, 1), (2, 2)", merge]
    statements.append("UPDATE paimon.db.t SET v = 7 WHERE id = 1")
    for sql in statements:
        spark.sql(sql)

    kinds = [made.snapshots.get(number).commit_kind for number in (1, 2, 3)]
    assert kinds == [CommitKind.APPEND, CommitKind.APPEND, CommitKind.OVERWRITE]


@pytest.mark.parametrize("kind", ["append", "keyed"])
def test_rows_are_brought_back_from_an_older_version(
    kind: str, catalog: Catalog, spark: SparkSession
) -> None:
    made = catalog.create_table("db.t", {"id": "INT", "v": "INT"}, **KINDS[kind])
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 1), (2, 2)")
    spark.sql("DELETE FROM paimon.db.t WHERE id = 2")
    spark.sql("UPDATE paimon.db.t SET v = 7 WHERE id = 1")

    old = "(SELECT * FROM paimon.db.t VERSION AS OF 1)"
    insert = "WHEN NOT MATCHED THEN INSERT *"
    merge = f"MERGE INTO paimon.db.t t USING {old} s ON t.id = s.id {insert}"
    assert counts(spark, merge) == (1, 0, 0, 1)
    assert rows(made) == [(1, 7), (2, 2)]

    spark.sql("INSERT OVERWRITE paimon.db.t SELECT * FROM paimon.db.t VERSION AS OF 1")
    assert rows(made) == [(1, 1), (2, 2)]
    assert made.scan(snapshot=3).to_arrow().to_pylist() == [{"id": 1, "v": 7}]
