"""Every kind of commit against every kind that lands first: ``tests/cases/conflict_table.txt``."""

from __future__ import annotations

import atexit
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from msgspec.structs import replace

import paimonlab as pl
from paimonlab.commit.publisher import TablePublisher
from paimonlab.errors import FilesConflictError
from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.metadata.layout import TableLayout
from paimonlab.scan.live_files import live_entries
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table

Row = tuple[str, int, str]
Rows = frozenset[Row]
START: Rows = frozenset({("a", 1, "x"), ("a", 2, "x"), ("a", 3, "y"), ("b", 4, "x")})
SHAPES: Mapping[str, tuple[list[str], dict[str, str]]] = {
    "append rows": ([], {"bucket-key": "k"}),
    "append vectors": ([], {"bucket-key": "k", "deletion-vectors.enabled": "true"}),
    "keyed": (["p", "k"], {}),
}


@dataclass(frozen=True)
class Operation:
    """What a commit does, and the rows that it makes of rows."""

    act: Callable[[Table, int], object]
    """Is given the table and a key of its own: 1 or 9 for ours, 2 or 8 for theirs."""
    model: Callable[[Rows, int], Rows]


def _arrow(rows: Rows) -> pa.Table:
    listed = sorted(rows)
    columns = ([row[i] for row in listed] for i in range(3))
    types = (pa.string(), pa.int32(), pa.string())
    arrays = [pa.array(column, type) for column, type in zip(columns, types, strict=True)]
    return pa.table(arrays, names=["p", "k", "v"])


def _rows(table: Table) -> Rows:
    found = table.scan(["p", "k", "v"]).to_arrow().to_pylist()
    rows = frozenset((row["p"], row["k"], row["v"]) for row in found)
    assert len(rows) == len(found), "a row is there twice"
    return rows


def _of(key: int, partition: str = "a") -> Rows:
    """Return a new row: of key 9 or 8."""
    return frozenset({(partition, 10 - key, "new")})


def _append(table: Table, key: int) -> None:
    table.write(_arrow(_of(key)))


def _append_elsewhere(table: Table, key: int) -> None:
    table.write(_arrow(_of(key, "b")))


def _compact(table: Table, key: int) -> None:
    """Rewrite partition a into one file, or move its files up where keys have an order."""
    snapshot = table.snapshot
    assert snapshot is not None
    live = table_to_entries(live_entries(snapshot, store_of(table).manifests))
    old = [one for one in live if b"a" in one.partition]
    before = tuple(one.file for one in old)
    indexes: list[IndexManifestEntry] = []
    if table.schema.primary_keys:
        after = tuple(msgspec.structs.replace(file, level=5) for file in before[:1])
        before = before[:1]
    else:
        writer = table.new_writer("compactor")
        writer.write(table.scan(where="p = 'a'").to_arrow())
        after = writer.prepare_commit()[0].new_files
        if snapshot.index_manifest is not None:
            indexes = store_of(table).manifests.read_index(snapshot.index_manifest)
    compaction = CommitMessage(
        partition=old[0].partition,
        bucket=0,
        total_buckets=1,
        compact_before=before,
        compact_after=after,
        deleted_indexes=tuple(indexes),
        checked_snapshot_id=snapshot.id,
    )
    table.commit([compaction])


def _overwrite(table: Table, key: int) -> None:
    table.overwrite(_arrow(_of(key)), partition={"p": "a"})


def _derive(table: Table, key: int) -> None:
    scan = table.scan(where="p = 'a'")
    assert scan.snapshot is not None
    kept = scan.to_arrow().filter(pa.compute.field("k") != 3)
    table.overwrite(kept, partition={"p": "a"}, read_snapshot=scan.snapshot.id)


def _delete(table: Table, key: int) -> None:
    table.delete(f"p = 'a' AND k IN ({key}, 8, 9)")


def _update(table: Table, key: int) -> None:
    table.update({"v": "'set'"}, where=f"p = 'a' AND k = {key}")


def _drop(table: Table, key: int) -> None:
    table.drop_partitions([{"p": "a"}])


def _truncate(table: Table, key: int) -> None:
    table.truncate()


def _analyze(table: Table, key: int) -> None:
    table.maintenance.analyze()


def _add_column(table: Table, key: int) -> None:
    _catalog(table).alter_table("db.t", pl.AddColumn("more", "INT"))


def _rescale(table: Table, key: int) -> None:
    altered = _catalog(table).alter_table("db.t", pl.SetOption("bucket", "2"))
    altered.overwrite(altered.scan().to_arrow(), dynamic=False)


def _catalog(table: Table) -> pl.Catalog:
    return pl.connect(Path(table.path).parents[1])


def _opened(table: Table) -> Table:
    found = _catalog(table).table("db.t")
    assert isinstance(found, Table)
    return found


def _set(rows: Rows, key: int) -> Rows:
    return frozenset(("a", k, "set") if (p, k) == ("a", key) else (p, k, v) for p, k, v in rows)


def _without_a(rows: Rows) -> Rows:
    return frozenset(row for row in rows if row[0] != "a")


