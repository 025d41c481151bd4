"""The Hive catalog on the protocol of Hive 4, of a metastore that was written from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.catalog.hive.catalog import HiveCatalog
from paimonlab.errors import AlreadyExistsError, DatabaseNotFoundError, TableNotFoundError
from tests.catalog.contracts import OTHER

pytest.importorskip("thriftpy2")
from tests.catalog.hive.hms4 import Hms4, running

COLUMNS = {"id": "BIGINT NOT NULL", "v": "STRING", "p": "STRING NOT NULL"}
OPTIONS = {"bucket": "1", "metastore.partitioned-table": "true"}


@pytest.fixture
def metastore(tmp_path: Path) -> Iterator[tuple[Hms4, str]]:
    with running(tmp_path) as found:
        yield found


@pytest.fixture
def catalog(metastore: tuple[Hms4, str], tmp_path: Path) -> HiveCatalog:
    given = {"metastore": "hive", "uri": metastore[1], "warehouse": str(tmp_path / "w")}
    catalog = pl.connect({**given, "lock.enabled": "true"})
    assert isinstance(catalog, HiveCatalog)
    catalog.create_database("db")
    return catalog


def made(catalog: HiveCatalog) -> pl.Table:
    return catalog.create_table(
        "db.t", COLUMNS, primary_keys=["id", "p"], partition_keys=["p"], options=OPTIONS
    )


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": ids, "v": [f"v{n}" for n in ids], "p": ["ab"[n % 2] for n in ids]})


def test_a_table_lives_its_life(catalog: HiveCatalog, metastore: tuple[Hms4, str]) -> None:
    table = made(catalog)
    with pytest.raises(AlreadyExistsError):
        made(catalog)
    table.write(rows(1, 2, 3))
    assert sorted(metastore[0].get_partition_names("db", "t", -1)) == ["p=a", "p=b"]
    catalog.alter_table("db.t", pl.AddColumn("n", "INT"), pl.SetOption("num-levels", "7"))
    catalog.rename_table("db.t", "db.u")

    opened = catalog.table("db.u")
    assert (catalog.tables("db"), opened.schema.field_names[-1]) == (["u"], "n")
    assert sorted(opened.scan().to_arrow()["id"].to_pylist()) == [1, 2, 3]
    with pytest.raises(TableNotFoundError):
        catalog.table("db.t")
    with pytest.raises(DatabaseNotFoundError):
        catalog.tables("none")
    opened.drop_partitions([{"p": "b"}])
    assert metastore[0].get_partition_names("db", "u", -1) == ["p=a"]
    assert metastore[0].calls["lock"] == metastore[0].calls["unlock"] > 3


def test_a_call_that_it_lacks_is_tried_once(
    catalog: HiveCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(catalog)
    catalog.tables("db")
    asked = list[str]()
    real = catalog._metastore._called

    def called(call: str, arguments: Sequence[Any]) -> Any:
        asked.append(call)
        return real(call, arguments)

    monkeypatch.setattr(catalog._metastore, "_called", called)
    catalog.table("db.t")
    catalog.tables("db")

    assert "get_table" not in asked
    assert asked.count("get_table_req") == 1
    assert asked.count("get_table_objects_by_name_req") == 1


def test_files_of_a_table_that_it_made_external_itself_are_deleted(
    catalog: HiveCatalog, metastore: tuple[Hms4, str], tmp_path: Path
) -> None:
    table = made(catalog)
    table.write(rows(1))
    kept = metastore[0]._table("db", "t")
    assert (kept.tableType, kept.parameters["external.table.purge"]) == ("EXTERNAL_TABLE", "TRUE")
    catalog.drop_table("db.t")
    assert not Path(table.path).exists()

    place = {"path": str(tmp_path / "mine")}
    mine = catalog.create_table("db.m", {"id": "INT"}, options=place)
    catalog.drop_table("db.m")
    assert Path(mine.path).exists()
    assert made(catalog).scan().to_arrow().num_rows == 0


def test_views_and_format_tables_are_objects_too(catalog: HiveCatalog) -> None:
    made(catalog)
    catalog.create_view("db.v", OTHER)
    lines = catalog.create_format_table("db.lines", {"id": "BIGINT"}, file_format="csv")
    lines.write([{"id": 7}])

    assert (catalog.tables("db"), catalog.views("db")) == (["t"], ["v"])
    assert catalog.format_tables("db") == ["lines"]
    assert catalog.format_table("db.lines").to_arrow()["id"].to_pylist() == [7]
    assert catalog.view("db.v").query == OTHER.query
