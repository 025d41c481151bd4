"""What commits between snapshots say they changed: which files hold it.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.source.snapshot.
IncrementalDeltaStartingScanner``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

import pyarrow as pa
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import CorruptMetadataError
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.scan.change_splits import (
    ChangeRequest,
    ChangeSplit,
    Fate,
    moves_keys,
    splits_of,
)
from paimonlab.scan.conditions import Conditions
from paimonlab.scan.entries import concat
from paimonlab.scan.file_times import created_since
from paimonlab.scan.live_files import (
    changelog_manifests_of,
    delta_manifests_of,
    in_real_buckets,
    read_entries,
)
from paimonlab.scan.pruning import (
    matches_buckets,
    matches_keys,
    matches_manifests,
    matches_partitions,
    matches_values,
)
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.manifests.manifest import FileKind
from paimonlab.spec.snapshot import CommitKind, Snapshot


class ChangeKind(Enum):
    """Where changes are looked for."""

    DELTA = "delta"
    """In the files that appends added."""
    CHANGELOG = "changelog"
    """In the changelog files of appends and compactions."""
    DIFF = "diff"
    """In the difference of two states."""


def file_changes(
    snapshots: Sequence[Snapshot],
    kind: ChangeKind,
    request: ChangeRequest,
    schemas: SchemaManager,
    manifests: ManifestStore,
) -> list[ChangeSplit]:
    """Find the files in which commits say what they changed.

    Parameters
    ----------
    snapshots
        The commits, oldest first; those that do not matter for ``kind`` are skipped.
    kind
        Delta or changelog.
    request
        What is to be read.
    schemas, manifests
        The table's schemas and manifests.

    Returns
    -------
    list of ChangeSplit
        The files of each bucket in the order of their commits.

    Raises
    ------
    SnapshotExpiredError
        If a snapshot expired meanwhile.
    CorruptMetadataError
        If a manifest is missing or damaged, or an append deletes files.
    """
    conditions = Conditions.of(request.predicate, request.schema)
    if conditions.is_impossible:
        return []
    counting = [snapshot for snapshot in snapshots if _counts(snapshot, kind)]
    if moves_keys(request.schema):
        return [
            split
            for snapshot in counting
            for split in commit_changes(snapshot, kind, request, schemas, manifests)
        ]
    tables = [_entries(snapshot, kind, conditions, request, manifests) for snapshot in counting]
    entries = concat([table for table in tables if table.num_rows])
    last = snapshots[-1].id
    return _unmerged_splits(entries, last, conditions, request, schemas)


def commit_changes(
    snapshot: Snapshot,
    kind: ChangeKind,
    request: ChangeRequest,
    schemas: SchemaManager,
    manifests: ManifestStore,
) -> list[ChangeSplit]:
    """Find the files in which one commit, of whatever kind, says what it changed.

    Parameters and errors are those of `file_changes`. Where keys move from one partition to
    another, those that leave a bucket come before those that are in one afterwards.
    """
    conditions = Conditions.of(request.predicate, request.schema)
    if conditions.is_impossible:
        return []
    entries = _entries(snapshot, kind, conditions, request, manifests)
    splits = _unmerged_splits(entries, snapshot.id, conditions, request, schemas)
    return deletes_first(splits) if moves_keys(request.schema) else splits


def deletes_first(splits: Sequence[ChangeSplit]) -> list[ChangeSplit]:
    """Let the changes of keys that leave a bucket come first, then those of all others.

    A key that moves from one partition to another has changes in both: applied in this order,
    its new row stays.
    """
    if len(splits) < 2:
        return list(splits)
    judged = [
        (
            split,
            any(_may_delete(file) for file in _files(split)),
            not all(_only_deletes(file) for file in _files(split)),
        )
        for split in splits
    ]
    return [
        *(replace(split, fate=Fate.GONE) for split, may_go, _ in judged if may_go),
        *(
            replace(split, fate=Fate.PRESENT) if may_go else split
            for split, may_go, stays in judged
            if stays
        ),
    ]


def _files(split: ChangeSplit) -> Iterator[DataFileMeta]:
    return (file for side in split.sides for file in side.files)


def _may_delete(file: DataFileMeta) -> bool:
    return file.delete_row_count != 0


def _only_deletes(file: DataFileMeta) -> bool:
    return file.delete_row_count == file.row_count


def _entries(
    snapshot: Snapshot,
    kind: ChangeKind,
    conditions: Conditions,
    request: ChangeRequest,
    manifests: ManifestStore,
) -> pa.Table:
    read_metas = changelog_manifests_of if kind is ChangeKind.CHANGELOG else delta_manifests_of
    metas = read_metas(snapshot, manifests)
    keeps = matches_manifests(metas, conditions, None, request.schema).tolist()
    kept = [meta for meta, keep in zip(metas, keeps, strict=True) if keep]
    entries = in_real_buckets(concat(read_entries(snapshot, kept, manifests)))
    if (numpy_values(entries["kind"]) != int(FileKind.ADD)).any():
        raise CorruptMetadataError(
            f"snapshot-{snapshot.id}", "its changes cannot be read: an append deletes files"
        )
    return entries


def _unmerged_splits(
    entries: pa.Table,
    snapshot_id: int,
    conditions: Conditions,
    request: ChangeRequest,
    schemas: SchemaManager,
) -> list[ChangeSplit]:
    if not entries.num_rows:
        return []
    mask = matches_partitions(entries, conditions, request.schema)
    mask &= matches_buckets(entries, conditions, None, request.schema, schemas)
    mask &= matches_keys(entries, conditions, request.schema, schemas)
    moves = moves_keys(request.schema)
    if not moves:  # else what becomes of a key is told by all its changes
        # Rows are not merged, so that each counts by its own values.
        mask &= matches_values(entries, conditions, request.schema, schemas)
    if request.skips_level_0:
        mask &= numpy_values(entries["level"]) > 0
    if request.created_since_millis is not None:
        mask &= created_since(entries, request.created_since_millis)
    files = entries.filter(arrow_array(mask))
    target_bytes = None if moves else request.options.split_target_bytes
    splits = splits_of(files, request, snapshot_id, target_bytes=target_bytes)
    return [ChangeSplit(after=split) for split in splits]


def _counts(snapshot: Snapshot, kind: ChangeKind) -> bool:
    if kind is ChangeKind.DELTA:
        return snapshot.commit_kind is CommitKind.APPEND
    return snapshot.commit_kind is not CommitKind.OVERWRITE
