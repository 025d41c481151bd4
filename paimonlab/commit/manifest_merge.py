"""Which manifests a commit rewrites, so that small ones do not pile up.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.ManifestFileMerger``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paimonlab.spec.manifests.manifest import ManifestFileMeta


@dataclass(frozen=True, slots=True)
class MergeOptions:
    """The table options that steer `plan_merge`."""

    target_size_bytes: int = 8 << 20
    """``manifest.target-file-size``: manifests of this size are left alone."""
    merge_min_count: int = 30
    """``manifest.merge-min-count``: merge this many small manifests at the end."""
    full_compaction_threshold_bytes: int = 16 << 20
    """``manifest.full-compaction-threshold-size``: size of all manifests that are small or
    hold deletions from which on all of them are rewritten."""


@dataclass(frozen=True, slots=True)
class Minor:
    """Rewrite some neighbours as one."""

    groups: tuple[tuple[ManifestFileMeta, ...], ...]
    """All manifests in order; a group of one stays as it is, a longer one is rewritten."""


@dataclass(frozen=True, slots=True)
class Full:
    """Rewrite all that `must_change`, and those that hold a file deleted in them."""


def plan_merge(manifests: Sequence[ManifestFileMeta], options: MergeOptions) -> Minor | Full:
    """Choose what to rewrite.

    Parameters
    ----------
    manifests
        All manifests of the previous snapshot, base before delta.
    options
        Sizes and counts.

    Notes
    -----
    Without deletions a file below the target size is read and written again once in
    ``merge_min_count`` commits, so a commit costs O(1) manifests on average.
    """
    pending = sum(meta.file_size_bytes for meta in manifests if must_change(meta, options))
    if pending >= options.full_compaction_threshold_bytes:
        return Full()
    return Minor(tuple(_groups(manifests, options)))


def must_change(manifest: ManifestFileMeta, options: MergeOptions) -> bool:
    """Whether a full compaction rewrites this manifest in any case."""
    return manifest.num_deleted_files > 0 or manifest.file_size_bytes < options.target_size_bytes


def _groups(
    manifests: Sequence[ManifestFileMeta], options: MergeOptions
) -> list[tuple[ManifestFileMeta, ...]]:
    groups = []
    group: list[ManifestFileMeta] = []
    size_bytes = 0
    for manifest in manifests:
        group.append(manifest)
        size_bytes += manifest.file_size_bytes
        if size_bytes >= options.target_size_bytes:
            groups.append(tuple(group))
            group, size_bytes = [], 0
    if len(group) >= options.merge_min_count:
        return [*groups, tuple(group)]
    return groups + [(manifest,) for manifest in group]
