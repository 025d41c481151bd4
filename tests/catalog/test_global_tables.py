"""The database ``sys``."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.errors import SchemaError, TableNotFoundError


@pytest.fixture
def catalog(tmp_path: Path) -> paimonlab.Catalog:
    opened = paimonlab.connect({"warehouse": str(tmp_path), "case-sensitive": "true"})
    opened.create_database("db")
    opened.create_table("db.a", {"k": "INT"}, options={"target-file-size": "1 mb"})
    parted = opened.create_table(
        "db.b",
        {"k": "INT NOT NULL", "p": "STRING NOT NULL"},
        primary_keys=["k", "p"],
        partition_keys=["p"],
        options={"bucket": "1"},
    )
    parted.write(pa.table({"k": [1, 2, 3], "p": ["x", "x", "y z"]}))
    return opened


def test_the_database_is_not_listed_but_its_tables_are(catalog: paimonlab.Catalog) -> None:
    assert catalog.databases() == ["db"]
    names = catalog.tables("sys")
    assert names == ["all_table_options", "catalog_options", "partitions", "tables"]
    with pytest.raises(TableNotFoundError, match=r"sys\.nope"):
        catalog.system_table("sys.nope")
    with pytest.raises(SchemaError, match="belongs to"):
        catalog.create_database("sys")


def test_all_table_options(catalog: paimonlab.Catalog) -> None:
    table = catalog.system_table("sys.all_table_options")

    found = table.scan(where="key <> 'path'").to_arrow()

    assert table.arrow_schema.names == ["database_name", "table_name", "key", "value"]
    assert found.to_pylist() == [
        {"database_name": "db", "table_name": "a", "key": "target-file-size", "value": "1 mb"},
        {"database_name": "db", "table_name": "b", "key": "bucket", "value": "1"},
    ]
    assert table.scan(["value"], "table_name = 'a'", limit=1).to_arrow().shape == (1, 1)
    assert table.scan().count() == 4
    with pytest.raises(ValueError, match="as it is now"):
        table.scan(snapshot=1)


def test_catalog_options(catalog: paimonlab.Catalog, tmp_path: Path) -> None:
    found = catalog.system_table("sys.catalog_options").scan().to_arrow()

    assert found.to_pylist() == [
        {"key": "case-sensitive", "value": "true"},
        {"key": "warehouse", "value": str(tmp_path)},
    ]


def test_tables(catalog: paimonlab.Catalog) -> None:
    table = catalog.system_table("sys.tables")

    found = table.scan(["table_name", "table_type", "partitioned", "primary_key"]).to_arrow()

    assert table.arrow_schema.names == [
        "database_name",
        "table_name",
        "table_type",
        "partitioned",
        "primary_key",
        "owner",
        "created_at",
        "created_by",
        "updated_at",
        "updated_by",
        "record_count",
        "file_size_in_bytes",
        "file_count",
        "last_file_creation_time",
    ]
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        ("a", "table", False, False),
        ("b", "table", True, True),
    ]


def test_partitions(catalog: paimonlab.Catalog) -> None:
    table = catalog.system_table("sys.partitions")

    found = table.scan().to_arrow()

    assert found.schema.names == [
        "database_name",
        "table_name",
        "partition_name",
        "record_count",
        "file_size_in_bytes",
        "file_count",
        "last_file_creation_time",
        "done",
    ]
    by_name = found.sort_by("partition_name")
    assert by_name.select(["partition_name", "record_count", "done"]).to_pylist() == [
        {"partition_name": "p=x", "record_count": 2, "done": False},
        {"partition_name": "p=y z", "record_count": 1, "done": False},
    ]
