"""What each part of a commit message becomes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from paimonlab.commit.options import CommitOptions
from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import FilesConflictError, PostCommitError, UnsupportedError
from paimonlab.scan.live_files import live_entries
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import EMPTY_ROW
from paimonlab.spec.manifests.index_manifest import (
    DELETION_VECTORS,
    HASH,
    DeletionVectorRange,
    IndexManifestEntry,
)
from paimonlab.spec.snapshot import CommitKind, Snapshot
from paimonlab.spec.statistics.table import ColumnStatistics, Statistics
from tests.small_tables import SmallTable, data_file, text_row

BUCKETED = CommitOptions(buckets=1)


@pytest.fixture
def append_table(tmp_path: Path) -> SmallTable:
    return SmallTable(tmp_path).create()


@pytest.fixture
def keyed(tmp_path: Path) -> SmallTable:
    return SmallTable(
        tmp_path,
        columns={"id": "INT NOT NULL", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "1"},
        commit_options=BUCKETED,
    ).create()


@pytest.fixture
def partitioned(tmp_path: Path) -> SmallTable:
    return SmallTable(
        tmp_path,
        columns={"dt": "STRING NOT NULL", "id": "INT NOT NULL"},
        partition_keys=["dt"],
        primary_keys=["dt", "id"],
        options={"bucket": "1"},
        commit_options=BUCKETED,
    ).create()


def index(
    name: str, index_type: str = DELETION_VECTORS, *owners: str, **fields: Any
) -> IndexManifestEntry:
    """Make an index file; deletion vectors of the data files called ``owners``."""
    ranges = tuple(DeletionVectorRange(owner, 1, 22, 1) for owner in owners)
    given: dict[str, Any] = {"partition": EMPTY_ROW, "bucket": 0}
    return IndexManifestEntry(
        index_type=index_type,
        file_name=name,
        file_size_bytes=31,
        row_count=len(owners),
        deletion_vectors=ranges if index_type == DELETION_VECTORS else None,
        **(given | fields),
    )


def files(table: SmallTable, low: int, high: int, *names: str, **fields: Any) -> Any:
    """Describe files of a primary-key table that hold a range of keys."""
    keys = table.key_range([low], [high])
    return tuple(data_file(name, **(keys | fields)) for name in names)


@dataclass
class User:
    """Commits with rising identifiers."""

    table: SmallTable
    name: str = "u"
    identifier: int = 0

    def commit(self, *, partition: bytes = EMPTY_ROW, **parts: Any) -> Snapshot:
        self.identifier += 1
        total = 1 if self.table.primary_keys else -1
        message = CommitMessage(partition=partition, bucket=0, total_buckets=total, **parts)
        snapshot = self.table.committer.append(
            [message], user=self.name, identifier=self.identifier
        )
        assert snapshot is not None
        return snapshot


def index_names(table: SmallTable, snapshot: Snapshot | None = None) -> list[str]:
    snapshot = snapshot or table.snapshots.latest()
    assert snapshot is not None
    if snapshot.index_manifest is None:
        return []
    return [file.file_name for file in table.manifests.read_index(snapshot.index_manifest)]


def kinds(table: SmallTable) -> list[str]:
    return [f"{one.commit_identifier} {one.commit_kind.value}" for one in table.snapshots.list()]


def test_deleted_files_make_an_overwrite(append_table: SmallTable) -> None:
    user = User(append_table)
    user.commit(new_files=(data_file("a"), data_file("b")))

    snapshot = user.commit(
        new_files=(data_file("c", row_count=4),), deleted_files=(data_file("a"),)
    )

    assert snapshot.commit_kind is CommitKind.OVERWRITE
    assert (snapshot.total_record_count, snapshot.delta_record_count) == (14, -6)
    assert append_table.live_names() == ["b", "c"]


def test_a_deleted_file_that_is_gone_is_a_conflict(append_table: SmallTable) -> None:
    user = User(append_table)
    user.commit(new_files=(data_file("a"),))
    user.commit(deleted_files=(data_file("a"),))

    with pytest.raises(FilesConflictError, match="a not in snapshot 2"):
        user.commit(new_files=(data_file("c"),), deleted_files=(data_file("a"),))

    assert append_table.metadata_files() == append_table.referenced_files()


def test_changelog_files_are_listed_and_counted(keyed: SmallTable) -> None:
    user = User(keyed)

    snapshot = user.commit(
        new_files=files(keyed, 1, 2, "a"), changelog_files=(data_file("changelog-a", row_count=3),)
    )

    assert snapshot.commit_kind is CommitKind.APPEND
    assert snapshot.changelog_record_count == 3
    assert snapshot.changelog_manifest_list is not None
    size = snapshot.changelog_manifest_list_size
    metas = keyed.manifests.read_list(snapshot.changelog_manifest_list, size)
    (entries,) = keyed.manifests.read(metas)
    assert entries["file_name"].to_pylist() == ["changelog-a"]
    assert keyed.live_names() == ["a"]
    following = user.commit(new_files=files(keyed, 1, 2, "b"))
    assert following.changelog_manifest_list is None
    assert following.changelog_record_count == 0
    assert keyed.metadata_files() == keyed.referenced_files()


def test_a_compaction_is_a_second_snapshot_of_the_same_commit(keyed: SmallTable) -> None:
    user = User(keyed)
    user.commit(new_files=files(keyed, 1, 5, "a"))

    snapshot = user.commit(
        new_files=files(keyed, 2, 3, "b"),
        compact_before=(*files(keyed, 1, 5, "a"), *files(keyed, 2, 3, "b")),
        compact_after=files(keyed, 1, 5, "c", row_count=15, level=5, file_source=1),
        compact_changelog=(data_file("changelog-c", row_count=2),),
    )

    assert kinds(keyed) == ["1 APPEND", "2 APPEND", "2 COMPACT"]
    assert snapshot == keyed.snapshots.get(3)
    assert snapshot.changelog_record_count == 2
    assert (snapshot.total_record_count, snapshot.delta_record_count) == (15, -5)
    assert keyed.live_names() == ["c"]
    assert keyed.live_names(keyed.snapshots.get(2)) == ["a", "b"]
    assert keyed.metadata_files() == keyed.referenced_files()


def test_compaction_alone_is_one_snapshot(keyed: SmallTable) -> None:
    user = User(keyed)
    user.commit(new_files=files(keyed, 1, 5, "a"))

    user.commit(
        compact_before=files(keyed, 1, 5, "a"), compact_after=files(keyed, 1, 5, "b", level=5)
    )

    assert kinds(keyed) == ["1 APPEND", "2 COMPACT"]


def test_a_file_may_move_to_another_level_under_its_name(keyed: SmallTable) -> None:
    user = User(keyed)
    user.commit(new_files=files(keyed, 1, 5, "a"))

    user.commit(
        compact_before=files(keyed, 1, 5, "a"), compact_after=files(keyed, 1, 5, "a", level=5)
    )

    latest = keyed.snapshots.latest()
    assert latest is not None
    live = live_entries(latest, keyed.manifests)
    assert live.select(["file_name", "level"]).to_pylist() == [{"file_name": "a", "level": 5}]


def test_a_replay_commits_just_what_is_missing(keyed: SmallTable) -> None:
    """The write landed, the process died, and its compaction did not land yet."""
    user = User(keyed)
    user.commit(new_files=files(keyed, 1, 5, "a"))
    write = {"new_files": files(keyed, 2, 3, "b")}
    compaction = {
        "compact_before": (*files(keyed, 1, 5, "a"), *files(keyed, 2, 3, "b")),
        "compact_after": files(keyed, 1, 5, "c", level=5),
    }
    user.commit(**write)

    for _ in range(2):
        User(keyed, identifier=1).commit(**write, **compaction)

    assert kinds(keyed) == ["1 APPEND", "2 APPEND", "2 COMPACT"]
    assert keyed.live_names() == ["c"]
    assert keyed.metadata_files() == keyed.referenced_files()


def test_a_write_that_landed_is_not_called_failed_because_of_its_compaction(
    keyed: SmallTable,
) -> None:
    user = User(keyed)

    with pytest.raises(PostCommitError, match=r"snapshot 1 is committed.*compaction") as caught:
        user.commit(
            new_files=files(keyed, 1, 2, "a"),
            compact_before=files(keyed, 1, 2, "gone"),
            compact_after=files(keyed, 1, 2, "b", level=5),
        )

    assert isinstance(caught.value.__cause__, FilesConflictError)
    assert keyed.live_names() == ["a"]
    assert keyed.metadata_files() == keyed.referenced_files()


def test_two_compactions_of_one_bucket_are_a_conflict(keyed: SmallTable) -> None:
    user = User(keyed)
    user.commit(new_files=(*files(keyed, 1, 5, "a"), *files(keyed, 3, 9, "b")))
    user.commit(
        compact_before=files(keyed, 1, 5, "a"), compact_after=files(keyed, 1, 5, "c", level=5)
    )

    with pytest.raises(FilesConflictError, match="c and d would hold the same keys"):
        user.commit(
            compact_before=files(keyed, 3, 9, "b"), compact_after=files(keyed, 3, 9, "d", level=5)
        )

    assert keyed.live_names() == ["b", "c"]


def test_deletion_vectors_of_an_append_table_go_by_file_name(append_table: SmallTable) -> None:
    user = User(append_table)
    user.commit(new_files=(data_file("a"), data_file("b")))

    first = user.commit(new_indexes=(index("i1", DELETION_VECTORS, "a"),))
    user.commit(new_indexes=(index("i2", DELETION_VECTORS, "b"),))
    user.commit(
        new_indexes=(index("i3", DELETION_VECTORS, "a"),),
        deleted_indexes=(index("i1", DELETION_VECTORS, "a"),),
    )

    assert first.commit_kind is CommitKind.OVERWRITE
    assert index_names(append_table) == ["i2", "i3"]
    assert index_names(append_table, first) == ["i1"]
    assert user.commit(new_files=(data_file("c"),)).commit_kind is CommitKind.APPEND
    assert index_names(append_table) == ["i2", "i3"]
    assert append_table.metadata_files() == append_table.referenced_files()


def test_rows_deleted_meanwhile_do_not_come_back(append_table: SmallTable) -> None:
    """A second vector of a file, a rewrite, or one made against an old vector, is refused."""
    user = User(append_table)
    user.commit(new_files=(data_file("a"), data_file("b")))
    user.commit(new_indexes=(index("i1", DELETION_VECTORS, "a"),))
    user.commit(
        new_indexes=(index("i2", DELETION_VECTORS, "a"),),
        deleted_indexes=(index("i1", DELETION_VECTORS, "a"),),
    )

    with pytest.raises(FilesConflictError, match="rows of a were deleted"):
        user.commit(new_indexes=(index("i3", DELETION_VECTORS, "a"),))
    with pytest.raises(FilesConflictError, match="in i1 were replaced"):
        user.commit(
            new_indexes=(index("i3", DELETION_VECTORS, "a"),),
            deleted_indexes=(index("i1", DELETION_VECTORS, "a"),),
        )
    with pytest.raises(FilesConflictError, match="rows of a were deleted"):
        user.commit(compact_before=(data_file("a"),), compact_after=(data_file("c"),))
    with pytest.raises(FilesConflictError, match="rows of a were deleted"):
        user.commit(deleted_files=(data_file("a"),), new_files=(data_file("c"),))
    user.commit(
        compact_before=(data_file("a"),),
        compact_after=(data_file("c"),),
        deleted_indexes=(index("i2", DELETION_VECTORS, "a"),),
    )

    assert append_table.live_names() == ["b", "c"]
    assert index_names(append_table) == []


def test_an_index_of_a_bucket_replaces_the_one_before(keyed: SmallTable) -> None:
    user = User(keyed)
    user.commit(new_files=files(keyed, 1, 2, "a"), new_indexes=(index("h1", HASH),))

    user.commit(
        new_files=files(keyed, 3, 4, "b"),
        compact_before=files(keyed, 1, 2, "a"),
        compact_after=files(keyed, 1, 2, "a", level=5),
        new_indexes=(index("h2", HASH), index("v1", DELETION_VECTORS, "a")),
    )

    assert kinds(keyed) == ["1 APPEND", "2 APPEND", "2 COMPACT"]
    assert index_names(keyed, keyed.snapshots.get(2)) == ["h2"]
    assert index_names(keyed) == ["h2", "v1"]


def test_an_index_that_others_changed_meanwhile_is_a_conflict(keyed: SmallTable) -> None:
    """Two writers of a dynamic bucket would put one key into two buckets."""
    mine, other = User(keyed, "me"), User(keyed, "you")
    mine.commit(new_files=files(keyed, 1, 2, "a"), new_indexes=(index("h1", HASH),))
    mine.commit(
        new_files=files(keyed, 3, 4, "b"),
        new_indexes=(index("h2", HASH),),
        checked_snapshot_id=0,
    )
    other.commit(
        new_files=files(keyed, 5, 6, "c"), new_indexes=(index("h3", HASH),), checked_snapshot_id=2
    )

    with pytest.raises(FilesConflictError, match=r"index of a bucket became h3 .*'you'"):
        mine.commit(
            new_files=files(keyed, 7, 8, "d"),
            new_indexes=(index("h4", HASH),),
            checked_snapshot_id=2,
        )

    assert index_names(keyed) == ["h3"]


def test_an_overwrite_drops_the_indexes_of_its_partitions(partitioned: SmallTable) -> None:
    user = User(partitioned)
    for day in "ab":
        owner = f"data-{day}"
        part = text_row(day)
        user.commit(
            partition=part,
            new_files=files(partitioned, 1, 2, owner),
            new_indexes=(
                index(f"h-{day}", HASH, partition=part),
                index(f"v-{day}", DELETION_VECTORS, owner, partition=part),
            ),
        )
    assert index_names(partitioned) == ["h-a", "h-b", "v-a", "v-b"]
    message = CommitMessage(
        partition=text_row("a"),
        bucket=0,
        total_buckets=1,
        new_files=files(partitioned, 1, 2, "new"),
        new_indexes=(index("h-new", HASH, partition=text_row("a")),),
    )

    partitioned.committer.overwrite(
        [message], scope=OverwriteScope.exactly({text_row("a")}), user="v", identifier=1
    )

    assert index_names(partitioned) == ["h-b", "h-new", "v-b"]
    assert partitioned.live_names() == ["data-b", "new"]
    assert partitioned.metadata_files() == partitioned.referenced_files()


def test_an_overwrite_with_compacted_files_is_two_snapshots(keyed: SmallTable) -> None:
    User(keyed).commit(new_files=files(keyed, 1, 2, "old"))
    message = CommitMessage(
        partition=EMPTY_ROW,
        bucket=0,
        total_buckets=1,
        new_files=files(keyed, 1, 2, "new"),
        changelog_files=(data_file("ignored"),),
        compact_before=files(keyed, 1, 2, "new"),
        compact_after=files(keyed, 1, 2, "new", level=5),
    )

    snapshot = keyed.committer.overwrite(
        [message], scope=OverwriteScope.whole_table(), user="v", identifier=7
    )

    assert kinds(keyed) == ["1 APPEND", "7 OVERWRITE", "7 COMPACT"]
    assert snapshot.id == 3
    assert keyed.snapshots.get(2).changelog_manifest_list is None
    assert keyed.live_names() == ["new"]


def test_indexes_of_other_types_are_handed_on_but_not_rewritten(append_table: SmallTable) -> None:
    user = User(append_table)
    user.commit(new_files=(data_file("a"),))
    name = append_table.manifests.write_index(
        [index("g1", "btree")], append_table.commit_options.manifests
    )
    append_table.rewrite_latest(index_manifest=name)

    assert user.commit(new_files=(data_file("b"),)).index_manifest == name
    with pytest.raises(UnsupportedError, match="btree index"):
        user.commit(new_indexes=(index("i1", DELETION_VECTORS, "a"),))


def test_statistics_are_a_snapshot_of_their_own(append_table: SmallTable) -> None:
    User(append_table).commit(new_files=(data_file("a"),))
    statistics = Statistics(
        snapshot_id=1,
        schema_id=0,
        merged_record_count=10,
        columns={"id": ColumnStatistics(id=0, distinct_count=10, min="1", max="10", null_count=0)},
    )

    snapshot = append_table.committer.analyze(statistics, user="a", identifier=1)
    again = append_table.committer.analyze(statistics, user="a", identifier=1)
    following = User(append_table, identifier=1).commit(new_files=(data_file("b"),))

    assert snapshot.commit_kind is CommitKind.ANALYZE
    assert (snapshot.total_record_count, snapshot.delta_record_count) == (10, 0)
    assert again == snapshot
    assert following.statistics == snapshot.statistics
    assert append_table.live_names() == ["a", "b"]
    assert append_table.metadata_files() == append_table.referenced_files()


def test_rows_get_ids_when_they_are_committed(append_table: SmallTable) -> None:
    append_table.commit_options = CommitOptions(row_tracking=True)
    user = User(append_table)

    first = user.commit(new_files=(data_file("a"), data_file("b", row_count=5)))
    second = user.commit(new_files=(data_file("c"), data_file("d", first_row_id=0)))
    third = user.commit(
        compact_before=(data_file("b"),), compact_after=(data_file("e", file_source=1),)
    )

    assert [one.next_row_id for one in (first, second, third)] == [15, 25, 25]
    columns = ["file_name", "first_row_id", "min_sequence_number", "max_sequence_number"]
    live = live_entries(third, append_table.manifests).select(columns)
    rows = sorted(tuple(row.values()) for row in live.to_pylist())
    assert rows == [("a", 0, 1, 1), ("c", 15, 2, 2), ("d", 0, 2, 2), ("e", None, 3, 3)]


def test_files_that_do_not_say_where_they_come_from_get_no_ids(append_table: SmallTable) -> None:
    append_table.commit_options = CommitOptions(row_tracking=True)

    with pytest.raises(ValueError, match="whether they were compacted"):
        User(append_table).commit(new_files=(data_file("a", file_source=None),))

    assert append_table.metadata_files() == []


def test_a_table_without_row_ids_hands_their_counter_on(append_table: SmallTable) -> None:
    append_table.commit_options = CommitOptions(row_tracking=True)
    user = User(append_table)
    user.commit(new_files=(data_file("a"),))
    append_table.commit_options = CommitOptions()

    assert user.commit(new_files=(data_file("b"),)).next_row_id == 10
