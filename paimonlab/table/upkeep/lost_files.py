"""Data files that a table refers to but its store does not have: going on without them.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.ListUnexistingFiles``.
"""

from __future__ import annotations

import logging
import os
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from paimonlab.errors import UnsupportedError
from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.maintenance.retention import ExpireOptions
from paimonlab.scan.live_files import live_entries
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.manifest import ManifestEntry
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.table.committing.users import new_user
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.after_commit import committer_of
from paimonlab.table.upkeep.history import history_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LostFile:
    """A data file that is missing."""

    path: str
    """Where it should be, absolute."""
    size_bytes: int
    record_count: int
    """Rows that are lost, before merging."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostFiles:
    """The data files of a table that are missing."""

    table: str
    snapshot_id: int | None = None
    """Where they are missing; None: the table has no snapshot."""
    files: tuple[LostFile, ...] = ()
    """By path."""
    committed: Snapshot | None = field(default=None, repr=False)
    """The snapshot without them; None: nothing was committed."""

    @property
    def record_count(self) -> int:
        """Rows that are lost, before merging."""
        return sum(file.record_count for file in self.files)

    def __str__(self) -> str:
        """Say how many files are missing, and how many rows with them."""
        text = f"{self.table}: {len(self.files):,} data files are missing"
        return f"{text}, with {self.record_count:,} rows" if self.files else text


def remove_lost_files(
    definition: TableDefinition, store: TableStore, *, dry_run: bool
) -> LostFiles:
    """Find the data files that are missing, and commit their removal.

    See `Maintenance.remove_unexisting_files`.
    """
    snapshot = store.snapshots.latest()
    if snapshot is None:
        return LostFiles(table=definition.name)
    lost = _lost(definition, store, snapshot)
    files = (
        LostFile(path, entry.file.file_size_bytes, entry.file.row_count) for path, entry in lost
    )
    lost_files = LostFiles(
        table=definition.name,
        snapshot_id=snapshot.id,
        files=tuple(sorted(files, key=lambda file: file.path)),
    )
    if dry_run or not lost:
        return lost_files
    _check_vectors(store, snapshot, {entry.file.file_name for _, entry in lost})
    by_bucket = defaultdict(list)
    for _, entry in lost:
        by_bucket[entry.partition, entry.bucket, entry.total_buckets].append(entry.file)
    messages = [
        CommitMessage(
            partition=partition, bucket=bucket, total_buckets=total, deleted_files=tuple(gone)
        )
        for (partition, bucket, total), gone in by_bucket.items()
    ]
    user = new_user(definition.options)
    committed = committer_of(definition, store).append(
        messages, user=user, identifier=BATCH_COMMIT_IDENTIFIER, is_new_user=True
    )
    logger.warning("%s: %d lost files are given up", definition.name, len(lost))
    return replace(lost_files, committed=committed)


def _lost(
    definition: TableDefinition, store: TableStore, snapshot: Snapshot
) -> list[tuple[str, ManifestEntry]]:
    entries = live_entries(snapshot, store.manifests)
    paths = [paths[0] for paths in history_of(definition, store).reader.data_files(entries)]
    threads = definition.options.slice(ExpireOptions).threads
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        is_there = list(pool.map(store.file_io.exists, paths, chunksize=64))
    rows = zip(paths, table_to_entries(entries), is_there, strict=True)
    return [(path, entry) for path, entry, there in rows if not there]


def _check_vectors(store: TableStore, snapshot: Snapshot, names: set[str]) -> None:
    if snapshot.index_manifest is None:
        return
    for index in store.manifests.read_index(snapshot.index_manifest):
        for vector in index.deletion_vectors or ():
            if vector.data_file_name in names:
                raise UnsupportedError(
                    "giving up a data file that has a deletion vector",
                    f"{store.name}: {vector.data_file_name}; overwrite its partition instead",
                )
