"""What changed between snapshots: which files hold it.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.source.snapshot.
IncrementalDeltaStartingScanner``, ``…IncrementalDiffStartingScanner`` and
``…SnapshotReaderImpl.readIncrementalDiff``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.errors import CorruptMetadataError
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.scan.conditions import Conditions
from paimonlab.scan.deletion_files import DeletionFiles
from paimonlab.scan.entries import codes, concat, group_codes, identities, live
from paimonlab.scan.live_files import (
    changelog_manifests_of,
    delta_manifests_of,
    in_real_buckets,
    manifests_of,
    read_entries,
)
from paimonlab.scan.options import ScanOptions
from paimonlab.scan.packing import pack
from paimonlab.scan.pruning import (
    matches_buckets,
    matches_keys,
    matches_manifests,
    matches_partitions,
    matches_values,
    partition_fields,
)
from paimonlab.scan.split import DataSplit
from paimonlab.scan.split_making import file_metas
from paimonlab.scan.split_paths import bucket_paths
from paimonlab.spec.manifest import FileKind
from paimonlab.spec.predicate import Predicate
from paimonlab.spec.snapshot import CommitKind, Snapshot
from paimonlab.spec.table_schema import TableSchema


class ChangeKind(Enum):
    """Where changes are looked for."""

    DELTA = "delta"
    """In the files that appends added."""
    CHANGELOG = "changelog"
    """In the changelog files of appends and compactions."""
    DIFF = "diff"
    """In the difference of two states."""


class ChangeSplit(msgspec.Struct, frozen=True, kw_only=True):
    """Files of one bucket that say what changed.

    Without ``is_diff`` every row of ``after`` is a change of the kind that it has itself.
    """

    after: DataSplit | None
    """None: no file was added."""
    before: DataSplit | None = None
    """Files that are gone; only in a difference."""
    is_diff: bool = False
    """Whether the rows of ``before`` and ``after`` are merged and compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRequest:
    """What changes are looked for."""

    schema: TableSchema
    """The schema of the result."""
    predicate: Predicate | None = None
    """Bound to ``schema``."""
    options: ScanOptions
    skips_level_0: bool = False
    """Whether a batch reader of the table leaves out files of level 0."""


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
    tables = [_entries(one, kind, conditions, request, manifests) for one in snapshots]
    entries = concat([table for table in tables if table.num_rows])
    if not entries.num_rows:
        return []
    mask = matches_partitions(entries, conditions, request.schema)
    mask &= matches_buckets(entries, conditions, None, request.schema, schemas)
    mask &= matches_keys(entries, conditions, request.schema, schemas)
    # Rows are not merged, so that each counts by its own values.
    mask &= matches_values(entries, conditions, request.schema, schemas)
    if request.skips_level_0:
        mask &= entries["level"].to_numpy() > 0
    found = entries.filter(pa.array(mask))
    last = snapshots[-1].id
    return [
        ChangeSplit(after=split)
        for split in _splits(found, request, last, target_bytes=request.options.split_target_bytes)
    ]


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
    """
    conditions = Conditions.of(request.predicate, request.schema)
    if conditions.is_impossible:
        return []
    old = _live(before, conditions, request, schemas, manifests)
    new = _live(after, conditions, request, schemas, manifests)
    vectors = [_vectors(one, request, manifests) for one in (before, after)]
    identity = identities(concat([old, new]))
    of_old, of_new = identity[: old.num_rows], identity[old.num_rows :]
    same = np.intersect1d(
        of_old[_has_same_vector(old, *vectors)], of_new[_has_same_vector(new, *vectors)]
    )
    gone = _by_age(old.filter(pa.array(~np.isin(of_old, same))))
    added = _by_age(new.filter(pa.array(~np.isin(of_new, same))))
    befores, afters = (
        {(one.partition, one.bucket): one for one in _splits(files, request, id, vectors=deleted)}
        for files, id, deleted in ((gone, before.id, vectors[0]), (added, after.id, vectors[1]))
    )
    return [
        ChangeSplit(after=afters.get(place), before=befores.get(place), is_diff=True)
        for place in {**befores, **afters}
    ]


def _entries(
    snapshot: Snapshot,
    kind: ChangeKind,
    conditions: Conditions,
    request: ChangeRequest,
    manifests: ManifestStore,
) -> pa.Table:
    if not _counts(snapshot, kind):
        return concat([])
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


def _by_age(entries: pa.Table) -> pa.Table:
    """Order files as a merge wants them: deeper levels, then smaller sequence numbers, first."""
    low, high = (entries[f"{end}_sequence_number"].to_numpy() for end in ("min", "max"))
    return entries.take(pa.array(np.lexsort((low, high, -entries["level"].to_numpy()))))


def _splits(
    entries: pa.Table,
    request: ChangeRequest,
    snapshot_id: int,
    *,
    target_bytes: int | None = None,
    vectors: DeletionFiles | None = None,
) -> Iterator[DataSplit]:
    """Put the files of each bucket into one split, or into several of about a size."""
    if not entries.num_rows:
        return
    order, starts = _grouped(entries, request.options, target_bytes)
    files = file_metas(entries, order)
    heads = entries.take(pa.array(order[starts]))
    buckets = heads["bucket"].to_pylist()
    paths = bucket_paths(
        heads["partition"].combine_chunks(),
        buckets,
        partition_fields(request.schema),
        request.options.partition,
    )
    bounds = [*starts.tolist(), len(files)]
    for number, partition in enumerate(heads["partition"].to_pylist()):
        own = files[bounds[number] : bounds[number + 1]]
        yield DataSplit(
            snapshot_id=snapshot_id,
            partition=partition,
            bucket=buckets[number],
            total_buckets=heads["total_buckets"][number].as_py(),
            bucket_path=paths[number],
            files=tuple(own),
            raw_convertible=False,
            deletion_files=() if vectors is None else vectors.vectors_of(own, paths[number]),
        )


def _grouped(
    entries: pa.Table, options: ScanOptions, target_bytes: int | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Order entries by bucket, within it as they are, and say where each split starts."""
    bucket = group_codes([codes(entries["partition"]), codes(entries["bucket"])])
    order = np.argsort(bucket, kind="stable")
    split = bucket[order]
    if target_bytes is not None:
        sizes = entries["file_size_bytes"].to_numpy()[order]
        weights = np.maximum(sizes, options.open_file_cost_bytes).astype(np.int64)
        split = pack(split, weights, target_bytes)
    return order, np.flatnonzero(np.diff(split, prepend=-1))
