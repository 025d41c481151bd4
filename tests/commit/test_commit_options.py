"""Options of a table that steer what a commit does."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from paimonlab.commit.options import CommitOptions
from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import FilesConflictError, PostCommitError
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.snapshot import Snapshot
from tests.small_tables import SmallTable, row

WHOLE = OverwriteScope.whole_table()


@pytest.fixture
def table(tmp_path: Path) -> SmallTable:
    return SmallTable(tmp_path).create()


def options(values: dict[str, str]) -> CommitOptions:
    return Options(values).slice(CommitOptions)


def test_strict_mode_does_not_stand_others_who_rewrite(table: SmallTable) -> None:
    table.append("a")
    table.append("b")
    table.commit_options = options({"commit.strict-mode.last-safe-snapshot": "1"})
    committer = table.committer
    assert committer.append([table.message("c")], user="me", identifier=1) is not None
    committer.overwrite([table.message("d")], scope=WHOLE, user="me", identifier=2)
    table.commit_options = CommitOptions()
    table.committer.overwrite([table.message("e")], scope=WHOLE, user="you", identifier=1)

    with pytest.raises(FilesConflictError, match="snapshot 5 is a OVERWRITE of 'you'"):
        committer.append([table.message("f")], user="me", identifier=3)

    assert table.live_names() == ["e"]
    assert table.metadata_files() == table.referenced_files()


def test_strict_mode_can_begin_with_the_first_commit(table: SmallTable) -> None:
    table.append("a")
    table.committer.overwrite([], scope=WHOLE, user="you", identifier=1)
    table.commit_options = options({"commit.strict-mode.last-safe-snapshot": "-1"})
    committer = table.committer

    assert committer.append([table.message("b")], user="me", identifier=1) is not None
    table.committer.overwrite([], scope=WHOLE, user="you", identifier=2)
    with pytest.raises(FilesConflictError, match="snapshot 4"):
        committer.append([table.message("c")], user="me", identifier=2)


def test_strict_mode_wants_to_see_all_snapshots(table: SmallTable) -> None:
    for name in "abc":
        table.append(name)
    Path(table.layout.snapshot(1)).unlink()
    table.commit_options = options({"commit.strict-mode.last-safe-snapshot": "0"})

    with pytest.raises(FilesConflictError, match="snapshot 1 has expired"):
        table.append("d", creation_time_millis=4_000_000_000_000)


def test_files_that_are_there_can_be_left_out(table: SmallTable) -> None:
    table.append("a")
    table.commit_options = options({"commit.discard-duplicate-files": "true"})

    snapshot = table.append("a", "b")

    assert (snapshot.delta_record_count, snapshot.total_record_count) == (10, 20)
    assert table.live_names() == ["a", "b"]
    with pytest.raises(FilesConflictError, match="added twice"):
        table.append("c", "c")


def test_a_file_left_out_stays_out_when_the_race_is_lost(table: SmallTable) -> None:
    table.append("a")
    table.commit_options = options({"commit.discard-duplicate-files": "true"})
    committer = table.committer
    publisher = committer._landing.publisher

    class Late:
        tries = 0

        def publish(self, snapshot: Snapshot) -> bool:
            self.tries += 1
            if self.tries == 1:
                SmallTable(table.path).append("x")
            return publisher.publish(snapshot)

    committer._landing.publisher = Late()
    committer.append([table.message("a", "b")], user="u", identifier=1)

    assert table.live_names() == ["a", "b", "x"]


def test_a_snapshot_can_be_forced(table: SmallTable) -> None:
    table.commit_options = options({"commit.force-create-snapshot": "true"})

    snapshot = table.committer.append([], user="u", identifier=1)

    assert snapshot is not None
    assert snapshot.id == 1


def test_entries_of_deleted_files_can_go_without_statistics(table: SmallTable) -> None:
    stats = table.stats([1, "a"], [9, "z"], [0, 0])
    table.append("a", value_stats=stats)
    table.commit_options = options({"manifest.delete-file-drop-stats": "true"})

    snapshot = table.committer.overwrite(
        [table.message("b", value_stats=stats)], scope=WHOLE, user="u", identifier=1
    )

    (entries,) = table.manifests.read(table.manifests.read_list(snapshot.delta_manifest_list))
    columns = ["file_name", "value_stats_min_values", "value_stats_null_counts", "value_stats_cols"]
    low = row([1, "a"], table.schema.fields)
    assert [tuple(one.values()) for one in entries.select(columns).to_pylist()] == [
        ("a", bytes(12), [], []),
        ("b", low, [0, 0], None),
    ]
    assert table.live_names() == ["b"]


def test_callbacks_are_called_with_what_changed_and_again_for_a_repetition(
    table: SmallTable,
) -> None:
    calls: list[tuple[int, list[str]]] = []

    def note(snapshot: Snapshot, changes: pa.Table) -> None:
        calls.append((snapshot.id, changes["file_name"].to_pylist()))

    committer = table.committer.with_callbacks([note])
    for _ in range(2):
        committer.append([table.message("a", "b")], user="u", identifier=1)
    table.append("c")

    assert calls == [(1, ["a", "b"]), (1, ["a", "b"])]


def test_a_callback_that_fails_does_not_undo_the_commit(table: SmallTable) -> None:
    def fail(snapshot: Snapshot, changes: pa.Table) -> None:
        raise RuntimeError("no network")

    with pytest.raises(PostCommitError, match="snapshot 1 is committed.*no network"):  # noqa: RUF043
        table.committer.with_callbacks([fail]).append([table.message("a")], user="u", identifier=1)

    assert table.live_names() == ["a"]
    assert table.metadata_files() == table.referenced_files()


def test_options_are_read_from_the_table() -> None:
    found = options({"bucket": "4", "row-tracking.enabled": "true"})

    assert found == CommitOptions(buckets=4, row_tracking=True)
