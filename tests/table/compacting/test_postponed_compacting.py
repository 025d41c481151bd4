"""Rows that wait for a bucket get one: as if they had been written to it, in one commit."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimonlab as pl
from paimonlab.commit.committer import Committer
from paimonlab.errors import FilesConflictError, SchemaError, UnsupportedError
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.snapshot import CommitKind
from paimonlab.table.table import Table
from paimonlab.write.message_kinds import as_compactions
from tests.small_tables import data_file

COLUMNS = {"p": "STRING NOT NULL", "k": "INT NOT NULL", "v": "INT", "w": "INT"}
Row = dict[str, Any]
Model = dict[tuple[str, int], tuple[Any, Any]]


@pytest.fixture
def catalog(tmp_path: Path) -> pl.Catalog:
    opened = pl.connect(str(tmp_path))
    opened.create_database("db")
    return opened


@pytest.fixture
def create(catalog: pl.Catalog) -> Callable[..., Table]:
    def made(name: str = "t", **options: str) -> Table:
        given = {key.replace("_", "-"): value for key, value in options.items()}
        table: Table = catalog.create_table(
            f"db.{name}",
            COLUMNS,
            primary_keys=["p", "k"],
            partition_keys=["p"],
            options={"bucket": "-2", **given},
        )
        return table

    return made


def random_rows(rng: np.random.Generator, kinds: list[str], partitions: list[str]) -> pa.Table:
    count = int(rng.choice([1, 30, 200]))
    return pa.table(
        {
            "p": rng.choice(partitions, count).tolist(),
            "k": pa.array(rng.integers(0, 50, count), pa.int32()),
            "v": pa.array(
                rng.integers(0, 100, count).astype(np.int32), mask=rng.random(count) < 0.3
            ),
            "w": pa.array(
                rng.integers(0, 100, count).astype(np.int32), mask=rng.random(count) < 0.3
            ),
            "kind": rng.choice(kinds, count).tolist(),
        }
    )


def newest(model: Model, row: Row) -> None:
    key = (row["p"], row["k"])
    model.pop(key, None)
    if row["kind"] in ("+I", "+U"):
        model[key] = (row["v"], row["w"])


def first(model: Model, row: Row) -> None:
    model.setdefault((row["p"], row["k"]), (row["v"], row["w"]))


def partial(model: Model, row: Row) -> None:
    v, w = model.get((row["p"], row["k"]), (None, None))
    new = (v if row["v"] is None else row["v"], w if row["w"] is None else row["w"])
    model[row["p"], row["k"]] = new


def largest_w(model: Model, row: Row) -> None:
    key = (row["p"], row["k"])
    new, old = (-1 if w is None else w for w in (row["w"], model.get(key, (None, None))[1]))
    if key not in model or new >= old:
        model[key] = (row["v"], row["w"])


def added(model: Model, row: Row) -> None:
    v, w = model.get((row["p"], row["k"]), (None, None))
    total = row["v"] if v is None else v + (row["v"] or 0)
    model[row["p"], row["k"]] = (total, w if row["w"] is None else row["w"])


ENGINES: dict[str, tuple[dict[str, str], list[str], Callable[[Model, Row], None]]] = {
    "deduplicate": ({}, ["+I", "+U", "-U", "-D"], newest),
    "vectors": ({"deletion-vectors.enabled": "true"}, ["+I", "-D"], newest),
    "lookup": ({"changelog-producer": "lookup"}, ["+I", "-D"], newest),
    "full": ({"changelog-producer": "full-compaction"}, ["+I", "-D"], newest),
    "first-row": ({"merge-engine": "first-row"}, ["+I"], first),
    "partial-update": ({"merge-engine": "partial-update"}, ["+I", "+U"], partial),
    "sequence field": ({"sequence.field": "w"}, ["+I"], largest_w),
    "aggregation": (
        {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum"},
        ["+I", "+U"],
        added,
    ),
}


def content(table: Table) -> Model:
    rows = table.scan().to_arrow().to_pylist()
    found = {(row["p"], row["k"]): (row["v"], row["w"]) for row in rows}
    assert len(found) == len(rows)
    return found


def orphans(table: Table) -> list[str]:
    """Tell which files nothing names."""
    old = time.time() - 48 * 3600
    for path in Path(table.path).rglob("*"):
        os.utime(path, (old, old))
    return list(table.maintenance.remove_orphan_files().paths)


def waiting(table: Table) -> list[Path]:
    return sorted(Path(table.path).rglob("bucket-postpone/*"))


@pytest.mark.parametrize("name", ENGINES)
def test_rows_are_merged_in_the_order_in_which_they_came(
    create: Callable[..., Table], name: str, rng: np.random.Generator
) -> None:
    engine, kinds, merge = ENGINES[name]
    small = {"target-file-row-num": "40", "write-buffer-size": "4 kb"}
    table = create(
        **engine,
        **small,
        **{"write-only": str(rng.choice(["true", "false"])), "postpone.default-bucket-num": "3"},
    )
    model: Model = {}
    for turn in range(4):
        for _ in range(int(rng.integers(1, 4))):
            rows = random_rows(rng, kinds, ["x", "y"] if turn < 2 else ["x", "y", "z"])
            table.write(rows, row_kinds="kind")
            for row in rows.to_pylist():
                merge(model, row)

        result = table.compact(full=turn == 3)

        assert result.snapshot is not None
        assert result.snapshot.commit_kind is CommitKind.COMPACT
        assert result.snapshot == table.snapshot
        assert content(table) == model
        files = pa.table(table.scan().plan().files)
        assert files.num_rows == 0 or pc.min(files["bucket"]).as_py() >= 0
        assert {split.total_buckets for split in table.scan().plan().splits} <= {3}
    assert table.fsck(deep=True).findings == ()  # of all snapshots
    assert orphans(table) == []
    assert not table.compact().buckets


@pytest.mark.parametrize("producer", ["lookup", "full-compaction"])
def test_changes_are_reported(
    create: Callable[..., Table], producer: str, rng: np.random.Generator
) -> None:
    table = create(changelog_producer=producer)
    known: Model = {}
    for _ in range(4):
        for _ in range(2):
            table.write(random_rows(rng, ["+I", "-D"], ["x", "y"]), row_kinds="kind")
        table.compact()
        assert table.snapshot is not None
        changes = table.changes(table.snapshot.id - 1, table.snapshot.id, mode="changelog")
        for row in changes.to_arrow().to_pylist():
            key, values = (row["p"], row["k"]), (row["v"], row["w"])
            if row["rowkind"] in ("-U", "-D"):
                assert known.pop(key) == values
            else:
                assert key not in known
                known[key] = values
        assert known == content(table)


def test_what_came_with_kinds_is_kept_as_changelog(create: Callable[..., Table]) -> None:
    table = create(changelog_producer="input")
    rows = {"p": ["x", "x"], "k": pa.array([1, 1], pa.int32()), "kind": ["+I", "-D"]}
    table.write(pa.table(rows), row_kinds="kind")

    table.compact()

    found = table.changes(1, 2, mode="changelog").to_arrow().to_pylist()
    assert [row["rowkind"] for row in found] == ["+I", "-D"]


def test_a_partition_keeps_its_number_of_buckets(
    create: Callable[..., Table], catalog: pl.Catalog
) -> None:
    def put(table: Table, partition: str) -> None:
        keys = pa.array(range(40), pa.int32())
        table.write(pa.table({"p": [partition] * 40, "k": keys, "v": keys}))

    table = create()
    put(table, "x")
    table.compact()
    table = catalog.alter_table("db.t", pl.SetOption("postpone.default-bucket-num", "4"))
    put(table, "x")
    put(table, "y")
    table.compact()

    numbers = {
        row["partition"]: row["total_buckets"] for row in table.sequence_numbers().to_pylist()
    }
    assert sorted(numbers.values()) == [1, 4]
    assert table.scan().count() == 80


def test_the_result_says_what_was_done(create: Callable[..., Table]) -> None:
    table = create()
    for partition in ("x", "y"):
        keys = pa.array([1, 2], pa.int32())
        table.write(pa.table({"p": [partition] * 2, "k": keys}))
    files = waiting(table)
    seen: list[tuple[int, int, str]] = []

    asked = table.compact(dry_run=True)
    only = table.compact(
        partitions=[{"p": "x"}], progress=lambda *done: seen.append(done), full=True
    )

    assert [(one.partition, one.bucket) for one in asked.buckets] == [("p=x", -2), ("p=y", -2)]
    assert (asked.before.files, asked.before.rows, asked.after) == (2, 4, None)
    assert waiting(table) == files  # until the snapshots that have them expire
    assert [(one.partition, one.bucket) for one in only.buckets] == [("p=x", -2), ("p=x", 0)]
    assert only.after is not None
    assert (only.before.files, only.after.files, only.after.rows) == (1, 1, 2)
    assert only.buckets[1].output_level == 5
    assert seen == [(1, 1, "files")]
    assert [one.partition for one in table.compact(where="p <> 'x'").buckets] == ["p=y", "p=y"]
    assert str(table.compact()) == "db.t: nothing to compact"


def test_what_makes_no_sense_is_refused(create: Callable[..., Table]) -> None:
    table = create(**{"postpone.default-bucket-num": "0"})
    table.write(pa.table({"p": ["x"], "k": pa.array([1], pa.int32())}))

    with pytest.raises(UnsupportedError, match="have none yet"):
        table.compact(buckets=[0])
    with pytest.raises(SchemaError, match="has to be at least 1, is 0"):
        table.compact()


def test_others_may_be_faster(
    create: Callable[..., Table], catalog: pl.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = create()
    other = catalog.table("db.t")
    assert isinstance(other, Table)
    for key in (1, 2):
        table.write(pa.table({"p": ["x"], "k": pa.array([key], pa.int32())}))
    append, rivals = Committer.append, [other.compact]

    def raced(self: Committer, messages: Any, **how: Any) -> Any:
        if rivals:
            rivals.pop()()
            table.write(pa.table({"p": ["x"], "k": pa.array([3], pa.int32())}))
        return append(self, messages, **how)

    monkeypatch.setattr(Committer, "append", raced)
    result = table.compact()

    assert result.before.rows == 3  # the late row, and two in the bucket
    assert sorted(k for _, k in content(table)) == [1, 2, 3]
    assert table.fsck(deep=True).findings == ()
    assert orphans(table) == []


def test_rows_that_come_meanwhile_go_on_waiting(
    create: Callable[..., Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = create()
    table.write(pa.table({"p": ["x"], "k": pa.array([1], pa.int32())}))
    append = Committer.append

    def late(self: Committer, messages: Any, **how: Any) -> Any:
        monkeypatch.undo()
        table.write(pa.table({"p": ["x"], "k": pa.array([2], pa.int32())}))
        return append(self, messages, **how)

    monkeypatch.setattr(Committer, "append", late)
    table.compact()

    assert [k for _, k in content(table)] == [1]
    table.compact()
    assert sorted(k for _, k in content(table)) == [1, 2]


def test_nothing_stays_of_what_could_not_be_committed(
    create: Callable[..., Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = create()
    table.write(pa.table({"p": ["x"], "k": pa.array([1], pa.int32())}))

    def fail(*_: Any, **__: Any) -> None:
        raise FilesConflictError("db.t", 1, ())

    monkeypatch.setattr(Committer, "append", fail)
    with pytest.raises(FilesConflictError):
        table.compact()
    assert not list(Path(table.path).rglob("bucket-0/*"))


def test_new_files_that_were_compacted_away_are_named_by_nobody() -> None:
    def file(name: str, level: int = 0) -> DataFileMeta:
        return data_file(name, level=level)

    written = CommitMessage(
        partition=b"", bucket=0, total_buckets=1, new_files=tuple(map(file, "abc"))
    )
    compacted = CommitMessage(
        partition=b"",
        bucket=0,
        total_buckets=1,
        compact_before=(file("old", 5), file("a"), file("b")),
        compact_after=(file("b", 4), file("d", 5)),
    )

    (message,), (useless,) = as_compactions([written, compacted])

    assert [one.file_name for one in message.compact_before] == ["old"]
    assert [(one.file_name, one.level) for one in message.compact_after] == [
        ("c", 0),
        ("b", 4),
        ("d", 5),
    ]
    assert [one.file_name for one in useless.new_files] == ["a"]
