"""From manifest lists to the files that are alive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, empty_table
from paimonlab.maintenance.fsck.notes import Notes
from paimonlab.maintenance.fsck.roots import Root
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.entries import live
from paimonlab.spec.manifests.manifest import ENTRY_SCHEMA, FileKind, ManifestFileMeta, is_kind
from paimonlab.spec.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class LiveFiles:
    """The data files that a root has."""

    root: Root
    entries: pa.Table
    """Additions (`ENTRY_SCHEMA`)."""
    changelog: pa.Table
    """Additions of changelog files (`ENTRY_SCHEMA`)."""
    is_complete: bool
    """Whether all manifests could be read."""


class ManifestWalk:
    """Reads the manifests of roots, each of them once."""

    def __init__(self, manifests: ManifestStore, layout: TableLayout, notes: Notes) -> None:
        self._manifests = manifests
        self._layout = layout
        self._notes = notes
        self._seen: set[str] = set()

    def live(self, root: Root) -> LiveFiles:
        """Return the files of a root; problems of its manifests are noted."""
        snapshot = root.snapshot
        changelog: list[pa.Table] = []
        if not root.is_tag:
            changelog, _ = self._list(
                root, snapshot.changelog_manifest_list, snapshot.changelog_manifest_list_size
            )
        if root.is_changelog:
            return LiveFiles(root, empty_table(ENTRY_SCHEMA), _concat(changelog), is_complete=False)
        base, base_complete = self._list(
            root, snapshot.base_manifest_list, snapshot.base_manifest_list_size
        )
        delta, delta_complete = self._list(
            root, snapshot.delta_manifest_list, snapshot.delta_manifest_list_size
        )
        is_complete = base_complete and delta_complete
        entries = empty_table(ENTRY_SCHEMA)
        if is_complete:
            with self._notes.taken(root.path, referrer=root.name):
                entries = live([*base, *delta], referrer=root.path)
                self._check_counts(root, snapshot, entries, _concat(delta))
        if not root.is_tag:
            self._check_changelog(root, snapshot, _concat(changelog))
        return LiveFiles(root, entries, _concat(changelog), is_complete)

    def _list(
        self, root: Root, name: str | None, size_bytes: int | None
    ) -> tuple[list[pa.Table], bool]:
        if name is None:
            return [], True
        tables: list[pa.Table] = []
        metas: Sequence[ManifestFileMeta] = ()
        is_read = False
        with self._notes.taken(self._layout.manifest(name, root.name), referrer=root.name):
            metas = self._manifests.read_list(name, size_bytes, referrer=root.name)
            self._count(name)
            is_read = True
        for meta in metas:
            referrer = f"{root.name}, {name}"
            with self._notes.taken(
                self._layout.manifest(meta.file_name, root.name), referrer=referrer
            ):
                (entries,) = self._manifests.read([meta], referrer=referrer)
                tables.append(entries)
                if self._count(meta.file_name):
                    self._check_manifest(meta, entries, referrer)
        return tables, is_read and len(tables) == len(metas)

    def _count(self, name: str) -> bool:
        if name in self._seen:
            return False
        self._seen.add(name)
        self._notes.counts["manifests"] += 1
        return True

    def _check_manifest(self, meta: ManifestFileMeta, entries: pa.Table, referrer: str) -> None:
        added = pc.sum(is_kind(entries, FileKind.ADD)).as_py() or 0
        counts = (added, entries.num_rows - added)
        said = (meta.num_added_files, meta.num_deleted_files)
        if counts != said:
            problem = (
                f"it adds {counts[0]} and deletes {counts[1]} files, its list says {said[0]} and "
                f"{said[1]}"
            )
            self._notes.add(self._layout.manifest(meta.file_name), problem, referrer=referrer)
        for column, low, high in (
            ("bucket", meta.min_bucket, meta.max_bucket),
            ("level", meta.min_level, meta.max_level),
        ):
            ends = pc.min_max(entries[column]).as_py()
            if low is None or high is None or ends["min"] is None:
                continue
            if ends["min"] < low or ends["max"] > high:
                problem = (
                    f"it has files of {column} {ends['min']} to {ends['max']}, its list says "
                    f"{low} to {high}: filtered reads miss them"
                )
                self._notes.add(self._layout.manifest(meta.file_name), problem, referrer=referrer)

    def _check_counts(
        self, root: Root, snapshot: Snapshot, entries: pa.Table, delta: pa.Table
    ) -> None:
        total = pc.sum(entries["row_count"]).as_py() or 0
        sign = pc.if_else(is_kind(delta, FileKind.ADD), arrow_scalar(1), arrow_scalar(-1))
        changed = pc.sum(pc.multiply(delta["row_count"], sign)).as_py() or 0
        for what, said, counted in (
            ("rows", snapshot.total_record_count, total),
            ("rows more than before", snapshot.delta_record_count, changed),
        ):
            if said is not None and said != counted:
                problem = f"it says that it has {said:,} {what}, its files have {counted:,}"
                self._notes.add(root.path, problem, referrer=root.name, advice=_COUNTS)

    def _check_changelog(self, root: Root, snapshot: Snapshot, changelog: pa.Table) -> None:
        said, counted = snapshot.changelog_record_count, pc.sum(changelog["row_count"]).as_py() or 0
        if said is not None and said != counted:
            problem = f"it says that its changelog has {said:,} rows, its files have {counted:,}"
            self._notes.add(root.path, problem, referrer=root.name, advice=_COUNTS)


_COUNTS = "Counts are wrong that come from metadata alone."


def _concat(tables: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables(tables).combine_chunks() if tables else empty_table(ENTRY_SCHEMA)


def unseen(files_of_roots: Iterator[LiveFiles]) -> Iterator[tuple[LiveFiles, pa.Table]]:
    """Pair the files of each root with those that no earlier root had.

    Yields
    ------
    files, entries
        The entries of data and changelog files that are new with it.
    """
    seen = arrow_array([], pa.large_string())
    for files in files_of_roots:
        both = pa.concat_tables([files.entries, files.changelog]).combine_chunks()
        is_new = pc.invert(pc.is_in(both["file_name"], seen))
        new = both.filter(is_new)
        seen = pc.unique(pa.chunked_array([seen, *new["file_name"].chunks], pa.large_string()))
        yield files, new
