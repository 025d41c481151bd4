"""COPY INTO both ways; Spark's own readers and plain Python say what files hold."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import (
    ColumnNotFoundError,
    CorruptMetadataError,
    DataError,
    ReadOnlyError,
    UnsupportedError,
)
from paimonlab.metadata.load_history import Load
from paimonlab.spark import connect
from paimonlab.spark.copying.rows import CheckedRows
from paimonlab.table.committing.loads import FileLoader
from tests.spark.test_ddl import plain_table, rows

pytestmark = pytest.mark.usefixtures("interpreted")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "in put"
    folder.mkdir()
    return folder


@pytest.fixture
def orders(spark: SparkSession, catalog: Catalog) -> str:
    spark.sql(
        "CREATE TABLE paimon.db.orders (id INT NOT NULL, name VARCHAR(5), day DATE, "
        "price DECIMAL(6,2) DEFAULT 9.5) TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1')"
    )
    return catalog.path


def load(spark: SparkSession, source: Path, more: str = "(TYPE = CSV)", columns: str = "") -> Any:
    said = f"COPY INTO paimon.db.orders {columns} FROM '{source}' FILE_FORMAT = {more}"
    return rows(spark, said)


def stored(spark: SparkSession) -> Any:
    return rows(
        spark,
        "SELECT id, name, CAST(day AS STRING), CAST(price AS STRING) "
        "FROM paimon.db.orders ORDER BY id",
    )


@pytest.mark.usefixtures("orders")
def test_csv_files_are_loaded_once(spark: SparkSession, catalog: Catalog, source: Path) -> None:
    (source / "a.csv").write_text('1,one,2024-01-01,1.50\n2,"t""w,o",,\n')
    (source / "b b.csv").write_text("3,three,2024-01-03,3\n")
    (source / "_SUCCESS").write_text("")
    (source / "deeper").mkdir()
    (source / "deeper" / "c.csv").write_text("4,no,,\n")
    escape = "(TYPE = CSV, ESCAPE = '\"')"

    assert load(spark, source, escape) == [
        ("a.csv", "LOADED", 2, 2, 0, None),
        ("b b.csv", "LOADED", 1, 1, 0, None),
    ]
    assert stored(spark) == [
        (1, "one", "2024-01-01", "1.50"),
        (2, 't"w,o', None, None),
        (3, "three", "2024-01-03", "3.00"),
    ]
    snapshot = plain_table(catalog).snapshots.latest()
    assert snapshot is not None
    assert snapshot.id == 1
    written = Path(plain_table(catalog).path, "copy-into", "history")
    records = [json.loads(file.read_text()) for file in written.iterdir()]
    assert {record["filePath"].rpartition("/")[2]: record["rowsLoaded"] for record in records} == {
        "a.csv": 2,
        "b b.csv": 1,
    }
    assert {record["snapshotId"] for record in records} == {1}
    assert not list(Path(plain_table(catalog).path, "copy-into", "running").iterdir())

    (source / "b b.csv").write_text("5,five,,\n")
    assert load(spark, source, f"{escape} FORCE = FALSE") == [
        ("b b.csv", "LOADED", 1, 1, 0, None),
        ("a.csv", "SKIPPED", 0, 0, 0, None),
    ]
    assert [row[:2] for row in load(spark, source, f"{escape} FORCE = TRUE")] == [
        ("a.csv", "LOADED"),
        ("b b.csv", "LOADED"),
    ]
    assert [row[0] for row in stored(spark)] == [1, 2, 3, 5]


@pytest.mark.usefixtures("orders")
def test_columns_that_files_lack_get_their_defaults(spark: SparkSession, source: Path) -> None:
    (source / "a.csv").write_text("Id|Name\none|1\nNULL|2\n\\N|3\n")
    more = "(TYPE = CSV, FIELD_DELIMITER = '|', SKIP_HEADER = 1, NULL_IF = ('NULL', '\\\\N'))"

    load(spark, source, f"{more} PATTERN = '^a'", "(NAME, ID)")

    assert stored(spark) == [
        (1, "one", None, "9.50"),
        (2, None, None, "9.50"),
        (3, None, None, "9.50"),
    ]


BAD = "1,one,2024-01-01,1\n2,two,yesterday,2\n3,three,,3,4\n4,muchtoolong,,\n,five,,\n6,six,,6\n"


@pytest.mark.usefixtures("orders")
def test_rows_that_cannot_be_loaded_end_are_left_out_or_keep_their_file_out(
    spark: SparkSession, catalog: Catalog, source: Path
) -> None:
    (source / "bad.csv").write_text(BAD)
    (source / "good.csv").write_text("7,seven,,7\n")

    with pytest.raises(DataError, match=r"4 rows of bad\.csv cannot be loaded.*'yesterday'"):
        load(spark, source)
    assert plain_table(catalog).snapshots.latest() is None

    failed, fine = load(spark, source, "(TYPE = CSV) ON_ERROR = SKIP_FILE")
    assert failed[:5] == ("bad.csv", "LOAD_FAILED", 0, 6, 4)
    assert fine == ("good.csv", "LOADED", 1, 1, 0, None)
    assert [row[0] for row in stored(spark)] == [7]

    partly, skipped = load(spark, source, "(TYPE = CSV) ON_ERROR = CONTINUE")
    assert partly[:5] == ("bad.csv", "PARTIALLY_LOADED", 2, 6, 4)
    assert "column 'day': 'yesterday' cannot be converted to DATE" in partly[5]
    assert skipped[1] == "SKIPPED"
    assert [row[0] for row in stored(spark)] == [1, 6, 7]
    (source / "bad.csv").unlink()
    (source / "worse.csv").write_text("x\n")
    assert load(spark, source, "(TYPE = CSV) ON_ERROR = CONTINUE")[0][1:3] == ("LOAD_FAILED", 0)
    assert load(spark, source, "(TYPE = CSV) ON_ERROR = CONTINUE")[0][1] == "LOAD_FAILED"


def test_json_is_loaded_by_names_with_nested_values(
    spark: SparkSession, catalog: Catalog, source: Path
) -> None:
    spark.sql(
        "CREATE TABLE paimon.db.orders (id BIGINT, tags ARRAY<STRING>, place STRUCT<x: INT>, n "
        "STRING)"
    )
    (source / "a.json").write_text(
        '{"tags": ["a", "b"], "id": 9007199254740993, "more": 1, "n": ""}\n'
        '{"place": {"x": 5}, "id": 2, "n": "-"}\n{"id": \n{"id": "x"}\n'
    )
    more = "(type = json, NULL_IF = ('-'), EMPTY_FIELD_AS_NULL = TRUE) ON_ERROR = CONTINUE"

    ((*_, errors, first),) = load(spark, source, more)

    assert errors == 2
    assert first.startswith(("malformed record: {", "column 'id': 'x'"))
    assert sorted(
        plain_table(catalog).scan().to_arrow().to_pylist(), key=lambda row: row["id"]
    ) == [
        {"id": 2, "tags": None, "place": {"x": 5}, "n": None},
        {"id": 9007199254740993, "tags": ["a", "b"], "place": None, "n": None},
    ]
    (source / "a.json").write_text('[{"id": 7},\n {"id": 8}]')
    assert load(spark, source, "(TYPE = JSON, MULTI_LINE = TRUE)")[0][2] == 2


@pytest.mark.usefixtures("orders")
def test_parquet_is_loaded_by_names_also_where_files_differ(
    spark: SparkSession, source: Path
) -> None:
    pq.write_table(
        pa.table({"NAME": ["a", "b"], "id": [1, 2], "more": [0, 0]}), source / "a.parquet"
    )
    pq.write_table(pa.table({"price": ["1.5", "x"], "id": [3, 4]}), source / "b.parquet")

    found = load(spark, source, "(TYPE = PARQUET) ON_ERROR = CONTINUE")

    assert [row[:5] for row in found] == [
        ("a.parquet", "LOADED", 2, 2, 0),
        ("b.parquet", "PARTIALLY_LOADED", 1, 2, 1),
    ]
    assert stored(spark) == [(1, "a", None, None), (2, "b", None, None), (3, None, None, "1.50")]


@pytest.mark.usefixtures("orders")
def test_a_process_that_died_after_its_commit_has_loaded_its_files(
    spark: SparkSession, catalog: Catalog, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it left is put there again: its note is, and the history is not."""
    (source / "a.csv").write_text("1,one,,\n")
    begun: list[Load] = []
    begin = FileLoader.loading

    def noting(self: FileLoader, *given: Any, **named: Any) -> Any:
        real = self.store.loads.begin

        def keep(load: Load) -> None:
            begun.append(load)
            real(load)

        monkeypatch.setattr(self.store.loads, "begin", keep)
        return begin(self, *given, **named)

    monkeypatch.setattr(FileLoader, "loading", noting)
    load(spark, source)
    folder = Path(plain_table(catalog).path, "copy-into")
    for file in (folder / "history").iterdir():
        file.unlink()
    note = folder / "running" / "left.json"
    dead = msgspec.structs.replace(begun[0], process=2**22 + 1)
    note.write_bytes(msgspec.json.encode(dead))

    assert load(spark, source) == [("a.csv", "SKIPPED", 0, 0, 0, None)]
    assert len(list((folder / "history").iterdir())) == 1

    # One that died before its commit has loaded nothing, one elsewhere may still run.
    for file in (folder / "history").iterdir():
        file.unlink()
    never = msgspec.structs.replace(dead, user="never", after_snapshot_id=1)
    note.write_bytes(msgspec.json.encode(never))
    assert load(spark, source)[0][1] == "LOADED"
    (source / "a.csv").write_text("2,two,,\n")
    os.utime(source / "a.csv", (1, 1))
    (status,) = source.iterdir()
    elsewhere = msgspec.structs.replace(never, machine="elsewhere")
    note.write_bytes(msgspec.json.encode(elsewhere))
    with pytest.raises(DataError, match=r"a\.csv is being loaded by process \d+ on elsewhere"):
        load(spark, source)
    assert [row[0] for row in stored(spark)] == [1]
    assert status.read_text() == "2,two,,\n"


