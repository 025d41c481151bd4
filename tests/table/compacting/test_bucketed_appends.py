"""Who appends to buckets compacts them, as Java's writers do."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import FilesConflictError, PostCommitError
from paimonlab.read.splits import read_split
from paimonlab.spec.manifests.data_file import FileSource
from paimonlab.table.compacting import after_write
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.read import read_plan
from paimonlab.table.table import Table

VECTORS = {"deletion-vectors.enabled": "true"}


@pytest.fixture
def catalog(tmp_path: Path) -> Any:
    opened = pl.connect(str(tmp_path))
    opened.create_database("db")
    return opened


def make(
    catalog: Any, options: Mapping[str, str] | None = None, partition: tuple[str, ...] = ()
) -> Table:
    table: Table = catalog.create_table(
        "db.t",
        {"p": "STRING", "k": "INT", "n": "BIGINT"},
        partition_keys=partition,
        options={"bucket": "1", "bucket-key": "k", **(options or {})},
    )
    return table


def rows(*numbers: int, p: str = "x") -> pa.Table:
    keys = pa.array([number % 3 for number in numbers], pa.int32())
    return pa.table({"p": [p] * len(numbers), "k": keys, "n": pa.array(numbers, pa.int64())})


def kinds_of(table: Table) -> list[str]:
    return [snapshot.commit_kind.value for snapshot in table.snapshots.list()]


def files_of(table: Table) -> int:
    return table.scan().plan().files.num_rows


def in_order(table: Table) -> list[dict[str, Any]]:
    """Return the rows of buckets in the order of their files: that of reads means nothing."""
    files = []
    for split in table.scan().plan().splits:
        vectors = split.deletion_files or (None,) * len(split.files)
        for file, vector in zip(split.files, vectors, strict=True):
            one = msgspec.structs.replace(
                split, files=(file,), deletion_files=(vector,) if vector else ()
            )
            files.append((split.partition, split.bucket, file.min_sequence_number, one))
    definition, store = definition_of(table), store_of(table)
    names = definition.schema.field_names
    plan = read_plan(definition, store, definition.schema, names, None, snapshot=table.snapshot)
    ordered = [one for *_, one in sorted(files, key=lambda file: file[:3])]
    found = [list(read_split(one, plan, store.file_io)) for one in ordered]
    return [row for batches in found for batch in batches for row in batch.to_pylist()]


def read(table: Table) -> list[int]:
    return [row["n"] for row in in_order(table)]


def test_the_fifth_file_brings_compaction(catalog: Any) -> None:
    table = make(catalog)

    counts, last = [], None
    for number in range(10):
        last = table.write(rows(number))
        counts.append(files_of(table))

    assert counts == [1, 2, 3, 4, 1, 2, 3, 4, 1, 2]
    assert kinds_of(table) == [*["APPEND"] * 5, "COMPACT", *["APPEND"] * 4, "COMPACT", "APPEND"]
    assert last == table.snapshot
    assert read(table) == [*range(10)]
    written, compacted = table.snapshots.get(5), table.snapshots.get(6)
    assert (written.commit_user, written.commit_identifier) == (
        compacted.commit_user,
        compacted.commit_identifier,
    )
    sources = table.scan().plan().files["file_source"].to_pylist()
    assert sources == [int(FileSource.COMPACT), int(FileSource.APPEND)]
    assert table.fsck(deep=True).is_clean


@pytest.mark.parametrize("options", [{"write-only": "true"}, {"compaction.min.file-num": "20"}])
def test_files_pile_up_where_options_say_so(catalog: Any, options: dict[str, str]) -> None:
    table = make(catalog, options)

    for number in range(9):
        table.write(rows(number))

    assert set(kinds_of(table)) == {"APPEND"}


def test_a_commit_makes_one_file_of_one_window_at_most(catalog: Any) -> None:
    table = make(catalog, {"write-only": "true"})
    for number in range(12):
        table.write(rows(number))
    catalog.alter_table("db.t", pl.RemoveOption("write-only"))
    table = catalog.table("db.t")

    table.write(rows(12))

    assert files_of(table) == 9
    assert read(table) == [*range(13)]


def test_a_writer_with_a_user_compacts_in_its_name(catalog: Any) -> None:
    table = make(catalog)
    writer = table.new_writer(user="job")
    rounds = []
    for number in range(1, 8):
        writer.write(rows(number))
        rounds.append(writer.prepare_commit(number))
        table.commit(rounds[-1], identifier=number, user="job")

    assert kinds_of(table) == [*["APPEND"] * 5, "COMPACT", *["APPEND"] * 2]
    assert table.snapshots.get(6).commit_user == "job"
    assert table.snapshots.get(6).commit_identifier == 5
    count = len(table.snapshots.list())
    table.commit(rounds[4], identifier=5, user="job")
    table.commit(rounds[6], identifier=7, user="job")
    assert len(table.snapshots.list()) == count
    assert read(table) == [*range(1, 8)]


def test_an_overwrite_starts_anew(catalog: Any) -> None:
    table = make(catalog)
    for number in range(4):
        table.write(rows(number))

    table.overwrite(rows(9))

    assert kinds_of(table) == [*["APPEND"] * 4, "OVERWRITE"]
    assert read(table) == [9]


def test_columns_that_are_newer_than_the_table_are_kept(catalog: Any) -> None:
    old = make(catalog)
    catalog.alter_table("db.t", pl.AddColumn("m", "INT"))
    new = catalog.table("db.t")
    for number in range(4):
        m = pa.array([number], pa.int32())
        new.write(rows(number).append_column("m", m))

    old.write(rows(4))

    assert files_of(new) == 1
    assert [row["m"] for row in in_order(new)] == [0, 1, 2, 3, None]


def test_a_lost_race_leaves_it_to_the_next(
    catalog: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    table = make(catalog)

    def lose(*_: Any) -> None:
        raise FilesConflictError("db.t", 5, (), "others were faster")

    for number in range(4):
        table.write(rows(number))
    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(after_write, "compact_appends", lose)
        table.write(rows(4))
    assert "left to be compacted later" in caplog.text
    assert kinds_of(table) == ["APPEND"] * 5

    table.write(rows(5))

    assert kinds_of(table)[-1] == "COMPACT"
    assert files_of(table) == 2
    assert read(table) == [*range(6)]


def test_a_failed_compaction_says_that_the_rows_are_there(catalog: Any) -> None:
    table = make(catalog)
    for number in range(4):
        table.write(rows(number))
    data = min(Path(table.path).glob("bucket-0/*"))
    kept = data.read_bytes()
    data.unlink()

    with pytest.raises(PostCommitError, match="snapshot 5 is committed"):
        table.write(rows(4))

    data.write_bytes(kept)
    assert read(table) == [*range(5)]


@pytest.mark.parametrize("partition", [(), ("p",)], ids=str)
@pytest.mark.parametrize("vectors", [{}, VECTORS], ids=str)
def test_rows_are_those_of_a_model(
    catalog: Any,
    rng: np.random.Generator,
    partition: tuple[str, ...],
    vectors: dict[str, str],
) -> None:
    size = {"target-file-size": "3 kb", "compaction.min.file-num": "3"}
    table = make(catalog, {"bucket": "2", **size, **vectors}, partition)
    model: list[tuple[str, int, int]] = []
    tables = [table, catalog.table("db.t")]
    for number in range(30):
        at = tables[int(rng.integers(2))]
        step = int(rng.integers(10))
        p = "xy"[int(rng.integers(2))]
        if step == 0:
            at.delete(f"k = {number % 3}")
            model = [row for row in model if row[1] != number % 3]
        elif step == 1:
            at.compact(full=bool(rng.integers(2)))
        elif step == 2:
            at.overwrite(rows(number, p=p), partition={"p": p} if partition else {})
            model = [row for row in model if partition and row[0] != p]
            model.append((p, number % 3, number))
        else:
            new = [100 * number + one for one in range(int(rng.integers(1, 6)))]
            at.write(rows(*new, p=p))
            model += [(p, one % 3, one) for one in new]
        found = [(row["p"], row["k"], row["n"]) for row in in_order(table)]
        assert Counter(found) == Counter(model)
        if step == 0:  # files that are rewritten for a delete come last
            model = found
        for place in {(row[0] if partition else "", row[1]) for row in model}:
            ours, wanted = (
                [row for row in side if (row[0] if partition else "", row[1]) == place]
                for side in (found, model)
            )
            assert ours == wanted
    assert "COMPACT" in kinds_of(table)
    assert table.fsck(deep=True).is_clean
