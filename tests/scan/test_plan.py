from __future__ import annotations

import datetime as dt
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from paimonlab.errors import CorruptMetadataError, SnapshotExpiredError, UnsupportedError
from paimonlab.scan.plan import Plan, ScanOptions, ScanRequest, plan
from paimonlab.spec.buckets.bucket import bucket_ids
from paimonlab.spec.manifests.data_file import EMPTY_STATS, SimpleStats
from paimonlab.spec.predicates.predicate import Predicate, col
from paimonlab.spec.schema.schema_changes import (
    AddColumn,
    DropColumn,
    UpdateColumnType,
    apply_changes,
)
from paimonlab.spec.types.data_types import AtomicType, TypeRoot
from tests.small_tables import SmallTable, row, text_row


def _names(made: Plan) -> list[str]:
    return sorted(file.file_name for split in made.splits for file in split.files)


def _drawn(made: Plan) -> list[str]:
    """Draw splits: ``raw a b`` or ``merge a b``."""
    return [
        " ".join(["raw" if split.raw_convertible else "merge", *(f.file_name for f in split.files)])
        for split in made.splits
    ]


@pytest.fixture
def appended(tmp_path: Path) -> SmallTable:
    return SmallTable(tmp_path, columns={"id": "INT", "v": "STRING", "x": "DOUBLE"}).create()


@pytest.fixture
def keyed(tmp_path: Path) -> SmallTable:
    return SmallTable(
        tmp_path,
        columns={"dt": "STRING", "k": "INT", "v": "INT"},
        partition_keys=["dt"],
        primary_keys=["dt", "k"],
        options={"bucket": "1"},
    ).create()


def _upsert(
    table: SmallTable, name: str, low: int, high: int, *, day: str = "a", **fields: Any
) -> None:
    table.append(
        name,
        partition=text_row(day),
        total_buckets=1,
        **(table.key_range([low], [high]) | fields),
    )


# Splits


def test_an_empty_table_has_no_splits(appended: SmallTable) -> None:
    made = appended.plan()

    assert (made.splits, made.files.num_rows, made.snapshot) == ([], 0, None)


def test_small_files_share_a_split_and_large_ones_do_not(appended: SmallTable) -> None:
    mega = 1 << 20
    for name, size in [("a", 100), ("b", 60), ("c", 60), ("d", 8), ("e", 500)]:
        appended.append(name, file_size_bytes=size * mega)

    assert _drawn(appended.plan()) == ["raw a", "raw b c d", "raw e"]


def test_opening_a_file_has_its_price(appended: SmallTable) -> None:
    appended.append(*[f"f{number:02}" for number in range(40)], file_size_bytes=10)

    assert [len(split.files) for split in appended.plan().splits] == [32, 8]


def test_files_of_an_append_bucket_stay_in_the_order_they_were_written(
    appended: SmallTable,
) -> None:
    for name, first in [("c", 20), ("a", 0), ("b", 10)]:
        appended.append(
            name, total_buckets=1, min_sequence_number=first, max_sequence_number=first + 9
        )

    assert _drawn(appended.plan()) == ["raw a b c"]


def test_overlapping_key_ranges_are_read_together(keyed: SmallTable) -> None:
    _upsert(keyed, "a", 0, 10)
    _upsert(keyed, "b", 10, 20)
    _upsert(keyed, "c", 30, 40)

    assert _drawn(keyed.plan()) == ["raw c", "merge a b"]


def test_a_chain_of_overlaps_is_one_section(keyed: SmallTable) -> None:
    for name, low, high in [("wide", 0, 100), ("in", 5, 6), ("at the end", 100, 101)]:
        _upsert(keyed, name, low, high)
    _upsert(keyed, "apart", 102, 103)

    assert _drawn(keyed.plan()) == ["raw apart", "merge wide in at the end"]


def test_equal_keys_of_other_partitions_do_not_overlap(keyed: SmallTable) -> None:
    for day in "ab":
        _upsert(keyed, f"of {day}", 0, 10, day=day)

    made = keyed.plan()

    assert _drawn(made) == ["raw of a", "raw of b"]
    assert [split.bucket_path for split in made.splits] == ["dt=a/bucket-0", "dt=b/bucket-0"]


