"""Traps of the format and bugs that other writers had, one test each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import fastavro
import pytest

from paimonlab.commit.options import CommitOptions
from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import CommitOutcomeUnknownError, FilesConflictError
from paimonlab.formats.manifests import manifest as manifest_avro
from paimonlab.formats.manifests.index_manifest import read_index_manifest, write_index_manifest
from paimonlab.formats.manifests.records import ENTRY, INDEX_ENTRY, LIST_ENTRY
from paimonlab.scan.entries import identities
from paimonlab.scan.live_files import live_entries
from paimonlab.spec.manifests.data_file import EMPTY_ROW
from paimonlab.spec.manifests.index_manifest import DELETION_VECTORS, IndexManifestEntry
from paimonlab.spec.snapshot import CommitKind, Snapshot
from tests.commit.test_kinds import User, index, index_names
from tests.small_tables import SmallTable, data_file, drawn_entries, entry, text_row

WHOLE = OverwriteScope.whole_table()


@pytest.fixture
def table(tmp_path: Path) -> SmallTable:
    return SmallTable(tmp_path).create()


def test_partitions_are_equal_by_their_bytes(tmp_path: Path) -> None:
    """Bytes decide, as in Java: two encodings of one value do not share a bucket count."""
    partitioned = SmallTable(tmp_path, partition_keys=["v"]).create()
    partitioned.append("a", partition=text_row("x"), total_buckets=2)

    with pytest.raises(FilesConflictError, match="for 4 buckets"):
        partitioned.append("b", partition=text_row("x"), total_buckets=4)
    partitioned.append("c", partition=text_row("x longer than seven"), total_buckets=4)


@pytest.mark.parametrize("record", [ENTRY, LIST_ENTRY, INDEX_ENTRY])
def test_null_comes_first_in_every_union(record: dict[str, object]) -> None:
    unions = []

    def walk(node: object) -> None:
        if isinstance(node, list) and node and all(isinstance(one, str | dict) for one in node):
            if "null" in node:
                unions.append(node)
            for one in node:
                walk(one)
        elif isinstance(node, dict):
            for one in node.values():
                walk(one)

    walk(record)

    assert unions
    assert all(union[0] == "null" and len(union) == 2 for union in unions)
    fastavro.parse_schema(record)


def test_no_list_of_statistics_columns_is_not_an_empty_one() -> None:
    entries = [
        entry("all", value_stats_cols=None),
        entry("none", value_stats_cols=()),
        entry("some", value_stats_cols=("id",)),
    ]

    again = manifest_avro.read_entries(manifest_avro.write_entries(entries), path="m")

    assert again["value_stats_cols"].to_pylist() == [None, [], ["id"]]


def test_an_index_file_without_vectors_keeps_its_empty_list(table: SmallTable) -> None:
    """Java rejects null here; a rewrite that turned [] into null would break the table."""
    user = User(table)
    user.commit(new_files=(data_file("a"), data_file("b")))
    user.commit(new_indexes=(index("empty", DELETION_VECTORS),))
    user.commit(new_indexes=(index("i1", DELETION_VECTORS, "a"),))

    latest = table.snapshots.latest()
    assert latest is not None
    assert latest.index_manifest is not None
    found = {file.file_name: file for file in table.manifests.read_index(latest.index_manifest)}

    assert found["empty"].deletion_vectors == ()
    hashes = IndexManifestEntry(
        partition=EMPTY_ROW,
        bucket=0,
        index_type="HASH",
        file_name="h",
        file_size_bytes=4,
        row_count=1,
    )
    (again,) = read_index_manifest(write_index_manifest([hashes]), path="i")
    assert again.deletion_vectors is None


def test_a_snapshot_has_the_latest_schema_not_that_of_the_writer(table: SmallTable) -> None:
    message = table.message("a")
    table.schemas.publish(replace(table.schema, id=1))

    snapshot = table.committer.append([message], user="u", identifier=1)

    assert snapshot is not None
    assert snapshot.schema_id == 1
    assert live_entries(snapshot, table.manifests)["schema_id"].to_pylist() == [0]


def test_a_hint_that_lags_hides_nothing(table: SmallTable) -> None:
    for name in "abc":
        table.append(name)
    Path(table.layout.latest_hint).write_text("2")

    assert table.live_names() == ["a", "b", "c"]
    assert table.append("d").id == 4


def test_a_file_that_was_moved_up_is_not_lost_by_merging_manifests(tmp_path: Path) -> None:
    """It was deleted and added under one name: who looks only at names loses it."""
    keyed = SmallTable(
        tmp_path,
        columns={"id": "INT NOT NULL"},
        primary_keys=["id"],
        options={"bucket": "1"},
        commit_options=CommitOptions(buckets=1, full_compaction_threshold_bytes=1),
    ).create()
    user = User(keyed)
    low = keyed.key_range([1], [2])
    user.commit(new_files=(data_file("a", **low),))
    user.commit(
        compact_before=(data_file("a", **low),), compact_after=(data_file("a", level=5, **low),)
    )
    for number in range(3):
        user.commit(new_files=(data_file(f"b{number}", **keyed.key_range([9], [9])),))

    assert keyed.live_names() == ["a", "b0", "b1", "b2"]


def test_identity_is_more_than_the_name() -> None:
    both = identities(drawn_entries("+a +a@5 +b"))

    assert len(set(both.tolist())) == 3


def test_a_manifest_may_belong_to_many_snapshots(table: SmallTable) -> None:
    """A commit that gives up deletes what it wrote, never what it found."""
    table.append("a")
    table.append("b")
    before = table.metadata_files()

    with pytest.raises(FilesConflictError):
        table.committer.append([table.message("a")], user="u", identifier=1)

    assert table.metadata_files() == before
    assert table.live_names() == ["a", "b"]


def test_row_ids_are_handed_on_by_commits_without_rows(table: SmallTable) -> None:
    table.commit_options = CommitOptions(row_tracking=True, ignore_empty_commit=False)
    table.append("a")

    empty = table.committer.append([], user="u", identifier=1)
    truncated = table.committer.overwrite([], scope=WHOLE, user="u", identifier=2)

    assert empty is not None
    assert (empty.next_row_id, truncated.next_row_id) == (10, 10)
    assert table.append("b").next_row_id == 20


def test_the_index_manifest_survives_appends_and_empty_commits(table: SmallTable) -> None:
    """Losing it brings deleted rows back."""
    table.commit_options = CommitOptions(ignore_empty_commit=False)
    user = User(table)
    user.commit(new_files=(data_file("a"),))
    user.commit(new_indexes=(index("i1", DELETION_VECTORS, "a"),))

    user.commit(new_files=(data_file("b"),))
    table.committer.append([], user="e", identifier=1)

    assert index_names(table) == ["i1"]


def test_a_repetition_is_known_whatever_kind_the_first_one_had(table: SmallTable) -> None:
    """The first attempt appended; seen again, the same commit would be an overwrite."""
    user = User(table)
    user.commit(new_files=(data_file("a"),))
    first = user.commit(new_files=(data_file("b"),))

    again = table.committer.overwrite(
        [table.message("b")], scope=WHOLE, user="u", identifier=first.commit_identifier
    )

    assert again == first
    assert table.live_names() == ["a", "b"]


def test_nothing_is_deleted_while_the_outcome_is_in_doubt(
    table: SmallTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimonlab.commit.settlement._PAUSE_SECONDS", 0)
    committer = table.committer
    landed: list[Snapshot] = []

    class Silent:
        def publish(self, snapshot: Snapshot) -> bool:
            landed.append(snapshot)
            raise TimeoutError("no answer")

    committer._landing.publisher = Silent()
    with pytest.raises(CommitOutcomeUnknownError):
        committer.append([table.message("a")], user="u", identifier=1)
    Path(table.layout.snapshot(1)).parent.mkdir(exist_ok=True)
    Path(table.layout.snapshot(1)).write_bytes(landed[0].to_json())  # it arrives late

    assert table.live_names() == ["a"]
    again = table.committer.append([table.message("a")], user="u", identifier=1)
    assert again is not None
    assert again.id == 1


def test_an_overwrite_replaces_what_came_meanwhile_as_if_it_had_run_after_it(
    table: SmallTable,
) -> None:
    table.append("a")
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
    snapshot = committer.overwrite([table.message("b")], scope=WHOLE, user="u", identifier=1)

    assert (snapshot.id, snapshot.commit_kind) == (3, CommitKind.OVERWRITE)
    assert table.live_names() == ["b"]
    assert table.metadata_files() == table.referenced_files()


def test_publishing_never_replaces_the_snapshot_of_another(table: SmallTable) -> None:
    """A rename would: it overwrites its target without a word."""
    table.append("a")
    path = table.layout.snapshot(1)
    before = Path(path).read_bytes()

    assert not table.file_io.publish(path, b"{}")
    assert Path(path).read_bytes() == before
    names = table.file_io.list_names(table.layout.snapshot_folder)
    assert not [name for name in names if name.endswith(".tmp")]


def test_a_half_written_hint_does_not_break_the_table(table: SmallTable) -> None:
    table.append("a")
    Path(table.layout.latest_hint).write_bytes(b"")
    Path(table.layout.earliest_hint).write_bytes(b"\0\0")

    assert table.live_names() == ["a"]
    assert table.append("b").id == 2
    assert Path(table.layout.latest_hint).read_bytes() == b"2"


def test_merging_manifests_minds_the_order(table: SmallTable) -> None:
    """Added, deleted and added again is alive; a set of deleted names would lose it."""
    table.commit_options = CommitOptions(manifest_merge_min_count=3)
    user = User(table)
    user.commit(new_files=(data_file("a"),))
    user.commit(deleted_files=(data_file("a"),))
    user.commit(new_files=(data_file("a"),))
    for number in range(6):
        user.commit(new_files=(data_file(f"b{number}"),))

    assert "a" in table.live_names()
    latest = table.snapshots.latest()
    assert latest is not None
    assert latest.total_record_count == 70
