"""What a snapshot refers to is on the disk, with all folders above it, before it is published."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl

_COLUMNS = {"id": "BIGINT NOT NULL", "part": "INT NOT NULL", "v": "STRING"}
_TABLES: dict[str, dict[str, Any]] = {
    "partitions": {"partition_keys": ["part"]},
    "buckets": {"primary_keys": ["id"], "options": {"bucket": "16"}},
    "changelog": {
        "primary_keys": ["id", "part"],
        "partition_keys": ["part"],
        "options": {"bucket": "2", "changelog-producer": "input"},
    },
    "indexes beside files": {
        "options": {
            "file-index.bloom-filter.columns": "id",
            "file-index.in-manifest-threshold": "1 b",
        },
    },
    "small buffer and compaction": {
        "primary_keys": ["id", "part"],
        "partition_keys": ["part"],
        "options": {"bucket": "2", "write-buffer-size": "8 kb", "num-sorted-run.stop-trigger": "3"},
    },
}


class _Disk:
    """What would be left after a loss of power: files and entries of folders that were synced."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
        self.root = root
        self.files = set[int]()
        self.entries: dict[int, frozenset[str]] = {}
        self.published = 0
        link = os.link

        def fsync(descriptor: int) -> None:
            status = os.fstat(descriptor)
            path = Path(f"/proc/self/fd/{descriptor}").readlink()
            if path.is_dir():
                self.entries[status.st_ino] = frozenset(entry.name for entry in path.iterdir())
            else:
                self.files.add(status.st_ino)

        def checked_link(source: str, target: str) -> None:
            if "/snapshot/" in target:
                self.check()
                self.published += 1
            link(source, target)

        monkeypatch.setattr(os, "fsync", fsync)
        monkeypatch.setattr(os, "link", checked_link)

    def check(self) -> None:
        """Check that all files but hints and what is being published are durable."""
        for path in self.root.rglob("*"):
            if path.parent.name == "snapshot" or path.suffix == ".tmp":
                continue
            if path.is_file():
                assert path.stat().st_ino in self.files, f"{path} is not synced"
            assert path.name in self.entries.get(path.parent.stat().st_ino, ()), (
                f"{path} is not in a folder that was synced after it was made"
            )


@pytest.mark.parametrize("name", _TABLES)
def test_all_that_is_written_is_durable_before_the_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    disk = _Disk(monkeypatch, tmp_path)
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", _COLUMNS, **_TABLES[name])
    for first in (0, 500):
        ids = range(first, first + 1000)
        table.write(
            pa.table(
                {
                    "id": pa.array(ids, pa.int64()),
                    "part": pa.array([number % 20 for number in ids], pa.int32()),
                    "v": [str(number) for number in ids],
                }
            )
        )

    assert disk.published >= 2
    assert table.scan().to_arrow().num_rows in (1500, 2000)
