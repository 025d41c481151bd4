from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab import UpdateColumnType
from paimonlab.catalog import Catalog
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.table.table import Table
from tests.spark.plans import files_read, pieces_read

PLACES = "__paimon_file_path, __paimon_row_index, __paimon_bucket"


def made(catalog: Catalog, **options: str) -> Table:
    """Make db.t: three commits in two partitions, overlapping if it has keys."""
    keys = ["id", "p"] if "bucket" in options else []
    table = catalog.create_table(
        "db.t",
        {"id": "INT", "p": "STRING", "v": "INT"},
        primary_keys=keys,
        partition_keys=["p"],
        options={"write-only": "true"} | options,
    )
    for number in range(3):
        ids = range(number * 5, number * 5 + 10)
        table.write(
            pa.table(
                {
                    "id": pa.array(ids, pa.int32()),
                    "p": ["a b" if i % 2 else "x%y" for i in ids],
                    "v": pa.array([number] * 10, pa.int32()),
                }
            )
        )
    return table


@pytest.mark.parametrize(
    "options",
    [{}, {"bucket": "2"}, {"file.format": "orc"}, {"bucket": "2", "file.format": "orc"}],
    ids=["append", "keys", "append-orc", "keys-orc"],
)
def test_each_row_is_where_its_metadata_say(
    catalog: Catalog, spark: SparkSession, options: dict[str, str]
) -> None:
    expected = made(catalog, **options).scan().to_arrow().sort_by([("id", "ascending")])

    rows = spark.sql(
        f"SELECT *, {PLACES}, __paimon_partition AS part FROM paimon.db.t ORDER BY id, v"
    ).collect()

    assert [row.id for row in rows] == expected.column("id").to_pylist()
    files = {row["__paimon_file_path"] for row in rows}
    reader = orc.read_table if "file.format" in options else pq.read_table
    read = {path: reader(path.removeprefix("file:")) for path in files}
    for row in rows:
        path = row["__paimon_file_path"]
        stored = read[path].slice(row["__paimon_row_index"], 1).to_pylist()[0]
        assert (stored["id"], stored["v"]) == (row.id, row.v)
        assert f"/bucket-{row['__paimon_bucket']}/" in path
        assert row.part.p == row.p == stored["p"]


def test_metadata_choose_files(catalog: Catalog, spark: SparkSession) -> None:
    table = made(catalog, bucket="2")
    rows = spark.sql(f"SELECT id, p, {PLACES} FROM paimon.db.t").collect()
    path = rows[0]["__paimon_file_path"]
    in_file = sorted(row.id for row in rows if row["__paimon_file_path"] == path)
    in_bucket = sorted(row.id for row in rows if row["__paimon_bucket"] == 1)

    one = spark.sql(f"SELECT id FROM paimon.db.t WHERE __paimon_file_path = '{path}' ORDER BY id")
    assert files_read(one) == 1
    assert [row.id for row in one.collect()] == in_file
    assert spark.table("paimon.db.t").where("__paimon_bucket = 1").count() == len(in_bucket)
    found = spark.table("paimon.db.t").where("__paimon_bucket = 1").select("id").collect()
    assert sorted(row.id for row in found) == in_bucket
    count = spark.sql(f"SELECT count(*) FROM paimon.db.t WHERE __paimon_file_path = '{path}'")
    assert count.collect()[0][0] == len(in_file)
    by_partition = "SELECT id FROM paimon.db.t WHERE __paimon_partition.p = 'x%y'"
    expected = table.scan(where="p = 'x%y'").count()
    assert spark.sql(by_partition).count() == expected
    whole = catalog.create_table("db.whole", {"id": "INT"})
    whole.write({"id": [1, 2]})
    counts = "SELECT __paimon_partition, count(*) FROM paimon.db.whole GROUP BY 1 ORDER BY 1"
    assert spark.sql(counts).collect() == [((), 2)]


