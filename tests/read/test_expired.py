"""Files that go while they are read: expiry, or damage."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import CorruptDataError, CorruptMetadataError, SnapshotExpiredError
from paimonlab.table.table import Table


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Make a table whose first row is deleted by a vector in snapshot 2; there is a third."""
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    options = {"deletion-vectors.enabled": "true"}
    table = catalog.create_table("db.t", {"id": "INT"}, options=options)
    table.write(pa.table({"id": pa.array([1, 2, 3], pa.int32())}))
    table.delete("id = 1")
    table.write(pa.table({"id": pa.array([4], pa.int32())}))
    return table


def _expire(table: Table) -> None:
    for number in (1, 2):
        (Path(table.path) / f"snapshot/snapshot-{number}").unlink()


LOST = {
    "data file": "bucket-0/data-*",
    "deletion vectors": "index/index-*",
    "index manifest": "manifest/index-manifest-*",
}


@pytest.mark.parametrize("pattern", LOST.values(), ids=LOST)
def test_a_file_that_is_gone_with_its_snapshot_has_expired(table: Table, pattern: str) -> None:
    scan = table.scan(snapshot=2)
    if pattern != LOST["index manifest"]:
        scan.plan()
    _expire(table)
    _delete(table, pattern)

    with pytest.raises(SnapshotExpiredError, match="snapshot 2"):
        scan.to_arrow()


@pytest.mark.parametrize(
    "keep",
    [
        lambda table: table.tags.create("kept", snapshot=2),
        lambda table: table.branches.create("kept", snapshot=2),
    ],
    ids=["tag", "branch"],
)
def test_a_file_that_a_tag_or_branch_needs_is_damage(
    table: Table, keep: Callable[[Table], None]
) -> None:
    keep(table)
    scan = table.scan(snapshot=2)
    scan.plan()
    _expire(table)
    _delete(table, LOST["data file"])

    with pytest.raises(CorruptDataError, match="the data file is missing"):
        scan.to_arrow()


def test_a_file_of_a_snapshot_that_is_there_is_damage(table: Table) -> None:
    _delete(table, LOST["index manifest"])

    with pytest.raises(CorruptMetadataError, match="is missing"):
        pl.connect(Path(table.path).parents[1]).table("db.t").scan().to_arrow()


def _delete(table: Table, pattern: str) -> None:
    found = list(Path(table.path).glob(pattern))
    assert found
    for path in found:
        path.unlink()
