"""Levels of buckets, and the commits that led to them, beside system tables and Java."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.analysis.buckets.bucket_lives import ShownBucket, lives
from paimonlab.analysis.buckets.newest_commits import newest_commits
from paimonlab.analysis.levels.lsm import LsmSource
from paimonlab.analysis.levels.lsm_files import shown_lives
from paimonlab.analysis.levels.reading_levels import levels_of
from paimonlab.compact.levels import level_runs
from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.scan.live_files import live_entries
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.compact import compact_plan
from paimonlab.table.table import Table
from tests.golden.expected import Case, cases, expected, values
from tests.support import partition_by_name

WRITTEN_BY_JAVA = [
    case
    for case in cases()
    if case.writer == "java-1.3.1" and case.refusal is None and case.recorded_at is None
]


def catalog(folder: Path) -> pl.Catalog:
    made = pl.connect(folder)
    made.create_database("db")
    return made


def golden(case: Case) -> Table:
    table = pl.connect(expected(case).warehouse).table(expected(case).document["table"])
    assert isinstance(table, Table)
    return table


def system(table: Table, name: str) -> list[dict[str, Any]]:
    found = pl.connect(Path(table.path).parents[1]).system_table(f"{table.name}${name}")
    return found.scan().to_arrow().to_pylist()


@pytest.mark.parametrize("case", WRITTEN_BY_JAVA, ids=str)
def test_what_is_shown_is_what_system_tables_and_java_say(case: Case) -> None:
    table = golden(case)
    files = [row for row in system(table, "files") if row["bucket"] >= 0]
    totals = [row for row in system(table, "buckets") if row["bucket"] >= 0]
    theirs = values(expected(case).system_tables()["buckets"]["rows"])

    value = levels_of(table, buckets=1000, snapshots=1000)

    of_bucket = {(partition_by_name(row["partition"], table), row["bucket"]): row for row in totals}
    shown = {(bucket.partition, bucket.bucket): bucket for bucket in value.buckets}
    assert shown.keys() == of_bucket.keys()
    assert value.bucket_count == len(totals)
    assert sorted(tuple(map(int, row[1:5])) for row in theirs if int(row[1]) >= 0) == sorted(
        (bucket.bucket, bucket.row_count, bucket.bytes, bucket.file_count)
        for bucket in value.buckets
    )
    named = Counter((partition_by_name(row["partition"], table), row["bucket"]) for row in totals)
    for key, bucket in shown.items():
        if named[key] > 1:  # null and blank have one name
            continue
        row = of_bucket[key]
        assert bucket.file_count == row["file_count"]
        assert bucket.bytes == row["file_size_in_bytes"]
        assert bucket.row_count == row["record_count"]
        mine = [
            file
            for file in files
            if (partition_by_name(file["partition"], table), file["bucket"]) == key
        ]
        levels = Counter(file["level"] for file in mine)
        assert bucket.level_0_count == levels[0]
        assert bucket.run_count == levels[0] + len(levels.keys() - {0})
        assert {
            (file.name, file.level, file.rows, file.bytes, file.min_key, file.max_key)
            for file in bucket.files
            if file.died >= len(bucket.steps)
        } == {
            (
                file["file_path"].rpartition("/")[2],
                file["level"],
                file["record_count"],
                file["file_size_in_bytes"],
                file["min_key"] or "",
                file["max_key"] or "",
            )
            for file in mine
        }


@pytest.mark.parametrize("name", ["lsm", "pk_dv", "write_only", "append_unaware", "part_expire"])
def test_each_step_is_the_snapshot_it_names(name: str) -> None:
    table = golden(Case("java-1.3.1", name))

    value = levels_of(table, buckets=1000, snapshots=1000)

    for bucket in value.buckets:
        for number, step in enumerate(bucket.steps[1:], start=1):
            assert step.snapshot_id is not None
            entries = live_entries(table.snapshots.get(step.snapshot_id), store_of(table).manifests)
            there = [one.file for one in table_to_entries(entries) if one.bucket == bucket.bucket]
            if not bucket.partition:
                shown = {
                    (file.name, file.level)
                    for file in bucket.files
                    if file.born <= number < file.died
                }
                assert shown == {(file.file_name, file.level) for file in there}
                assert step.row_count == sum(file.row_count for file in there)
                assert step.run_count == len(level_runs(there))


def test_a_flush_and_a_compaction_are_described_in_words() -> None:
    (bucket,) = levels_of(golden(Case("java-1.3.1", "lsm"))).buckets

    assert [step.run_count for step in bucket.steps] == [0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2]
    assert bucket.steps[3].caption == ("1 file flushed to level 0: 300 rows. Sorted runs: 2 → 3.")
    assert bucket.steps[3].watch == (
        "Watch for: 3 sorted runs reach num-sorted-run.compaction-trigger (3): the next "
        "compaction will pick some."
    )
    assert bucket.steps[4].caption == (
        "3 files on level 0 became 1 file on level 3: 900 → 320 rows. Sorted runs: 3 → 1."
    )
    assert bucket.steps[4].watch.startswith("Watch for: 580 rows were dropped")
    assert bucket.backlog_ratio == pytest.approx(1 / 3, abs=0.001)


def test_a_file_lies_where_its_keys_are(tmp_path: Path) -> None:
    table = catalog(tmp_path).create_table(
        "db.t", {"k": "STRING NOT NULL"}, primary_keys=["k"], options={"bucket": "1"}
    )
    for keys in (["b", "d"], ["c", "e"], ["a"], ["é", "z"]):
        table.write(pa.table({"k": keys}))

    (bucket,) = levels_of(table).buckets

    places = {(file.min_key, file.max_key): (file.low, file.high) for file in bucket.files}
    assert places == {
        ("[b]", "[d]"): (1, 3),
        ("[c]", "[e]"): (2, 4),
        ("[a]", "[a]"): (0, 0),
        ("[z]", "[é]"): (5, 6),
    }
    assert bucket.place_count == 7
    assert [file.max_sequence for file in bucket.files] == [6, 4, 3, 1]


def uneven(folder: Path) -> Table:
    """Make partitions of which some have more on level 0 than others."""
    table = catalog(folder).create_table(
        "db.t",
        {"p": "INT NOT NULL", "k": "INT NOT NULL"},
        primary_keys=["p", "k"],
        partition_keys=["p"],
        options={"bucket": "1", "write-only": "true"},
    )
    for number in range(4):
        rows = [(partition, number) for partition in range(4) if partition >= number]
        p, k = zip(*rows, strict=True)
        table.write(pa.table({"p": pa.array(p, pa.int32()), "k": pa.array(k, pa.int32())}))
    return table


@pytest.fixture
def many(tmp_path: Path) -> Table:
    return uneven(tmp_path)


def test_a_partition_and_a_bucket_can_be_asked_for(many: Table) -> None:
    assert [one.partition for one in levels_of(many, partition={"p": 1}).buckets] == ["p=1"]
    assert levels_of(many, bucket=7).buckets == ()


def test_the_newest_snapshots_are_looked_at(many: Table) -> None:
    (bucket,) = levels_of(many, partition={"p": 3}, snapshots=2).buckets

    assert [step.snapshot_id for step in bucket.steps] == [2, 3, 4]
    assert bucket.steps[0].caption == "The bucket has 2 files with 2 rows in 2 sorted runs."


def test_expired_snapshots_are_where_steps_begin(many: Table) -> None:
    Path(many.path, "snapshot", "snapshot-2").unlink()

    (bucket,) = levels_of(many, partition={"p": 3}).buckets

    assert [step.snapshot_id for step in bucket.steps] == [2, 3, 4]


def source(table: Table, **fields: Any) -> LsmSource:
    snapshot = table.snapshot
    assert snapshot is not None
    given: dict[str, Any] = {
        "table": table.name,
        "schema": table.schema,
        "snapshot": snapshot,
        "files": live_entries(snapshot, store_of(table).manifests),
        "commits": newest_commits(store_of(table), snapshot, 100),
        "vectors": {},
        "levels": compact_plan(definition_of(table), store_of(table), snapshot).strategy.levels,
        "target_file_bytes": 128 << 20,
    }
    return LsmSource(**(given | fields))


def test_changes_of_too_many_files_are_counted(many: Table) -> None:
    given = source(many)
    partition = given.files["partition"].to_pylist()[-1]
    found = lives(ShownBucket(partition, 0), given.files, given.commits)

    shown, earlier = shown_lives(found, 1)

    assert earlier == found.last - 1
    assert np.array_equal(shown.alive(1), np.arange(shown.files.num_rows))