def test_metadata_columns_have_the_scopes_of_columns(catalog: Catalog, spark: SparkSession) -> None:
    made(catalog, bucket="2")

    assert spark.sql("SELECT * FROM paimon.db.t WHERE __paimon_bucket >= 0").columns == [
        "id",
        "p",
        "v",
    ]
    joined = spark.sql(
        "SELECT a.id FROM paimon.db.t a JOIN paimon.db.t b ON a.id = b.id "
        "AND a.__paimon_file_path = b.__paimon_file_path "
        "AND a.__PAIMON_ROW_INDEX = b.__paimon_row_index"
    )
    assert joined.count() == 20
    grouped = spark.sql(
        "SELECT __paimon_bucket AS b, count(*) AS n FROM paimon.db.t GROUP BY __paimon_bucket"
    )
    assert sum(row.n for row in grouped.collect()) == 20
    selected = spark.table("paimon.db.t").select("id").where("__paimon_row_index = 0")
    assert selected.columns == ["id"]
    old = spark.sql("SELECT __paimon_bucket FROM paimon.db.t VERSION AS OF 1")
    assert old.count() == 10
    within = (
        "SELECT id FROM paimon.db.t WHERE id IN "
        "(SELECT max(id) FROM paimon.db.t WHERE __paimon_bucket = 0)"
    )
    assert spark.sql(within).count() <= 1
    with pytest.raises(AnalysisException, match="_ROW_ID"):
        spark.sql("SELECT _ROW_ID FROM paimon.db.t")


@pytest.mark.parametrize(
    ("written", "here"),
    [
        ("_metadata.file_path", "__paimon_file_path"),
        ("x._METADATA.file_path", "__paimon_file_path"),
        ("_metadata.row_index", "__paimon_row_index"),
        ("_file", "__paimon_file_path"),
        ("_pos", "__paimon_row_index"),
        ("_partition", "__paimon_partition"),
    ],
)
def test_names_of_metadata_elsewhere_are_answered_with_those_here(
    catalog: Catalog, spark: SparkSession, written: str, here: str
) -> None:
    catalog.create_table("db.t", {"id": "INT"}).write({"id": [1, 2]})
    said = rf"cannot be resolved\. Tables of Paimon call it {here}\."

    with pytest.raises(AnalysisException, match=said):
        spark.sql(f"SELECT id FROM paimon.db.t x WHERE {written} IS NOT NULL")
    with pytest.raises(AnalysisException, match=said):
        spark.table("paimon.db.t").alias("x").select(written)

    assert spark.sql(f"SELECT id FROM paimon.db.t x WHERE {here} IS NOT NULL").count() == 2


def test_metadata_that_are_not_here_are_answered_with_all_that_are(
    catalog: Catalog, spark: SparkSession
) -> None:
    catalog.create_table("db.t", {"id": "INT"})

    with pytest.raises(AnalysisException, match=f"Tables of Paimon have {PLACES} and __paimon_p"):
        spark.sql("SELECT _metadata.file_size FROM paimon.db.t")
    with pytest.raises(AnalysisException, match="UNRESOLVED_COLUMN") as told:
        spark.sql("SELECT file_path FROM paimon.db.t")
    assert "Tables of Paimon" not in str(told.value)


def test_ids_of_rows_are_those_of_our_reader(catalog: Catalog, spark: SparkSession) -> None:
    table = made(catalog, **{"row-tracking.enabled": "true"})
    columns = ["id", "v", "_ROW_ID", "_SEQUENCE_NUMBER"]
    expected = table.scan(columns=columns).to_arrow().sort_by([("_ROW_ID", "ascending")])

    found = spark.sql(
        "SELECT id, v, _ROW_ID, _SEQUENCE_NUMBER FROM paimon.db.t "
        "WHERE _ROW_ID >= 0 ORDER BY _ROW_ID"
    )

    assert [tuple(row) for row in found.collect()] == [
        tuple(row.values()) for row in expected.to_pylist()
    ]