@pytest.mark.parametrize("deletes", [1, None])
def test_a_file_that_may_hold_deletes_is_never_raw(keyed: SmallTable, deletes: int | None) -> None:
    _upsert(keyed, "a", 0, 10, delete_row_count=deletes)
    _upsert(keyed, "b", 20, 30)

    assert _drawn(keyed.plan()) == ["raw b", "merge a"]


def test_runs_come_oldest_first(keyed: SmallTable) -> None:
    ages = [("new", 0, 30), ("old", 0, 10), ("middle", 0, 20), ("top", 5, 5), ("low", 1, 25)]
    for name, level, sequence in ages:
        _upsert(keyed, name, 0, 9, level=level, min_sequence_number=0, max_sequence_number=sequence)

    assert _drawn(keyed.plan()) == ["merge top low old middle new"]


def test_runs_of_equal_sequence_numbers_come_in_the_order_of_their_commits(
    keyed: SmallTable,
) -> None:
    for name in ("z", "y", "x"):
        _upsert(keyed, name, 0, 9)

    assert _drawn(keyed.plan()) == ["merge z y x"]


def test_sections_agree_with_a_sweep(keyed: SmallTable, rng: np.random.Generator) -> None:
    """Files share a split that merges exactly if a chain of overlapping ranges joins them."""
    ranges = {}
    for number in range(60):
        low = int(rng.integers(-200, 200))
        ranges[f"f{number:02}"] = (low, low + int(rng.integers(0, 8)))
        _upsert(keyed, f"f{number:02}", *ranges[f"f{number:02}"])
    expected: list[list[str]] = []
    end = -1000
    for name, (low, high) in sorted(ranges.items(), key=lambda item: item[1]):
        if low > end:
            expected.append([])
        expected[-1].append(name)
        end = max(end, high)

    made = keyed.plan()

    raw = sorted(f.file_name for s in made.splits if s.raw_convertible for f in s.files)
    assert raw == sorted(names[0] for names in expected if len(names) == 1)
    merged = [{f.file_name for f in s.files} for s in made.splits if not s.raw_convertible]
    for names in expected:
        if len(names) > 1:
            assert sum(set(names) <= split for split in merged) == 1


def test_splits_are_values_without_statistics(keyed: SmallTable) -> None:
    _upsert(keyed, "a", 0, 10, row_count=7, file_size_bytes=99, extra_files=("a.index",))

    (split,) = pickle.loads(pickle.dumps(keyed.plan().splits))

    assert (split.row_count, split.size_bytes, split.snapshot_id) == (7, 99, 1)
    assert split.files[0].key_stats == EMPTY_STATS
    assert split.files[0].extra_files == ("a.index",)
    assert split.partition == text_row("a")


def test_a_limit_leaves_out_splits_only_when_rows_are_final(keyed: SmallTable) -> None:
    for number in range(5):
        _upsert(keyed, f"f{number}", 0, 9, day=str(number))

    assert len(keyed.plan(limit=20).splits) == 2
    assert len(keyed.plan(limit=21).splits) == 3
    assert len(keyed.plan(limit=0).splits) == 0
    assert len(keyed.plan(limit=1000).splits) == 5
    assert len(keyed.plan(col("v") > 3, limit=1).splits) == 5
    _upsert(keyed, "again", 0, 9, day="0")
    assert _drawn(keyed.plan(limit=20)) == ["raw f1", "raw f2"]


# Pruning


def test_partitions_prune_manifests_and_files(keyed: SmallTable) -> None:
    for day in ("2026-01-01", "2026-01-02", "2026-01-03"):
        _upsert(keyed, day, 0, 9, day=day)

    made = keyed.plan((col("dt") >= "2026-01-02") & (col("dt") < "2026-01-03"))

    assert _names(made) == ["2026-01-02"]
    assert made.funnel()[:3] == [("manifests", 3), ("manifests read", 1), ("files", 3)]


