"""Files that have been there before their indexes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.errors import UnsupportedError
from paimonlab.formats.file_index import container
from paimonlab.spec.snapshot import CommitKind
from paimonlab.table.table import Table

INDEX = "file-index.bloom-filter.columns"


@pytest.fixture
def catalog(tmp_path: Path) -> paimonlab.Catalog:
    opened = paimonlab.connect(tmp_path)
    opened.create_database("db")
    return opened


def rows(first: int) -> pa.Table:
    keys = range(first, first + 40, 2)
    return pa.table(
        {"p": ["x" if key % 4 else "y" for key in keys], "k": pa.array(keys, pa.int32())}
    )


def make(catalog: paimonlab.Catalog, keys: Sequence[str], options: dict[str, str]) -> Table:
    table = catalog.create_table(
        "db.t",
        {"p": "STRING NOT NULL", "k": "INT NOT NULL"},
        primary_keys=keys,
        partition_keys=["p"],
        options=options,
    )
    table.write(rows(0))
    return table


def with_options(catalog: paimonlab.Catalog, options: dict[str, str]) -> Table:
    changes = [paimonlab.SetOption(key, value) for key, value in options.items()]
    table = catalog.alter_table("db.t", *changes)
    assert isinstance(table, Table)
    return table


@pytest.mark.parametrize("threshold", ["10 mb", "1 b"])
@pytest.mark.parametrize("keys", [(), ("p", "k")])
def test_filters_skip_files_that_were_there_before(
    keys: Sequence[str], threshold: str, catalog: paimonlab.Catalog
) -> None:
    options = {"bucket": "1", "bucket-key": "k", "write-only": "true"}
    table = make(catalog, keys, options)
    if not keys:
        table.delete("k = 8")
    before = sorted(table.scan().to_arrow()["k"].to_pylist())
    catalog.alter_table("db.t", paimonlab.AddColumn("z", "INT"))
    settings = {INDEX: "k,z", "file-index.bloom-filter.k.items": "100"}
    table = with_options(catalog, settings | {"file-index.in-manifest-threshold": threshold})

    result = table.maintenance.rewrite_file_index(partitions=[{"p": "x"}])

    assert result.snapshot is not None
    assert result.snapshot.commit_kind is CommitKind.COMPACT
    assert (result.files, result.written) == (1, 1)
    assert table.maintenance.rewrite_file_index().written == 1, "the other partition"
    assert table.maintenance.rewrite_file_index().snapshot is None
    assert sorted(table.scan().to_arrow()["k"].to_pylist()) == before
    files = catalog.system_table("db.t$file_indexes").scan().to_arrow()
    assert files.num_rows >= 2
    assert table.fsck(deep=True).is_clean
    first = set(Path(table.path).rglob("*.index"))
    assert len(first) == (2 if threshold == "1 b" else 0)

    table = with_options(catalog, {"file-index.bloom-filter.k.items": "200"})
    assert table.maintenance.rewrite_file_index().written == 2

    found = set(Path(table.path).rglob("*.index"))
    assert first <= found, "older snapshots need them"
    assert sorted(table.scan(where="k = 8 OR k = 6").to_arrow()["k"].to_pylist()) == [
        key for key in (6, 8) if key in before
    ]
    assert table.fsck(deep=True).is_clean
    if threshold == "1 b":
        table.maintenance.expire_snapshots(retain_max=1, retain_min=1)
        assert set(Path(table.path).rglob("*.index")) == found - first
        assert sorted(table.scan().to_arrow()["k"].to_pylist()) == before


def test_it_runs_again_if_others_replace_files(catalog: paimonlab.Catalog) -> None:
    make(catalog, (), {})
    table = with_options(catalog, {INDEX: "k", "file-index.in-manifest-threshold": "1 b"})
    others = [6]

    def disturb(done: int, total: int, unit: str) -> None:
        if others and done == total:
            table.delete(f"k = {others.pop()}")

    result = table.maintenance.rewrite_file_index(progress=disturb)

    assert result.snapshot is None or result.written
    assert 6 not in table.scan().to_arrow()["k"].to_pylist()
    named = {
        name
        for one in table.snapshots.list()
        for names in table.scan(snapshot=one.id).plan().files["extra_files"].to_pylist()
        for name in names
    }
    assert {path.name for path in Path(table.path).rglob("*.index")} == named
    assert table.fsck(deep=True).is_clean


def test_rows_in_several_files_are_refused(catalog: paimonlab.Catalog) -> None:
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    table = catalog.create_table("db.t", {"k": "INT"}, options=options)

    with pytest.raises(UnsupportedError, match="data-evolution"):
        table.maintenance.rewrite_file_index()


def test_an_index_is_the_one_a_writer_would_have_made(catalog: paimonlab.Catalog) -> None:
    options = {INDEX: "k", "file-index.bitmap.columns": "p", "file-index.range-bitmap.columns": "k"}
    columns = {"p": "STRING NOT NULL", "k": "INT NOT NULL"}
    first = catalog.create_table("db.first", columns, options=options)
    first.write(rows(0))
    later = catalog.create_table("db.later", columns)
    later.write(rows(0))
    catalog.alter_table(
        "db.later", *(paimonlab.SetOption(key, value) for key, value in options.items())
    )
    later = open_table(catalog, "db.later")

    later.maintenance.rewrite_file_index()

    assert index_of(later) == index_of(first)


def test_a_renamed_column_is_indexed_by_its_name_in_the_file(catalog: paimonlab.Catalog) -> None:
    make(catalog, (), {})
    catalog.alter_table(
        "db.t",
        paimonlab.RenameColumn("k", "number"),
        paimonlab.SetOption(INDEX, "number"),
        paimonlab.SetOption("file-index.in-manifest-threshold", "10 mb"),
    )
    table = open_table(catalog, "db.t")

    table.maintenance.rewrite_file_index()

    for file in table.scan().plan().files.to_pylist():
        assert set(container.decode(file["embedded_file_index"])) == {"k"}
    assert table.scan(where="number = 8").to_arrow().num_rows == 1
    assert table.scan(where="number = 9").to_arrow().num_rows == 0


def open_table(catalog: paimonlab.Catalog, name: str) -> Table:
    table = catalog.table(name)
    assert isinstance(table, Table)
    return table


def index_of(table: Table) -> bytes:
    (path,) = Path(table.path).rglob("*.index")
    return path.read_bytes()
