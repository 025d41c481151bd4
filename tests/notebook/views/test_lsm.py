from __future__ import annotations

import base64
import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.analysis.buckets.bucket_lives import ShownBucket, lives
from paimonlab.analysis.buckets.newest_commits import newest_commits
from paimonlab.analysis.levels import lsm
from paimonlab.analysis.levels.lsm import MOST_FILES, LsmSource, repeatable
from paimonlab.analysis.levels.lsm_files import shown_lives
from paimonlab.compact.levels import level_runs
from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.notebook import commands, views
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel import determinism
from paimonlab.notebook.views.lsm.drawing import alive, draw
from paimonlab.scan.live_files import live_entries
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.compact import compact_plan
from paimonlab.table.table import Table
from tests.golden.expected import Case, cases, expected, values
from tests.notebook.display.test_drawing import EVIL, KEPT_ATTRIBUTES, KEPT_TAGS, Page

WRITTEN_BY_JAVA = [
    case
    for case in cases()
    if case.writer == "java-1.3.1" and case.refusal is None and case.recorded_at is None
]


def drawn(table: str | Table, **options: Any) -> Drawn[views.Lsm]:
    view = commands.lsm(table, **options)
    assert isinstance(view, Drawn)
    return view


def catalog(folder: Path) -> pl.Catalog:
    made = pl.connect(folder)
    made.create_database("db")
    return made


def golden(case: Case) -> Table:
    table = pl.connect(expected(case).warehouse).table(expected(case).document["table"])
    assert isinstance(table, Table)
    return table


def system(table: Table, name: str) -> list[dict[str, Any]]:
    found = pl.connect(Path(table.path).parents[1]).table(f"{table.name}${name}")
    return found.scan().to_arrow().to_pylist()