def test_a_partition_is_judged_by_its_value_not_by_the_range_of_a_manifest(
    keyed: SmallTable,
) -> None:
    messages = [
        keyed.message(day, partition=text_row(day), total_buckets=1, **keyed.key_range([0], [9]))
        for day in ("a", "b", "c")
    ]
    keyed.committer.append(messages, user="u", identifier=1)

    assert _names(keyed.plan(col("dt") == "b")) == ["b"]
    assert _names(keyed.plan((col("dt") == "bb") | col("dt").is_null())) == []
    assert _names(keyed.plan((col("dt") == "a") | (col("k") == 3))) == ["a", "b", "c"]


def test_dates_and_nulls_are_partitions(tmp_path: Path) -> None:
    table = SmallTable(tmp_path, columns={"d": "DATE", "v": "INT"}, partition_keys=["d"]).create()
    field = table.schema.field("d")
    for name, day in [("new year", dt.date(2026, 1, 1)), ("none", None)]:
        table.append(name, partition=row([day], [field]))

    assert _names(table.plan(col("d") == dt.date(2026, 1, 1))) == ["new year"]
    assert _names(table.plan(col("d").is_null())) == ["none"]
    assert _names(table.plan(col("d") > dt.date(2026, 1, 1))) == []
    paths = sorted(split.bucket_path for split in table.plan().splits)
    assert paths == ["d=20454/bucket-0", "d=__DEFAULT_PARTITION__/bucket-0"]


@pytest.fixture
def bucketed(tmp_path: Path) -> SmallTable:
    table = SmallTable(
        tmp_path,
        columns={"a": "INT", "b": "STRING", "v": "INT"},
        options={"bucket": "5", "bucket-key": "a,b"},
    ).create()
    for bucket in range(5):
        table.append(f"bucket {bucket}", bucket=bucket, total_buckets=5)
    return table


def _bucket_of(table: SmallTable, a: int, b: str) -> int:
    import pyarrow as pa  # noqa: PLC0415

    keys = pa.table({"a": pa.array([a], pa.int32()), "b": [b]})
    return int(bucket_ids(keys, table.schema.fields[:2], 5)[0])


def test_equality_on_all_bucket_keys_finds_the_bucket(bucketed: SmallTable) -> None:
    for a, b in [(1, "x"), (-7, ""), (2**31 - 1, "a longer text")]:
        where = (col("a") == a) & (col("b") == b) & (col("v") > 0)

        assert _names(bucketed.plan(where)) == [f"bucket {_bucket_of(bucketed, a, b)}"]


def test_a_list_of_keys_finds_their_buckets(bucketed: SmallTable) -> None:
    where = col("a").is_in([1, 2]) & col("b").is_in(["x"])
    expected = {f"bucket {_bucket_of(bucketed, a, 'x')}" for a in (1, 2)}

    assert set(_names(bucketed.plan(where))) == expected


@pytest.mark.parametrize(
    "where", [col("a") == 1, (col("a") == 1) | (col("b") == "x"), (col("a") > 1) & (col("b") == "")]
)
def test_without_all_bucket_keys_every_bucket_is_read(bucketed: SmallTable, where: Any) -> None:
    assert len(_names(bucketed.plan(where))) == 5


def test_buckets_of_a_partition_that_has_more_of_them(bucketed: SmallTable) -> None:
    """Old files say how many buckets there were when they were written."""
    from paimonlab.commit.scope import OverwriteScope  # noqa: PLC0415

    bucketed.committer.overwrite(
        [bucketed.message("one", bucket=0, total_buckets=1)],
        scope=OverwriteScope.whole_table(),
        user="u",
        identifier=1,
    )

    assert _names(bucketed.plan((col("a") == 1) & (col("b") == "x"))) == ["one"]


