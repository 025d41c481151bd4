"""What a commit writes before it can be published, and how it is taken back."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from paimonlab.commit.attempt import CommitRequest, ManifestLists, next_snapshot
from paimonlab.commit.base_manifests import BaseManifests
from paimonlab.commit.changes import Change
from paimonlab.commit.options import CommitOptions
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.spec.manifest import ManifestFileMeta
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types import DataField


class Preparation:
    """Writes manifests and lists for one attempt after the other.

    Manifests of the changes are written once, unless the changes become others.
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
        self._partition_fields = partition_fields
        self._written = options.manifests
        self._base = BaseManifests(manifests, partition_fields, options.merge, options.manifests)
        self._base_metas: list[ManifestFileMeta] = []
        self._delta: pa.Table | None = None
        self._delta_metas: list[ManifestFileMeta] = []
        self._lists: list[str] = []
        self._synced: set[str] = set()

    def after(self, latest: Snapshot | None, *, schema_id: int, time_millis: int) -> Snapshot:
        """Write what the snapshot after ``latest`` needs, and return the snapshot.

        It may be published after `sync`.
        """
        delta = self._change.after(latest)
        self._write_delta(delta)
        self._base_metas = self._base.after(latest)
        lists = ManifestLists(
            base=self._write_list(self._base_metas), delta=self._write_list(self._delta_metas)
        )
        return next_snapshot(
            self._request,
            self._change.kind,
            delta,
            lists,
            latest=latest,
            schema_id=schema_id,
            time_millis=time_millis,
        )

    def sync(self) -> None:
        """Make what was written durable."""
        names = [*self._lists, *_names(self._delta_metas), *self._base.names]
        self._manifests.sync([name for name in names if name not in self._synced])
        self._synced.update(names)

    def discard_lists(self) -> None:
        """Delete the lists of an attempt that lost; the manifests may serve the next one."""
        self._manifests.delete(self._lists)
        self._lists = []

    def discard(self) -> None:
        """Delete everything: the commit will not happen."""
        self.discard_lists()
        self._manifests.delete(_names(self._delta_metas))
        self._manifests.delete(self._base.names)

    def discard_unused(self) -> None:
        """Delete manifests that were merged for attempts that lost; the commit happened."""
        used = set(_names(self._base_metas))
        self._manifests.delete([name for name in self._base.names if name not in used])

    def _write_delta(self, delta: pa.Table) -> None:
        if self._delta is not None and self._delta.equals(delta):
            return
        self._manifests.delete(_names(self._delta_metas))
        self._delta_metas = []
        self._delta_metas = self._manifests.write(delta, self._partition_fields, self._written)
        self._delta = delta

    def _write_list(self, metas: Sequence[ManifestFileMeta]) -> tuple[str, int]:
        name, size_bytes = self._manifests.write_list(metas)
        self._lists.append(name)
        return name, size_bytes


def _names(metas: Sequence[ManifestFileMeta]) -> list[str]:
    return [meta.file_name for meta in metas]