OPERATIONS: Mapping[str, Operation] = {
    "append": Operation(_append, lambda rows, key: rows | _of(key)),
    "elsewhere": Operation(_append_elsewhere, lambda rows, key: rows | _of(key, "b")),
    "compact": Operation(_compact, lambda rows, _: rows),
    "overwrite": Operation(_overwrite, lambda rows, key: _without_a(rows) | _of(key)),
    "derived": Operation(_derive, lambda rows, _: frozenset(r for r in rows if r[1] != 3)),
    "delete": Operation(
        _delete,
        lambda rows, key: frozenset(r for r in rows if r[0] != "a" or r[1] not in (key, 8, 9)),
    ),
    "update": Operation(_update, _set),
    "drop": Operation(_drop, lambda rows, _: _without_a(rows)),
    "truncate": Operation(_truncate, lambda _rows, _: frozenset()),
    "analyze": Operation(_analyze, lambda rows, _: rows),
    "schema": Operation(_add_column, lambda rows, _: rows),
    "rescale": Operation(_rescale, lambda rows, _: rows),
}


@dataclass
class Late:
    """Lets another commit land when the first one is about to be published."""

    publisher: TablePublisher
    theirs: Callable[[], None]
    is_over: bool = False

    def publish(self, snapshot: Snapshot) -> bool:
        if not self.is_over:
            self.is_over = True
            self.theirs()
        return self.publisher.publish(snapshot)

    def on_branch(self, layout: TableLayout) -> TablePublisher:
        return self.publisher.on_branch(layout)


def _cells() -> Iterator[tuple[str, str, str, str]]:
    text = (Path(__file__).parents[2] / "cases" / "conflict_table.txt").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    columns, shape = lines[0].split(), ""
    for line in lines[1:]:
        if line in SHAPES:
            shape = line
            continue
        *name, rest = line.strip().split("  ", 1)
        yield from (
            (shape, name[0], landed, expected)
            for landed, expected in zip(columns, rest.split(), strict=True)
        )


CELLS = list(_cells())


@cache
def _made(shape: str) -> Path:
    """Make a warehouse with the table that all cells of a shape begin with."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    keys, options = SHAPES[shape]
    catalog = pl.connect(folder)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        {"p": "STRING", "k": "INT", "v": "STRING"},
        primary_keys=keys,
        partition_keys=["p"],
        options={"bucket": "1", **options},
    )
    for rows in (START - {("a", 3, "y")}, {("a", 3, "y")}):
        table.write(_arrow(frozenset(rows)))
    return folder


def _new_table(folder: Path, shape: str) -> Table:
    shutil.copytree(_made(shape), folder, dirs_exist_ok=True)
    table = pl.connect(folder).table("db.t")
    assert isinstance(table, Table)
    return table


@pytest.mark.parametrize(("shape", "ours", "landed", "expected"), CELLS)
def test_cell(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    shape: str,
    ours: str,
    landed: str,
    expected: str,
) -> None:
    table = _new_table(tmp_path, shape)
    name, _, isolation = ours.partition(" ")
    mine, theirs = OPERATIONS[name], OPERATIONS[landed]
    if isolation:
        option = pl.SetOption("write.isolation", "serializable")
        table = _catalog(table).alter_table("db.t", option)

    def land() -> None:
        theirs.act(_opened(table), 2)

    publisher = Late(store_of(table).publisher, land)
    racing = Table(
        table.identifier,
        definition_of(table),
        replace(store_of(table), publisher=publisher),
    )

    with caplog.at_level(logging.INFO):
        try:
            mine.act(racing, 1)
        except FilesConflictError:
            found = "fail"
        else:
            found = "again" if "runs again" in caplog.text else "ok"

    assert publisher.is_over
    rows = _rows(_opened(table))
    after = theirs.model(START, 2)
    if found == "fail":
        assert rows == after
    else:
        assert rows in (mine.model(after, 1), theirs.model(mine.model(START, 1), 2))
        if found == "again" or isolation:
            assert rows == mine.model(after, 1)
    assert found == expected
    assert table.fsck().is_clean


def test_there_is_a_cell_for_everything_that_may_meet() -> None:
    assert len(CELLS) == len({cell[:3] for cell in CELLS}) == 210


def test_what_was_read_with_another_schema_does_not_replace_rows(tmp_path: Path) -> None:
    table = _new_table(tmp_path, "append rows")
    scan = table.scan()
    assert scan.snapshot is not None
    rows = scan.to_arrow()
    altered = _catalog(table).alter_table("db.t", pl.AddColumn("more", "INT"))
    snapshot = altered.update({"more": "k"})
    assert snapshot is not None

    with pytest.raises(FilesConflictError, match="schema was changed to 1"):
        table.overwrite(rows, dynamic=False, read_snapshot=snapshot.id)

    assert altered.scan().to_arrow()["more"].null_count == 0


def test_what_was_read_before_expired_snapshots_does_not_replace_rows(tmp_path: Path) -> None:
    table = _new_table(tmp_path, "append rows")
    for key in (9, 8):
        _append(table, key)
    Path(table.path, "snapshot/snapshot-1").unlink()
    Path(table.path, "snapshot/snapshot-2").unlink()

    with pytest.raises(FilesConflictError, match="made of snapshot 1; what came then has expired"):
        table.overwrite(_arrow(START), dynamic=False, read_snapshot=1)


def test_partitions_that_came_while_some_were_dropped_matter_if_serializable(
    tmp_path: Path,
) -> None:
    table = _new_table(tmp_path, "append rows")
    option = pl.SetOption("write.isolation", "serializable")
    table = _catalog(table).alter_table("db.t", option)
    publisher = Late(store_of(table).publisher, lambda: _append_elsewhere(table, 2))
    racing = Table(
        table.identifier,
        definition_of(table),
        replace(store_of(table), publisher=publisher),
    )

    with pytest.raises(FilesConflictError, match="serializable"):
        racing.delete("p >= 'a'")

    assert racing.delete("p >= 'a'") is not None
    assert not _rows(table)