FILES_OF_IDS = {
    "7 = _ROW_ID AND id > 0": 1,
    f"_ROW_ID IN ({', '.join(str(10 * one + 3) for one in range(1200))})": 3,
    "_ROW_ID BETWEEN 9 AND 15": 3,
    "_ROW_ID > 29": 0,
    "_ROW_ID < 5 OR _ROW_ID <=> 28": 2,
    "_ROW_ID % 10 = 7": 6,
}
"""How many of six files with five rows each are read."""


def test_ids_of_rows_choose_files(catalog: Catalog, spark: SparkSession) -> None:
    tracked = {"row-tracking.enabled": "true", "write-only": "true"}
    evolving = {"data-evolution.enabled": "true", "source.split.target-size": "1 b"}
    for name, options in (("t", {}), ("e", evolving)):
        columns = {"id": "BIGINT", "v": "STRING"}
        table = catalog.create_table(f"db.{name}", columns, options=tracked | options)
        for first in range(0, 30, 5):
            table.write({"id": [*range(first, first + 5)]})
    evolved = catalog.table("db.e")
    assert isinstance(evolved, Table)
    evolved.write_columns({"_ROW_ID": [*range(30)], "v": ["new"] * 30})
    plain = spark.range(30).selectExpr("id", "id AS _ROW_ID")

    for where, files in FILES_OF_IDS.items():
        found = spark.sql(f"SELECT id FROM paimon.db.t WHERE {where}")
        assert files_read(found) == files, where
        expected = plain.where(where).collect()
        assert sorted(row.id for row in found.collect()) == [row.id for row in expected]
    for where in ("_ROW_ID IN (7, 22)", "_ROW_ID BETWEEN 9 AND 15"):
        found = spark.sql(f"SELECT id, _ROW_ID FROM paimon.db.e WHERE {where} AND v = 'new'")
        assert sorted(found.collect()) == plain.where(where).collect()
        assert pieces_read(found, "db.e") == (2 if "IN" in where else 3)
    spark.sql("UPDATE paimon.db.t SET id = 100 WHERE _ROW_ID IN (8, 17)")
    spark.sql("DELETE FROM paimon.db.t WHERE _ROW_ID BETWEEN 9 AND 10")
    left = spark.sql("SELECT _ROW_ID, id FROM paimon.db.t WHERE _ROW_ID > 6 AND _ROW_ID < 18")
    ids = {number: number for number in range(7, 18) if number not in (9, 10)} | {8: 100, 17: 100}
    assert dict(map(tuple, left.collect())) == ids


def test_files_that_spark_cannot_read_itself_have_metadata_columns(
    catalog: Catalog, spark: SparkSession
) -> None:
    table = catalog.create_table("db.d", {"v": "DOUBLE"})
    table.write(pa.table({"v": [1.5, 2.5, 3.5]}))
    catalog.alter_table("db.d", UpdateColumnType("v", "STRING"))
    altered = catalog.table("db.d")
    assert isinstance(altered, Table)
    altered.write(pa.table({"v": ["2.5", "9"]}))

    rows = spark.sql(f"SELECT v, {PLACES} FROM paimon.db.d WHERE v > '2'").collect()

    assert sorted((row.v, row["__paimon_row_index"]) for row in rows) == [
        ("2.5", 0),
        ("2.5", 1),
        ("3.5", 2),
        ("9", 1),
    ]
    assert len({row["__paimon_file_path"] for row in rows}) == 2
    first = "SELECT count(*) FROM paimon.db.d WHERE __paimon_row_index = 0 AND __paimon_bucket = 0"
    assert spark.sql(first).collect() == [(2,)]


