"""Bugs that other lake formats and their writers had; those that can happen here.

Each has a test with a name, here (``::name``) or beside its subject (``file::name``).

 1. Commits that were acknowledged are lost to a rename
    commit/test_race.py::eight_processes_lose_no_commit
    commit/test_traps.py::publishing_never_replaces_the_snapshot_of_another
    storage/test_local.py::of_racing_processes_exactly_one_publishes
 2. Files of a commit in doubt are deleted though it landed
    commit/test_traps.py::nothing_is_deleted_while_the_outcome_is_in_doubt
    commit/test_faults.py::a_fault_at_any_call_is_told_truly
    ::giving_up_a_writer_after_its_commit_deletes_nothing
 3. Rows are there twice after a retry
    commit/test_committer.py::the_same_user_and_identifier_land_once
    commit/test_kinds.py::a_replay_commits_just_what_is_missing
    commit/test_traps.py::a_repetition_is_known_whatever_kind_the_first_one_had
 4. An overwrite takes what others append
    commit/test_traps.py::an_overwrite_replaces_what_came_meanwhile_as_if_it_had_run_after_it
    table/changing/test_changing.py::rows_that_others_append_stay
    ::a_table_may_be_overwritten_with_what_is_read_from_it
 5. Expiry, or a tag that goes, takes files that live
    maintenance/test_snapshot_expiry.py::tags_stay_readable_and_the_rest_of_their_snapshots_goes
    maintenance/test_snapshot_expiry.py::files_of_branches_and_of_their_tags_stay
    maintenance/test_snapshot_expiry.py::nothing_goes_if_what_is_needed_cannot_be_told
    maintenance/test_snapshot_expiry.py::a_tag_made_while_snapshots_go_keeps_its_files
    maintenance/test_snapshot_expiry.py::a_file_that_was_brought_back_stays
    table/upkeep/test_tags.py::files_that_only_a_tag_kept_go_with_it
    table/upkeep/test_tags.py::what_cannot_be_read_may_need_any_file
    maintenance/test_rollback.py::a_tag_that_cannot_be_read_keeps_all
 6. Cleaning of orphans takes files that live
    maintenance/test_orphans.py::nothing_of_a_table_is_an_orphan
    maintenance/test_orphans.py::files_that_a_commit_names_meanwhile_stay
    maintenance/test_orphans.py::nothing_is_an_orphan_if_what_is_needed_cannot_be_read
    maintenance/test_orphans.py::young_files_stay
 7. Conflicts are not noticed
    commit/test_kinds.py::rows_deleted_meanwhile_do_not_come_back
    commit/test_committer.py::a_changed_number_of_buckets_is_a_conflict
    table/changing/test_changing_race.py::no_update_is_lost_and_no_deleted_row_comes_back
    ::a_lost_race_is_not_run_again_on_what_was_there_before
 8. Deletion vectors show old rows, outlive their files, or are forgotten
    table/changing/test_changing.py::vectors_are_not_switched_over_rows_of_keys
    table/changing/test_changing.py::dropping_partitions_drops_their_vectors
    table/changing/test_changing.py::overwriting_drops_vectors_of_what_it_replaces
    table/changing/test_changing.py::rewriting_a_file_obeys_its_vector_and_takes_it_along
    ::vectors_that_say_nothing_are_damage_not_an_absence
 9. The index manifest is lost by a commit
    commit/test_traps.py::the_index_manifest_survives_appends_and_empty_commits
    table/changing/test_changing.py::appends_and_overwrites_of_others_hand_the_vectors_on
10. Columns are found by name
    datafile/test_evolution.py::a_column_dropped_and_added_again_is_null_in_old_files
    scan/test_plan.py::statistics_find_their_columns_by_id
    spec/test_schema_change.py::a_renamed_column_keeps_its_id_and_options_follow
    ::a_column_added_again_has_no_values_to_filter_or_delete_by
11. Files are pruned, limits and filters applied, too early
    scan/test_plan.py::partition_columns_are_not_looked_up_in_statistics
    scan/test_plan.py::values_prune_a_keyed_file_only_where_nothing_merges
    read/test_splits.py::a_condition_on_values_does_not_bring_back_old_rows
    read/test_splits.py::columns_of_a_condition_need_not_be_wanted
    scan/test_pruning.py::pruned_reads_find_what_a_filter_of_all_rows_finds
    ::a_limit_counts_rows_that_are_not_deleted
    ::a_limit_counts_keys_not_rows_of_files
    ::a_dot_in_a_name_is_no_path
12. Keys go to other buckets, or to a bucket by two writers
    spec/test_binary_row.py::rows_hashes_and_buckets_are_those_of_java
    interop/test_keys.py::rows_go_to_the_same_buckets
    ::two_writers_of_one_bucket_show_a_key_once
13. Numbers: sums, offsets of 2 GB, times before 1970, NaN and null
    interop/test_merge_engines.py::an_aggregate_function_agrees_with_java
    merge/test_engines.py::an_aggregate_function_agrees_with_the_model
    ::many_bytes_of_rows_need_64_bits
    datafile/test_casts.py::values_are_cast_as_java_casts_them
    table/changing/test_changing.py::a_null_and_a_nan_are_not_deleted_by_a_comparison
14. Tasks that run twice
    table/test_table.py::a_writer_commits_many_times_and_each_commit_once
    commit/test_traps.py::a_manifest_may_belong_to_many_snapshots
15. Metadata that is half written breaks the table
    commit/test_faults.py::killed_at_any_call_the_table_is_old_or_new
    commit/test_traps.py::a_half_written_hint_does_not_break_the_table
    storage/test_local.py::replace_leaves_no_temporary_file
16. Names that lead elsewhere, and messages that are programs
    table/test_bad_input.py::a_path_that_leaves_the_table_is_refused
    scan/test_plan.py::names_that_lead_out_of_the_table_are_refused
    catalog/test_filesystem.py::names_that_cannot_be_folders_are_refused
    ::a_partition_stays_in_the_folder_of_its_table
    ::a_message_is_no_program
"""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pyarrow as pa
import pytest
from msgspec.structs import replace

