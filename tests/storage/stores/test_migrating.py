"""Folders of files in a store become tables there: compared with the rows that were written."""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv, orc

import paimonlab as pl
from paimonlab.catalog import migrating_tables
from paimonlab.errors import DataError, UnsupportedError
from tests.catalog.pickling_workers import PicklingWorkers

ROWS = pa.table({"id": [1, 2, 3], "price": [1.5, None, -2.0], "text": ["a", 'b,"ü"\n', None]})


def put(catalog: pl.Catalog, path: str, data: bytes) -> None:
    catalog.file_io.write(f"{catalog.path}/../{path}".replace("/w/..", ""), data)


def texts() -> bytes:
    output = io.BytesIO()
    csv.write_csv(ROWS, output)
    return output.getvalue()


def test_files_of_texts_in_a_store_are_taken_over(warehouse: Mapping[str, str]) -> None:
    catalog = pl.connect(warehouse)
    folder = catalog.path.removesuffix("/w") + "/lake"
    put(catalog, "lake/day=2026-01-01/a.csv", texts())
    put(catalog, "lake/day=2026-01-02/b.csv.gz", gzip.compress(texts()))
    put(catalog, "lake/day=2026-01-02/_tmp.csv", b"?")
    put(catalog, "json/a.jsonl", b'{"id": 1, "price": 1.5, "text": "a"}\n{"id": 4}\n')

    done = catalog.migrate_table(folder, "db.t", primary_keys=["id", "day"])
    again = catalog.migrate_table(folder, "db.t", primary_keys=["id", "day"])

    assert (done.rows, done.is_compared, done.partition_keys) == (6, True, ("day",))
    assert (again.is_done, again.is_compared) == (True, True)
    for day in ("2026-01-01", "2026-01-02"):
        found = catalog.table("db.t").scan(["id", "price", "text"], f"day = '{day}'").to_arrow()
        assert found.sort_by("id").to_pydict() == ROWS.to_pydict()
    put(catalog, "lake/day=2026-01-02/c.csv", b"id,price,text\n9,0.5,z\n")
    # And as executors do it, who get the files with the store.
    sent = migrating_tables.migrate_table(
        catalog,
        folder,
        "db.t",
        primary_keys=["id", "day"],
        partition_keys=None,
        options=None,
        comment=None,
        verify=True,
        dry_run=False,
        progress=None,
        workers=PicklingWorkers(),
    )
    assert (sent.rows, sent.is_compared, sent.is_done) == (7, True, False)
    catalog.migrate_table(folder.replace("lake", "json"), "db.j")
    found = catalog.table("db.j").scan().to_arrow()
    assert sorted(found["id"].to_pylist()) == [1, 4]


def test_files_with_columns_in_a_store_are_taken_over(warehouse: Mapping[str, str]) -> None:
    catalog = pl.connect(warehouse)
    folder = catalog.path.removesuffix("/w") + "/lake"
    for number, (name, write) in enumerate((("parquet", pq.write_table), ("orc", orc.write_table))):
        output = io.BytesIO()
        write(ROWS, output)
        put(catalog, f"lake/day=2026-01-0{number + 1}/a.{name}", output.getvalue())

    catalog.create_database("db")
    done = catalog.migrate_folder(folder, "db.t")
    more = catalog.migrate_folder(folder, "db.t")

    assert (done.is_compared, more.is_compared, more.row_count) == (True, True, 6)
    found = catalog.table("db.t").scan(["id", "price", "text"]).to_arrow().sort_by("id")
    assert found["id"].to_pylist() == [1] * 4 + [2] * 4 + [3] * 4


def test_tables_of_delta_and_iceberg_in_a_store_are_taken_over(
    warehouse: Mapping[str, str],
) -> None:
    from deltalake import write_deltalake  # noqa: PLC0415 - takes a second
    from pyiceberg.catalog.sql import SqlCatalog  # noqa: PLC0415 - as above

    catalog = pl.connect(warehouse)
    place, url = catalog.path.removesuffix("/w"), warehouse["s3.endpoint"]
    theirs = {"aws_access_key_id": "AKtheirs", "aws_secret_access_key": "SKtheirs"}
    where = {"aws_endpoint": url, "aws_allow_http": "true", "aws_region": "us-east-1"}
    write_deltalake(f"{place}/delta", ROWS, storage_options=theirs | where)
    keys = {"s3.access-key-id": "AKtheirs", "s3.secret-access-key": "SKtheirs"}
    words = {"uri": "sqlite://", "warehouse": f"{place}/ice", "s3.endpoint": url, **keys}
    iceberg = SqlCatalog("c", **words)
    iceberg.create_namespace("n")
    made = iceberg.create_table("n.t", ROWS.schema)
    made.append(ROWS)

    def migrated(source: str, target: str) -> migrating_tables.TableMigration:
        # As executors do it, who get no more than what can be sent.
        return migrating_tables.migrate_table(
            catalog,
            source,
            target,
            primary_keys=[],
            partition_keys=None,
            options=None,
            comment=None,
            verify=True,
            dry_run=False,
            progress=None,
            workers=PicklingWorkers(),
        )

    for source, target in ((f"{place}/delta", "db.d"), (made.metadata_location, "db.i")):
        done, again = migrated(source, target), migrated(source, target)
        assert (done.rows, done.is_compared, again.is_done) == (3, True, True)
        assert "zqhush" not in repr(done)
        found = catalog.table(target).scan().to_arrow()
        assert found.sort_by("id").to_pydict() == ROWS.to_pydict()
    with pytest.raises(DataError) as caught:
        catalog.migrate_table(f"{place}/none/v1.metadata.json", "db.n")
    assert "zqhush" not in str(caught.value)


def test_what_is_elsewhere_or_of_a_library_is_refused_by_name(
    warehouse: Mapping[str, str], tmp_path: Path
) -> None:
    catalog = pl.connect(warehouse)
    place = catalog.path.removesuffix("/w") + "/ice"
    put(catalog, "ice/metadata/v1.metadata.json", b"{}")
    put(catalog, "ice/a.csv", texts())
    with pytest.raises(UnsupportedError, match=r"ice by its name is .*: give .*DeltaTable"):
        catalog.migrate_table(place, "db.t")
    with pytest.raises(UnsupportedError, match="the warehouse is not in that store"):
        pl.connect(tmp_path).migrate_table(place.replace("ice", "lake"), "db.t")
