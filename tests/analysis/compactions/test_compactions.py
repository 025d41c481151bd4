"""What compactions did and what would be compacted, beside metadata and dry runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimonlab as pl
from paimonlab.analysis.compactions.compaction import space_amplification
from paimonlab.analysis.compactions.compaction_picks import explained, runs_of
from paimonlab.analysis.compactions.reading_compactions import compactions_of
from paimonlab.compact.strategy import StrategyOptions
from paimonlab.errors import PaimonError
from paimonlab.formats.manifests.entry_rows import entries_to_table
from paimonlab.scan.live_files import delta_manifests_of, read_entries
from paimonlab.spec.manifests.manifest import ENTRY_SCHEMA, FileKind, ManifestEntry
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.snapshot import CommitKind
from paimonlab.table.inside import store_of
from paimonlab.table.table import Table
from tests.analysis.levels.test_levels import WRITTEN_BY_JAVA, catalog, golden
from tests.compact.bucket_drawings import drawn_runs
from tests.golden.expected import Case
from tests.support import cases


@pytest.mark.parametrize("case", WRITTEN_BY_JAVA, ids=str)
def test_each_compaction_of_java_is_told_as_its_metadata_say(case: Case) -> None:
    table = golden(case)
    snapshots = {one.id: one for one in table.snapshots.list()}

    value = compactions_of(table, snapshots=1000)

    compacted = {
        number for number, one in snapshots.items() if one.commit_kind is CommitKind.COMPACT
    }
    newest = max(snapshots, default=0)
    without_gap = {number for number in compacted if set(range(number, newest)) <= set(snapshots)}
    assert {run.snapshot_id for run in value.runs} == without_gap
    for run in value.runs:
        snapshot = snapshots[run.snapshot_id]
        metas = delta_manifests_of(snapshot, store_of(table).manifests)
        read = read_entries(snapshot, metas, store_of(table).manifests)
        entries = pa.concat_tables([ENTRY_SCHEMA.empty_table(), *read])
        entries = entries.filter(pc.not_equal(entries["bucket"], -2))
        added = entries.filter(pc.equal(entries["kind"], 0))
        deleted = entries.filter(pc.equal(entries["kind"], 1))
        assert run.written.files + run.moved.files == added.num_rows
        assert run.read.files + run.moved.files == deleted.num_rows
        if not any(one["bucket"] == -2 for one in entries.to_pylist()):
            waited = pc.sum(added["row_count"]).as_py() or 0
            gone = pc.sum(deleted["row_count"]).as_py() or 0
            assert run.dropped_rows == gone - waited
        if table.options.get("bucket") != "-2":
            assert run.dropped_rows == -(snapshot.delta_record_count or 0)
        assert run.read.files == sum(one.read.files for one in run.buckets)
        assert sum(one.after.files for one in run.levels) == added.num_rows


@pytest.mark.parametrize("case", WRITTEN_BY_JAVA, ids=str)
def test_what_would_be_picked_is_what_a_dry_run_says(case: Case) -> None:
    table = golden(case)

    value = compactions_of(table)

    if value.notes:
        (note,) = value.notes
        with pytest.raises(PaimonError, match=re.escape(note.partition(": ")[2])):
            table.compact(dry_run=True)
        return
    now, full = table.compact(dry_run=True), table.compact(full=True, dry_run=True)
    if table.options.get("bucket") == "-2":
        return  # what waits is told by %paimon_lsm
    assert {
        (pick.partition, pick.bucket, pick.rule, pick.files, pick.bytes, pick.output_level)
        for pick in value.picks
        if pick.rule
    } == {
        (
            one.partition,
            one.bucket,
            one.reason,
            one.picked.files,
            one.picked.bytes,
            one.output_level,
        )
        for one in now.buckets
    }
    assert (value.pick_count, value.full_count) == (len(now.buckets), len(full.buckets))


@pytest.mark.parametrize(("title", "given", "expected"), cases("universal"))
def test_every_rule_has_words(title: str, given: str, expected: str) -> None:
    drawing = given.strip().partition("\n")[0]
    runs = drawn_runs(drawing)
    files = [file for run in runs for file in run.files]
    entries = [
        ManifestEntry(kind=FileKind.ADD, partition=b"", bucket=0, total_buckets=1, file=file)
        for file in files
    ]

    weighed = runs_of(entries_to_table(entries))

    assert weighed.bytes == [run.total_size_bytes for run in runs], title
    reason = "" if expected == "nothing" else expected.split(" ", 3)[3]
    if runs:
        why, _ = explained(reason, weighed, StrategyOptions.of(Options({})))
        assert why != reason, title


def test_the_numbers_that_were_compared_are_told() -> None:
    entries = [
        ManifestEntry(kind=FileKind.ADD, partition=b"", bucket=0, total_buckets=1, file=file)
        for run in drawn_runs("L0 30 30 | L5 25")
        for file in run.files
    ]

    why, numbers = explained(
        "size amplification", runs_of(entries_to_table(entries)), StrategyOptions.of(Options({}))
    )

    assert "max-size-amplification-percent = 200" in why
    assert numbers == "60 bytes on 25 bytes: 240 %"


def test_amplification_is_bytes_written_for_bytes_appended() -> None:
    table = golden(Case("java-1.3.1", "lsm"))

    value = compactions_of(table)

    written = sum(run.written.bytes or 0 for run in value.runs)
    assert value.compacted_bytes == written
    assert value.appended_bytes is not None
    assert value.write_amplification == pytest.approx(
        (value.appended_bytes + written) / value.appended_bytes, abs=0.001
    )
    sizes = [one["file_size_in_bytes"] for one in system_files(table)]
    oldest = [one["file_size_in_bytes"] for one in system_files(table) if one["level"] == 3]
    assert value.space_amplification == pytest.approx(sum(sizes) / sum(oldest), abs=0.001)


def system_files(table: Table) -> list[dict[str, Any]]:
    found = pl.connect(Path(table.path).parents[1]).system_table(f"{table.name}$files")
    return found.scan().to_arrow().to_pylist()


def test_on_level_0_the_oldest_file_is_the_oldest_run() -> None:
    entries = [
        ManifestEntry(kind=FileKind.ADD, partition=b"", bucket=bucket, total_buckets=2, file=file)
        for bucket, drawing in enumerate(["L0 1 2 4", "L0 1 | L3 10 | L5 100"])
        for run in drawn_runs(drawing)
        for file in run.files
    ]

    assert space_amplification(entries_to_table(entries)) == round(118 / 104, 3)


def test_buckets_that_were_never_compacted_are_counted(tmp_path: Path) -> None:
    table = catalog(tmp_path).create_table(
        "db.t",
        {"p": "INT NOT NULL", "k": "INT NOT NULL"},
        primary_keys=["p", "k"],
        partition_keys=["p"],
        options={"bucket": "1", "write-only": "true"},
    )
    for p in range(3):
        table.write(pa.table({"p": pa.array([p], pa.int32()), "k": pa.array([1], pa.int32())}))
    table.compact(full=True, partitions=[{"p": 1}])

    value = compactions_of(table)

    assert [(one.partition, one.bucket) for one in value.untouched] == [("p=0", 0), ("p=2", 0)]
    assert value.untouched_count == 2
    (run,) = value.runs
    assert (run.read.files, run.written.files, run.moved.files) == (0, 0, 1)


def test_calls_name_partition_and_bucket(tmp_path: Path) -> None:
    table = catalog(tmp_path).create_table(
        "db.t",
        {"dt": "DATE NOT NULL", "k": "INT NOT NULL"},
        primary_keys=["dt", "k"],
        partition_keys=["dt"],
        options={"bucket": "1", "write-only": "true"},
    )
    table.write(pa.table({"dt": pa.array([19_000], pa.int32()).cast(pa.date32()), "k": [1]}))

    found = {call.label: call for call in compactions_of(table).calls}

    partition = found["this partition"]
    assert partition.sql == (
        "CALL sys.compact(table => 'db.t', where => 'dt = DATE \\'2022-01-08\\'', "
        "compact_strategy => 'full')"
    )
    assert found["this bucket"].python == (
        "catalog.table('db.t').compact(full=True, partitions=[{'dt': '2022-01-08'}], buckets=[0])"
    )
    result = eval(found["this bucket"].python, {"catalog": pl.connect(tmp_path)})
    assert result.snapshot is not None