def test_files_whose_bucket_key_had_another_type_are_read(bucketed: SmallTable) -> None:
    """-7 as an INT is in another bucket than as a BIGINT; others may change the type."""
    first, *others = bucketed.schema.fields
    retyped = structs.replace(first, type=AtomicType(TypeRoot.BIGINT))
    changed = replace(bucketed.schema, id=1, fields=(retyped, *others))
    bucketed.schemas.publish(changed)
    for bucket in range(5):
        bucketed.append(f"new {bucket}", bucket=bucket, total_buckets=5, schema_id=changed.id)

    names = _names(bucketed.plan((col("a") == -7) & (col("b") == "x")))

    assert len([name for name in names if name.startswith("bucket")]) == 5
    assert len([name for name in names if name.startswith("new")]) == 1


def test_asked_for_buckets_are_read(bucketed: SmallTable) -> None:
    made = bucketed.plan(buckets=frozenset({1, 3}))

    assert _names(made) == ["bucket 1", "bucket 3"]
    assert made.left("manifests read") == 2


def test_zero_has_two_buckets(tmp_path: Path) -> None:
    """0.0 equals -0.0, but their bytes, and so their buckets, differ."""
    table = SmallTable(
        tmp_path,
        columns={"x": "DOUBLE"},
        options={"bucket": "3", "bucket-key": "x"},
    ).create()
    for bucket in range(3):
        table.append(f"b{bucket}", bucket=bucket, total_buckets=3)

    assert len(_names(table.plan(col("x") == 0.0))) == 3


def test_key_ranges_prune_files_that_merge(keyed: SmallTable) -> None:
    _upsert(keyed, "low", 0, 10)
    _upsert(keyed, "high", 10, 20)
    _upsert(keyed, "wide", 0, 20)

    assert _names(keyed.plan(col("k") == 5)) == ["low", "wide"]
    assert _names(keyed.plan((col("k") > 10) & (col("v") == 1))) == ["high", "wide"]


def test_statistics_prune_append_files(appended: SmallTable) -> None:
    for name, low, high, nulls in [("a", 0, 9, 0), ("b", 10, 19, 0), ("c", None, None, 10)]:
        stats = appended.stats([low, "x", None], [high, "x", None], [nulls, 0, 0])
        appended.append(name, value_stats=stats)

    assert _names(appended.plan(col("id") == 12)) == ["b"]
    assert _names(appended.plan(col("id").is_null())) == ["c"]
    assert _names(appended.plan(col("x") == 1.0)) == ["a", "b", "c"], "unknown is kept"
    assert _names(appended.plan((col("id") == 12) & (col("v") == "y"))) == []


def test_values_prune_a_keyed_file_only_where_nothing_merges(keyed: SmallTable) -> None:
    """A file that merges may hide an older row that matches: leaving it out would show it."""
    for name, low, high, value in [("old", 0, 9, 1), ("new", 5, 6, 2), ("alone", 20, 29, 3)]:
        stats = keyed.stats(["a", low, value], ["a", high, value], [0, 0, 0])
        _upsert(keyed, name, low, high, value_stats=stats)

    assert _names(keyed.plan(col("v") == 1)) == ["new", "old"]
    assert _names(keyed.plan(col("v") == 3)) == ["alone", "new", "old"]


def test_partition_columns_are_not_looked_up_in_statistics(keyed: SmallTable) -> None:
    stats = keyed.stats(["wrong", 0, 0], ["wrong", 0, 0], [0, 0, 0])
    _upsert(keyed, "f", 0, 9, value_stats=stats)

    assert _names(keyed.plan(col("dt") == "a")) == ["f"]


def test_statistics_of_some_columns(appended: SmallTable) -> None:
    field = appended.schema.field("v")
    dense = SimpleStats(row(["a"], [field]), row(["c"], [field]), (0,))
    appended.append("dense", value_stats=dense, value_stats_cols=("v",))
    appended.append("none", value_stats=EMPTY_STATS, value_stats_cols=())

    assert _names(appended.plan(col("v") == "b")) == ["dense", "none"]
    assert _names(appended.plan(col("v") == "d")) == ["none"]
    assert _names(appended.plan(col("id") == 7)) == ["dense", "none"]


