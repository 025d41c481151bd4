"""What a commit changes, derived again for every snapshot that it may follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.commit.base_files import BaseFiles
from paimonlab.commit.conflicts import Base, check_delta, without_duplicates
from paimonlab.commit.file_changes import FileChanges, IndexChanges
from paimonlab.commit.index_changes import (
    check_buckets_unchanged,
    check_one_vector_each,
    check_vectors,
    combine,
    vector_owners,
)
from paimonlab.commit.read_set import (
    ReadSet,
    check_buckets_unwritten,
    check_keys_known,
    check_none_appended,
    check_partitions_unchanged,
    check_schema_unchanged,
)
from paimonlab.commit.row_ranges import check_row_ranges, check_whole_ranges, completing_files
from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import FilesConflictError, SnapshotNotFoundError
from paimonlab.scan.entries import concat, with_kind
from paimonlab.scan.live_files import in_real_buckets, live_entries
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.spec.manifests.manifest import NO_ENTRIES, FileKind, is_kind
from paimonlab.spec.partitions.folders import POSTPONE_BUCKET
from paimonlab.spec.snapshot import CommitKind, Snapshot
from paimonlab.spec.types.data_types import DataField, DataType


@dataclass(frozen=True, slots=True)
class TableShape:
    """What a commit has to know of the table's definition."""

    partition_fields: tuple[DataField, ...] = ()
    key_types: tuple[DataType, ...] | None = None
    """Of the trimmed primary key; None: an append table."""
    buckets: int = -1
    """The option ``bucket``."""
    schema_id: int = 0
    """The latest schema."""

    @property
    def has_buckets(self) -> bool:
        """Whether every row belongs to a bucket."""
        return self.key_types is not None or self.buckets > 0


@dataclass(frozen=True, slots=True)
class Delta:
    """What a commit changes if it follows a certain snapshot."""

    entries: pa.Table
    """Additions and deletions of data files (`ENTRY_SCHEMA`)."""
    changelog: pa.Table = field(default_factory=lambda: NO_ENTRIES)
    """Additions of changelog files (`ENTRY_SCHEMA`)."""
    indexes: Sequence[IndexManifestEntry] | None = None
    """All index files from now on; None: those of the snapshot before."""


class Change(Protocol):
    """A commit before it is known which snapshot it follows."""

    @property
    def kind(self) -> CommitKind:
        """What goes into the snapshot."""
        ...

    def after(self, latest: Snapshot | None) -> Delta:
        """Return what the commit changes if it follows ``latest``.

        Raises
        ------
        FilesConflictError
            If the commit conflicts with what others did since.
        UnsupportedError
            If the table has indexes of an unknown type, which the commit cannot carry over.
        """
        ...


