"""The base manifests of a commit: those of the previous snapshot, merged when small."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import numpy_values
from paimonlab.commit.manifest_merge import Full, MergeOptions, must_change, plan_merge
from paimonlab.metadata.manifests import ManifestOptions, ManifestStore
from paimonlab.scan.entries import fold
from paimonlab.scan.live_files import manifests_of, read_entries
from paimonlab.spec.manifests.manifest import FileKind, ManifestFileMeta, is_kind
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.data_types import DataField


class BaseManifests:
    """Derives base manifests, attempt after attempt of one commit.

    What was rewritten for an attempt that lost its race serves the next one, as long as the
    same manifests are merged.
    """

    def __init__(
        self,
        manifests: ManifestStore,
        partition_fields: Sequence[DataField],
        merge: MergeOptions,
        written: ManifestOptions,
    ) -> None:
        self._manifests = manifests
        self._partition_fields = partition_fields
        self._merge = merge
        self._written = written
        self._rewritten: dict[tuple[str, ...], list[ManifestFileMeta]] = {}

    @property
    def names(self) -> list[str]:
        """Names of all manifests that were written, used or not."""
        return [meta.file_name for metas in self._rewritten.values() for meta in metas]

    def after(self, latest: Snapshot | None) -> list[ManifestFileMeta]:
        """Return the base manifests of the snapshot that follows ``latest``."""
        if latest is None:
            return []
        metas = manifests_of(latest, self._manifests)
        plan = plan_merge(metas, self._merge)
        if isinstance(plan, Full):
            return self._all(latest, metas)
        return [meta for group in plan.groups for meta in self._group(latest, group)]

    def _all(self, latest: Snapshot, metas: list[ManifestFileMeta]) -> list[ManifestFileMeta]:
        changing = [meta for meta in metas if must_change(meta, self._merge)]
        staying = [meta for meta in metas if not must_change(meta, self._merge)]
        deleted = self._unmatched_deletions(latest, changing)
        hit = {meta.file_name for meta in staying if self._holds(latest, meta, deleted)}
        rewritten = [meta for meta in metas if meta in changing or meta.file_name in hit]
        kept = [meta for meta in staying if meta.file_name not in hit]
        return kept + self._group(latest, tuple(rewritten))

    def _group(
        self, latest: Snapshot, group: tuple[ManifestFileMeta, ...]
    ) -> list[ManifestFileMeta]:
        if len(group) == 1:
            return list(group)
        key = tuple(meta.file_name for meta in group)
        if key not in self._rewritten:
            entries = self._folded(latest, group)
            self._rewritten[key] = self._manifests.write(
                entries, self._partition_fields, self._written
            )
        return self._rewritten[key]

    def _folded(self, latest: Snapshot, metas: Sequence[ManifestFileMeta]) -> pa.Table:
        tables = read_entries(latest, metas, self._manifests)
        return fold(tables, referrer=f"snapshot-{latest.id}")

    def _unmatched_deletions(
        self, latest: Snapshot, metas: Sequence[ManifestFileMeta]
    ) -> pa.ChunkedArray:
        entries = self._folded(latest, metas)
        is_deleted = is_kind(entries, FileKind.DELETE)
        return entries.filter(is_deleted)["file_name"]

    def _holds(self, latest: Snapshot, meta: ManifestFileMeta, names: pa.ChunkedArray) -> bool:
        if not len(names):
            return False
        entries = self._folded(latest, [meta])
        is_named = pc.is_in(entries["file_name"], names.combine_chunks())
        return bool(np.any(numpy_values(is_named)))
