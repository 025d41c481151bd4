"""Files that only deleted snapshots needed: candidates for deletion.

Costs reading what their commits changed, never all that was alive in them.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.SnapshotDeletion``,
``…ChangelogDeletion``, ``…FileDeletionBase``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import CorruptMetadataError
from paimonlab.maintenance.references import ReferenceReader
from paimonlab.maintenance.unneeded import Candidates
from paimonlab.scan.entries import concat
from paimonlab.spec.manifests.data_file import FileSource
from paimonlab.spec.manifests.manifest import FileKind, ManifestFileMeta, is_kind
from paimonlab.spec.snapshot import Snapshot

logger = logging.getLogger(__name__)

_COLUMNS = [
    *("kind", "partition", "bucket", "file_name", "file_size_bytes", "extra_files"),
    *("external_path", "file_source"),
]
_AT_ONCE = 256
"""Of so many commits the manifests are in memory together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """Which files of the deleted snapshots are deleted with them."""

    written_data: bool = True
    """Data files that writers made, not compactions; others need them for the changes."""
    changelogs: bool = True
    """Changelog files and what names them."""
    states: bool = True
    """Manifests of the states, and of what changed."""


def left_by_snapshots(
    gone: Sequence[Snapshot], first_kept: Snapshot, reader: ReferenceReader, leaving: Leaving
) -> Candidates:
    """Return the files that may be deleted with snapshots.

    Parameters
    ----------
    gone
        Snapshots that expire, ascending.
    first_kept
        The one after them.
    reader
        Reads what the table's snapshots refer to.
    leaving
        Which of their files are deleted.

    Raises
    ------
    CorruptMetadataError
        If a file is damaged. A missing file was deleted by others together with the files it names,
        so fewer are found.
    """
    candidates = Candidates()
    # A file that a commit deletes was alive in the snapshot before it.
    _add_deleted(candidates, [*gone[1:], first_kept], gone[0].id + 1, reader, leaving)
    if leaving.changelogs:
        _add_changelogs(candidates, gone, reader)
    _add_metadata(candidates, gone, reader, leaving)
    return candidates


def left_by_changelogs(gone: Sequence[Snapshot], reader: ReferenceReader) -> Candidates:
    """Return the files that may be deleted with long-lived changelogs, which ascend."""
    candidates = Candidates()
    listed = set[str]()
    if gone:
        _add_deleted(candidates, gone, gone[0].id, reader, Leaving())
        _add_changelogs(candidates, gone, reader)
    for snapshot in gone:
        for name, size in (
            (snapshot.base_manifest_list, snapshot.base_manifest_list_size),
            (snapshot.delta_manifest_list, snapshot.delta_manifest_list_size),
        ):
            _add_list(candidates, name, size, snapshot, reader, listed)
    return candidates


def _add_deleted(
    candidates: Candidates,
    commits: Sequence[Snapshot],
    next_id: int,
    reader: ReferenceReader,
    leaving: Leaving,
) -> None:
    """Add the data files that commits deleted and did not add again."""
    for start in range(0, len(commits), _AT_ONCE):
        chunk = commits[start : start + _AT_ONCE]
        read = [
            (snapshot, _metas(snapshot.delta_manifest_list, snapshot, reader)) for snapshot in chunk
        ]
        tables = _entries(read, reader)
        pieces: list[pa.Table] = []
        for (snapshot, _), entries in zip(read, tables, strict=True):
            if snapshot.id != next_id or entries is None:
                # What is not known may have brought files back that were deleted before it.
                _forget_data(candidates)
                pieces.clear()
            next_id = snapshot.id + 1
            if entries is not None and entries.num_rows:
                ids = arrow_array([snapshot.id] * entries.num_rows, pa.int64())
                pieces.append(entries.select(_COLUMNS).append_column("id", ids))
        if pieces:
            _apply(candidates, pa.concat_tables(pieces).combine_chunks(), reader, leaving)


def _apply(
    candidates: Candidates, entries: pa.Table, reader: ReferenceReader, leaving: Leaving
) -> None:
    """Follow files that are added and deleted, in the order of the commits."""
    # What a commit adds is kept, even if it deletes it as well: it moved to another level.
    entries = entries.sort_by([("id", "ascending"), ("kind", "descending")])
    rows = zip(
        reader.data_files(entries),
        entries["kind"].to_pylist(),
        entries["file_size_bytes"].to_pylist(),
        entries["file_source"].to_pylist(),
        entries["id"].to_pylist(),
        strict=True,
    )
    for paths, kind, size, source, snapshot_id in rows:
        if kind == FileKind.ADD:
            candidates.drop(paths)
        elif leaving.written_data or source == FileSource.COMPACT:
            reason = f"snapshot {snapshot_id} deleted it"
            candidates.add(paths[0], "data", size, reason)
            for extra in paths[1:]:
                candidates.add(extra, "data", None, reason)


