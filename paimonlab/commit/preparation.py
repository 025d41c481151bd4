"""What a commit writes before it can be published, and how that is undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pyarrow as pa

from paimonlab.arrow_values import numpy_values
from paimonlab.commit.attempt import CommitRequest, ManifestLists, next_snapshot
from paimonlab.commit.base_manifests import BaseManifests
from paimonlab.commit.commit_changes import Change
from paimonlab.commit.lineage import Traces
from paimonlab.commit.options import CommitOptions
from paimonlab.commit.row_ids import assign_row_ids
from paimonlab.metadata.manifests import ManifestOptions, ManifestStore
from paimonlab.scan.entries import without_stats_of_deleted
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.spec.manifests.manifest import NO_ENTRIES, ManifestFileMeta
from paimonlab.spec.snapshot import FIRST_SNAPSHOT_ID, Snapshot
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage.together import asked_together


class Preparation:
    """Writes manifests and lists for one attempt after the other.

    Manifests of the changes are written again only if the changes differ.
    """

    def __init__(
        self,
        request: CommitRequest,
        change: Change,
        manifests: ManifestStore,
        partition_fields: Sequence[DataField],
        options: CommitOptions,
    ) -> None:
        self._request = request
        self._change = change
        self._manifests = manifests
        self._options = options
        self._base = BaseManifests(manifests, partition_fields, options.merge, options.manifests)
        self._base_metas: list[ManifestFileMeta] = []
        self._delta = _Entries(manifests, partition_fields, options.manifests)
        self._changelog = _Entries(manifests, partition_fields, options.manifests)
        self._lists: list[str] = []
        self._index_manifest: str | None = None

    def after(self, latest: Snapshot | None, *, schema_id: int, time_millis: int) -> Snapshot:
        """Write what the snapshot after ``latest`` needs, and return the snapshot.

        It may be published after `sync`.
        """
        delta = self._change.after(latest)
        entries, next_row_id = self._with_row_ids(delta.entries, latest)
        if self._options.drop_stats_of_deleted:
            entries = without_stats_of_deleted(entries)
        self._delta.write(entries)
        self._changelog.write(delta.changelog)
        self._base_metas = self._base.after(latest)
        base, added, changelog = self._write_lists()
        lists = ManifestLists(
            base=base,
            delta=added,
            changelog=changelog,
            index_manifest=self._write_indexes(delta.indexes, latest),
        )
        return next_snapshot(
            self._request,
            self._change.kind,
            entries,
            lists,
            latest=latest,
            schema_id=schema_id,
            next_row_id=next_row_id,
            changelog_rows=int(numpy_values(delta.changelog["row_count"]).sum()),
            time_millis=time_millis,
        )

    def traces(self) -> Traces:
        """Return what this commit leaves in snapshots that are built upon it."""
        written = self._delta.written
        return Traces(
            frozenset(self._delta.names),
            lambda: written,
            index_manifest=self._index_manifest,
            statistics=self._request.statistics,
        )

    def sync(self, meanwhile: Sequence[Callable[[], bool]] = ()) -> Sequence[bool]:
        """Make what was written durable; return what questions answer that are asked meanwhile."""
        names = [*self._lists, *self._delta.names, *self._changelog.names, *self._base.names]
        return self._manifests.sync(names, meanwhile)

    def discard_lists(self) -> None:
        """Delete the lists of an attempt that lost; the manifests may serve the next one.

        The list of index files is one of them.
        """
        self._manifests.delete(self._lists)
        self._lists = []

    def discard(self) -> None:
        """Delete everything: the commit will not happen."""
        self.discard_lists()
        for names in (self._delta.names, self._changelog.names, self._base.names):
            self._manifests.delete(names)

    def discard_unused(self) -> None:
        """Delete manifests that were merged for attempts that lost; the commit happened."""
        used = {meta.file_name for meta in self._base_metas}
        self._manifests.delete([name for name in self._base.names if name not in used])

    def _with_row_ids(self, entries: pa.Table, latest: Snapshot | None) -> tuple[pa.Table, int]:
        first = (latest.next_row_id or 0) if latest else 0
        if not self._options.row_tracking:
            return entries, first
        next_id = latest.id + 1 if latest else FIRST_SNAPSHOT_ID
        return assign_row_ids(entries, snapshot_id=next_id, next_row_id=first)

    def _write_indexes(
        self, files: Sequence[IndexManifestEntry] | None, latest: Snapshot | None
    ) -> str | None:
        if files is None:
            self._index_manifest = None
            return latest.index_manifest if latest else None
        self._index_manifest = name = self._manifests.write_index(files, self._options.manifests)
        self._lists.append(name)
        return name

    def _write_lists(self) -> tuple[tuple[str, int], tuple[str, int], tuple[str, int] | None]:
        """Write the lists of the base, of what is added and of the changelog, if there is one."""
        all_metas = [self._base_metas, self._delta.metas]
        if self._changelog.metas:
            all_metas.append(self._changelog.metas)
        written = asked_together(
            self._manifests.table_path, [partial(self._write_list, metas) for metas in all_metas]
        )
        return written[0], written[1], written[2] if len(written) > 2 else None

    def _write_list(self, metas: Sequence[ManifestFileMeta]) -> tuple[str, int]:
        name, size_bytes = self._manifests.write_list(metas, self._options.manifests)
        self._lists.append(name)
        return name, size_bytes


class _Entries:
    """Manifests of entries, reused from attempt to attempt unless they change."""

    def __init__(
        self,
        manifests: ManifestStore,
        partition_fields: Sequence[DataField],
        options: ManifestOptions,
    ) -> None:
        self._manifests = manifests
        self._partition_fields = partition_fields
        self._options = options
        self._written: pa.Table | None = None
        self.metas: list[ManifestFileMeta] = []

    @property
    def written(self) -> pa.Table:
        """The entries in them (`ENTRY_SCHEMA`)."""
        return NO_ENTRIES if self._written is None else self._written

    @property
    def names(self) -> list[str]:
        return [meta.file_name for meta in self.metas]

    def write(self, entries: pa.Table) -> None:
        if self._written is not None and self._written.equals(entries):
            return
        self._manifests.delete(self.names)
        self.metas = []
        self.metas = self._manifests.write(entries, self._partition_fields, self._options)
        self._written = entries