@pytest.mark.usefixtures("orders")
def test_a_file_that_changes_while_it_is_loaded_ends_the_statement(
    spark: SparkSession, catalog: Catalog, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "a.csv").write_text("1,one,,\n")
    counts = CheckedRows.counts

    def changed(self: CheckedRows) -> Any:
        found = counts(self)
        (source / "a.csv").write_text("2,two,,\n3,three,,\n")
        return found

    monkeypatch.setattr(CheckedRows, "counts", changed)
    with pytest.raises(DataError, match=r"a\.csv changed while it was loaded"):
        load(spark, source)

    table = plain_table(catalog)
    assert table.snapshots.latest() is None
    assert not list(Path(table.path).rglob("*.parquet"))
    assert not list(Path(table.path, "copy-into", "running").iterdir())


@pytest.mark.usefixtures("orders")
def test_a_record_that_cannot_be_read_is_said(
    spark: SparkSession, catalog: Catalog, source: Path
) -> None:
    (source / "a.csv").write_text("1,one,,\n")
    load(spark, source)
    (record,) = Path(plain_table(catalog).path, "copy-into", "history").iterdir()
    record.write_text("{")

    with pytest.raises(CorruptMetadataError, match="load-"):
        load(spark, source)


@pytest.mark.usefixtures("orders")
def test_upkeep_keeps_the_history_and_a_new_table_has_none(
    spark: SparkSession, catalog: Catalog, source: Path
) -> None:
    (source / "a.csv").write_text("1,one,,\n")
    load(spark, source)
    (record,) = Path(plain_table(catalog).path, "copy-into", "history").iterdir()
    os.utime(record, (1, 1))
    spark.sql("CALL paimon.sys.remove_orphan_files('db.orders')")
    assert load(spark, source)[0][1] == "SKIPPED"

    spark.sql(
        "CREATE OR REPLACE TABLE paimon.db.orders (id INT NOT NULL, name STRING, day DATE, "
        "price INT) TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '1')"
    )

    assert load(spark, source)[0][1] == "LOADED"
    assert plain_table(catalog).scan().count() == 1


