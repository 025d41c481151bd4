"""What a commit changes, worked out anew for every snapshot it may follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.commit.conflicts import Base, check_delta
from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import SnapshotNotFoundError, UnsupportedError
from paimonlab.formats.entry_rows import entries_to_table
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.scan.entries import concat, fold, with_kind
from paimonlab.scan.live_files import delta_manifests_of, live_entries, read_entries
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.index_manifest import DELETION_VECTORS
from paimonlab.spec.manifest import ENTRY_SCHEMA, FileKind, ManifestEntry
from paimonlab.spec.snapshot import CommitKind, Snapshot
from paimonlab.spec.types import DataField


def additions(messages: Sequence[CommitMessage]) -> pa.Table:
    """Return the entries that add the files of messages, in their order."""
    return entries_to_table(
        [
            ManifestEntry(
                kind=FileKind.ADD,
                partition=message.partition,
                bucket=message.bucket,
                total_buckets=message.total_buckets,
                file=file,
            )
            for message in messages
            for file in message.new_files
        ]
    )


class Change(Protocol):
    """A commit before it is known which snapshot it follows."""

    @property
    def kind(self) -> CommitKind:
        """What goes into the snapshot."""
        ...

    def after(self, latest: Snapshot | None) -> pa.Table:
        """Return the entries of the commit if it follows ``latest``.

        Raises
        ------
        FilesConflictError
            If the commit does not fit the table any more.
        UnsupportedError
            If the table has indexes that would have to be kept up.
        """
        ...


_MOST_CHANGES = 100
"""Snapshots that are read one by one; from more, all live files are read at once."""


@dataclass(slots=True)
class Append:
    """Adds files and deletes none.

    In conflict can be the number of buckets, and files that are there already, because their
    messages were committed before. What was looked at is not looked at again: an attempt reads
    the changes since the last one.
    """

    added: pa.Table
    table: str
    snapshots: SnapshotManager
    manifests: ManifestStore
    checked_id: int | None = None
    """The snapshot up to which there is no conflict, 0: the table was empty; None: unknown, all
    files of our partitions are looked at."""

    @property
    def kind(self) -> CommitKind:
        """Always APPEND."""
        return CommitKind.APPEND

    def after(self, latest: Snapshot | None) -> pa.Table:
        """Return the additions."""
        check_indexes(latest, self.manifests, touched=None)
        known = self._since_checked(latest)
        latest_id = latest.id if latest else 0
        check_delta(self.added, Base(self.table, latest_id, known))
        self.checked_id = latest_id
        return self.added

    def _since_checked(self, latest: Snapshot | None) -> pa.Table:
        """Return files in our partitions that came after the checked snapshot."""
        if latest is None or latest.id == self.checked_id:
            return ENTRY_SCHEMA.empty_table()
        if self.checked_id is not None and 0 < latest.id - self.checked_id <= _MOST_CHANGES:
            try:
                return self._additions_since(self.checked_id, latest)
            except SnapshotNotFoundError:  # expired meanwhile
                pass
        return live_entries(latest, self.manifests, keep=self._in_our_partitions)

    def _additions_since(self, checked_id: int, latest: Snapshot) -> pa.Table:
        tables = []
        for snapshot_id in range(checked_id + 1, latest.id + 1):
            snapshot = latest if snapshot_id == latest.id else self.snapshots.get(snapshot_id)
            metas = delta_manifests_of(snapshot, self.manifests)
            tables += read_entries(snapshot, metas, self.manifests)
        entries = fold([self._in_our_partitions(table) for table in tables])
        return entries.filter(pc.equal(entries["kind"], int(FileKind.ADD)))

    def _in_our_partitions(self, entries: pa.Table) -> pa.Table:
        ours = pc.unique(self.added["partition"])
        return entries.filter(pc.is_in(entries["partition"], ours))


@dataclass(slots=True)
class Overwrite:
    """Deletes all files of some partitions, those that came meanwhile too, and adds others."""

    added: pa.Table
    scope: OverwriteScope
    partition_fields: Sequence[DataField]
    table: str
    manifests: ManifestStore

    @property
    def kind(self) -> CommitKind:
        """Always OVERWRITE."""
        return CommitKind.OVERWRITE

    def after(self, latest: Snapshot | None) -> pa.Table:
        """Return the deletions of what is there, then the additions."""
        self._check_scope()
        check_indexes(latest, self.manifests, touched=self._covered)
        if latest is None:
            alive = ENTRY_SCHEMA.empty_table()
        else:
            alive = live_entries(latest, self.manifests, keep=self._keep)
        delta = concat([with_kind(alive, FileKind.DELETE), self.added])
        check_delta(delta, Base(self.table, latest.id if latest else 0, alive))
        return delta

    def _keep(self, entries: pa.Table) -> pa.Table:
        return entries.filter(pa.array(self._covered(entries["partition"])))

    def _covered(self, partitions: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
        encoded = pc.dictionary_encode(partitions.combine_chunks())
        covered = self.scope.covers(encoded.dictionary, self.partition_fields)
        return covered[encoded.indices.to_numpy()]

    def _check_scope(self) -> None:
        if not self._covered(self.added["partition"]).all():
            raise ValueError(
                f"{self.table}: there are rows for partitions that are not overwritten"
            )


def check_indexes(
    latest: Snapshot | None,
    manifests: ManifestStore,
    *,
    touched: Callable[[pa.ChunkedArray], npt.NDArray[np.bool_]] | None,
) -> None:
    """Refuse commits that would leave an index, or row ids, behind.

    Parameters
    ----------
    latest
        What the commit follows.
    manifests
        The manifests of the table.
    touched
        Marks the partitions whose files are deleted; None: only additions. Deletion vectors
        speak of files that stay, so additions leave them alone.

    Raises
    ------
    UnsupportedError
        If an index would have to be changed, or if rows have ids.
    """
    if latest is None:
        return
    if latest.next_row_id:
        raise UnsupportedError("row-tracking.enabled = 'true'", "writing to a table with row ids")
    if latest.index_manifest is None:
        return
    files = manifests.read_index(latest.index_manifest, referrer=f"snapshot-{latest.id}")
    if touched is None:
        hit = [file for file in files if file.index_type != DELETION_VECTORS]
    else:
        partitions = pa.array([file.partition for file in files], pa.large_binary())
        mask = touched(pa.chunked_array([partitions]))
        hit = [file for file, is_touched in zip(files, mask.tolist(), strict=True) if is_touched]
    if hit:
        kind = hit[0].index_type
        raise UnsupportedError(
            "deletion-vectors.enabled = 'true'" if kind == DELETION_VECTORS else f"{kind} index",
            "this commit would have to change the indexes of the table, which paimonlab cannot yet",
        )
