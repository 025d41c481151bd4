"""Whatever call a rollback, a fast-forward or the like is interrupted at: the table is readable.

It is as it was before, or at one of the states on the way; doing it again completes it. After a
call that leaves the same files as the one before, that is known already. Of the others every sixth
one is looked at; ``PAIMONLAB_HISTORY_EVERY=1`` looks at all.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from msgspec.structs import replace

import paimonlab as pl
from paimonlab.commit.publisher import RenamelessPublisher
from paimonlab.errors import AlreadyExistsError, TagNotFoundError
from paimonlab.storage import LocalFileIO
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table
from tests.fault_io import Fault, FaultFileIO

Rows = dict[int, str]
EVERY = int(os.environ.get("PAIMONLAB_HISTORY_EVERY", "6"))


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Make a table: snapshots 1 to 5, tags of 1 (expired), 3 and 5, a branch from 3."""
    catalog = pl.connect(tmp_path / "made")
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t", {"id": "INT", "v": "STRING"}, primary_keys=["id"], options={"bucket": "1"}
    )
    for number in range(1, 6):
        write(table, {number: "v"})
    for number in (1, 3, 5):
        table.tags.create(f"t{number}", snapshot=number)
    table.branches.create("dev", tag="t3")
    write(table.on_branch("dev"), {9: "dev"})
    folder = Path(table.path) / "snapshot"
    (folder / "snapshot-1").unlink()
    (folder / "EARLIEST").write_text("2")
    return tmp_path / "made"


def write(table: Table, rows: Mapping[int, str]) -> None:
    table.write(pa.table({"id": pa.array(rows, pa.int32()), "v": [*rows.values()]}))


def rows(scan: pl.Scan) -> Rows:
    found = scan.to_arrow()
    return dict(zip(found["id"].to_pylist(), found["v"].to_pylist(), strict=True))


def opened(warehouse: Path, store: FaultFileIO | None = None) -> Table:
    table = pl.connect(warehouse).table("db.t")
    assert isinstance(table, Table)
    if store is None:
        return table
    ours = store_of(table)
    publisher = RenamelessPublisher(store, ours.layout)
    ours = replace(ours, file_io=store, publisher=publisher)
    return Table(table.identifier, definition_of(table), ours)


def upto(number: int) -> Rows:
    return dict.fromkeys(range(1, number + 1), "v")


def roll_back(table: Table) -> None:
    table.maintenance.rollback_to(snapshot=2)


def roll_back_to_tag(table: Table) -> None:
    table.maintenance.rollback_to(tag="t1")


def fast_forward(table: Table) -> None:
    table.branches.fast_forward("dev")


def delete_tag(table: Table) -> None:
    try:
        table.tags.delete("t1")
    except TagNotFoundError:
        assert "t1" not in table.tags.list()


def expire(table: Table) -> None:
    table.maintenance.expire_snapshots(1)


def create_branch(table: Table) -> None:
    try:
        table.branches.create("new", tag="t3")
    except AlreadyExistsError:
        assert "new" in table.branches.list()


@pytest.mark.parametrize(
    ("verb", "last"),
    [
        (roll_back, upto(2)),
        (roll_back_to_tag, upto(1)),
        (fast_forward, upto(3) | {9: "dev"}),
        (delete_tag, upto(5)),
        (expire, upto(5)),
        (create_branch, upto(5)),
    ],
)
def test_an_interruption_at_any_call(
    made: Path,
    tmp_path: Path,
    verb: Callable[[Table], None],
    last: Rows,
    seed: int,
) -> None:
    states = [*(upto(number) for number in range(1, 6)), last]
    at, is_done, changes = 0, False, seed
    left: dict[Path, bytes] = {}
    while not is_done:
        at += 1
        warehouse = tmp_path / f"{at}"
        shutil.copytree(made, warehouse)
        store = FaultFileIO(LocalFileIO(durability="none"), Fault("interrupt", at))
        table = opened(warehouse, store)
        try:
            verb(table)
            is_done = True
        except KeyboardInterrupt:
            pass
        before, left = left, files_of(warehouse)
        changes += left != before
        if not is_done and (left == before or changes % EVERY):
            shutil.rmtree(warehouse)
            continue
        check(opened(warehouse), states, f"call {at}: {store.calls[-1]}")
        again = opened(warehouse)
        verb(again)
        check(again, [last], f"again after call {at}: {store.calls[-1]}")
        write(again, {50: "on"})
        assert rows(opened(warehouse).scan()) == last | {50: "on"}
        shutil.rmtree(warehouse)
    assert at > 5


def files_of(warehouse: Path) -> dict[Path, bytes]:
    """Return all files and folders by their places, with the bytes of files."""
    found = {path.relative_to(warehouse): path for path in warehouse.rglob("*")}
    return {place: path.read_bytes() if path.is_file() else b"" for place, path in found.items()}


def check(table: Table, states: list[Rows], where: str) -> None:
    assert rows(table.scan()) in states, where
    for snapshot_id in table.snapshots.ids():
        assert rows(table.scan(snapshot=snapshot_id)) in [upto(snapshot_id), *states], where
    for name in table.tags.list():
        assert rows(table.scan(tag=name)) == upto(int(name[1:])), f"{where}, tag {name}"
    for name in table.branches.list():
        expected = upto(3) | ({9: "dev"} if name == "dev" else {})
        assert rows(table.on_branch(name).scan()) == expected, f"{where}, branch {name}"
