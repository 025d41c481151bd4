"""Files that only deleted snapshots needed: candidates for deletion.

Costs reading what their commits changed, never all that was alive in them.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.SnapshotDeletion``,
``…ChangelogDeletion``, ``…FileDeletionBase``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, empty_table, numpy_values
from paimonlab.errors import CorruptMetadataError
from paimonlab.maintenance.base_lists import Lists, read_bases
from paimonlab.maintenance.manifest_entries import ENTRIES, ManifestEntries
from paimonlab.maintenance.references import ReferenceReader
from paimonlab.maintenance.unneeded import Candidates, FileSort
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.spec.manifests.data_file import FileSource
from paimonlab.spec.manifests.manifest import FileKind, ManifestFileMeta, is_kind
from paimonlab.spec.snapshot import Snapshot

logger = logging.getLogger(__name__)

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
    gone: Sequence[Snapshot],
    first_kept: Snapshot,
    reader: ReferenceReader,
    leaving: Leaving,
    entries: ManifestEntries,
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
    entries
        Reads manifests.

    Raises
    ------
    CorruptMetadataError
        If a file is damaged. A missing file was deleted by others together with the files it names,
        so fewer are found.
    """
    # A file that a commit deletes was alive in the snapshot before it.
    finder = _Finder(reader, leaving, entries, next_id=gone[0].id + 1)
    commits = [*gone, first_kept]
    for start in range(0, len(commits), _AT_ONCE):
        chunk = commits[start : start + _AT_ONCE]
        expiring = chunk if len(chunk) + start < len(commits) else chunk[:-1]
        lists = finder.read_lists(chunk, of_states=expiring if leaving.states else ())
        finder.add_deleted(chunk if start else chunk[1:], lists)
        if leaving.states:
            finder.add_states(expiring, lists)
        finder.add_statistics_and_indexes(expiring)
    if leaving.changelogs:
        finder.add_changelogs(gone)
    return finder.candidates


def left_by_changelogs(gone: Sequence[Snapshot], reader: ReferenceReader) -> Candidates:
    """Return the files that may be deleted with long-lived changelogs, which ascend."""
    if not gone:
        return Candidates()
    finder = _Finder(reader, Leaving(), ManifestEntries(reader.manifests), next_id=gone[0].id)
    for start in range(0, len(gone), _AT_ONCE):
        chunk = gone[start : start + _AT_ONCE]
        lists = finder.read_lists(chunk, of_states=chunk)
        finder.add_deleted(chunk, lists)
        finder.add_states(chunk, lists)
    finder.add_changelogs(gone)
    return finder.candidates


