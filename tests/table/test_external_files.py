from __future__ import annotations

import re
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
    paths = catalog.system_table("db.t$files").scan().to_arrow()["file_path"].to_pylist()
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


def test_weights_say_how_many_files_each_root_gets(tmp_path: Path) -> None:
    roots = [tmp_path / "few", tmp_path / "many"]
    options = {
        **round_robin(*(f"file:{root}" for root in roots)),
        f"{EXTERNAL}.strategy": "weight-robin",
        f"{EXTERNAL}.weights": "1, 1000000000",
        "target-file-size": "1 kb",
    }
    table = open_catalog(tmp_path).create_table("db.t", {"v": "BIGINT"}, options=options)
    table.write(pa.table({"v": range(9000)}))

    assert sorted(table.scan().to_arrow()["v"].to_pylist()) == list(range(9000))
    few, many = (len(list(root.rglob("*.parquet"))) for root in roots)
    assert few <= 1 < many


def test_entropy_puts_files_into_folders_that_their_names_give(tmp_path: Path) -> None:
    root = tmp_path / "out"
    options = {
        **round_robin(f"file:{root}"),
        f"{EXTERNAL}.strategy": "entropy-inject",
        "target-file-size": "1 kb",
        "file-index.bloom-filter.columns": "v",
        "file-index.in-manifest-threshold": "1 b",
    }
    table = open_catalog(tmp_path).create_table("db.t", {"v": "BIGINT"}, options=options)
    table.write(pa.table({"v": range(9000)}))

    assert table.scan(where=pl.col("v") == 77).to_arrow()["v"].to_pylist() == [77]
    folders = [path.parent.relative_to(root) for path in root.rglob("*.parquet")]
    assert all(re.fullmatch("bucket-0/([01]{4}/){3}[01]{8}", str(folder)) for folder in folders)
    assert len(set(folders)) > 1
    table.truncate()
    assert table.fsck(deep=True).findings == ()


@pytest.mark.parametrize("weights", ["", "1", "1,2,3", "1,0", "1,x", "1,-1", "1,9999999999"])
def test_weights_that_do_not_fit_the_roots_are_refused(tmp_path: Path, weights: str) -> None:
    options = {**round_robin("file:/a", "file:/b"), f"{EXTERNAL}.weights": weights}
    options[f"{EXTERNAL}.strategy"] = "weight-robin"

    with pytest.raises(SchemaError, match="weights"):
        open_catalog(tmp_path).create_table("db.t", {"v": "INT"}, options=options)


def test_deletion_vectors_beside_files_outside_are_checked(tmp_path: Path) -> None:
    vectors = {"deletion-vectors.enabled": "true", "index-file-in-data-file-dir": "true"}
    options = round_robin(f"file:{tmp_path / 'out'}") | vectors
    table = open_catalog(tmp_path).create_table("db.t", {"v": "BIGINT"}, options=options)
    table.write(pa.table({"v": [1, 2, 3]}))
    table.delete("v = 2")

    report = table.fsck(deep=True)

    assert report.findings == ()
    assert report.checked.index_files == 1
