"""Cloning, copying and migrating run on executors: the driver plans, commits and holds no rows."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import Row, SparkSession

import paimonlab as pl
from paimonlab.catalog import Catalog, migrating
from paimonlab.errors import ArgumentError
from paimonlab.spec.row_digest import RowDigest
from paimonlab.write.writer import TableWriter
from tests.catalog.test_copying import KINDS, rows, some

pytestmark = pytest.mark.usefixtures("interpreted")

COLUMNS = {"k": "INT NOT NULL", "n": "BIGINT", "dt": "STRING NOT NULL"}


@pytest.fixture
def refuse_rows(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what makes all fail that this process does with rows, or files, from then on."""
    pid = os.getpid()

    def refuse(*_: Any, **__: Any) -> None:
        assert os.getpid() != pid, "rows are in the driver"

    def begin() -> None:
        monkeypatch.setattr(TableWriter, "write", refuse)
        monkeypatch.setattr(RowDigest, "add", refuse)
        monkeypatch.setattr(migrating, "_transferred", refuse)

    return begin


def test_clones_and_copies_are_made_and_compared_by_tasks(
    spark: SparkSession, catalog: Catalog, tmp_path: Path, refuse_rows: Callable[[], None]
) -> None:
    for kind in ("keys",):
        table = catalog.create_table(f"db.{kind}", COLUMNS, **KINDS[kind])
        table.write(some(range(10)))
        table.write(some(range(5, 15), n=2))
    wanted = {name: rows(catalog, name) for name in ("db.keys",)}
    refuse_rows()

    call = f"CALL paimon.sys.clone(target_catalog_conf => 'warehouse={tmp_path}/there')"
    done = spark.sql(call).collect()
    spark.sql("CALL paimon.sys.copy('db.keys', 'db.copied')")

    assert done == [
        Row(table=name, target_table=name, rows=len(found), state="cloned")
        for name, found in wanted.items()
    ]
    there = pl.connect(tmp_path / "there")
    assert {name: rows(there, name) for name in wanted} == wanted
    assert rows(catalog, "db.copied") == wanted["db.keys"]


def test_files_are_migrated_by_as_many_tasks_as_are_allowed(
    spark: SparkSession, catalog: Catalog, tmp_path: Path, refuse_rows: Callable[[], None]
) -> None:
    texts, files = tmp_path / "texts", tmp_path / "files"
    for number in range(3):
        for folder in (texts / f"dt={number}", files):
            folder.mkdir(parents=True, exist_ok=True)
        (texts / f"dt={number}" / "a.csv").write_text(f"k,v\n{number},x\n{number},y\n")
        pq.write_table(pa.table({"k": [number]}), files / f"{number}.parquet")
    refuse_rows()

    def migrate(kind: str, folder: Path, target: str, **more: object) -> list[Row]:
        arguments = {"source_type": kind, "table": str(folder), "target_table": target, **more}
        given = ", ".join(f"{key} => :{key}" for key in arguments)
        return spark.sql(f"CALL paimon.sys.migrate_table({given})", args=arguments).collect()

    assert migrate("csv", texts, "db.all", options="partition=") == [Row(result=True)]
    migrate("csv", texts, "db.one", options="partition=", parallelism=1)
    migrate("parquet", files, "db.files", delete_origin=False)

    expected = sorted((n, v, n) for n in range(3) for v in ("x", "y"))
    for name, count in (("db.all", 3), ("db.one", 1)):
        table = catalog.table(name)
        assert rows(catalog, name) == expected
        assert len(list(Path(table.path).rglob("*.parquet"))) == count
    assert rows(catalog, "db.files") == [(0,), (1,), (2,)]
    assert len(list(files.iterdir())) == 3
    with pytest.raises(ArgumentError, match="parallelism => 0 must be at least 1"):
        migrate("csv", texts, "db.none", parallelism=0)
