"""Which snapshot was built upon which: ids alone do not show that.

A snapshot that a stalled process publishes late may stand right below one that knows nothing of
it. But a snapshot names all that was alive in the one it was built upon, and the names of
manifests and of new files are unique to the commit that made them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.entries import live
from paimonlab.scan.live_files import (
    delta_manifests_of,
    live_entries,
    manifests_of,
    read_entries,
)
from paimonlab.spec.manifests.manifest import FileKind, ManifestFileMeta, is_kind
from paimonlab.spec.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Traces:
    """What a commit leaves in the snapshots that are built upon it."""

    manifests: frozenset[str]
    """Names of those that say what it changed."""
    entries: Callable[[], pa.Table]
    """Reads what it changed (`ENTRY_SCHEMA`)."""
    index_manifest: str | None = None
    """The list of index files, if it is a new one."""
    statistics: str | None = None
    """The file of statistics, if it is a new one."""

    def new_files(self) -> pa.Array:
        """Return the names of files that came into the table with the commit."""
        return _but(self.entries(), FileKind.ADD, FileKind.DELETE)

    def gone_files(self) -> pa.Array:
        """Return the names of files that left the table with the commit."""
        return _but(self.entries(), FileKind.DELETE, FileKind.ADD)


def is_built_upon(child: Snapshot, parent: Traces, manifests: ManifestStore) -> bool | None:
    """Whether a snapshot was built directly upon a commit; None if that is unclear.

    Parameters
    ----------
    child
        The snapshot whose id follows that of the commit.
    parent
        Traces of the commit.
    manifests
        The table's manifests.

    Raises
    ------
    SnapshotExpiredError
        If the child is gone.
    CorruptMetadataError
        If a manifest cannot be read.
    """
    if _has_names(child, parent):
        return True
    metas = manifests_of(child, manifests)
    if not parent.manifests.isdisjoint(meta.file_name for meta in metas):
        return True
    new, gone = parent.new_files(), parent.gone_files()
    if not len(new) and not len(gone):
        return None
    # The manifests of the commit were merged with others, or the child knows nothing of it.
    tables = read_entries(child, _base_of(child, manifests), manifests)
    if len(new):
        return _names_any(tables, new)
    return False if _names_any([live(tables)], gone) else None


def descends_from(snapshot: Snapshot, ancestor: Traces, manifests: ManifestStore) -> bool:
    """Whether a snapshot certainly descends from a commit."""
    if _has_names(snapshot, ancestor):
        return True
    metas = manifests_of(snapshot, manifests)
    if not ancestor.manifests.isdisjoint(meta.file_name for meta in metas):
        return True
    new = ancestor.new_files()
    return bool(len(new)) and _names_any(read_entries(snapshot, metas, manifests), new)


def files_after(snapshot: Snapshot, manifests: ManifestStore) -> frozenset[str]:
    """Return the names of the data files that are alive in a snapshot."""
    return frozenset(live_entries(snapshot, manifests)["file_name"].to_pylist())


def files_before(snapshot: Snapshot, manifests: ManifestStore) -> frozenset[str]:
    """Return the names of the data files that were alive before the commit of a snapshot."""
    entries = live(read_entries(snapshot, _base_of(snapshot, manifests), manifests))
    return frozenset(entries["file_name"].to_pylist())


def _base_of(snapshot: Snapshot, manifests: ManifestStore) -> list[ManifestFileMeta]:
    delta = {meta.file_name for meta in delta_manifests_of(snapshot, manifests)}
    return [meta for meta in manifests_of(snapshot, manifests) if meta.file_name not in delta]


def _has_names(snapshot: Snapshot, traces: Traces) -> bool:
    index, statistics = traces.index_manifest, traces.statistics
    return (index is not None and snapshot.index_manifest == index) or (
        statistics is not None and snapshot.statistics == statistics
    )


def _names_any(tables: list[pa.Table], names: pa.Array) -> bool:
    return any(pc.any(pc.is_in(table["file_name"], names)).as_py() for table in tables)


def _but(entries: pa.Table, kind: FileKind, other: FileKind) -> pa.Array:
    """Return the names of files in entries of a kind, without those in entries of another.

    A file that moves to another level is in both.
    """
    of_kind = entries.filter(is_kind(entries, kind))["file_name"]
    of_other = entries.filter(is_kind(entries, other))["file_name"]
    names = of_kind.filter(pc.invert(pc.is_in(of_kind, of_other.combine_chunks())))
    return names.combine_chunks()
