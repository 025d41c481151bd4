from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest

from paimonlab.commit.options import CommitOptions
from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import (
    CommitHistoryExpiredError,
    CorruptMetadataError,
    FilesConflictError,
    SnapshotConflictError,
    TableNotFoundError,
)
from paimonlab.spec.binary_row.rows import encode, encode_one
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, CommitKind
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from tests.small_tables import SmallTable, text_row

WHOLE = OverwriteScope.whole_table()


@pytest.fixture
def table(tmp_path: Path) -> SmallTable:
    return SmallTable(tmp_path).create()


@pytest.fixture
def partitioned(tmp_path: Path) -> SmallTable:
    return SmallTable(
        tmp_path, columns={"dt": "STRING", "h": "INT"}, partition_keys=["dt"]
    ).create()


def test_the_first_snapshot_is_as_java_writes_it(table: SmallTable) -> None:
    snapshot = table.append("a", row_count=7)

    assert (snapshot.version, snapshot.id, snapshot.schema_id) == (3, 1, 0)
    assert snapshot.commit_kind is CommitKind.APPEND
    assert (snapshot.total_record_count, snapshot.delta_record_count) == (7, 7)
    assert snapshot.next_row_id == 0
    assert (snapshot.watermark, snapshot.properties, snapshot.statistics) == (None, None, None)
    base = Path(table.layout.manifest(snapshot.base_manifest_list))
    assert base.stat().st_size == snapshot.base_manifest_list_size
    assert table.manifests.read_list(snapshot.base_manifest_list) == []
    assert table.snapshots.latest() == snapshot
    assert Path(table.layout.latest_hint).read_bytes() == b"1"


def test_appends_add_up(table: SmallTable) -> None:
    table.append("a")
    table.append("b", "c", row_count=5)

    latest = table.snapshots.latest()

    assert latest is not None
    assert (latest.total_record_count, latest.delta_record_count) == (20, 10)
    assert table.live_names() == ["a", "b", "c"]
    assert table.live_names(table.snapshots.get(1)) == ["a"]


def test_nothing_to_commit_is_no_snapshot(table: SmallTable) -> None:
    assert table.committer.append([], user="u", identifier=1) is None
    assert table.committer.append([table.message()], user="u", identifier=1) is None
    assert table.snapshots.latest() is None


def test_an_empty_commit_happens_if_it_is_wanted_or_says_something(table: SmallTable) -> None:
    table.commit_options = CommitOptions(ignore_empty_commit=False)
    first = table.committer.append([], user="u", identifier=1)
    table.commit_options = CommitOptions()
    second = table.committer.append([], user="u", identifier=2, properties={"k": "v"})

    assert first is not None
    assert second is not None
    assert (second.id, second.properties, second.total_record_count) == (2, {"k": "v"}, 0)


def test_the_same_user_and_identifier_land_once(table: SmallTable) -> None:
    messages = [table.message("a")]
    first = table.committer.append(messages, user="u", identifier=BATCH_COMMIT_IDENTIFIER)
    table.append("b")

    again = table.committer.append(messages, user="u", identifier=BATCH_COMMIT_IDENTIFIER)

    assert again == first
    assert table.live_names() == ["a", "b"]
    assert table.metadata_files() == table.referenced_files()


def test_a_user_goes_on_with_greater_identifiers(table: SmallTable) -> None:
    for identifier in (1, 2, 5):
        message = table.message(f"f{identifier}")
        assert table.committer.append([message], user="u", identifier=identifier) is not None

    replayed = table.committer.append([table.message("x")], user="u", identifier=2)
    with pytest.raises(ValueError, match="committed 5 before 3"):
        table.committer.append([table.message("x")], user="u", identifier=3)

    assert replayed is not None
    assert replayed.id == 2
    assert table.live_names() == ["f1", "f2", "f5"]
    assert table.metadata_files() == table.referenced_files()


def test_a_commit_that_may_be_forgotten_is_not_repeated(table: SmallTable) -> None:
    table.append("a")
    table.append("b")
    Path(table.layout.snapshot(1)).unlink()
    old = table.message("c", creation_time_millis=1_000)
    unknown = table.message("c", creation_time_millis=None)
    fresh = table.message("c", creation_time_millis=4_000_000_000_000)

    for message in (old, unknown):
        with pytest.raises(CommitHistoryExpiredError, match="'u', 1"):
            table.committer.append([message], user="u", identifier=1)
    assert table.committer.append([fresh], user="u", identifier=1) is not None
    promised = table.message("d", creation_time_millis=1_000)
    assert table.committer.append([promised], user="v", identifier=1, is_new_user=True) is not None


