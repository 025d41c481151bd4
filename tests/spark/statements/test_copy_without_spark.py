"""COPY INTO without Spark gives the rows, the answer and the history that Spark gives."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import DataError, PaimonError, UnsupportedError
from paimonlab.sql_engine.copying import statement
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tables import Sources
from tests.spark.test_ddl import plain_table, rows

pytestmark = pytest.mark.usefixtures("interpreted")

_COLUMNS = (
    "id INT NOT NULL, name VARCHAR(5), day DATE, price DECIMAL(6,2), x DOUBLE, ok BOOLEAN, "
    "n BIGINT, at TIMESTAMP"
)


def native(catalog: Catalog, said: str) -> list[tuple[Any, ...]]:
    found = statement.run(said, Sources(catalog, "paimon"))
    return [tuple(row.values()) for row in found.to_pylist()]


def history(catalog: Catalog, table: str) -> list[tuple[Any, ...]]:
    folder = Path(plain_table(catalog, f"db.{table}").path, "copy-into", "history")
    records = [json.loads(file.read_text()) for file in folder.iterdir()]
    keys = ("filePath", "fileSize", "lastModified", "snapshotId", "rowsLoaded")
    return sorted(tuple(record[key] for key in keys) for record in records)


def both(spark: SparkSession, catalog: Catalog, said: str) -> list[tuple[Any, ...]]:
    """Load by both engines into tables alike; the answer, if all is the same."""
    by_spark = [tuple(row) for row in rows(spark, said.format("paimon.db.a"))]
    assert native(catalog, said.format("db.b")) == by_spark
    ours, theirs = (
        plain_table(catalog, f"db.{name}").scan().to_arrow().to_pylist() for name in "ba"
    )
    assert sorted(map(repr, ours)) == sorted(map(repr, theirs))
    assert history(catalog, "b") == history(catalog, "a")
    return by_spark


@pytest.fixture
def two_tables(spark: SparkSession, catalog: Catalog) -> None:
    for name in "ab":
        spark.sql(f"CREATE TABLE paimon.db.{name} ({_COLUMNS})")


@pytest.mark.usefixtures("two_tables")
def test_csv_is_loaded_alike(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    source = tmp_path / "in put"
    source.mkdir()
    (source / "_SUCCESS").write_text("")
    (source / "a b.csv").write_text(
        'id;name;day\n1;"a;b";2024-01-01;1.50;1e3;true;7;2024-01-01 10:00:00\n'
        '2;"q""q";;1.005;-.5;no;;2024-02-29T01:02:03.5\n  \n3;""; ; 2;;;;\n'
        "4;six chars;;;;;;\n5;one;yesterday;;;;;\n6;one;;x;;;;\r\n7;-;;;;;1.5;\n8;short\n"
        "9;a;;;;;;;;too many\n;null;;;;;;\n 10 ; 12 ;2024-02-30;1234567;1;Y; 5 ;\n"
        "11;C:\\x;;;abc;;;\n12;\\N;;;;maybe;;\n13;ok;;;;;99999999999999999999;\n"
        "14;ok   ;;.5;;f;;tomorrow\n15;é日;2024-1x;;;;+3;\n"
    )
    (source / "b.csv").write_text("id\n21;ok;2024-01-01;1;1;1;1;\n")
    form = (
        "(TYPE = CSV, FIELD_DELIMITER = ';', SKIP_HEADER = 1, ESCAPE = '\"', NULL_IF = ('-', "
        "'\\\\N'))"
    )
    said = f"COPY INTO {{}} FROM '{source}' FILE_FORMAT = {form} PATTERN = '[.]csv$'"

    with pytest.raises(DataError, match="nothing was loaded"):
        native(catalog, said.format("db.b"))
    assert plain_table(catalog, "db.b").snapshots.latest() is None
    failed, loaded = both(spark, catalog, f"{said} ON_ERROR = SKIP_FILE")
    assert (failed[1], loaded[1]) == ("LOAD_FAILED", "LOADED")
    partly, skipped = both(spark, catalog, f"{said} ON_ERROR = CONTINUE")
    assert (partly[1], skipped[1]) == ("PARTIALLY_LOADED", "SKIPPED")


@pytest.mark.usefixtures("two_tables")
def test_json_and_parquet_are_loaded_alike(
    spark: SparkSession, catalog: Catalog, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text(
        '{"id": 1, "name": "é\\"x", "day": "2024-01-01", "price": 1.5, "x": 0.25, "ok": true}\n'
        '\n{"id": "2", "name": "", "n": 9007199254740993, "more": [1]}\n{"id": null}\n'
        '{"id": 3, "name": 12, "price": "x", "Name": "no"}\n{"id": \ngarbage\n'
        '{"id": 4, "at": "2024-01-01 10:00:00", "x": 7}\n'
    )
    more = "FILE_FORMAT = (TYPE = JSON, EMPTY_FIELD_AS_NULL = TRUE) ON_ERROR = CONTINUE"
    ((_, _, loaded, parsed, *_),) = both(
        spark, catalog, f"COPY INTO {{}} FROM '{tmp_path / 'a.json'}' {more}"
    )
    assert (loaded, parsed) == (3, 7)

    folder = tmp_path / "parquet"
    folder.mkdir()
    pq.write_table(
        pa.table({"NAME": ["a", "toolong", None], "id": [1, 2, None], "n": ["1", "2", "x"]}),
        folder / "a.parquet",
    )
    pq.write_table(
        pa.table({"price": ["1.5", "x"], "id": [3, 1 << 40], "ok": [True, None]}),
        folder / "b.parquet",
    )
    more = "FILE_FORMAT = (TYPE = PARQUET) ON_ERROR = CONTINUE"
    both(spark, catalog, f"COPY INTO {{}} (id, name, n, price, ok) FROM '{folder}' {more}")


@pytest.mark.usefixtures("two_tables")
def test_rows_are_written_alike(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    """Files of text have the same lines; those of Parquet the same rows."""
    plain_table(catalog, "db.b").write(
        [
            {"id": 1, "name": "a,b", "price": Decimal("1.50"), "x": 1e10, "ok": True, "n": 7},
            {"id": 2, "name": 'q"q'},
            {"id": 3, "name": "", "x": -0.5},
        ]
    )
    spark.sql(
        "INSERT INTO paimon.db.b VALUES (4, 'é', DATE'2024-02-29', 2, 2, false, -1, "
        "TIMESTAMP'2024-01-01 10:00:00.5')"
    )
    for number, form in enumerate(
        ("TYPE = CSV, HEADER = TRUE, COMPRESSION = GZIP", "TYPE = JSON", "TYPE = PARQUET")
    ):
        targets = [tmp_path / f"{number}{engine}" for engine in ("spark", "native")]
        query = "(SELECT * FROM {} WHERE id < 9 ORDER BY id)"
        said = f"COPY INTO '{{}}' FROM {query} FILE_FORMAT = ({form})"
        ((_, _, count),) = rows(spark, said.format(targets[0], "paimon.db.b"))
        assert native(catalog, said.format(targets[1], "db.b")) == [(str(targets[1]), 1, count)]
        if "PARQUET" in form:
            found = [pq.read_table(target).to_pylist() for target in targets]
            for row in (*found[0], *found[1]):  # Spark writes INT96, which has no zone
                row["at"] = row["at"] and row["at"].replace(tzinfo=None)
        else:
            found = [spark.read.text(str(target)).collect() for target in targets]
        assert found[1] == found[0]
        assert {file.name.partition("-")[0] for file in targets[1].iterdir()} == {
            "_SUCCESS",
            "part",
        }
        with pytest.raises(PaimonError, match="OVERWRITE"):
            native(catalog, said.format(targets[1], "db.b"))


@pytest.mark.usefixtures("two_tables")
def test_no_rows_have_a_header(spark: SparkSession, catalog: Catalog, tmp_path: Path) -> None:
    targets = [tmp_path / engine for engine in ("spark", "native")]
    said = "COPY INTO '{}' FROM {} FILE_FORMAT = (TYPE = CSV, HEADER = TRUE)"
    rows(spark, said.format(targets[0], "paimon.db.b"))
    native(catalog, said.format(targets[1], "db.b"))
    texts = ["".join(file.read_text() for file in one.glob("part-*")) for one in targets]
    assert texts[1] == texts[0]


@pytest.mark.usefixtures("two_tables")
def test_what_may_be_read_otherwise_is_refused(catalog: Catalog, tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    said = f"COPY INTO db.b (id, name) FROM '{source}' FILE_FORMAT = (TYPE = CSV)"
    for text in ('1,"a"b\n', '1,a"b"\n', '1,"a""b"\n', "0x1,\xff\n", "1\x0b,a\n"):
        source.write_text(text, encoding="latin-1")
        with pytest.raises(NotTranslatedError):
            native(catalog, said)
    source.write_text("1,a\n")
    for wrong, refused in (
        (said.replace(str(tmp_path), "s3://bucket"), "local disk"),
        (f"{said} PATTERN = 'a++'", "PATTERN"),
        (said.replace("CSV)", "JSON, MULTI_LINE = TRUE)"), "MULTI_LINE"),
        (said.replace("CSV)", "CSV, HEADER = TRUE)"), "HEADER"),
        (f"COPY INTO '{catalog.path}/x' FROM db.b FILE_FORMAT = (TYPE = CSV)", "warehouse"),
        ("COPY INTO '/x' FROM db.b FILE_FORMAT = (TYPE = CSV, COMPRESSION = LZ4)", "lz4"),
    ):
        with pytest.raises(UnsupportedError, match=refused):
            native(catalog, wrong)
    assert plain_table(catalog, "db.b").snapshots.latest() is None
    assert native(catalog, said)[0][1] == "LOADED"
