"""The manifests of a snapshot and the files that are alive in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_scalar
from paimonlab.errors import CorruptMetadataError, SnapshotExpiredError
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.entries import alive_after, deletions_of, live
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.spec.manifests.manifest import ManifestFileMeta
from paimonlab.spec.partitions.folders import POSTPONE_BUCKET
from paimonlab.spec.snapshot import Snapshot

_FIRST_PIECE_ROWS = 1024
"""Of the entries that those look at who want few files; each piece is twice the one before."""
_POSTPONED = arrow_scalar(POSTPONE_BUCKET, pa.int32())


def manifests_of(snapshot: Snapshot, manifests: ManifestStore) -> list[ManifestFileMeta]:
    """Return all manifests of a snapshot, those of the base before those of the delta.

    Raises
    ------
    SnapshotExpiredError
        If the snapshot and its files were removed.
    CorruptMetadataError
        If a manifest list is missing or damaged.
    """
    with expiry_explained(snapshot, manifests):
        base = manifests.read_list(
            snapshot.base_manifest_list,
            snapshot.base_manifest_list_size,
            referrer=_name(snapshot),
        )
        return base + delta_manifests_of(snapshot, manifests)


def delta_manifests_of(snapshot: Snapshot, manifests: ManifestStore) -> list[ManifestFileMeta]:
    """Return the manifests that say what one commit changed."""
    with expiry_explained(snapshot, manifests):
        return manifests.read_list(
            snapshot.delta_manifest_list,
            snapshot.delta_manifest_list_size,
            referrer=_name(snapshot),
        )


def changelog_manifests_of(snapshot: Snapshot, manifests: ManifestStore) -> list[ManifestFileMeta]:
    """Return the manifests of the changelog files of one commit; [] if there are none."""
    if snapshot.changelog_manifest_list is None:
        return []
    with expiry_explained(snapshot, manifests):
        return manifests.read_list(
            snapshot.changelog_manifest_list,
            snapshot.changelog_manifest_list_size,
            referrer=_name(snapshot),
        )


def read_entries(
    snapshot: Snapshot, metas: Iterable[ManifestFileMeta], manifests: ManifestStore
) -> list[pa.Table]:
    """Read manifests of a snapshot: one table of `ENTRY_SCHEMA` each, in order."""
    with expiry_explained(snapshot, manifests):
        return manifests.read(metas, referrer=_name(snapshot))


def live_entries(
    snapshot: Snapshot,
    manifests: ManifestStore,
    *,
    keep: Callable[[pa.Table], pa.Table] = lambda entries: entries,
    metas: Sequence[ManifestFileMeta] | None = None,
) -> pa.Table:
    """Return the files that are alive in a snapshot, a table of `ENTRY_SCHEMA`.

    Parameters
    ----------
    snapshot
        The snapshot whose files are wanted.
    manifests
        The manifests of the table.
    keep
        Which entries are wanted; it must decide by partition or bucket alone, so that the addition
        and the deletion of a file are treated alike.
    metas
        The manifests to read; None: all.
    """
    chosen = manifests_of(snapshot, manifests) if metas is None else metas
    tables = [keep(entries) for entries in read_entries(snapshot, chosen, manifests)]
    return live(tables, referrer=_name(snapshot))


def live_pieces(
    snapshot: Snapshot,
    manifests: ManifestStore,
    *,
    keep: Callable[[pa.Table], pa.Table] = lambda entries: entries,
) -> Iterator[pa.Table]:
    """Yield the files that are alive in a snapshot piece by piece, for those who want the first.

    Only deletions, and the entries of the pieces asked for, are looked at; manifests without
    deletions are read when it is their turn.

    Parameters
    ----------
    snapshot, manifests, keep
        As of `live_entries`.

    Yields
    ------
    pyarrow.Table
        Of `ENTRY_SCHEMA`; one after the other they are what `live_entries` returns.
    """
    metas = {meta.file_name: meta for meta in manifests_of(snapshot, manifests)}
    deleting = [meta for meta in metas.values() if meta.num_deleted_files]
    tables = read_entries(snapshot, deleting, manifests)
    read = {meta.file_name: table for meta, table in zip(deleting, tables, strict=True)}
    deletions = {name: deletions_of(keep(table)) for name, table in read.items()}
    size = _FIRST_PIECE_ROWS
    for name, meta in metas.items():
        entries = read[name] if name in read else read_entries(snapshot, [meta], manifests)[0]
        deletions.pop(name, None)
        start = 0
        while start < entries.num_rows:
            piece = keep(entries.slice(start, size))
            start += size
            rest = [deletions_of(keep(entries.slice(start)))] if name in read else []
            yield alive_after(piece, [*rest, *deletions.values()], referrer=_name(snapshot))
            size *= 2


def in_real_buckets(entries: pa.Table) -> pa.Table:
    """Leave out files whose rows get a bucket by compaction: readers do not see them yet."""
    is_real = pc.not_equal(entries["bucket"], _POSTPONED)
    return entries if pc.all(is_real).as_py() is not False else entries.filter(is_real)


def index_files_of(snapshot: Snapshot, manifests: ManifestStore) -> list[IndexManifestEntry]:
    """Return all index files of a snapshot.

    Raises
    ------
    SnapshotExpiredError, CorruptMetadataError
        As in `manifests_of`.
    """
    if snapshot.index_manifest is None:
        return []
    with expiry_explained(snapshot, manifests):
        return manifests.read_index(snapshot.index_manifest, referrer=_name(snapshot))


def _name(snapshot: Snapshot) -> str:
    return snapshot.file_name


@contextmanager
def expiry_explained(snapshot: Snapshot, manifests: ManifestStore) -> Iterator[None]:
    """Turn a missing file of a snapshot that is gone into `SnapshotExpiredError`."""
    try:
        yield
    except CorruptMetadataError as error:
        is_missing = isinstance(error.__cause__, FileNotFoundError)
        if not is_missing or manifests.still_has(snapshot):
            raise
        raise SnapshotExpiredError(
            manifests.table_path,
            str(snapshot.id),
            f"It has expired or was rolled back, and with it {error.path}; plan the read again.",
        ) from error