def test_watermarks_never_fall_and_are_handed_on(table: SmallTable) -> None:
    marks = []
    for identifier, watermark in enumerate([None, 50, 40, None, 60]):
        message = table.message(f"f{identifier}")
        snapshot = table.committer.append(
            [message], user="u", identifier=identifier, watermark=watermark
        )
        assert snapshot is not None
        marks.append(snapshot.watermark)

    assert marks == [None, 50, 50, 50, 60]


def test_statistics_stay_with_their_schema_and_properties_with_their_snapshot(
    table: SmallTable,
) -> None:
    table.append("a")
    table.rewrite_latest(statistics="stat-1", properties={"k": "v"}, watermark=-(2**63))

    same_schema = table.append("b")
    table.schemas.publish(replace(table.schema, id=1))
    other_schema = table.append("c")

    assert (same_schema.statistics, same_schema.properties) == ("stat-1", None)
    assert same_schema.watermark is None
    assert (other_schema.statistics, other_schema.schema_id) == (None, 1)


def test_overwriting_all_leaves_the_new_files(table: SmallTable) -> None:
    table.append("a", "b")

    snapshot = table.committer.overwrite(
        [table.message("c", row_count=3)], scope=WHOLE, user="u", identifier=1
    )

    assert snapshot.commit_kind is CommitKind.OVERWRITE
    assert (snapshot.total_record_count, snapshot.delta_record_count) == (3, -17)
    assert table.live_names() == ["c"]
    assert table.live_names(table.snapshots.get(1)) == ["a", "b"]


def test_truncating_is_overwriting_with_nothing(table: SmallTable) -> None:
    table.append("a", "b")

    snapshot = table.committer.overwrite([], scope=WHOLE, user="u", identifier=1)

    assert (snapshot.total_record_count, snapshot.delta_record_count) == (0, -20)
    assert table.live_names() == []


def test_overwriting_an_empty_table_makes_a_snapshot(table: SmallTable) -> None:
    assert table.committer.overwrite([], scope=WHOLE, user="u", identifier=1).id == 1


def test_an_overwrite_lands_once(table: SmallTable) -> None:
    first = table.committer.overwrite(
        [table.message("a")], scope=WHOLE, user="u", identifier=BATCH_COMMIT_IDENTIFIER
    )
    table.append("b")

    again = table.committer.overwrite(
        [table.message("a")], scope=WHOLE, user="u", identifier=BATCH_COMMIT_IDENTIFIER
    )

    assert again == first
    assert table.live_names() == ["a", "b"]


def _three_days(table: SmallTable) -> None:
    messages = [table.message(f"{day}.{n}", partition=text_row(day)) for day in "abc" for n in "12"]
    assert table.committer.append(messages, user="u", identifier=1) is not None


def test_overwriting_given_partitions_leaves_the_others(partitioned: SmallTable) -> None:
    _three_days(partitioned)

    partitioned.committer.overwrite(
        [partitioned.message("new", partition=text_row("b"))],
        scope=OverwriteScope.exactly({text_row("b")}),
        user="v",
        identifier=1,
    )

    assert partitioned.live_names() == ["a.1", "a.2", "c.1", "c.2", "new"]


def test_partitions_are_dropped_by_their_values(partitioned: SmallTable) -> None:
    _three_days(partitioned)
    scope = OverwriteScope.partitions_with([{"dt": pa.scalar("a")}, {"dt": pa.scalar("c")}])

    partitioned.committer.overwrite([], scope=scope, user="v", identifier=1)

    assert partitioned.live_names() == ["b.1", "b.2"]


def test_null_is_a_value_of_a_partition(partitioned: SmallTable) -> None:
    null = partitioned.message("n", partition=_null_partition())
    partitioned.committer.append([null], user="t", identifier=1)
    _three_days(partitioned)
    scope = OverwriteScope.partitions_with([{"dt": pa.scalar(None, pa.string())}])

    partitioned.committer.overwrite([], scope=scope, user="v", identifier=1)

    assert "n" not in partitioned.live_names()
    assert len(partitioned.live_names()) == 6