@pytest.mark.usefixtures("orders")
def test_what_cannot_be_loaded_is_said(spark: SparkSession, catalog: Catalog, source: Path) -> None:
    (source / "a.csv").write_text("one\n")

    for said, error, message in (
        ("orders FROM '{}' FILE_FORMAT = (TYPE = CSV, HEADER = TRUE)", UnsupportedError, "HEADER"),
        ("orders FROM '{}' FILE_FORMAT = (TYPE = CSV, COMPRESSION = GZIP)", UnsupportedError, "GZ"),
        ("orders (id, ID) FROM '{}' FILE_FORMAT = (TYPE = CSV)", DataError, "'ID' twice"),
        ("orders (nope) FROM '{}' FILE_FORMAT = (TYPE = CSV)", ColumnNotFoundError, "nope"),
        ("orders (name) FROM '{}' FILE_FORMAT = (TYPE = CSV)", AnalysisException, "id"),
        ("orders FROM '{}/nope' FILE_FORMAT = (TYPE = CSV)", DataError, "no such folder"),
        ("orders FROM '{}' FILE_FORMAT = (TYPE = CSV) PATTERN = '('", DataError, "Unclosed"),
        ("`orders$files` FROM '{}' FILE_FORMAT = (TYPE = CSV)", UnsupportedError, "read-only"),
    ):
        with pytest.raises(error, match=message):
            spark.sql("COPY INTO paimon.db." + said.format(source))
    assert plain_table(catalog).snapshots.latest() is None