def test_statistics_find_their_columns_by_id(appended: SmallTable) -> None:
    """A column that is dropped and added again has nothing to do with the old one."""
    appended.append("before", value_stats=appended.stats([1, "a", 1.0], [9, "a", 1.0], [0, 0, 0]))
    changed = apply_changes(
        appended.schema,
        [UpdateColumnType("id", "BIGINT"), DropColumn("v"), AddColumn("v", "STRING")],
        has_snapshots=True,
        time_millis=0,
    )
    appended.schemas.publish(changed)
    fields = [changed.field(name) for name in changed.field_names]
    after = SimpleStats(row([20, 1.0, "z"], fields), row([30, 1.0, "z"], fields), (0, 0, 0))
    appended.append("after", value_stats=after, schema_id=changed.id)

    assert _names(appended.plan(col("id") > 2**40)) == []
    assert _names(appended.plan(col("id") == 5)) == ["before"]
    assert _names(appended.plan(col("v") == "a")) == []
    assert _names(appended.plan(col("v").is_null())) == ["before"]
    assert _names(appended.plan(col("v") == "z")) == ["after"]


def test_statistics_of_a_type_that_orders_otherwise_are_unknown(appended: SmallTable) -> None:
    appended.append("f", value_stats=appended.stats([1, "a", 1.0], [10, "a", 1.0], [0, 0, 0]))
    changed = apply_changes(
        appended.schema, [UpdateColumnType("id", "STRING")], has_snapshots=True, time_millis=0
    )
    appended.schemas.publish(changed)

    assert _names(appended.plan(col("id") == "9")) == ["f"]


def test_a_filter_that_is_never_true_reads_nothing(appended: SmallTable) -> None:
    appended.append("a")

    made = appended.plan((col("id") == 1) & (col("id") == 2**40))

    assert made.splits == []


@pytest.mark.parametrize(
    "where",
    [
        col("id").is_in([None]),
        (col("v") == "x") & col("id").is_in([None]),
        ~(col("v").is_in([None]) | (col("id") == 1)),
        col("id").is_in([None]) | col("v").is_in([None]),
    ],
    ids=str,
)
def test_a_filter_that_is_null_for_every_row_reads_nothing(
    appended: SmallTable, where: Predicate
) -> None:
    appended.append("a")

    assert appended.plan(where).splits == []


def test_the_funnel_counts_what_is_left(keyed: SmallTable) -> None:
    for day in "ab":
        for low in (0, 20):
            _upsert(keyed, f"{day}{low}", low, low + 9, day=day)

    made = keyed.plan((col("dt") == "a") & (col("k") < 10))

    assert dict(made.funnel()) == {
        "manifests": 4,
        "manifests read": 2,
        "files": 4,
        "after partitions": 2,
        "after buckets": 2,
        "after key ranges": 1,
        "after statistics": 1,
    }


def test_what_was_not_asked_for_is_counted_but_not_shown(keyed: SmallTable) -> None:
    for level, low in enumerate((0, 20, 40)):
        _upsert(keyed, f"level {level}", low, low + 9, level=level)

    made = keyed.plan(col("k") < 30, level=1)

    assert made.left("after buckets") == 3
    assert made.left("of the level") == 1
    assert "of the level" not in dict(made.funnel())
    assert _names(made) == ["level 1"]


# What cannot be read


def test_an_expired_snapshot_is_told_from_a_damaged_table(appended: SmallTable) -> None:
    snapshot = appended.append("a")
    Path(appended.layout.manifest(snapshot.delta_manifest_list)).unlink()
    request = ScanRequest(snapshot=snapshot)
    parts = (appended.schema, appended.schemas, appended.manifests, ScanOptions())

    with pytest.raises(CorruptMetadataError, match=r"missing \(referred to by snapshot-1\)"):
        plan(request, *parts)
    other = structs.replace(snapshot, commit_user="another", delta_manifest_list="that-of-another")
    Path(appended.layout.snapshot(1)).write_bytes(other.to_json())
    with pytest.raises(SnapshotExpiredError, match=r"rolled back, and .* plan the read again"):
        plan(request, *parts)
    Path(appended.layout.snapshot(1)).unlink()
    with pytest.raises(SnapshotExpiredError, match="plan the read again"):
        plan(request, *parts)