@pytest.mark.parametrize("asked", ["by values", "by rows"])
def test_blanks_behind_values_of_char_columns_can_be_ignored(asked: str) -> None:
    fields = [
        DataField(0, "c", parse_type("CHAR(50)")),
        DataField(1, "d", parse_type("CHAR(50)")),
        DataField(2, "s", parse_type("STRING")),
    ]
    types = [field.type for field in fields]
    stored = pa.table(
        {
            "c": ["a", "a  ", " a", "a", "a", None, "b"],
            "d": ["x", "x", "x", "x   ", "x", "x", "x"],
            "s": ["s", "s", "s", "s", "s ", "s", "s"],
        }
    )
    partitions = encode(stored.columns, types)
    values = {"c": pa.scalar("a "), "d": pa.scalar("x"), "s": pa.scalar("s")}
    if asked == "by values":
        scope = OverwriteScope.partitions_with([values], ignores_blanks=True)
        exact = OverwriteScope.partitions_with([values])
    else:
        row = encode_one(list(values.values()), types)
        scope = OverwriteScope.exactly([row], ignores_blanks=True)
        exact = OverwriteScope.exactly([row])

    assert scope.covers(partitions, fields).tolist() == [True, True, False, True] + [False] * 3
    assert not exact.covers(partitions, fields).any()
    assert len(scope.covers(partitions[:0], fields)) == 0


def _null_partition() -> bytes:
    return bytes.fromhex("00000001" + "0001000000000000" + "0000000000000000")


def test_rows_for_a_partition_that_is_not_overwritten_are_refused(
    partitioned: SmallTable,
) -> None:
    _three_days(partitioned)
    scope = OverwriteScope.partitions_with([{"dt": pa.scalar("a")}])
    message = partitioned.message("x", partition=text_row("b"))

    with pytest.raises(ValueError, match="partitions that are not overwritten"):
        partitioned.committer.overwrite([message], scope=scope, user="v", identifier=1)

    assert partitioned.metadata_files() == partitioned.referenced_files()


def test_a_changed_number_of_buckets_is_a_conflict(table: SmallTable) -> None:
    table.append("a", total_buckets=2)

    with pytest.raises(FilesConflictError, match="4 buckets meet files of 2"):
        table.append("b", total_buckets=4)
    table.committer.overwrite(
        [table.message("c", total_buckets=4)], scope=WHOLE, user="u", identifier=1
    )
    table.append("d", total_buckets=4)

    assert table.live_names() == ["c", "d"]
    assert table.metadata_files() == table.referenced_files()


def test_what_a_writer_has_seen_is_not_looked_at_again(table: SmallTable) -> None:
    """With the snapshot the writer went on from, only later changes can be in conflict."""
    table.append("a", total_buckets=2)
    table.append("b", total_buckets=2)
    stale = [table.message("c", total_buckets=4)]

    for checked_id in (0, 1):
        with pytest.raises(FilesConflictError):
            table.committer.append(stale, user="u", identifier=1, checked_id=checked_id)
    fine = [table.message("c", total_buckets=2)]
    assert table.committer.append(fine, user="u", identifier=1, checked_id=2) is not None


@pytest.mark.parametrize("checked_id", [0, 1, 2, None])
def test_a_file_that_came_and_went_since_is_not_deleted_again(
    table: SmallTable, checked_id: int | None
) -> None:
    """Who looked at the table twice may have seen what was not there when it looked first."""
    table.append("a")
    table.append("b")
    (old,) = table.message("b").new_files
    for name in ("c", "d"):
        made = table.message(name)
        rewritten = replace_files(made, before=(old,), after=made.new_files)
        if name == "d":
            with pytest.raises(FilesConflictError, match="b"):
                table.committer.append([rewritten], user=name, identifier=1, checked_id=checked_id)
        else:
            table.committer.append([rewritten], user=name, identifier=1)

    assert table.live_names() == ["a", "c"]


def replace_files(
    message: CommitMessage, *, before: tuple[DataFileMeta, ...], after: tuple[DataFileMeta, ...]
) -> CommitMessage:
    return msgspec.structs.replace(
        message, new_files=(), compact_before=before, compact_after=after
    )


@pytest.mark.parametrize("total_buckets", [1, -1])
def test_messages_of_a_landed_commit_are_a_conflict_under_another_user(
    table: SmallTable, total_buckets: int
) -> None:
    """Readers could not make sense of a file that is there twice."""
    table.append("a", total_buckets=total_buckets)
    table.append("b", total_buckets=total_buckets)

    with pytest.raises(FilesConflictError, match="a would be added twice"):
        table.append("a", total_buckets=total_buckets)

    assert table.live_names() == ["a", "b"]


def test_many_changes_since_the_writer_looked(table: SmallTable) -> None:
    for number in range(103):
        table.append(f"f{number}", total_buckets=2)
    stale, fine = (table.message("new", total_buckets=total) for total in (4, 2))

    with pytest.raises(FilesConflictError, match="4 buckets meet files of 2"):
        table.committer.append([stale], user="u", identifier=1, checked_id=1)
    assert table.committer.append([fine], user="u", identifier=1, checked_id=1) is not None


