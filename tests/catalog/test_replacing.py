"""Another definition for a table, beside others who use it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.catalog import Catalog
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.schema.definition import Schema
from paimonlab.table.table import Table


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    opened = pl.connect(tmp_path)
    opened.create_database("db")
    opened.create_table("db.t", {"a": "INT", "b": "STRING"}).write(rows(1))
    return opened


def rows(value: int) -> pa.Table:
    return pa.table({"a": pa.array([value], pa.int32()), "b": ["x"]})


def table(catalog: Catalog) -> Table:
    found = catalog.table("db.t")
    assert isinstance(found, Table)
    return found


OTHER = Schema({"b": "BIGINT"})
BUCKETS = {"bucket": "4", "bucket-key": "b"}


def test_nothing_changes_before_it_is_published(catalog: Catalog) -> None:
    replacement = catalog.replacement("db.t", OTHER)

    assert table(catalog).scan().to_arrow().to_pylist() == [{"a": 1, "b": "x"}]
    replacement.publish()
    assert table(catalog).scan().to_arrow().to_pylist() == []
    assert table(catalog).schema.field_names == ("b",)
    assert table(catalog).scan(snapshot=1).to_arrow().to_pylist() == [{"a": 1, "b": "x"}]


def test_a_definition_that_others_changed_is_not_replaced(catalog: Catalog) -> None:
    replacement = catalog.replacement("db.t", OTHER)
    catalog.alter_table("db.t", pl.AddColumn("c", "INT"))

    with pytest.raises(SchemaError, match="others changed its definition"):
        replacement.publish()

    assert table(catalog).scan().to_arrow().num_rows == 1
    assert table(catalog).schema.field_names == ("a", "b", "c")


def test_rows_that_others_add_to_the_old_table_meanwhile_are_removed(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    replacement = catalog.replacement("db.t", OTHER)
    truncate = Table.truncate

    def beside(emptied: Table) -> object:
        monkeypatch.setattr(Table, "truncate", truncate)
        snapshot = truncate(emptied)
        emptied.write(rows(2))
        return snapshot

    monkeypatch.setattr(Table, "truncate", beside)
    replacement.publish()

    assert table(catalog).scan().to_arrow().to_pylist() == []


def test_a_table_without_snapshots_takes_any_definition(catalog: Catalog) -> None:
    keyed = Schema({"k": "INT NOT NULL"}, (), ("k",), {"bucket": "2"})
    with pytest.raises(UnsupportedError, match=r"with the primary key \(k\)"):
        catalog.replacement("db.t", keyed)
    catalog.create_table("db.empty", {"a": "INT"})

    catalog.replacement("db.empty", keyed).publish()

    found = catalog.table("db.empty")
    assert isinstance(found, Table)
    assert found.primary_keys == ("k",)


def test_an_option_said_with_its_default_is_no_change(catalog: Catalog) -> None:
    catalog.replacement("db.t", Schema({"b": "BIGINT"}, (), (), {"bucket": "-1"})).publish()

    assert table(catalog).options == {"bucket": "-1"}
    catalog.replacement("db.t", OTHER).publish()
    with pytest.raises(UnsupportedError, match="with bucket = '4'"):
        catalog.replacement("db.t", Schema({"b": "BIGINT"}, (), (), BUCKETS))