def test_a_manifest_of_another_size_is_damaged(appended: SmallTable) -> None:
    snapshot = appended.append("a")
    (meta,) = appended.manifests.read_list(snapshot.delta_manifest_list)
    path = Path(appended.layout.manifest(meta.file_name))
    path.write_bytes(path.read_bytes() + b"x")

    with pytest.raises(CorruptMetadataError, match=f"{meta.file_name}.*expected were"):
        appended.plan()


@pytest.mark.parametrize("name", ["../../outside", "/etc/passwd", "a/../../b", ""])
def test_names_that_lead_out_of_the_table_are_refused(appended: SmallTable, name: str) -> None:
    with pytest.raises(CorruptMetadataError, match="leads out of"):
        appended.layout.data_file("bucket-0", name)
    with pytest.raises(CorruptMetadataError, match="leads out of"):
        appended.manifests.read_list(name, referrer="snapshot-1")


@pytest.mark.parametrize(
    "uri",
    [
        "file:/etc/passwd",
        "/etc/passwd",
        "file:/data/t2/a",
        "file:/data/t",
        "file:/data/t/../../etc/passwd",
        "file:/data/t/./a",
        "file:/data/t/a\\b",
        "file:/data/t/a\n",
        "file://host/data/t/a",
        "s3://data/t/a",
        "http://127.0.0.1/data/t/a",
    ],
)
def test_files_outside_the_table_and_its_roots_are_refused(appended: SmallTable, uri: str) -> None:
    layout = structs.replace(appended.layout, external_roots=("/data/t",))

    with pytest.raises(UnsupportedError, match=r"data-file\.external-paths"):
        layout.data_file("bucket-0", "a", uri)


def test_files_below_an_external_root_are_found(appended: SmallTable) -> None:
    layout = structs.replace(appended.layout, external_roots=("/data/t", "/x"))

    assert layout.data_file("b", "a", "file:///data/t/p=%3A/b/a") == "/data/t/p=%3A/b/a"
    assert layout.data_file("b", "a", "file:/x/a") == "/x/a"


def files_by_split(plan: Plan) -> list[list[str]]:
    return sorted(sorted(file.file_name for file in split.files) for split in plan.splits)


def evolving(table: SmallTable, where: Predicate | None = None) -> Plan:
    options = ScanOptions(data_evolution=True, split_target_bytes=1)
    return table.plan(where, options=options)


def test_files_with_the_same_row_ids_are_one_unit_and_their_rows_count_once(
    appended: SmallTable,
) -> None:
    appended.append("a", write_cols=("id",), row_count=5, first_row_id=0)
    appended.append("b", write_cols=("v",), row_count=5, first_row_id=0)
    appended.append("c", row_count=7, first_row_id=5)
    appended.append("d", row_count=3)

    plan = evolving(appended)

    assert files_by_split(plan) == [["a", "b"], ["c"], ["d"]]
    assert {split.row_count: split.raw_convertible for split in plan.splits} == {
        5: False,
        7: True,
        3: True,
    }


@pytest.mark.parametrize(("first_row_id", "row_count"), [(3, 5), (0, 4), (0, 6), (4, 1)])
def test_row_ids_that_overlap_without_being_the_same_are_refused(
    appended: SmallTable, first_row_id: int, row_count: int
) -> None:
    appended.append("a", row_count=5, first_row_id=0)
    appended.append("b", row_count=row_count, first_row_id=first_row_id)

    with pytest.raises(UnsupportedError, match=r"data-evolution\.enabled.* overlap"):
        evolving(appended)


def test_without_data_evolution_files_with_the_same_row_ids_are_not_put_together(
    appended: SmallTable,
) -> None:
    appended.append("a", row_count=5, first_row_id=0)
    appended.append("b", row_count=5, first_row_id=0)

    plan = appended.plan(options=ScanOptions(split_target_bytes=1))

    assert files_by_split(plan) == [["a"], ["b"]]
