"""Upkeep of tables with BLOB columns, which are not read here.

``java-1.4.2-blobs.tar.xz`` has a table that Java Paimon 1.4.2 wrote: ``k INT, s STRING, b BLOB``
with ``data-evolution.enabled``, three rows of 2,000 bytes in each of five commits, of which the
fourth overwrote all before. Its values are in ``.blob`` files, which manifests name.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pl
from paimonlab.errors import UnsupportedError
from tests.maintenance.expiring_tables import age

NAME = "0fdc5a0e-3a25-4d8f-9c79-6d8a3b1f5a11"


@pytest.fixture
def table(tmp_path: Path) -> pl.Table:
    """Return the table, all of its files old."""
    with tarfile.open(Path(__file__).with_name("java-1.4.2-blobs.tar.xz")) as archive:
        # Python 3.11.0 to 3.11.3 have no filters.
        options: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(tmp_path / "db.db", **options)
    grow_old(tmp_path)
    table = pl.connect(tmp_path).table("db.blobs")
    assert isinstance(table, pl.Table)
    return table


def grow_old(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            age(path, 3)


def data_files(table: pl.Table) -> set[str]:
    return {path.name for path in (Path(table.path) / "bucket-0").iterdir()}


def test_files_of_blobs_are_kept_and_expire_with_their_rows(table: pl.Table) -> None:
    stored = data_files(table)

    assert table.fsck().is_clean
    assert table.maintenance.remove_orphan_files(dry_run=False).paths == ()
    table.maintenance.expire_snapshots(retain_max=2, retain_min=2)

    kept = data_files(table)
    assert len(stored) == 10
    assert len([name for name in kept if name.endswith(".blob")]) == 2
    assert len([name for name in kept if name.endswith(".parquet")]) == 2
    assert {name[:-7] for name in kept if name.endswith(".blob")} == {
        name[:-10] for name in kept if name.endswith(".parquet")
    }
    assert table.fsck().is_clean
    assert table.maintenance.remove_orphan_files(dry_run=False).paths == ()
    rows = table.scan(columns=["k", "s"]).to_arrow().to_pylist()
    assert sorted(row["k"] for row in rows) == [9, 10, 11, 12, 13, 14]


def test_a_blob_file_that_nothing_refers_to_is_an_orphan(table: pl.Table) -> None:
    orphan = Path(table.path) / "bucket-0" / f"data-{NAME}-1.blob"
    orphan.write_bytes(b"x")
    age(orphan, 3)

    assert table.maintenance.remove_orphan_files(dry_run=True).paths == (str(orphan),)


def test_files_that_only_rows_may_refer_to_are_not_called_orphans(table: pl.Table) -> None:
    """``blob-external-storage-path`` may be a folder of the table, now or in an older schema."""
    folder = Path(table.path)
    value = folder / "bucket-0" / f"data-{NAME}-0.blob"
    value.write_bytes(b"x")
    schema = json.loads((folder / "schema" / "schema-0").read_bytes())
    (folder / "schema" / "schema-1").write_text(json.dumps({**schema, "id": 1}))
    schema["options"]["blob-external-storage-path"] = str(value.parent)
    (folder / "schema" / "schema-0").write_text(json.dumps(schema))
    grow_old(folder)

    with pytest.raises(UnsupportedError, match=r"blob-external-storage-path = .*bucket-0"):
        pl.connect(folder.parents[1]).table("db.blobs").maintenance.remove_orphan_files(
            dry_run=False
        )

    assert value.exists()