def test_only_tables_that_can_be_written_to_take_files(
    spark: SparkSession, orders: str, source: Path
) -> None:
    form = "FILE_FORMAT = (TYPE = CSV)"
    connect({"warehouse": orders, "read-only": "true"}, spark=spark, catalog="frozen")

    with pytest.raises(ReadOnlyError):
        spark.sql(f"COPY INTO frozen.db.orders FROM '{source}' {form}")
    with pytest.raises(UnsupportedError, match="INSERT INTO"):
        spark.sql(f"COPY INTO spark_catalog.default.t FROM '{source}' {form}")
    assert "COPY INTO paimon.db.orders" in str(
        rows(spark, f"EXPLAIN COPY INTO paimon.db.orders FROM '{source}' {form}")
    )


@pytest.mark.parametrize(
    ("options", "read"),
    [
        ("TYPE = CSV, HEADER = TRUE, FIELD_DELIMITER = ';'", "csv"),
        ("TYPE = JSON, COMPRESSION = GZIP, DATE_FORMAT = 'dd.MM.yyyy'", "json"),
        ("TYPE = PARQUET, COMPRESSION = ZSTD", "parquet"),
    ],
)
@pytest.mark.usefixtures("orders")
def test_rows_are_written_as_sparks_writer_does(
    options: str, read: str, spark: SparkSession, tmp_path: Path
) -> None:
    spark.sql(
        "INSERT INTO paimon.db.orders VALUES (1, 'one', DATE'2024-02-01', 1), (2, 'x', NULL, 2)"
    )
    target = tmp_path / "out put"

    ((path, files, count),) = rows(
        spark, f"COPY INTO '{target}' FROM paimon.db.orders FILE_FORMAT = ({options})"
    )

    assert (path, count) == (str(target), 2)
    assert files == len(list(target.glob("part-*")))
    reader = spark.read.options(header="true", sep=";")
    if read == "json":
        reader = reader.option("dateFormat", "dd.MM.yyyy")
    found = reader.format(read).schema("id INT, name STRING, day DATE, price DECIMAL(6,2)")
    assert sorted(found.load(str(target)).collect()) == sorted(
        spark.table("paimon.db.orders").collect()
    )
    with pytest.raises(AnalysisException, match="PATH_ALREADY_EXISTS"):
        spark.sql(f"COPY INTO '{target}' FROM paimon.db.orders FILE_FORMAT = ({options})")


@pytest.mark.usefixtures("orders")
def test_queries_are_written_and_only_queries(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    for said, expected in (
        ("SELECT id FROM range(3) WHERE id IN (1, (2))", 2),
        ("WITH a AS (SELECT 1 AS x) SELECT * FROM a -- )", 1),
        ("VALUES (1), (2), (3)", 3),
        ("SELECT rand() AS r FROM range(7)", 7),
    ):
        said_now = (
            f"COPY INTO '{target}' FROM ({said}\n) FILE_FORMAT = (TYPE = PARQUET) OVERWRITE = TRUE"
        )
        assert rows(spark, said_now)[0][2] == expected
        assert pq.read_table(target).num_rows == expected
    form = "FILE_FORMAT = (TYPE = CSV)"
    for said in (
        "INSERT INTO paimon.db.orders VALUES (1, 'a', NULL, 1)",
        "DROP TABLE paimon.db.orders",
        "",
    ):
        with pytest.raises(Exception, match=r"(?i)syntax|parse"):
            spark.sql(f"COPY INTO '{tmp_path / 'no'}' FROM ({said}) {form}")
    assert plain_table(catalog).snapshots.latest() is None
    with pytest.raises(UnsupportedError, match="ESCAPED"):
        spark.sql(
            f"COPY INTO '{target}' FROM paimon.db.orders FILE_FORMAT = (TYPE = CSV, ESCAPED = 1)"
        )
    for folder in (catalog.path, Path(catalog.path).parent, Path(catalog.path, "db.db", "orders")):
        with pytest.raises(UnsupportedError, match="warehouse"):
            spark.sql(f"COPY INTO '{folder}' FROM paimon.db.orders {form} OVERWRITE = TRUE")