def test_small_manifests_are_merged_and_nothing_is_lost(table: SmallTable) -> None:
    table.commit_options = CommitOptions(manifest_merge_min_count=5)
    names = [f"f{number:02}" for number in range(23)]
    for name in names:
        table.append(name)

    latest = table.snapshots.latest()
    assert latest is not None
    assert len(table.manifests.read_list(latest.base_manifest_list)) < 6
    assert table.live_names() == names
    assert [table.live_names(s) for s in table.snapshots.list()] == [
        names[: number + 1] for number in range(23)
    ]
    assert table.metadata_files() == table.referenced_files()


def test_a_full_rewrite_drops_all_deletions(table: SmallTable) -> None:
    table.append("a", "b")
    table.committer.overwrite([table.message("c")], scope=WHOLE, user="u", identifier=1)
    table.commit_options = CommitOptions(full_compaction_threshold_bytes=1)

    snapshot = table.append("d")

    base = table.manifests.read_list(snapshot.base_manifest_list)
    assert [(meta.num_added_files, meta.num_deleted_files) for meta in base] == [(1, 0)]
    assert table.live_names() == ["c", "d"]


def test_manifests_are_rewritten_when_asked(table: SmallTable) -> None:
    assert table.committer.compact_manifests(user="u") is None
    table.append("a", "b")
    assert table.committer.compact_manifests(user="v") is None
    table.append("c")
    table.committer.overwrite([table.message("d")], scope=WHOLE, user="o", identifier=1)
    table.append("e")

    snapshot = table.committer.compact_manifests(user="w")

    assert snapshot is not None
    assert (snapshot.commit_kind, snapshot.delta_record_count) == (CommitKind.COMPACT, 0)
    assert snapshot.total_record_count == 20
    base = table.manifests.read_list(snapshot.base_manifest_list)
    assert [(meta.num_added_files, meta.num_deleted_files) for meta in base] == [(2, 0)]
    assert table.manifests.read_list(snapshot.delta_manifest_list) == []
    assert table.live_names() == ["d", "e"]
    assert table.committer.compact_manifests(user="x") is None
    assert table.metadata_files() == table.referenced_files()


def test_large_manifests_are_cut_and_then_left_alone(table: SmallTable) -> None:
    table.commit_options = CommitOptions(
        manifest_target_size_bytes=2_000, full_compaction_threshold_bytes=4_000
    )
    names = [f"data-{number:05}" for number in range(6000)]
    table.append(*names)

    table.append("x")
    snapshot = table.append("y")
    base = table.manifests.read_list(snapshot.base_manifest_list)

    assert len(base) > 3
    assert all(meta.file_size_bytes >= 2_000 for meta in base[:-2])
    assert table.live_names() == sorted([*names, "x", "y"])
    assert table.metadata_files() == table.referenced_files()


def test_a_missing_manifest_fails_the_commit_and_leaves_nothing(table: SmallTable) -> None:
    snapshot = table.append("a")
    Path(table.layout.manifest(snapshot.delta_manifest_list)).unlink()

    with pytest.raises(CorruptMetadataError, match=r"missing \(referred to by snapshot-1\)"):
        table.append("b")

    assert len(table.metadata_files()) == 3


def test_a_table_that_was_dropped_takes_no_commit(tmp_path: Path) -> None:
    with pytest.raises(TableNotFoundError, match=r"db.t"):
        SmallTable(tmp_path).append("a")

    assert list(tmp_path.iterdir()) == []


def test_no_retries_means_none(table: SmallTable, monkeypatch: pytest.MonkeyPatch) -> None:
    table.append("a")
    table.commit_options = CommitOptions(max_retries=0)
    committer = table.committer
    first = table.snapshots.get(1)
    monkeypatch.setattr(committer._snapshots, "latest_before_commit", lambda: first)
    table.append("b")

    with pytest.raises(
        SnapshotConflictError, match=r"gave up after 1 attempts.*snapshot 2"
    ) as caught:
        committer.append([table.message("c")], user="u", identifier=1)

    assert pickle.loads(pickle.dumps(caught.value)).snapshot_id == 2
    assert table.live_names() == ["a", "b"]
    assert table.metadata_files() == table.referenced_files()


def test_rewriting_manifests_changes_neither_schema_nor_properties(table: SmallTable) -> None:
    table.append("a")
    table.append("b")
    table.rewrite_latest(properties={"k": "v"}, watermark=7, statistics="stat-1")
    table.schemas.publish(replace(table.schema, id=1))

    snapshot = table.committer.compact_manifests(user="u")

    assert snapshot is not None
    assert (snapshot.schema_id, snapshot.properties) == (0, {"k": "v"})
    assert (snapshot.watermark, snapshot.statistics) == (7, "stat-1")
    assert snapshot.changelog_record_count == 0