@pytest.mark.parametrize("is_keyed", [True, False], ids=["merged", "columns-apart"])
def test_rows_that_are_put_together_are_in_no_file(
    is_keyed: bool, catalog: Catalog, spark: SparkSession
) -> None:
    options = (
        {
            "file.format": "avro",
            "merge-engine": "aggregation",
            "fields.n.aggregate-function": "sum",
            "bucket": "1",
        }
        if is_keyed
        else {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    )
    keys = ["id"] if is_keyed else []
    columns = {"id": "INT", "n": "INT"}
    table = catalog.create_table("db.s", columns, primary_keys=keys, options=options)
    for ids in ([1, 2], [2]) if is_keyed else ([1, 2],):
        ones = pa.array([1] * len(ids), pa.int32())
        table.write(pa.table({"id": pa.array(ids, pa.int32()), "n": ones}))
    if not is_keyed:
        spark.sql("UPDATE paimon.db.s SET n = n + 1 WHERE id = 2")

    with pytest.raises(UnsupportedError, match="put together from several files"):
        spark.sql("SELECT __paimon_row_index FROM paimon.db.s").collect()
    found = spark.sql("SELECT id, n, __paimon_bucket FROM paimon.db.s ORDER BY id").collect()
    assert found == [(1, 1, 0), (2, 2, 0)]
    if not is_keyed:
        by_id = "SELECT id, _ROW_ID, _SEQUENCE_NUMBER FROM paimon.db.s ORDER BY _ROW_ID"
        assert spark.sql(by_id).collect() == [(1, 0, 2), (2, 1, 2)]


@pytest.mark.parametrize(
    "options",
    [
        {"bucket": "2"},
        {"deletion-vectors.enabled": "true", "row-tracking.enabled": "true"},
        {"row-tracking.enabled": "true", "file.format": "orc"},
    ],
    ids=["keys", "append", "append-orc"],
)
def test_statements_choose_rows_by_where_they_are(
    catalog: Catalog, spark: SparkSession, options: dict[str, str]
) -> None:
    table = made(catalog, **options)

    def told() -> list[tuple[object, ...]]:
        return sorted(tuple(row.values()) for row in table.scan().to_arrow().to_pylist())

    model = {
        tuple(row[:3]): row for row in spark.sql(f"SELECT *, {PLACES} FROM paimon.db.t").collect()
    }
    path, index = next((row[3], row[4]) for row in model.values() if row.id == 7)
    chosen = f"__paimon_file_path = '{path}' AND __paimon_row_index = {index}"
    spark.sql(f"DELETE FROM paimon.db.t WHERE {chosen}")
    left = [key for key, row in model.items() if (row[3], row[4]) != (path, index)]
    assert told() == sorted(left)

    spark.sql("UPDATE paimon.db.t SET v = __paimon_bucket + 50 WHERE __paimon_partition.p = 'a b'")
    changed = [(i, p, model[i, p, v][5] + 50 if p == "a b" else v) for i, p, v in left]
    assert told() == sorted(changed)

    where = "SELECT DISTINCT __paimon_file_path AS f FROM paimon.db.t WHERE id = 2 AND p = 'x%y'"
    spark.sql(
        f"MERGE INTO paimon.db.t t USING ({where}) s ON t.__paimon_file_path = s.f AND t.id = 2 "
        "WHEN MATCHED THEN UPDATE SET v = -1"
    )
    assert [row for row in told() if row[2] == -1] == [(2, "x%y", -1)]
    with pytest.raises(SchemaError, match="__paimon_bucket"):
        spark.sql("UPDATE paimon.db.t SET __paimon_bucket = 1")


def test_row_ids_choose_rows_and_are_kept(catalog: Catalog, spark: SparkSession) -> None:
    table = made(catalog, **{"row-tracking.enabled": "true"})

    def told() -> dict[int, tuple[int, int]]:
        rows = table.scan(columns=["_ROW_ID", "id", "v"]).to_arrow().to_pylist()
        return {row["_ROW_ID"]: (row["id"], row["v"]) for row in rows}

    before = told()
    spark.sql("UPDATE paimon.db.t SET v = 9 WHERE _ROW_ID IN (1, 12)")
    spark.sql("DELETE FROM paimon.db.t WHERE _ROW_ID = 3 OR _SEQUENCE_NUMBER < 0")
    table.compact(full=True)

    after = told()
    assert after.keys() == before.keys() - {3}
    assert {row_id for row_id, (_, v) in after.items() if v == 9} == {1, 12}
    assert all(row[0] == before[row_id][0] for row_id, row in after.items())
