"""What changed between snapshots: which files hold it.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.source.snapshot.
IncrementalDeltaStartingScanner``, ``…IncrementalDiffStartingScanner`` and
``…SnapshotReaderImpl.readIncrementalDiff``.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.errors import CorruptMetadataError, SchemaError
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.scan.change_splits import ChangeRequest, ChangeSplit, by_age, splits_of
from paimonlab.scan.conditions import Conditions
from paimonlab.scan.deletion_files import DeletionFiles
from paimonlab.scan.entries import concat, identities, live
from paimonlab.scan.file_times import created_since
from paimonlab.scan.live_files import (
    changelog_manifests_of,
    delta_manifests_of,
    in_real_buckets,
    manifests_of,
    read_entries,
)
from paimonlab.scan.pruning import (
    matches_buckets,
    matches_keys,
    matches_manifests,
    matches_partitions,
    matches_values,
)
from paimonlab.spec.manifest import FileKind
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
        The commits, oldest first; those that do not count for ``kind`` are left out here.
    kind
        Delta or changelog.
    request
        What is to be read.
    schemas, manifests
        Of the table.

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
    counting = [one for one in snapshots if _counts(one, kind)]
    tables = [_entries(one, kind, conditions, request, manifests) for one in counting]
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

    Parameters and errors are those of `file_changes`.
    """
    conditions = Conditions.of(request.predicate, request.schema)
    if conditions.is_impossible:
        return []
    entries = _entries(snapshot, kind, conditions, request, manifests)
    return _unmerged_splits(entries, snapshot.id, conditions, request, schemas)


def diff_changes(
    before: Snapshot,
    after: Snapshot,
    request: ChangeRequest,
    schemas: SchemaManager,
    manifests: ManifestStore,
) -> list[ChangeSplit]:
    """Find the files in which two states of a table differ.

    Parameters
    ----------
    before, after
        The two states.
    request
        What is to be read.
    schemas, manifests
        Of the table.

    Returns
    -------
    list of ChangeSplit
        One a bucket with a difference: the files that only one of the states has, or of which
        other rows are deleted.

    Raises
    ------
    SchemaError
        If a partition has another number of buckets in either: a bucket says nothing of the rows
        of the other then.
    """
    conditions = Conditions.of(request.predicate, request.schema)
    if conditions.is_impossible:
        return []
    old = _live(before, conditions, request, schemas, manifests)
    new = _live(after, conditions, request, schemas, manifests)
    _check_buckets(concat([old, new]), before, after)
    vectors = [_vectors(one, request, manifests) for one in (before, after)]
    identity = identities(concat([old, new]))
    of_old, of_new = identity[: old.num_rows], identity[old.num_rows :]
    same = np.intersect1d(
        of_old[_has_same_vector(old, *vectors)], of_new[_has_same_vector(new, *vectors)]
    )
    gone = by_age(old.filter(pa.array(~np.isin(of_old, same))))
    added = by_age(new.filter(pa.array(~np.isin(of_new, same))))
    befores, afters = (
        {(one.partition, one.bucket): one for one in splits_of(files, request, id, vectors=deleted)}
        for files, id, deleted in ((gone, before.id, vectors[0]), (added, after.id, vectors[1]))
    )
    return [
        ChangeSplit(after=afters.get(place), before=befores.get(place), is_diff=True)
        for place in {**befores, **afters}
    ]


def _check_buckets(entries: pa.Table, before: Snapshot, after: Snapshot) -> None:
    pairs = entries.select(["partition", "total_buckets"]).group_by(["partition", "total_buckets"])
    found = pairs.aggregate([])
    if len(found) > len(found["partition"].unique()):
        raise SchemaError(
            f"the number of buckets of a partition changed between snapshot {before.id} and "
            f"{after.id}, so that their files cannot be compared; read both and compare the rows"
        )


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
    if (entries["kind"].to_numpy() != int(FileKind.ADD)).any():
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
    # Rows are not merged, so that each counts by its own values.
    mask &= matches_values(entries, conditions, request.schema, schemas)
    if request.skips_level_0:
        mask &= entries["level"].to_numpy() > 0
    if request.created_since_millis is not None:
        mask &= created_since(entries, request.created_since_millis)
    found = entries.filter(pa.array(mask))
    target_bytes = request.options.split_target_bytes
    splits = splits_of(found, request, snapshot_id, target_bytes=target_bytes)
    return [ChangeSplit(after=split) for split in splits]


def _counts(snapshot: Snapshot, kind: ChangeKind) -> bool:
    if kind is ChangeKind.DELTA:
        return snapshot.commit_kind is CommitKind.APPEND
    return snapshot.commit_kind is not CommitKind.OVERWRITE


def _live(
    snapshot: Snapshot,
    conditions: Conditions,
    request: ChangeRequest,
    schemas: SchemaManager,
    manifests: ManifestStore,
) -> pa.Table:
    """Return the files of a state that may hold a wanted key."""
    metas = manifests_of(snapshot, manifests)
    keeps = matches_manifests(metas, conditions, None, request.schema).tolist()
    kept = [meta for meta, keep in zip(metas, keeps, strict=True) if keep]
    entries = in_real_buckets(concat(read_entries(snapshot, kept, manifests)))
    mask = matches_partitions(entries, conditions, request.schema)
    mask &= matches_buckets(entries, conditions, None, request.schema, schemas)
    alive = live([entries.filter(pa.array(mask))], referrer=f"snapshot-{snapshot.id}")
    mask = matches_keys(alive, conditions, request.schema, schemas)
    if request.skips_level_0:
        mask &= alive["level"].to_numpy() > 0
    return alive.filter(pa.array(mask))


def _vectors(snapshot: Snapshot, request: ChangeRequest, manifests: ManifestStore) -> DeletionFiles:
    beside_data = request.options.has_indexes_beside_data
    return DeletionFiles.of(snapshot, manifests, beside_data=beside_data)


def _has_same_vector(
    files: pa.Table, old: DeletionFiles, new: DeletionFiles
) -> npt.NDArray[np.bool_]:
    """Mark the files of which the same rows are deleted in both states, as far as is told."""
    names = files["file_name"].to_pylist()
    return np.array([old.found.get(name) == new.found.get(name) for name in names], np.bool_)