@dataclass(slots=True)
class Increment:
    """Adds files, and deletes files that are named.

    Each attempt reads only the changes since the attempt before.
    """

    changes: FileChanges
    shape: TableShape
    base: BaseFiles
    user: str
    is_compaction: bool = False
    checked_id: int | None = None
    """The snapshot up to which there is no conflict, 0: the table was empty; None: unknown, all
    files of our partitions are looked at."""
    discards_duplicates: bool = False
    """Whether files to append that are alive already are left out."""
    reads: ReadSet | None = None
    """What the commit was made of; None: of nothing that is in the table."""

    @property
    def kind(self) -> CommitKind:
        """COMPACT; OVERWRITE if rows go; else APPEND."""
        if self.is_compaction:
            return CommitKind.COMPACT
        return CommitKind.APPEND if self.changes.only_adds else CommitKind.OVERWRITE

    def after(self, latest: Snapshot | None) -> Delta:
        """Return the changes as they were given, and all index files from now on."""
        self._check_alone(latest)
        entries = self.changes.entries
        self._check_reads(latest)
        self._check_keys(latest)
        if entries.num_rows:
            base = self.base.of(latest, entries["partition"], self.checked_id)
            if self.discards_duplicates and self.kind is CommitKind.APPEND:
                entries = without_duplicates(entries, base)
                self.changes = replace(self.changes, entries=entries)
            check_delta(entries, base, key_types=self.shape.key_types)
            self._check_row_ranges(latest)
        indexes = self._indexes(latest)
        self.checked_id = latest.id if latest else 0
        return Delta(entries, self.changes.changelog, indexes)

    def _indexes(self, latest: Snapshot | None) -> Sequence[IndexManifestEntry] | None:
        changes, deleted = self.changes.indexes, self._deleted_files()
        latest_id = latest.id if latest else 0
        has_keys = self.shape.key_types is not None
        if changes.is_empty and (has_keys or not deleted):
            return None
        before = self.base.indexes(latest)
        if self.shape.has_buckets:
            self._check_buckets(changes, latest)
        if not has_keys:
            check_vectors(before, changes, deleted, table=self.base.table, snapshot_id=latest_id)
            self._check_owners(latest)
        if changes.is_empty:
            return None
        after = combine(before, changes, has_buckets=self.shape.has_buckets)
        check_one_vector_each(after, table=self.base.table, snapshot_id=latest_id)
        return after

    def _check_row_ranges(self, latest: Snapshot | None) -> None:
        seen_id = self.changes.rows_seen_id
        if not self.is_compaction and seen_id is None:
            return
        added = completing_files(self.changes.entries)
        if not added.num_rows:
            return
        base = self.base.of(latest, added["partition"], None)
        latest_id = latest.id if latest else 0
        if self.is_compaction:
            gone = self._deleted_files()
            check_whole_ranges(
                added, base.entries, gone, table=self.base.table, snapshot_id=latest_id
            )
        elif seen_id is not None:
            check_row_ranges(
                added, base.entries, seen_id, table=self.base.table, snapshot_id=latest_id
            )

    def _check_reads(self, latest: Snapshot | None) -> None:
        reads = self.reads
        if reads is None or (not reads.its_buckets and reads.may_match is None):
            return
        landed = list(self.base.landed_since(reads.snapshot_id, latest))
        if reads.its_buckets:
            check_buckets_unwritten(landed, self.changes.entries, reads, self.base.table)
        if reads.may_match is not None:
            check_none_appended(landed, reads, self.base.table)

    def _check_keys(self, latest: Snapshot | None) -> None:
        known = self.changes.keys_known
        if known is None:
            return
        looked_up_id = known.snapshot_id
        keys = [("keys", self.user, looked_up_id, partition) for partition in known.partitions]
        check_keys_known(
            self.base.landed_since(
                self.base.checked.since(keys, looked_up_id), latest, matters=self._may_move_keys
            ),
            known.partitions,
            user=self.user,
            since=looked_up_id,
            table=self.base.table,
        )
        self.base.checked.remember(keys, latest)

    def _may_move_keys(self, snapshot: Snapshot) -> bool:
        return snapshot.commit_kind is CommitKind.OVERWRITE and snapshot.commit_user != self.user

    def _check_alone(self, latest: Snapshot | None) -> None:
        base_id = self.changes.alone_since
        if base_id is None:
            return
        latest_id = latest.id if latest else 0
        try:
            others = self.base.others_since(base_id, latest, self.user)
        except SnapshotNotFoundError as error:
            problem = f"the keys were read from snapshot {base_id}, which has expired"
            raise FilesConflictError(self.base.table, latest_id, (), problem) from error
        if others:
            problem = (
                f"others wrote rows in snapshot {others[0]}, after the keys were read from "
                f"snapshot {base_id}: a key might get rows in two partitions. One writer at a "
                "time may write to this table. Open a new writer and redo this write."
            )
            raise FilesConflictError(self.base.table, latest_id, (), problem)

    def _check_owners(self, latest: Snapshot | None) -> None:
        """Check that the files whose rows are deleted still exist: others may rewrite them."""
        new = self.changes.indexes.new
        owners = set(vector_owners(new))
        if not owners or latest is None or latest.id == self.checked_id:
            return
        partitions = arrow_array([file.partition for file in new], pa.large_binary())
        base = self.base.of(latest, pa.chunked_array([partitions]), self.checked_id)
        is_added = is_kind(base.entries, FileKind.ADD)
        added = set(base.entries.filter(is_added)["file_name"].to_pylist())
        gone = set(base.entries["file_name"].to_pylist()) - added
        ours = set(self.changes.entries["file_name"].to_pylist())
        lost = sorted(owners & gone if not base.is_complete else owners - added - ours)
        if lost:
            problem = f"rows of {lost[0]} are deleted, which another commit has replaced"
            raise FilesConflictError(self.base.table, latest.id, lost, problem)

    def _check_buckets(self, changes: IndexChanges, latest: Snapshot | None) -> None:
        if not changes.base_ids:
            return
        base_id, latest_id = min(changes.base_ids), latest.id if latest else 0
        files = (*changes.new, *changes.deleted)
        slots = [("index", self.user, base_id, file.partition, file.bucket) for file in files]
        try:
            check_buckets_unchanged(
                self.base.index_history(self.base.checked.since(slots, base_id), latest),
                changes,
                user=self.user,
                table=self.base.table,
                snapshot_id=latest_id,
            )
        except SnapshotNotFoundError as error:
            problem = f"the indexes were made against snapshot {base_id}, which has expired"
            raise FilesConflictError(self.base.table, latest_id, (), problem) from error
        self.base.checked.remember(slots, latest)

    def _deleted_files(self) -> set[str]:
        entries = self.changes.entries
        is_deleted = is_kind(entries, FileKind.DELETE)
        return set(entries.filter(is_deleted)["file_name"].to_pylist())