@pytest.mark.parametrize("case", WRITTEN_BY_JAVA, ids=str)
def test_what_is_shown_is_what_system_tables_and_java_say(case: Case) -> None:
    table = golden(case)
    files = [row for row in system(table, "files") if row["bucket"] >= 0]
    totals = [row for row in system(table, "buckets") if row["bucket"] >= 0]
    theirs = values(expected(case).system_tables()["buckets"]["rows"])

    value = drawn(table, buckets=1000, snapshots=1000).value

    of_bucket = {(row["partition"], row["bucket"]): row for row in totals}
    shown = {(bucket.partition or "{}", bucket.bucket): bucket for bucket in value.buckets}
    assert shown.keys() == of_bucket.keys()
    assert value.bucket_count == len(of_bucket)
    assert sorted(tuple(map(int, row[1:5])) for row in theirs if int(row[1]) >= 0) == sorted(
        (bucket.bucket, bucket.row_count, bucket.bytes, bucket.file_count)
        for bucket in value.buckets
    )
    for key, bucket in shown.items():
        row = of_bucket[key]
        assert bucket.file_count == row["file_count"]
        assert bucket.bytes == row["file_size_in_bytes"]
        assert bucket.row_count == row["record_count"]
        mine = [file for file in files if (file["partition"], file["bucket"]) == key]
        levels = Counter(file["level"] for file in mine)
        assert bucket.level_0_count == levels[0]
        assert bucket.run_count == levels[0] + len(levels.keys() - {0})
        assert {
            (file.name, file.level, file.rows, file.bytes, file.min_key, file.max_key)
            for file in alive(bucket)
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

    value = drawn(table, buckets=1000, snapshots=1000).value

    for bucket in value.buckets:
        for number, step in enumerate(bucket.steps[1:], start=1):
            assert step.snapshot_id is not None
            entries = live_entries(table.snapshots.get(step.snapshot_id), store_of(table).manifests)
            there = [one.file for one in table_to_entries(entries) if one.bucket == bucket.bucket]
            if bucket.partition in {"", "{}"}:
                shown = {
                    (file.name, file.level)
                    for file in bucket.files
                    if file.born <= number < file.died
                }
                assert shown == {(file.file_name, file.level) for file in there}
                assert step.row_count == sum(file.row_count for file in there)
                assert step.run_count == len(level_runs(there))


def test_a_flush_and_a_compaction_are_described_in_words() -> None:
    (bucket,) = drawn(golden(Case("java-1.3.1", "lsm"))).value.buckets

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

    (bucket,) = drawn(table).value.buckets

    places = {(file.min_key, file.max_key): (file.low, file.high) for file in bucket.files}
    assert places == {
        ("[b]", "[d]"): (1, 3),
        ("[c]", "[e]"): (2, 4),
        ("[a]", "[a]"): (0, 0),
        ("[z]", "[é]"): (5, 6),
    }
    assert bucket.place_count == 7
    assert [file.max_sequence for file in bucket.files] == [6, 4, 3, 1]


@pytest.fixture
def many(tmp_path: Path) -> Table:
    """Partitions of which some have more on level 0 than others."""
    table = catalog(tmp_path).create_table(
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


def test_the_worst_buckets_are_shown_and_the_rest_is_counted(many: Table) -> None:
    view = drawn(many, buckets=2)

    assert [bucket.partition for bucket in view.value.buckets] == ["{3}", "{2}"]
    assert "the 2 of 4 buckets with most level 0" in repr(view)


def test_a_partition_and_a_bucket_can_be_asked_for(many: Table) -> None:
    assert [one.partition for one in drawn(many, partition={"p": 1}).value.buckets] == ["{1}"]
    assert drawn(many, bucket=7).value.buckets == ()


def test_the_newest_snapshots_are_looked_at(many: Table) -> None:
    (bucket,) = drawn(many, partition={"p": 3}, snapshots=2).value.buckets

    assert [step.snapshot_id for step in bucket.steps] == [2, 3, 4]
    assert bucket.steps[0].caption == "The bucket has 2 files with 2 rows in 2 sorted runs."


def test_expired_snapshots_are_where_steps_begin(many: Table) -> None:
    Path(many.path, "snapshot", "snapshot-2").unlink()

    (bucket,) = drawn(many, partition={"p": 3}).value.buckets

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


def test_too_many_files_are_bars_of_neighbours(many: Table) -> None:
    files = source(many).files.slice(0, 1)
    count = 20_000
    repeated = pa.concat_tables([files] * count).combine_chunks()
    names = pa.array([f"f{number}" for number in range(count)], pa.large_string())
    place = repeated.schema.get_field_index("file_name")
    repeated = repeated.set_column(place, repeated.schema.field(place), names)

    value = lsm.lsm(source(many, files=repeated, commits=()), most_buckets=6)

    (bucket,) = value.buckets
    assert sum(file.count for file in bucket.files) == bucket.file_count == count
    assert len(bucket.files) <= MOST_FILES
    assert "neighbours share a bar" in repr(draw(value))
    assert len(json.dumps(draw(value).data())) < 500_000


def test_changes_of_too_many_files_are_counted(many: Table) -> None:
    given = source(many)
    partition = given.files["partition"].to_pylist()[-1]
    found = lives(ShownBucket(partition, 0), given.files, given.commits)

    shown, earlier = shown_lives(found, 1)

    assert earlier == found.last - 1
    assert np.array_equal(shown.alive(1), np.arange(shown.files.num_rows))


def test_a_table_without_rows_says_so(tmp_path: Path) -> None:
    table = catalog(tmp_path).create_table("db.t", {"k": "INT"})

    view = drawn(table)

    assert repr(view).strip() == "db.t has no data files"
    assert view.value.snapshot_id is None


@pytest.mark.parametrize("name", ["buckets", "snapshots"])
def test_nothing_is_no_number_to_ask_for(many: Table, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 1"):
        commands.lsm(many, **{name: 0})  # type: ignore[arg-type]


def test_an_append_table_has_no_levels_and_says_so() -> None:
    view = drawn(golden(Case("java-1.3.1", "append_bucketed")))

    assert not view.value.has_levels
    assert "an append table has no levels" in view.to_text()
    places = [[file.low for file in bucket.files] for bucket in view.value.buckets]
    assert places == [[0, 1]] * 3


def test_repeatable_hides_times_and_bytes_and_numbers_files(
    many: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(determinism.VARIABLE, "1")

    text = msgspec.json.encode(drawn(many).value).decode()

    assert "data#1" in text
    assert "parquet" not in text
    assert '"bytes":null' in text
    assert '"createdMillis":1' not in text
    assert '"timeMillis":1' not in text
    assert repeatable(drawn(many).value) == drawn(many).value


def test_html_is_what_sanitisers_leave_alone_and_says_the_numbers(many: Table) -> None:
    view = drawn(many)

    page = Page(view.to_html())

    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES
    assert "db.t {3} bucket 0: 4 sorted runs, trigger 5, stop 8: level 0: 4 files" in view.to_html()
    svg = base64.b64decode(view.picture.partition("base64,")[2].partition('"')[0]).decode()
    assert svg.count("<rect") == 1 + 4


def test_hostile_names_are_text(tmp_path: Path) -> None:
    table = catalog(tmp_path).create_table(
        "db.t",
        {"p": "STRING NOT NULL", "k": "STRING NOT NULL"},
        primary_keys=["p", "k"],
        partition_keys=["p"],
        options={"bucket": "1"},
    )
    for key in (EVIL, "=1+1" + "x" * 10_000):
        table.write(pa.table({"p": ["a\u202e<b>"], "k": [key]}))

    view = drawn(table)

    page = Page(view.to_html())
    assert "script" not in page.tags
    assert "\u202e" not in view.to_html() + view.to_text()
    assert max(len(file.max_key) for file in view.value.buckets[0].files) <= 61
    saved = view.save(tmp_path / "view.html").read_text()
    assert saved.count("</script>") == 2