def _forget_data(candidates: Candidates) -> None:
    candidates.drop([path for path, file in candidates.by_path.items() if file.sort == "data"])


def _add_changelogs(
    candidates: Candidates, gone: Sequence[Snapshot], reader: ReferenceReader
) -> None:
    """Add changelog files, and the manifests that name them."""
    listed = set[str]()
    for start in range(0, len(gone), _AT_ONCE):
        chunk = [
            snapshot
            for snapshot in gone[start : start + _AT_ONCE]
            if snapshot.changelog_manifest_list
        ]
        read = [
            (snapshot, _metas(str(snapshot.changelog_manifest_list), snapshot, reader))
            for snapshot in chunk
        ]
        for (snapshot, _), entries in zip(read, _entries(read, reader), strict=True):
            name = str(snapshot.changelog_manifest_list)
            size = snapshot.changelog_manifest_list_size
            _add_list(candidates, name, size, snapshot, reader, listed)
            if entries is None:
                continue
            added = entries.filter(is_kind(entries, FileKind.ADD))
            sizes = added["file_size_bytes"].to_pylist()
            for paths, size in zip(reader.data_files(added), sizes, strict=True):
                reason = f"changelog of snapshot {snapshot.id}"
                candidates.add(paths[0], "changelog", size, reason)
                for extra in paths[1:]:
                    candidates.add(extra, "changelog", None, reason)


def _add_metadata(
    candidates: Candidates, gone: Sequence[Snapshot], reader: ReferenceReader, leaving: Leaving
) -> None:
    layout = reader.layout
    listed = set[str]()
    for snapshot in gone:
        if leaving.states:
            for name, size in (
                (snapshot.base_manifest_list, snapshot.base_manifest_list_size),
                (snapshot.delta_manifest_list, snapshot.delta_manifest_list_size),
            ):
                _add_list(candidates, name, size, snapshot, reader, listed)
        reason = f"snapshot {snapshot.id} has it"
        if snapshot.statistics is not None:
            candidates.add(layout.statistics(snapshot.statistics), "statistics", None, reason)
        if snapshot.index_manifest is None:
            continue
        path = layout.manifest(snapshot.index_manifest)
        if path in candidates.by_path:
            continue
        candidates.add(path, "index manifest", None, reason)
        try:
            files = reader.index_files(snapshot.index_manifest, snapshot)
        except CorruptMetadataError as error:
            _check_missing(error)
            continue
        for file, size in files.items():
            candidates.add(file, "index", size, reason)


def _add_list(
    candidates: Candidates,
    name: str,
    size: int | None,
    snapshot: Snapshot,
    reader: ReferenceReader,
    listed: set[str],
) -> None:
    """Add a manifest list, and of its manifests those that no list named before."""
    reason = f"snapshot {snapshot.id} has it"
    candidates.add(reader.layout.manifest(name), "manifest list", size, reason)
    for meta in _metas(name, snapshot, reader) or ():
        if meta.file_name not in listed:
            listed.add(meta.file_name)
            path = reader.layout.manifest(meta.file_name)
            candidates.add(path, "manifest", meta.file_size_bytes, reason)


def _metas(name: str, snapshot: Snapshot, reader: ReferenceReader) -> list[ManifestFileMeta] | None:
    """Read a manifest list; None if it is missing."""
    try:
        return reader.manifests.read_list(name, referrer=f"snapshot-{snapshot.id}")
    except CorruptMetadataError as error:
        _check_missing(error)
        return None


def _entries(
    read: Sequence[tuple[Snapshot, list[ManifestFileMeta] | None]], reader: ReferenceReader
) -> Iterator[pa.Table | None]:
    """Read the entries of manifests; None where one is missing."""
    metas = [meta for _, metas_of_one in read for meta in metas_of_one or ()]
    try:
        # Decoded together: that is what takes time.
        tables = reader.manifests.read(metas)
    except CorruptMetadataError as error:
        _check_missing(error)
        for snapshot, metas_of_one in read:
            yield _of_one(snapshot, metas_of_one, reader)
        return
    by_name = dict(zip(dict.fromkeys(meta.file_name for meta in metas), tables, strict=True))
    for _, metas_of_one in read:
        if metas_of_one is None:
            yield None
        else:
            yield concat([by_name[meta.file_name] for meta in metas_of_one])


def _of_one(
    snapshot: Snapshot, metas: list[ManifestFileMeta] | None, reader: ReferenceReader
) -> pa.Table | None:
    if metas is None:
        return None
    try:
        return concat(reader.manifests.read(metas, referrer=f"snapshot-{snapshot.id}"))
    except CorruptMetadataError as error:
        _check_missing(error)
        return None


def _check_missing(error: CorruptMetadataError) -> None:
    if not isinstance(error.__cause__, FileNotFoundError):
        raise error
    logger.debug("deleted by others: %s", error.path)