@dataclass(slots=True)
class Overwrite:
    """Deletes all files of some partitions, also those added meanwhile, and adds others."""

    changes: FileChanges
    scope: OverwriteScope
    shape: TableShape
    base: BaseFiles
    reads: ReadSet | None = None
    """What the commit was made of; None: of nothing that is in the table."""

    @property
    def kind(self) -> CommitKind:
        """Always OVERWRITE."""
        return CommitKind.OVERWRITE

    def after(self, latest: Snapshot | None) -> Delta:
        """Return the deletions of what is there, then the additions; no changelog."""
        added = self.changes.entries
        self._check_scope(added)
        self._check_reads(latest)
        alive = NO_ENTRIES
        if latest is not None:
            alive = live_entries(latest, self.base.manifests, keep=self._keep)
        entries = concat([with_kind(alive, FileKind.DELETE), added])
        base = Base(self.base.table, latest.id if latest else 0, alive)
        check_delta(entries, base, key_types=self.shape.key_types)
        return Delta(entries, indexes=self._indexes(latest))

    def _indexes(self, latest: Snapshot | None) -> Sequence[IndexManifestEntry] | None:
        before = self.base.indexes(latest)
        partitions = arrow_array([file.partition for file in before], pa.large_binary())
        hit = self._covered(pa.chunked_array([partitions]))
        replaced = [file for file, is_hit in zip(before, hit.tolist(), strict=True) if is_hit]
        new = self.changes.indexes.new
        if not replaced and not new:
            return None
        changes = IndexChanges(new, tuple(replaced))
        return combine(before, changes, has_buckets=self.shape.has_buckets)

    def _check_reads(self, latest: Snapshot | None) -> None:
        reads, table = self.reads, self.base.table
        if reads is None:
            return
        landed = list(self.base.landed_since(reads.snapshot_id, latest))
        if reads.its_partitions:
            replaceable = [
                replace(commit, entries=self._replaceable(commit.entries)) for commit in landed
            ]
            check_partitions_unchanged(replaceable, self._covered, reads, table)
            latest_id = latest.id if latest else 0
            added = self.changes.entries
            check_schema_unchanged(added, self.shape.schema_id, reads, table, latest_id)
        if reads.may_match is not None:
            check_none_appended(landed, reads, table)

    def _keep(self, entries: pa.Table) -> pa.Table:
        return self._replaceable(entries.filter(arrow_array(self._covered(entries["partition"]))))

    def _replaceable(self, entries: pa.Table) -> pa.Table:
        if self.shape.buckets == POSTPONE_BUCKET:
            return entries
        # Rows that wait for a bucket are not replaced by rows that have one.
        return in_real_buckets(entries)

    def _covered(self, partitions: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
        encoded = pc.dictionary_encode(partitions.combine_chunks())
        covered = self.scope.covers(encoded.dictionary, self.shape.partition_fields)
        return covered[numpy_values(encoded.indices)]

    def _check_scope(self, added: pa.Table) -> None:
        if not self._covered(added["partition"]).all():
            raise ValueError(
                f"{self.base.table}: there are rows for partitions that are not overwritten"
            )


@dataclass(frozen=True, slots=True)
class NoChange:
    """Leaves the files as they are: what is new is in the snapshot itself."""

    kind: CommitKind

    def after(self, latest: Snapshot | None) -> Delta:  # noqa: ARG002
        """Return nothing."""
        return Delta(NO_ENTRIES)
