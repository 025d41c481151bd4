"""Which snapshot the ``scan.…`` options choose; `tests/interop/test_history.py` asks Java."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import SchemaError, SnapshotNotFoundError, UnsupportedError


@pytest.fixture
def table(tmp_path: Path) -> pl.Table:
    catalog = pl.connect(tmp_path / "warehouse")
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "INT"})
    for number in (1, 2, 3):
        table.write(pa.table({"id": pa.array([number], pa.int32())}))
    table.tags.create("two", snapshot=2)
    return table


def ids(table: pl.Table, **options: str) -> list[int]:
    named = {key.replace("__", "-").replace("_", "."): value for key, value in options.items()}
    return sorted(table.scan(options=named).to_arrow()["id"].to_pylist())


@pytest.mark.parametrize("mode", ["default", "latest-full", "full", "latest", "compacted-full"])
def test_modes_of_the_latest_snapshot(table: pl.Table, mode: str) -> None:
    assert ids(table, scan_mode=mode) == [1, 2, 3]


def test_modes_of_an_older_snapshot(table: pl.Table) -> None:
    time = str(table.snapshots.get(2).time_millis)

    assert ids(table, scan_mode="from-snapshot", scan_snapshot__id="2") == [1, 2]
    assert ids(table, scan_mode="from-snapshot-full", scan_snapshot__id="1") == [1]
    assert ids(table, scan_mode="from-snapshot", scan_tag__name="two") == [1, 2]
    assert ids(table, scan_mode="from-timestamp", scan_timestamp__millis=time)[:2] == [1, 2]


def test_files_by_the_time_they_were_made(table: pl.Table) -> None:
    files = table.scan().plan().files
    assert ids(table, scan_file__creation__time__millis="0") == [1, 2, 3]
    assert ids(table, scan_file__creation__time__millis="99999999999999") == []
    assert files.num_rows == 3


def test_the_first_snapshot_since_a_time(table: pl.Table) -> None:
    third = table.snapshots.get(3).time_millis
    assert third > table.snapshots.get(1).time_millis, "two commits take more than a millisecond"

    assert ids(table, scan_creation__time__millis=str(third))[-1] in {2, 3}
    assert ids(table, scan_creation__time__millis="0") == [1, 2, 3], "by the files' own times"
    assert ids(table, scan_creation__time__millis=str(third + 3_600_000)) == []


@pytest.mark.parametrize(
    "options",
    [
        {"scan_mode": "from-snapshot"},
        {"scan_mode": "from-timestamp"},
        {"scan_mode": "from-timestamp", "scan_snapshot__id": "1"},
        {"scan_mode": "latest-full", "scan_snapshot__id": "1"},
        {"scan_mode": "incremental"},
        {"scan_snapshot__id": "1", "scan_tag__name": "two"},
        {"scan_snapshot__id": "1", "incremental__between": "1,2"},
    ],
)
def test_options_that_do_not_go_together(table: pl.Table, options: dict[str, str]) -> None:
    with pytest.raises(SchemaError):
        ids(table, **options)


def test_modes_of_streams_are_refused(table: pl.Table) -> None:
    with pytest.raises(UnsupportedError, match="latest-delta"):
        ids(table, scan_mode="latest-delta")
    with pytest.raises(SnapshotNotFoundError):
        ids(table, scan_mode="from-snapshot", scan_snapshot__id="9")


def test_an_empty_table_has_no_rows_in_any_mode(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path / "other")
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "INT"})

    for mode in ("default", "latest", "compacted-full"):
        assert ids(table, scan_mode=mode) == []
    assert ids(table, scan_creation__time__millis="1") == []
    assert ids(table, incremental__between="0,0") == []
