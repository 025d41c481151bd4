from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import CommitError, SchemaError, UnsupportedError

EXTERNAL = "data-file.external-paths"


def open_catalog(tmp_path: Path, **options: str) -> pl.Catalog:
    catalog = pl.connect({"warehouse": str(tmp_path / "warehouse"), **options})
    catalog.create_database("db", exist_ok=True)
    return catalog


def round_robin(*roots: str) -> dict[str, str]:
    return {EXTERNAL: ",".join(roots), f"{EXTERNAL}.strategy": "round-robin"}


def test_files_go_to_the_roots_in_turn_and_come_back(tmp_path: Path) -> None:
    roots = [tmp_path / "a", tmp_path / "b" / "c"]
    catalog = open_catalog(tmp_path)
    options = {**round_robin(f"file:{roots[0]}", f"file://{roots[1]}/"), "target-file-size": "1 kb"}
    table = catalog.create_table("db.t", {"p": "STRING", "v": "BIGINT"}, options=options,
                                 partition_keys=["p"])  # fmt: skip
    table.write(pa.table({"p": ["x:y"] * 9000, "v": range(9000)}))

    assert sorted(catalog.table("db.t").scan().to_arrow()["v"].to_pylist()) == list(range(9000))
    counts = [len(list((root / "p=x%3Ay" / "bucket-0").glob("*.parquet"))) for root in roots]
    assert min(counts) > 0
    assert abs(counts[0] - counts[1]) <= 1
    paths = catalog.table("db.t$files").scan().to_arrow()["file_path"].to_pylist()
    assert {path.split("/p=")[0] for path in paths} == {f"file:{root}" for root in roots}


def test_a_root_that_is_taken_off_the_table_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "out"
    catalog = open_catalog(tmp_path)
    table = catalog.create_table("db.t", {"v": "INT"}, options=round_robin(f"file:{root}"))
    table.write(pa.table({"v": pa.array([1], pa.int32())}))

    stripped = catalog.alter_table("db.t", pl.RemoveOption(EXTERNAL))

    with pytest.raises(UnsupportedError, match="allowed-external-roots"):
        stripped.scan().to_arrow()
    allowed = open_catalog(tmp_path, **{"allowed-external-roots": f"/elsewhere,{root}"})
    assert allowed.table("db.t").scan().count() == 1
    beside = open_catalog(tmp_path, **{"allowed-external-roots": f"{tmp_path}/ou"})
    with pytest.raises(UnsupportedError, match="allowed-external-roots"):
        beside.table("db.t").scan().to_arrow()


def test_files_of_a_write_that_failed_are_deleted(tmp_path: Path) -> None:
    root = tmp_path / "out"
    catalog = open_catalog(tmp_path)
    options = {**round_robin(f"file:{root}"), "bucket": "2", "bucket-key": "v"}
    table = catalog.create_table("db.t", {"v": "INT NOT NULL"}, options=options)
    rows = pa.table({"v": pa.array([1, 2], pa.int32())})

    writer = table.new_writer()
    writer.write(rows)
    writer.abort()
    other = catalog.alter_table("db.t", pl.SetOption("bucket", "3"))
    table.write(rows)
    with pytest.raises(CommitError):
        other.write(rows)

    assert len(list(root.rglob("*.parquet"))) == len(table.scan().plan().splits)


@pytest.mark.parametrize(
    "options",
    [
        round_robin("/no/scheme"),
        round_robin("file:/"),
        round_robin("file:/a/../b"),
        {**round_robin("file:/a"), f"{EXTERNAL}.strategy": "specific-fs"},
        {"data-file.path-directory": "/absolute"},
        {"data-file.path-directory": "a/../.."},
    ],
    ids=str,
)
def test_roots_and_folders_that_make_no_sense_are_refused(
    tmp_path: Path, options: dict[str, str]
) -> None:
    with pytest.raises(SchemaError, match=r"data-file\."):
        open_catalog(tmp_path).create_table("db.t", {"v": "INT"}, options=options)


@pytest.mark.parametrize("strategy", ["entropy-inject", "weight-robin"])
def test_strategies_that_are_not_built_are_refused(tmp_path: Path, strategy: str) -> None:
    options = {**round_robin("file:/a"), f"{EXTERNAL}.strategy": strategy}

    with pytest.raises(UnsupportedError, match=strategy):
        open_catalog(tmp_path).create_table("db.t", {"v": "INT"}, options=options)