import paimonlab as pl
from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import CorruptMetadataError, FilesConflictError
from paimonlab.formats.manifests.index_manifest import read_index_manifest, write_index_manifest
from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import EMPTY_ROW
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.text import parse_type
from tests.small_tables import SmallTable, data_file
from tests.traps.tables import ints, new_table, opened, rows

VECTORS = {"deletion__vectors_enabled": "true"}


def test_giving_up_a_writer_after_its_commit_deletes_nothing(tmp_path: Path) -> None:
    """Who drives the writer may not know that the commit has landed."""
    table = new_table(tmp_path, {"k": "INT"}, keys=["k"], bucket="1")
    writer = table.new_writer()
    writer.write(ints(k=[1]))
    messages = writer.prepare_commit()
    table.commit(messages)

    writer.abort()

    assert rows(table) == [(1,)]


@pytest.mark.parametrize("options", [{}, VECTORS], ids=["plain", "vectors"])
def test_a_table_may_be_overwritten_with_what_is_read_from_it(
    options: dict[str, str], tmp_path: Path
) -> None:
    table = new_table(tmp_path, {"k": "INT"}, **options)
    table.write(ints(k=[1, 2]))
    table.write(ints(k=[3]))
    table.delete("k = 2")

    table.overwrite(table.scan())
    assert rows(table) == [(1,), (3,)]
    table.write(table.scan())
    assert rows(table) == [(1,), (1,), (3,), (3,)]


def test_a_column_added_again_has_no_values_to_filter_or_delete_by(tmp_path: Path) -> None:
    """Statistics and values of the column that had the name before belong to nobody."""
    table = new_table(tmp_path, {"k": "INT", "v": "INT"}, **VECTORS)
    table.write(ints(k=[1, 2], v=[10, 20]))
    catalog = pl.connect(tmp_path)
    catalog.alter_table("db.t", pl.DropColumn("v"))
    catalog.alter_table("db.t", pl.AddColumn("v", "INT"))
    table = opened(tmp_path)

    assert table.delete("v = 10") is None
    assert rows(table, where="v IS NULL") == [(1, None), (2, None)]
    assert rows(table, where="v = 20") == []


def test_a_limit_counts_rows_that_are_not_deleted(tmp_path: Path) -> None:
    table = new_table(tmp_path, {"k": "INT"}, source_split_open__file__cost="1 gb", **VECTORS)
    for first in (0, 10, 20):
        table.write(ints(k=list(range(first, first + 10))))
    table.delete("k < 9 OR k BETWEEN 10 AND 17")

    for limit in range(15):
        assert table.scan(limit=limit).to_arrow().num_rows == min(limit, 13)
        some = table.scan(where="k >= 15", limit=limit).to_arrow()
        assert some.num_rows == min(limit, 12)


def test_a_limit_counts_keys_not_rows_of_files(tmp_path: Path) -> None:
    table = new_table(tmp_path, {"k": "INT", "v": "INT"}, keys=["k"], bucket="4")
    for value in range(4):
        table.write(ints(k=[1, 2, 3, 4], v=[value] * 4))

    for limit in range(6):
        assert table.scan(limit=limit).to_arrow().num_rows == min(limit, 4)
    assert table.scan(where="v = 0", limit=1).to_arrow().num_rows == 0


