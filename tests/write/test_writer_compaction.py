"""Writers compact the buckets they write to, before they commit."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.snapshot import CommitKind
from paimonlab.table.inside import definition_of, store_of, with_definition
from paimonlab.table.table import Table
from paimonlab.table.writing import writers
from tests.maintenance.expiring_tables import unaccounted
from tests.table.compacting.test_compacting import (
    COLUMNS,
    ENGINES,
    KINDS,
    ONLY_IN_FULL,
    content,
    put,
    random_rows,
)

Create = Callable[..., Table]
SMALL = {"num-sorted-run.compaction-trigger": "2"}


@pytest.fixture
def catalog(tmp_path: Path) -> Any:
    opened = pl.connect(str(tmp_path))
    opened.create_database("db")
    return opened


@pytest.fixture
def create(catalog: Any) -> Create:
    def made(name: str = "t", **options: str) -> Table:
        table: Table = catalog.create_table(
            f"db.{name}",
            COLUMNS,
            primary_keys=["k", "p"],
            partition_keys=["p"],
            options={"bucket": "1", **options},
        )
        return table

    return made


def kinds_of(table: Table) -> list[str]:
    return [snapshot.commit_kind.value for snapshot in table.snapshots.list()]


def levels_of(table: Table) -> Counter[int]:
    files = pa.table(table.scan().plan().files)
    return Counter(files["level"].to_pylist())


def runs_of(table: Table, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        put(table, {"k": [1, number], "p": ["x", "x"], "v": [number] * 2})


def test_the_fifth_run_brings_compaction(create: Create) -> None:
    table = create()

    runs_of(table, 5)

    assert kinds_of(table) == ["APPEND"] * 5 + ["COMPACT"]
    assert levels_of(table) == {5: 1}
    last, before = table.snapshots.list()[-1], table.snapshots.list()[-2]
    assert (last.commit_user, last.commit_identifier) == (
        before.commit_user,
        before.commit_identifier,
    )
    assert [row["v"] for row in content(table).to_pylist()] == [0, 4, 2, 3, 4]


def test_the_run_that_was_just_written_is_in_both_snapshots(create: Create) -> None:
    table = create()
    runs_of(table, 4)
    writer = table.new_writer()
    rows = pa.table({"k": pa.array([9], pa.int32()), "p": ["x"]})
    writer.write(rows)

    written, compacted = writer.prepare_commit(1)

    (new,) = written.new_files
    assert new in compacted.compact_before
    assert len(compacted.compact_before) == 5
    assert not compacted.new_files
    table.commit([written, compacted], identifier=1, user=writer.user)
    assert levels_of(table) == {5: 1}
    assert table.fsck(deep=True).is_clean


def test_write_only_leaves_it_to_others(create: Create) -> None:
    table = create(**{"write-only": "true"})

    runs_of(table, 9)

    assert set(kinds_of(table)) == {"APPEND"}


def test_a_writer_goes_on_from_what_it_compacted(create: Create) -> None:
    table = create(**SMALL)
    writer = table.new_writer()
    expected: dict[int, int] = {}

    for number in range(8):
        keys = [number, number % 3]
        rows = {"k": pa.array(keys, pa.int32()), "p": ["x", "x"], "v": pa.array([number] * 2)}
        writer.write(pa.table(rows).cast(pa.schema([*_fields(table, rows)])))
        expected |= dict.fromkeys(keys, number)
        table.commit(writer.prepare_commit(number), identifier=number, user=writer.user)

    assert {row["k"]: row["v"] for row in content(table).to_pylist()} == expected
    assert "COMPACT" in kinds_of(table)
    assert table.fsck(deep=True).is_clean


def _fields(table: Table, names: Any) -> list[pa.Field]:
    return [table.arrow_schema.field(name) for name in names]


def test_too_many_runs_are_not_waited_for_until_the_commit(create: Create, tmp_path: Path) -> None:
    table = create(**SMALL, **{"num-sorted-run.stop-trigger": "3", "write-buffer-size": "1 kb"})
    writer = table.new_writer()
    for number in range(40):
        keys = pa.array(np.arange(number, number + 60), pa.int32())
        values = pa.array([number] * 60, pa.int32())
        writer.write(pa.table({"k": keys, "p": ["x"] * 60, "v": values}))

    messages = writer.prepare_commit(1)

    # What was compacted again before anybody saw it is gone already.
    named = {f.file_name for m in messages for f in (*m.new_files, *m.compact_after)}
    there = {path.name for path in tmp_path.rglob("data-*")}
    assert there == named
    assert sum(len(message.new_files) for message in messages) == 40
    table.commit(messages, identifier=1, user=writer.user)
    assert content(table)["v"].to_pylist()[:3] == [0, 1, 2]
    assert table.scan().count() == 99
    assert table.fsck(deep=True).is_clean


def test_nothing_is_left_of_a_write_that_is_given_up(create: Create, tmp_path: Path) -> None:
    table = create(**SMALL, **{"num-sorted-run.stop-trigger": "3", "write-buffer-size": "1 kb"})
    runs_of(table, 2)
    before = sorted(tmp_path.rglob("data-*"))
    writer = table.new_writer()
    for number in range(20):
        keys = pa.array(np.arange(number, number + 60), pa.int32())
        writer.write(pa.table({"k": keys, "p": ["x"] * 60}))
    assert sorted(tmp_path.rglob("data-*")) != before

    writer.abort()

    assert sorted(tmp_path.rglob("data-*")) == before


def test_everything_is_compacted_after_so_many_commits(create: Create) -> None:
    table = create(**{"full-compaction.delta-commits": "3"})
    writer = table.new_writer()

    for number in range(4):
        place = "xy"[number % 2]
        writer.write(pa.table({"k": pa.array([number], pa.int32()), "p": [place]}))
        table.commit(writer.prepare_commit(number), identifier=number, user=writer.user)

    assert kinds_of(table) == ["APPEND", "APPEND", "APPEND", "COMPACT", "APPEND"]
    assert levels_of(table) == {5: 2, 0: 1}


def test_an_overwrite_compacts_only_what_is_new(create: Create) -> None:
    table = create(**SMALL)
    runs_of(table, 3)

    table.overwrite(pa.table({"k": pa.array([7], pa.int32()), "p": ["x"]}))

    assert content(table)["k"].to_pylist() == [7]
    assert table.fsck(deep=True).is_clean


def test_deletes_and_updates_compact_too(create: Create) -> None:
    table = create(**SMALL)
    runs_of(table, 6)

    table.delete("k = 1")
    table.update({"v": "v + 100"}, where="k > 3")

    assert content(table)["v"].to_pylist() == [0, 2, 3, 104, 105]
    assert len(levels_of(table)) < 4


@pytest.mark.parametrize("bucket", ["-1", "2"])
def test_dynamic_and_fixed_buckets_hold_what_a_dict_does(
    catalog: Any, bucket: str, rng: np.random.Generator
) -> None:
    options = {"bucket": bucket, "dynamic-bucket.target-row-num": "12", **SMALL}
    table = catalog.create_table(
        "db.t",
        {"k": "INT NOT NULL", "v": "INT"},
        primary_keys=["k"],
        options={
            key: value for key, value in options.items() if bucket == "-1" or "dyn" not in key
        },
    )
    expected: dict[int, int] = {}
    for number in range(10):
        keys = rng.choice(60, 15, replace=False)
        kinds = rng.choice(["+I", "-D"], 15, p=[0.8, 0.2])
        put(table, {"k": keys, "v": [number] * 15, "o": kinds})
        for key, kind in zip(keys.tolist(), kinds, strict=True):
            expected.pop(key, None)
            expected |= {key: number} if kind == "+I" else {}

    found = {row["k"]: row["v"] for row in table.scan().to_arrow().to_pylist()}
    assert found == expected
    assert CommitKind.COMPACT in {one.commit_kind for one in table.snapshots.list()}
    assert table.fsck(deep=True).is_clean


@pytest.mark.parametrize("engine", sorted(set(ENGINES) - ONLY_IN_FULL))
def test_no_reader_can_tell_a_table_that_its_writers_compact(
    catalog: Any, engine: str, rng: np.random.Generator
) -> None:
    pair = [
        catalog.create_table(
            f"db.{name}",
            COLUMNS,
            primary_keys=["k", "p"],
            partition_keys=["p"],
            options={"bucket": "1", **SMALL, "write-only": write_only, **ENGINES[engine]},
        )
        for name, write_only in (("compacted", "false"), ("plain", "true"))
    ]
    for _ in range(8):
        rows = random_rows(rng, int(rng.choice([1, 30])), KINDS.get(engine, [0, 1, 2, 3]))
        for table in pair:
            table.write(rows, row_kinds="kind")
    compacted, plain = pair

    assert content(compacted).equals(content(plain))
    assert "COMPACT" in kinds_of(compacted)


def test_writers_side_by_side_do_not_fail_each_other(create: Create, catalog: Any) -> None:
    create(**SMALL)
    errors: list[BaseException] = []

    def write(number: int) -> None:
        table = catalog.table("db.t")
        try:
            for turn in range(5):
                put(table, {"k": [100 * number + turn], "p": ["x"], "v": [turn]})
        except BaseException as error:  # noqa: BLE001 - told below
            errors.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    table = catalog.table("db.t")
    assert not errors
    assert table.scan().count() == 15
    assert table.fsck(deep=True).is_clean


def test_a_table_with_newer_columns_is_left_to_newer_writers(create: Create, catalog: Any) -> None:
    old = create(**SMALL)
    catalog.alter_table("db.t", pl.AddColumn("n", "INT"))
    put(catalog.table("db.t"), {"k": [1], "p": ["x"], "n": [5]})

    runs_of(old, 4, first=10)

    assert set(kinds_of(old)) == {"APPEND"}
    assert catalog.table("db.t").scan(["n"], "k = 1").to_arrow()["n"].to_pylist() == [None]


def test_messages_survive_the_way_to_another_process(create: Create) -> None:
    table = create()
    runs_of(table, 4)
    writer = table.new_writer()
    writer.write(pa.table({"k": pa.array([9], pa.int32()), "p": ["x"]}))

    sent = [message.to_bytes() for message in writer.prepare_commit(1)]
    table.commit([CommitMessage.from_bytes(one) for one in sent], identifier=1, user=writer.user)

    assert levels_of(table) == {5: 1}


def test_rows_of_first_row_are_seen_at_once(create: Create) -> None:
    table = create(**{"merge-engine": "first-row"})

    for value in range(4):
        put(table, {"k": [1, value + 10], "p": ["x", "x"], "v": [value] * 2})
        assert content(table)["v"].to_pylist() == [0, *range(value + 1)]

    assert table.fsck(deep=True).is_clean


def test_a_changelog_comes_with_the_commit(create: Create) -> None:
    table = create(**{"changelog-producer": "lookup"})
    put(table, {"k": [1, 2], "p": ["x", "x"], "v": [1, 1]})
    seen = table.snapshot
    assert seen is not None

    put(table, {"k": [1, 3], "p": ["x", "x"], "v": [2, 2]})

    assert table.snapshot is not None
    changes = table.changes(seen.id, table.snapshot.id, mode="changelog", columns=["k", "v"])
    assert sorted(tuple(row.values()) for row in changes.to_arrow().to_pylist()) == [
        ("+I", 3, 2),
        ("+U", 1, 2),
        ("-U", 1, 1),
    ]


def test_vectors_go_along_from_round_to_round(create: Create, rng: np.random.Generator) -> None:
    """Every reader, whether it merges or obeys vectors alone, sees what a dict says."""
    vectors = {"deletion-vectors.enabled": "true", "deletion-vectors.merge-on-read": "true"}
    table = create(**SMALL, **vectors, **{"write-buffer-size": "4 kb"})
    writer = table.new_writer()
    expected: dict[int, int] = {}
    had_vectors = False
    for number in range(8):
        for _ in range(int(rng.integers(1, 4))):
            keys = rng.choice(200, 60, replace=False)
            kinds = rng.choice(["+I", "-D"], 60, p=[0.9, 0.1])
            columns = {
                "k": pa.array(keys, pa.int32()),
                "p": ["x"] * 60,
                "v": pa.array([number] * 60, pa.int32()),
                "o": kinds.tolist(),
            }
            writer.write(pa.table(columns), row_kinds="o")
            for key, kind in zip(keys.tolist(), kinds, strict=True):
                expected.pop(key, None)
                expected |= {key: number} if kind == "+I" else {}
        table.commit(writer.prepare_commit(number), identifier=number, user=writer.user)

        for merges in ("true", "false"):
            scan = table.scan(["k", "v"], options={"deletion-vectors.merge-on-read": merges})
            found = {row["k"]: row["v"] for row in scan.to_arrow().to_pylist()}
            assert found == expected, (number, merges)
        had_vectors |= any(split.has_deletions for split in table.scan().plan().splits)

    assert had_vectors
    assert table.fsck(deep=True).is_clean
    written = {path.name for path in Path(table.path, "index").iterdir()}
    assert written == index_files_of(table)


def index_files_of(table: Table) -> set[str]:
    """Return the names of all index files that a snapshot names."""
    names: set[str] = set()
    for snapshot in table.snapshots.list():
        if snapshot.index_manifest is not None:
            found = store_of(table).manifests.read_index(snapshot.index_manifest, referrer="a test")
            names |= {index.file_name for index in found}
    return names


def _pairs(table: Table, values: Mapping[int, int]) -> pa.Table:
    rows = {"k": [*values], "p": ["x"] * len(values), "v": [*values.values()]}
    return pa.table(rows, schema=pa.schema([*_fields(table, rows)]))


def test_a_compaction_that_came_too_late_leaves_its_rows(create: Create, seed: int) -> None:
    """One writer goes on round by round while another one compacts; some are committed twice."""
    table = create(**SMALL, **{"snapshot.num-retained.max": "6", "snapshot.num-retained.min": "5"})
    writer = table.new_writer()
    chance = random.Random(seed)
    expected: dict[int, int] = {}
    for number in range(12):
        mine, theirs = {number % 5: number, 10 + number: number}, {100 + number % 3: number}
        writer.write(_pairs(table, mine))
        messages = writer.prepare_commit(number)
        if chance.random() < 0.5:
            table.write(_pairs(table, theirs))
            table.compact(full=True)
            expected |= theirs
        table.commit(messages, identifier=number, user=writer.user)
        expected |= mine
        if chance.random() < 0.5:
            table.commit(messages, identifier=number, user=writer.user)

        assert {row["k"]: row["v"] for row in content(table).to_pylist()} == expected

    assert table.fsck(deep=True).is_clean
    assert not unaccounted(table)


def test_a_file_that_comes_while_a_writer_begins_and_goes_before_it_commits(
    create: Create, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = create(**{"changelog-producer": "lookup"})
    write_only = definition_of(table).with_options({"write-only": "true"})
    others = with_definition(table, write_only)
    for key in (0, 1):
        put(table, {"k": [key], "p": ["x"], "v": [key]})
    make, write_files = writers.new_table_writer, writers.write_files

    def late(*arguments: Any, **named: Any) -> Any:
        monkeypatch.undo()
        put(others, {"k": [2], "p": ["x"], "v": [2]})
        return make(*arguments, **named)

    def early(*arguments: Any, **named: Any) -> Any:
        messages = write_files(*arguments, **named)
        table.compact()  # moves the file up and leaves older ones alone
        return messages

    monkeypatch.setattr(writers, "new_table_writer", late)
    monkeypatch.setattr(writers, "write_files", early)
    put(table, {"k": [3], "p": ["x"], "v": [3]})

    assert sorted(table.scan(["k"]).to_arrow()["k"].to_pylist()) == [0, 1, 2, 3]
    assert table.fsck(deep=True).findings == ()


def test_what_a_write_looked_at_first_expires_before_it_commits(
    create: Create, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = create()
    put(table, {"k": [0], "p": ["x"], "v": [0]})
    make, write_files = writers.new_table_writer, writers.write_files

    def late(*arguments: Any, **named: Any) -> Any:
        monkeypatch.undo()
        put(table, {"k": [1], "p": ["x"], "v": [1]})
        return make(*arguments, **named)

    def early(*arguments: Any, **named: Any) -> Any:
        messages = write_files(*arguments, **named)
        put(table, {"k": [2], "p": ["x"], "v": [2]})
        table.maintenance.expire_snapshots(retain_max=1, retain_min=1)
        return messages

    monkeypatch.setattr(writers, "new_table_writer", late)
    monkeypatch.setattr(writers, "write_files", early)
    put(table, {"k": [3], "p": ["x"], "v": [3]})

    assert sorted(table.scan(["k"]).to_arrow()["k"].to_pylist()) == [0, 1, 2, 3]
    assert table.fsck(deep=True).findings == ()


def test_the_latest_snapshot_expires_while_a_writer_begins(
    create: Create, catalog: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = create()
    put(table, {"k": [0], "p": ["x"], "v": [0]})
    numbers_of = writers.sequence_numbers

    def late(*arguments: Any) -> Any:
        monkeypatch.undo()
        put(table, {"k": [1], "p": ["x"], "v": [1]})
        table.maintenance.expire_snapshots(retain_max=1, retain_min=1)
        return numbers_of(*arguments)

    monkeypatch.setattr(writers, "sequence_numbers", late)
    put(catalog.table("db.t"), {"k": [2], "p": ["x"], "v": [2]})

    assert sorted(table.scan(["k"]).to_arrow()["k"].to_pylist()) == [0, 1, 2]


def test_a_writer_comes_to_a_bucket_after_its_snapshot_has_expired(create: Create) -> None:
    table = create(**SMALL)
    runs_of(table, 2)
    writer = table.new_writer()
    runs_of(table, 3, first=2)
    table.compact(full=True)
    table.maintenance.expire_snapshots(retain_max=1, retain_min=1)
    before = content(table)

    for number in range(3):
        writer.write(pa.table({"k": [7], "p": ["x"], "v": [number]}))
        messages = writer.prepare_commit(number)
        assert not any(message.compact_after for message in messages)
        table.commit(messages, identifier=number, user=writer.user)

    assert len(content(table)) == len(before) + 1
    assert table.fsck(deep=True).findings == ()
