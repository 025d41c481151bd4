"""``paimonlab migrate``: what pandas, deltalake and pyiceberg read is in the table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import deltalake
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.utils.config import Config

import paimonlab as pl
from tests.cli.conftest import Run

ROWS = pa.table({"id": [1, 2, 3], "v": ["a", None, "ü"], "x": [0.5, None, -1.0]})


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    pl.connect(tmp_path / "w")
    return tmp_path / "w"


def rows_of(warehouse: Path, name: str = "db.t") -> list[dict[str, Any]]:
    found = pl.connect(warehouse).table(name).scan().to_arrow().to_pylist()
    return sorted(found, key=repr)


def done(run: Run, warehouse: Path, *words: str) -> dict[str, Any]:
    found = run("migrate", str(warehouse), "db.t", *words, "--yes", "--json")
    assert found.exit_code == 0, found.output
    document = json.loads(found.output)
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_files_become_those_of_a_table(
    run: Run, warehouse: Path, tmp_path: Path, kind: str
) -> None:
    write = pq.write_table if kind == "parquet" else pa.orc.write_table
    for day in (1, 2):
        folder = tmp_path / "lake" / f"dt=2026-01-0{day}"
        folder.mkdir(parents=True)
        write(ROWS, folder / f"a.{kind}")
    source = str(tmp_path / "lake")

    planned = run("migrate", str(warehouse), "db.t", source, "--move", "--dry-run")

    assert planned.exit_code == 0, planned.output
    assert f"would be done:\n  {source} ({kind}) to db.t, a new table\n" in planned.output
    assert "6 rows, 2 files, " in planned.output
    assert not pl.connect(warehouse).databases()
    found = done(run, warehouse, source, "--move", "--type", "dt=STRING", "-o", "bucket=-1")
    assert (found["rows"], found["files"], found["kind"]) == (6, 2, kind)
    assert [*Path(source).rglob("*")] == []
    wanted = [{**row, "dt": f"2026-01-0{day}"} for day in (1, 2) for row in ROWS.to_pylist()]
    assert rows_of(warehouse) == sorted(wanted, key=repr)


def test_csv_and_json_become_what_pandas_reads(run: Run, warehouse: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    for hour, text in ((7, "id;v\n1;2\n2;3.5\n"), (8, "id;v;w\n3;4;z\n"), (9, "id;v\n4;\n")):
        (lake / f"h={hour}").mkdir(parents=True)
        (lake / f"h={hour}/a.csv").write_text(text)
    (lake / "_SUCCESS").touch()
    options = ("--delimiter", ";", "--primary-key", "h,id", "--comment", "of hours")

    found = done(run, warehouse, str(lake), *options)

    frames = [pd.read_csv(lake / f"h={h}/a.csv", sep=";").assign(h=h) for h in (7, 8, 9)]
    wanted = [
        {key: None if pd.isna(row[key]) else row[key] for key in ("id", "v", "w", "h")}
        for row in pd.concat(frames).to_dict("records")
    ]
    assert rows_of(warehouse) == sorted(wanted, key=repr)
    assert found["partition_keys"] == ["h"]
    assert found["is_compared"]
    table = pl.connect(warehouse).table("db.t")
    assert isinstance(table, pl.Table)
    assert table.schema.comment == "of hours"
    again = done(run, warehouse, str(lake), *options)
    assert again["is_done"]
    assert again["snapshot_id"] == found["snapshot_id"]
    (lake / "h=9/a.csv").write_text("id;v\n4;1\n5;6\n")
    assert not done(run, warehouse, str(lake), *options)["is_done"]
    assert len(rows_of(warehouse)) == 5

    (tmp_path / "json").mkdir()
    (tmp_path / "json/a.jsonl").write_text('{"id": 1, "p": "1.50"}\n{"id": 2}\n')
    words = ("migrate", str(warehouse), "db.j", str(tmp_path / "json"), "--yes")
    told = run(*words, "--type", "p=DECIMAL(9,2)")
    assert told.exit_code == 0, told.output
    assert "2 rows\n" in told.output
    assert [str(row["p"]) for row in rows_of(warehouse, "db.j")] == ["1.50", "None"]


def test_delta_and_iceberg_are_told_by_their_folders(
    run: Run, warehouse: Path, tmp_path: Path
) -> None:
    place = str(tmp_path / "delta")
    deltalake.write_deltalake(place, ROWS, partition_by=["v"])
    found = done(run, warehouse, place)
    assert (found["kind"], found["rows"], found["partition_keys"]) == ("delta", 3, ["v"])
    assert rows_of(warehouse) == sorted(ROWS.to_pylist(), key=repr)

    folder = tmp_path / "ice"
    folder.mkdir()
    catalog = SqlCatalog("c", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}")
    catalog.create_namespace("n")
    table = catalog.create_table("n.t", ROWS.schema)
    table.append(ROWS)
    place = table.metadata_location.removeprefix("file://")
    catalog.close()
    words = ("migrate", str(warehouse), "db.i", "--yes")
    refused = run(*words, str(Path(place).parents[1]))
    assert refused.exit_code == 2
    assert "which metadata is the newest only a catalog knows" in refused.output
    assert run(*words, place, "--primary-key", "id").exit_code == 0
    assert rows_of(warehouse, "db.i") == sorted(ROWS.to_pylist(), key=repr)


def test_a_table_of_a_catalog_of_pyiceberg_is_named(
    run: Run, warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The catalog is configured as pyiceberg has it, here by the environment."""
    lake = {"type": "sql", "uri": f"sqlite:///{tmp_path}/c.db", "warehouse": f"file://{tmp_path}/i"}
    for key, value in lake.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__LAKE__{key.upper()}", value)
    monkeypatch.setattr("pyiceberg.catalog._ENV_CONFIG", Config())
    catalog = SqlCatalog("lake", **lake)
    catalog.create_namespace("n")
    table = catalog.create_table("n.t", ROWS.schema)
    table.append(ROWS)
    table.delete("id = 2")
    catalog.close()

    found = done(run, warehouse, "n.t", "--iceberg-catalog", "lake", "--primary-key", "id")

    assert (found["kind"], found["rows"], found["primary_keys"]) == ("iceberg", 2, ["id"])
    left = ROWS.filter(pc.not_equal(ROWS["id"], 2)).to_pylist()
    assert rows_of(warehouse) == sorted(left, key=repr)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("no-such-table",), "give --from hive or --iceberg-catalog"),
        (("./none",), "there is no folder ./none"),
        (("s3://lake/x",), "give --from, one of parquet, orc"),
        ((".",), "several kinds or of none (csv, parquet)"),
        ((".", "--from", "csv", "--move"), "--move is not for csv, but for parquet, orc, hive"),
        ((".", "--from", "parquet", "--primary-key", "id"), "is not for parquet, but for csv"),
        ((".", "--from", "csv"), "b.parquet in a folder of CSV or JSON"),
        (("a.b", "--from", "hive"), "the catalog is in no Hive metastore"),
        ((".", "--from", "csv", "--delimiter", ";;"), "is one character"),
        (("./none", "--from", "delta"), "/none: "),
    ],
    ids=str,
)
def test_what_cannot_be_migrated_is_refused(
    run: Run,
    warehouse: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    told: str,
) -> None:
    (tmp_path / "mixed").mkdir()
    monkeypatch.chdir(tmp_path / "mixed")
    (tmp_path / "mixed/a.csv").write_text("id\n1\n")
    pq.write_table(ROWS, "b.parquet")

    found = run("migrate", str(warehouse), "db.t", *words, "--yes")

    assert found.exit_code == 2, found.output
    assert told in found.output
    assert not pl.connect(warehouse).has_table("db.t")


def test_columns_that_differ_are_named(run: Run, warehouse: Path, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    lake.mkdir()
    (lake / "a.csv").write_text("id\n1\n")
    (lake / "b.csv").write_text("id\nx\n")

    found = run("migrate", str(warehouse), "db.t", str(lake), "--yes")
    assert found.exit_code == 2
    assert "column 'id' is int64 in" in found.output
    assert done(run, warehouse, str(lake), "--type", "id=STRING")["rows"] == 2
    assert rows_of(warehouse) == [{"id": "1"}, {"id": "x"}]