@pytest.mark.parametrize("options", [{}, VECTORS], ids=["plain", "vectors"])
def test_a_dot_in_a_name_is_no_path(options: dict[str, str], tmp_path: Path) -> None:
    table = new_table(tmp_path, {"a": "ROW<b INT>", "a.b": "INT"}, **options)
    given = pa.table(
        {
            "a": pa.array([{"b": 1}, {"b": 2}], table.arrow_schema.field("a").type),
            "a.b": pa.array([20, 10], pa.int32()),
        }
    )
    table.write(given)

    assert table.scan(["a.b"]).to_arrow().to_pylist() == [{"a.b": 20}, {"a.b": 10}]
    assert table.scan(["a"], where="`a.b` > 15").to_arrow().to_pylist() == [{"a": {"b": 1}}]
    table.update({"a.b": "7"}, where="`a.b` = 10")
    table.delete("`a.b` = 20")
    assert table.scan().to_arrow().to_pylist() == [{"a": {"b": 2}, "a.b": 7}]


def test_two_writers_of_one_bucket_show_a_key_once(tmp_path: Path) -> None:
    table = new_table(tmp_path, {"k": "INT", "v": "INT"}, keys=["k"], bucket="1")
    table.write(ints(k=[1, 2], v=[0, 0]))
    messages = []
    for value in (1, 2):
        writer = table.new_writer()
        writer.write(ints(k=[1, 3], v=[value, value]))
        messages += writer.prepare_commit()
    table.commit(messages)

    assert rows(table) == [(1, 2), (2, 0), (3, 2)]
    assert rows(table, where="k = 1") == [(1, 2)]
    assert table.lookup(ints(k=[1])).to_pylist() == [{"k": 1, "v": 2}]


def test_vectors_that_say_nothing_are_damage_not_an_absence(tmp_path: Path) -> None:
    """Java does not open such a table; read as one without vectors, deleted rows come back."""
    table = new_table(tmp_path, {"k": "INT"}, **VECTORS)
    table.write(ints(k=[1, 2]))
    table.delete("k = 1")
    assert table.snapshot is not None
    assert table.snapshot.index_manifest is not None
    path = Path(table.path) / "manifest" / table.snapshot.index_manifest
    index = read_index_manifest(path.read_bytes(), path="i")
    silent = [replace(one, deletion_vectors=None) for one in index]
    path.write_bytes(write_index_manifest(silent))
    table = opened(tmp_path)

    with pytest.raises(CorruptMetadataError, match="does not say what is in it"):
        table.scan().to_arrow()
    with pytest.raises(CorruptMetadataError, match="does not say what is in it"):
        table.delete("k = 2")
    (finding,) = table.fsck().findings
    assert "does not say of which files" in finding.problem


@pytest.mark.parametrize("value", ["..", "../../x", "/etc", "a/../../b", ".", "a\\b", "\0"])
def test_a_partition_stays_in_the_folder_of_its_table(value: str, tmp_path: Path) -> None:
    table = new_table(tmp_path / "w", {"p": "STRING", "v": "INT"}, partitions=["p"])
    table.write(pa.table({"p": [value], "v": pa.array([1], pa.int32())}))

    assert rows(table) == [(value, 1)]
    (file,) = tmp_path.rglob("*.parquet")
    assert file.parent.parent.parent == Path(table.path)
    assert [path.name for path in tmp_path.iterdir()] == ["w"]


class Harmful:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("harm",)


def test_a_message_is_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ValueError, match="message"):
        CommitMessage.from_bytes(pickle.dumps(Harmful()))

    assert not list(tmp_path.iterdir())


def test_many_bytes_of_rows_need_64_bits() -> None:
    """Offsets of 32 bits end at 2 GB; keys and partitions of one batch may be more."""
    rows_of_text = encode([pa.array(["x"])], [parse_type("STRING")])

    assert pa.types.is_large_binary(rows_of_text.type)


def test_a_lost_race_is_not_run_again_on_what_was_there_before(tmp_path: Path) -> None:
    """The file whose rows are replaced went meanwhile: what replaces it would bring them back."""
    table = SmallTable(tmp_path).create()
    table.append("a")
    committer = table.committer
    publisher = committer._landing.publisher

    class Late:
        tries = 0

        def publish(self, snapshot: Snapshot) -> bool:
            self.tries += 1
            if self.tries == 1:
                other = SmallTable(table.path).committer
                other.overwrite([], scope=OverwriteScope.whole_table(), user="o", identifier=1)
            return publisher.publish(snapshot)

    late = committer._landing.publisher = Late()
    message = CommitMessage(
        partition=EMPTY_ROW,
        bucket=0,
        total_buckets=-1,
        new_files=(data_file("b"),),
        deleted_files=(data_file("a"),),
    )
    with pytest.raises(FilesConflictError):
        committer.append([message], user="u", identifier=1)

    assert late.tries == 1
    assert table.live_names() == []
    assert table.metadata_files() == table.referenced_files()