class _Finder:
    """Gathers what commits leave, in their order: so many at once, each list read once."""

    def __init__(
        self, reader: ReferenceReader, leaving: Leaving, entries: ManifestEntries, *, next_id: int
    ) -> None:
        self.candidates = Candidates()
        self._reader = reader
        self._leaving = leaving
        self._entries = entries
        self._next_id = next_id
        self._listed = set[str]()

    def read_lists(self, commits: Sequence[Snapshot], *, of_states: Sequence[Snapshot]) -> Lists:
        """Read the manifest lists of what commits changed, and of states those that are needed."""
        changes = self._lists({commit.delta_manifest_list: commit for commit in commits})

        def read(states: Sequence[Snapshot]) -> Lists:
            return self._lists({state.base_manifest_list: state for state in states})

        return {**changes, **read_bases(of_states, changes, read)}

    def add_deleted(self, commits: Sequence[Snapshot], lists: Lists) -> None:
        """Add the data files that commits deleted and did not add again."""
        entries, counts = self._read(commits, [lists[one.delta_manifest_list] for one in commits])
        first = end = 0
        for commit, count in zip(commits, counts, strict=True):
            if commit.id != self._next_id or count is None:
                # What is not known may have brought files back that were deleted before it.
                self._forget_data()
                first = end
            self._next_id = commit.id + 1
            end += count or 0
        ids = np.repeat([commit.id for commit in commits], [count or 0 for count in counts])
        if first < end:
            self._apply(entries.append_column("id", arrow_array(ids)).slice(first))

    def _apply(self, entries: pa.Table) -> None:
        """Follow files that are added and deleted, in the order of the commits."""
        # What a commit adds is kept, even if it deletes it as well: it moved to another level.
        entries = entries.sort_by([("id", "ascending"), ("kind", "descending")])
        rows = zip(
            self._reader.data_files(entries),
            entries["kind"].to_pylist(),
            entries["file_size_bytes"].to_pylist(),
            entries["file_source"].to_pylist(),
            entries["id"].to_pylist(),
            strict=True,
        )
        for paths, kind, size, source, snapshot_id in rows:
            if kind == FileKind.ADD:
                self.candidates.drop(paths)
            elif self._leaving.written_data or source == FileSource.COMPACT:
                self._add_data(paths, "data", size, f"snapshot {snapshot_id} deleted it")

    def _add_data(
        self, paths: Sequence[str], sort: FileSort, size: int | None, reason: str
    ) -> None:
        self.candidates.add(paths[0], sort, size, reason)
        for extra in paths[1:]:
            self.candidates.add(extra, sort, None, reason)

    def _forget_data(self) -> None:
        files = self.candidates.by_path.items()
        self.candidates.drop([path for path, file in files if file.sort == "data"])

    def add_changelogs(self, gone: Sequence[Snapshot]) -> None:
        """Add changelog files, and the manifests that name them."""
        self._listed.clear()
        for start in range(0, len(gone), _AT_ONCE):
            chunk = gone[start : start + _AT_ONCE]
            names = {
                snapshot.changelog_manifest_list: snapshot
                for snapshot in chunk
                if snapshot.changelog_manifest_list
            }
            lists = self._lists(names)
            entries, counts = self._read([*names.values()], [lists[name] for name in names])
            for name, snapshot in names.items():
                size = snapshot.changelog_manifest_list_size
                self._add_list(name, size, snapshot, lists)
            ids = np.repeat(
                [snapshot.id for snapshot in names.values()], [count or 0 for count in counts]
            )
            is_added = is_kind(entries, FileKind.ADD)
            added = entries.filter(is_added)
            sizes = added["file_size_bytes"].to_pylist()
            files = zip(
                self._reader.data_files(added), sizes, ids[numpy_values(is_added)], strict=True
            )
            for paths, size, snapshot_id in files:
                self._add_data(paths, "changelog", size, f"changelog of snapshot {snapshot_id}")

    def add_states(self, gone: Sequence[Snapshot], lists: Lists) -> None:
        """Add the manifests of states, and of what changed."""
        for snapshot in gone:
            for name, size in (
                (snapshot.base_manifest_list, snapshot.base_manifest_list_size),
                (snapshot.delta_manifest_list, snapshot.delta_manifest_list_size),
            ):
                self._add_list(name, size, snapshot, lists)

    def add_statistics_and_indexes(self, gone: Sequence[Snapshot]) -> None:
        """Add statistics, index manifests and the index files that they name."""
        layout = self._reader.layout
        for snapshot in gone:
            reason = _has(snapshot)
            if snapshot.statistics is not None:
                path = layout.statistics(snapshot.statistics)
                self.candidates.add(path, "statistics", None, reason)
            if snapshot.index_manifest is None:
                continue
            path = layout.manifest(snapshot.index_manifest)
            if path in self.candidates.by_path:
                continue
            self.candidates.add(path, "index manifest", None, reason)
            try:
                files = self._reader.index_files(snapshot.index_manifest, snapshot)
            except CorruptMetadataError as error:
                _check_missing(error)
                continue
            for file, size in files.items():
                self.candidates.add(file, "index", size, reason)

    def _add_list(self, name: str, size: int | None, snapshot: Snapshot, lists: Lists) -> None:
        """Add a manifest list, and of its manifests those that no list named before."""
        layout, reason = self._reader.layout, _has(snapshot)
        self.candidates.add(layout.manifest(name), "manifest list", size, reason)
        for meta in lists.get(name) or ():
            if meta.file_name not in self._listed:
                self._listed.add(meta.file_name)
                path = layout.manifest(meta.file_name)
                self.candidates.add(path, "manifest", meta.file_size_bytes, reason)

    def _lists(self, referrers: Mapping[str, Snapshot]) -> Lists:
        """Read manifest lists, given with the snapshot that names each."""
        manifests = self._reader.manifests
        try:
            return manifests.read_lists(dict.fromkeys(referrers))
        except CorruptMetadataError:  # one of them is to blame; read alone, it is told which
            return {name: _metas(name, of, manifests) for name, of in referrers.items()}

    def _read(
        self, snapshots: Sequence[Snapshot], lists: Sequence[list[ManifestFileMeta] | None]
    ) -> tuple[pa.Table, list[int | None]]:
        """Read manifests of snapshots: entries of all, and how many each has; None: one is missing.

        Decoded together: that is what takes time.
        """
        try:
            read = self._entries.read([meta for metas in lists for meta in metas or ()])
        except CorruptMetadataError:
            alone = [
                self._of_one(snapshot, metas)
                for snapshot, metas in zip(snapshots, lists, strict=True)
            ]
            tables = [entries for entries in alone if entries is not None]
            table = pa.concat_tables(tables) if tables else empty_table(ENTRIES)
            return table, [None if entries is None else entries.num_rows for entries in alone]
        rest = iter(read.counts)
        counts = [None if metas is None else sum(islice(rest, len(metas))) for metas in lists]
        return read.table, counts

    def _of_one(self, snapshot: Snapshot, metas: list[ManifestFileMeta] | None) -> pa.Table | None:
        if metas is None:
            return None
        try:
            return self._entries.read(metas, referrer=snapshot.file_name).table
        except CorruptMetadataError as error:
            _check_missing(error)
            return None


def _has(snapshot: Snapshot) -> str:
    return f"snapshot {snapshot.id} has it"


def _metas(
    name: str, snapshot: Snapshot, manifests: ManifestStore
) -> list[ManifestFileMeta] | None:
    """Read a manifest list; None if it is missing."""
    try:
        return manifests.read_list(name, referrer=snapshot.file_name)
    except CorruptMetadataError as error:
        _check_missing(error)
        return None


def _check_missing(error: CorruptMetadataError) -> None:
    if not isinstance(error.__cause__, FileNotFoundError):
        raise error
    logger.debug("deleted by others: %s", error.path)
