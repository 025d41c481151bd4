"""Compacting on demand: no reader can tell, now or later, and it is one commit."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.commit.options import CommitOptions
from paimonlab.errors import FilesConflictError, SchemaError
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.snapshot import CommitKind
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table
from paimonlab.table.upkeep.after_commit import committer_of
from tests.repetitions import times

COLUMNS = {
    "k": "INT NOT NULL",
    "p": "STRING NOT NULL",
    "v": "INT",
    "w": "STRING",
    "s": "INT",
}
PARTIAL = {"merge-engine": "partial-update"}
ENGINES: dict[str, dict[str, str]] = {
    "deduplicate": {},
    "deduplicate by sequence field": {"sequence.field": "s"},
    "deduplicate by falling sequence field": {
        "sequence.field": "s",
        "sequence.field.sort-order": "descending",
    },
    "deduplicate without deletes": {"ignore-delete": "true"},
    "partial-update": PARTIAL,
    "partial-update that removes": {**PARTIAL, "partial-update.remove-record-on-delete": "true"},
    "partial-update without deletes": {**PARTIAL, "ignore-delete": "true"},
    "partial-update in groups": {
        **PARTIAL,
        "fields.s.sequence-group": "v,w",
        "fields.v.aggregate-function": "max",
    },
    "aggregation": {
        "merge-engine": "aggregation",
        "fields.v.aggregate-function": "sum",
        "fields.w.aggregate-function": "last_value",
    },
    "aggregation that removes": {
        "merge-engine": "aggregation",
        "aggregation.remove-record-on-delete": "true",
        "fields.v.aggregate-function": "sum",
    },
}
KINDS = {
    # A delete that is gone no longer hides rows that come later with smaller sequences.
    "deduplicate by sequence field": [0, 2],
    "deduplicate by falling sequence field": [0, 2],
    "partial-update in groups": [0, 2],
    "deduplicate without deletes": [0, 1, 2, 3],
    "partial-update": [0, 2],
    "partial-update without deletes": [0, 1, 2, 3],
    "partial-update that removes": [0, 2, 3],
    "aggregation": [0, 2],
    "aggregation that removes": [0, 2, 3],
}
ONLY_IN_FULL = {"partial-update that removes", "aggregation that removes"}
"""Where a delete and what came after it, merged without the rows before, is no delete any more."""
LAYOUTS = [
    {"bucket": "1"},
    {"bucket": "2", "num-sorted-run.compaction-trigger": "2"},
    {"bucket": "-1", "num-sorted-run.compaction-trigger": "3", "num-levels": "3"},
    {"bucket": "1", "num-sorted-run.compaction-trigger": "3", "file.format": "avro"},
    {"bucket": "1", "file.format": "orc", "data-file.thin-mode": "true"},
]


@pytest.fixture
def catalog(tmp_path: Path) -> Any:
    opened = pl.connect(str(tmp_path))
    opened.create_database("db")
    return opened


@pytest.fixture
def create(catalog: Any) -> Callable[..., Table]:
    def made(name: str = "t", **options: str) -> Table:
        given = {key.replace("_", "-"): value for key, value in options.items()}
        table: Table = catalog.create_table(
            f"db.{name}",
            COLUMNS,
            primary_keys=["k", "p"],
            partition_keys=["p"],
            options={"bucket": "2", "write-only": "true", **given},
        )
        return table

    return made


def random_rows(rng: np.random.Generator, count: int, kinds: list[int]) -> pa.Table:
    def some(values: Any, share: float = 0.3) -> pa.Array:
        return pa.array(values, mask=rng.random(count) < share)

    return pa.table(
        {
            "k": pa.array(rng.integers(0, 40, count), pa.int32()),
            "p": rng.choice(["x", "y"], count).tolist(),
            "v": some(rng.integers(0, 100, count).astype(np.int32)),
            "w": some(rng.choice(list("abcdef"), count).astype(object)),
            "s": some(rng.integers(0, 30, count).astype(np.int32), 0.1),
            "kind": pa.array(rng.choice(kinds, count), pa.int8()),
        }
    )


def content(table: Table) -> pa.Table:
    return table.scan().to_arrow().sort_by([("k", "ascending"), ("p", "ascending")])


def put(table: Table, columns: dict[str, Any]) -> None:
    """Write rows; the column ``o`` has their kinds."""
    arrays = {
        name: pa.array(values, pa.string() if name == "o" else table.arrow_schema.field(name).type)
        for name, values in columns.items()
    }
    table.write(pa.table(arrays), row_kinds="o" if "o" in columns else None)


def write_runs(table: Table, runs: int, first: int = 0) -> None:
    for run in range(first, first + runs):
        put(table, {"k": [1, 2, run], "p": ["x", "y", "x"], "v": [run] * 3})


@pytest.mark.parametrize("engine", ENGINES)
def test_a_compacted_table_stays_the_same_as_one_that_never_is(
    catalog: Any, engine: str, rng: np.random.Generator
) -> None:
    layout = LAYOUTS[int(rng.integers(len(LAYOUTS)))]
    options = {"write-only": "true", **layout, **ENGINES[engine]}
    pair = [
        catalog.create_table(
            f"db.{name}",
            COLUMNS,
            primary_keys=["k", "p"],
            partition_keys=["p"],
            options=options,
        )
        for name in ("compacted", "plain")
    ]
    compacted, plain = pair
    picked = 0

    for _ in range(times(7)):
        rows = random_rows(rng, int(rng.choice([1, 12, 60])), KINDS.get(engine, [0, 1, 2, 3]))
        for table in pair:
            table.write(rows, row_kinds="kind")
        if rng.random() < 0.6:
            is_full = engine in ONLY_IN_FULL or bool(rng.random() < 0.2)
            picked += len(compacted.compact(full=is_full).buckets)
        assert content(compacted).equals(content(plain)), options

    picked += len(compacted.compact(full=True).buckets)
    assert picked
    assert content(compacted).equals(content(plain)), options
    assert compacted.fsck(deep=True).is_clean
    assert all(split.raw_convertible for split in compacted.scan().plan().splits)


def test_it_is_one_commit_of_kind_compact(create: Callable[..., Table]) -> None:
    table = create(bucket="1")
    write_runs(table, 3)

    result = table.compact(full=True)

    assert table.snapshot is not None
    assert result.snapshot == table.snapshot
    assert table.snapshot.commit_kind is CommitKind.COMPACT
    files = pa.table(table.scan().plan().files)
    assert set(files["level"].to_pylist()) == {5}
    assert set(files["file_source"].to_pylist()) == {1}
    assert set(files["delete_row_count"].to_pylist()) == {0}


def test_the_result_says_what_was_done(create: Callable[..., Table]) -> None:
    table = create(bucket="1")
    write_runs(table, 3)

    result = table.compact(full=True)

    assert [(one.partition, one.before.files) for one in result.buckets] == [("p=x", 3), ("p=y", 3)]
    assert result.after is not None
    assert (result.before.files, result.after.files) == (6, 2)
    assert (result.before.rows, result.after.rows) == (8, 4)
    assert repr(result).startswith("db.t: compacted 2 buckets, 6 files, ")
    assert str(table.compact(full=True)) == "db.t: nothing to compact"
    assert pickle.loads(pickle.dumps(result)) == result


def test_asking_only_changes_nothing(create: Callable[..., Table], tmp_path: Path) -> None:
    table = create()
    write_runs(table, 3)
    files = sorted(tmp_path.rglob("*"))

    result = table.compact(full=True, dry_run=True)

    assert result.is_dry_run
    assert result.after is None
    assert len(result.buckets) == 3
    assert sorted(tmp_path.rglob("*")) == files


def test_only_what_is_asked_for_is_compacted(create: Callable[..., Table]) -> None:
    table = create(bucket="1")
    write_runs(table, 2)

    assert [one.partition for one in table.compact(full=True, where="p > 'x'").buckets] == ["p=y"]
    assert not table.compact(full=True, partitions=[{"p": "y"}]).buckets
    assert not table.compact(full=True, buckets=[7]).buckets
    assert [one.partition for one in table.compact(full=True, buckets=[0]).buckets] == ["p=x"]


def test_a_condition_on_other_columns_is_refused(create: Callable[..., Table]) -> None:
    with pytest.raises(SchemaError, match="partition columns only; they are: p"):
        create().compact(where="v = 1")


def test_few_runs_are_left_alone(create: Callable[..., Table]) -> None:
    table = create(bucket="1")
    write_runs(table, 4)

    assert not table.compact().buckets

    write_runs(table, 1, first=4)
    assert {one.output_level for one in table.compact().buckets} == {5}


def test_progress_is_told_by_bucket(create: Callable[..., Table]) -> None:
    table = create(bucket="1")
    write_runs(table, 2)
    told: list[tuple[int, int, str]] = []

    table.compact(full=True, progress=lambda *args: told.append(args))

    assert told == [(1, 2, "buckets"), (2, 2, "buckets")]


def test_kinds_and_sequence_numbers_stay_those_of_the_winners(
    create: Callable[..., Table],
) -> None:
    table = create(bucket="1", **{"num-sorted-run.compaction-trigger": "3"})
    for value, kind in enumerate(["+I", "+U", "+I"]):
        put(table, {"k": [1, 2], "p": ["x"] * 2, "v": [value] * 2, "o": [kind] * 2})
    table.compact(full=True)
    put(table, {"k": [1], "p": ["x"], "v": [8], "o": ["+U"]})
    put(table, {"k": [1], "p": ["x"], "v": [9], "o": ["-D"]})

    table.compact()

    (file,) = [split.files for split in table.scan().plan().splits]
    assert [(f.level, f.row_count, f.delete_row_count) for f in file if f.level == 3] == [(3, 1, 0)]
    assert content(table)["k"].to_pylist() == [2]


def test_files_roll_at_the_target_size_and_large_ones_only_move_up(
    create: Callable[..., Table],
) -> None:
    table = create(bucket="1", **{"target-file-size": "20 kb"})
    for first in (0, 100_000):
        keys = np.arange(first, first + 8000, dtype=np.int32)
        texts = pa.array([f"{key * 7919 % 99991:x}" for key in keys])
        put(table, {"k": keys, "p": ["x"] * 8000, "w": texts.to_pylist()})
    before = {file.file_name for split in table.scan().plan().splits for file in split.files}
    rows = content(table)

    table.compact(full=True)

    files = [file for split in table.scan().plan().splits for file in split.files]
    assert len(files) > 3
    assert before & {file.file_name for file in files}
    assert {file.level for file in files} == {5}
    assert content(table).equals(rows)
    assert table.fsck(deep=True).is_clean


def test_old_files_are_rewritten_under_the_latest_schema(catalog: Any) -> None:
    old = catalog.create_table(
        "db.t", COLUMNS, primary_keys=["k", "p"], options={"bucket": "1", "write-only": "true"}
    )
    put(old, {"k": [1, 2], "p": ["x", "x"], "v": [1, 2], "w": ["a", "b"]})
    catalog.alter_table("db.t", pl.RenameColumn("w", "text"), pl.AddColumn("n", "BIGINT"))
    new = catalog.table("db.t")
    put(new, {"k": [2, 3], "p": ["x", "x"], "text": ["c", "d"], "n": [7, 8]})

    old.compact(full=True)  # opened before the change

    assert new.scan(["k", "text", "n"]).to_arrow().sort_by("k").to_pylist() == [
        {"k": 1, "text": "a", "n": None},
        {"k": 2, "text": "c", "n": 7},
        {"k": 3, "text": "d", "n": 8},
    ]


def test_deletes_stay_as_long_as_older_rows_are_left(create: Callable[..., Table]) -> None:
    trigger = {"num-sorted-run.compaction-trigger": "2", "num-levels": "4"}
    table = create(bucket="1", **trigger)
    many = pa.array(np.arange(5000), pa.int32())
    put(table, {"k": many, "p": ["x"] * 5000, "v": many, "w": [f"{i * 7}" for i in range(5000)]})
    table.compact(full=True)
    for _ in range(3):
        put(table, {"k": [1], "p": ["x"], "o": ["-D"]})

    result = table.compact()

    assert [one.output_level for one in result.buckets] == [2]
    assert table.scan().count() == 4999
    levels = pa.table(table.scan().plan().files).sort_by("level")
    assert levels["level"].to_pylist() == [2, 3]
    assert levels["delete_row_count"].to_pylist() == [1, 0]
    table.compact(full=True)
    assert pa.table(table.scan().plan().files)["delete_row_count"].to_pylist() == [0]
    assert table.scan().count() == 4999


def test_nothing_is_left_if_all_rows_are_deleted(create: Callable[..., Table]) -> None:
    table = create(bucket="1")
    put(table, {"k": [1], "p": ["x"]})
    put(table, {"k": [1], "p": ["x"], "o": ["-D"]})

    result = table.compact(full=True)

    assert result.after is not None
    assert result.after.files == 0
    assert table.scan().count() == 0


def test_an_empty_table_is_left_alone(create: Callable[..., Table]) -> None:
    assert str(create().compact(full=True)) == "db.t: nothing to compact"


class Meddler:
    """Compacts the table behind the back of the next commit, once."""

    def __init__(self, table: Table, times: int) -> None:
        self.table = table
        self.left = times

    def with_callbacks(self, _: object) -> Meddler:
        return self

    def append(self, messages: list[CommitMessage], **kwargs: Any) -> Any:
        committer = type(committer_of(definition_of(self.table), store_of(self.table))).append
        if self.left:
            self.left -= 1
            self.table.compact(full=True, partitions=[{"p": "x"}])
            write_runs(self.table, 1, first=self.left)
        return committer(
            committer_of(definition_of(self.table), store_of(self.table)), messages, **kwargs
        )


def meddled(catalog: Any, times: int) -> tuple[Table, Table]:
    """Open a table twice; somebody else is faster than the compactions of the first."""
    table, other = catalog.table("db.t"), catalog.table("db.t")
    options = definition_of(table).options.slice(CommitOptions)
    store_of(table).__dict__["committers"] = {options: Meddler(other, times)}
    return table, other


def test_buckets_that_others_compacted_are_looked_at_anew(
    create: Callable[..., Table], catalog: Any
) -> None:
    write_runs(create(bucket="1"), 3)
    table, other = meddled(catalog, 1)

    table.compact(full=True)

    assert {file.level for split in other.scan().plan().splits for file in split.files} == {0, 5}
    assert other.scan().count() == 4
    assert other.fsck(deep=True).is_clean


def test_losing_again_and_again_is_told_and_leaves_no_file(
    create: Callable[..., Table], catalog: Any, tmp_path: Path
) -> None:
    write_runs(create(bucket="1"), 3)
    table, other = meddled(catalog, 4)

    with pytest.raises(FilesConflictError):
        table.compact(full=True)

    alive = {path.name for path in tmp_path.rglob("data-*")}
    known = {name for one in _all_files(other) for name in one}
    assert alive <= known


def _all_files(table: Table) -> list[list[str]]:
    found = []
    for snapshot in table.snapshots.list():
        files = table.scan(snapshot=snapshot.id).plan().files
        found.append(files["file_name"].to_pylist())
    return found


def test_rows_whose_time_is_over_are_left_out(catalog: Any) -> None:
    table = catalog.create_table(
        "db.old",
        {"k": "INT NOT NULL", "v": "INT", "t": "BIGINT"},
        primary_keys=["k"],
        options={
            "bucket": "1",
            "write-only": "true",
            "record-level.expire-time": "1 d",
            "record-level.time-field": "t",
        },
    )
    import time  # noqa: PLC0415

    now = int(time.time())
    put(table, {"k": [1, 2, 3, 4], "v": [1, 1, 1, 1], "t": [now, 7, 1000 * now, None]})
    put(table, {"k": [5, 1], "v": [2, 2], "t": [now - 90_000, 8]})
    assert table.scan().count() == 5  # reading shows them still

    table.compact(full=True)

    rows = table.scan().to_arrow().sort_by("k").to_pylist()
    assert [(row["k"], row["v"]) for row in rows] == [(1, 1), (3, 1), (4, 1)]
    assert not table.compact(full=True).buckets
