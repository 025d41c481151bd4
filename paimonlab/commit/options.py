"""The table options that steer a commit."""

from __future__ import annotations

from paimonlab.commit.manifest_merge import MergeOptions
from paimonlab.commit.race import RetryOptions
from paimonlab.metadata.manifests import ManifestOptions
from paimonlab.spec.options.table_options import OptionSlice, option_field


class CommitOptions(OptionSlice):
    """The table options that steer a commit."""

    max_retries: int = option_field("commit.max-retries", "int", 10)
    """``commit.max-retries``: see `RetryOptions`."""
    timeout_millis: int | None = option_field("commit.timeout", "duration", None)
    """``commit.timeout``; None: no limit of time."""
    min_retry_wait_millis: int = option_field("commit.min-retry-wait", "duration", 10)
    """``commit.min-retry-wait``"""
    max_retry_wait_millis: int = option_field("commit.max-retry-wait", "duration", 10_000)
    """``commit.max-retry-wait``"""
    ignore_empty_commit: bool = option_field(
        "snapshot.ignore-empty-commit", "boolean", default=True
    )
    """``snapshot.ignore-empty-commit``: no snapshot for a commit without files."""
    manifest_compression: str = option_field("manifest.compression", "string", "zstd")
    """``manifest.compression``"""
    manifest_format: str = option_field("manifest.format", "enum", "avro")
    """``manifest.format``"""
    manifest_target_size_bytes: int = option_field("manifest.target-file-size", "memory", 8 << 20)
    """``manifest.target-file-size``"""
    manifest_merge_min_count: int = option_field("manifest.merge-min-count", "int", 30)
    """``manifest.merge-min-count``"""
    full_compaction_threshold_bytes: int = option_field(
        "manifest.full-compaction-threshold-size", "memory", 16 << 20
    )
    """``manifest.full-compaction-threshold-size``"""
    force_create_snapshot: bool = option_field(
        "commit.force-create-snapshot", "boolean", default=False
    )
    """``commit.force-create-snapshot``: also a snapshot for a commit without files."""
    discard_duplicate_files: bool = option_field(
        "commit.discard-duplicate-files", "boolean", default=False
    )
    """``commit.discard-duplicate-files``: files to append that are there already are left out
    instead of being a conflict."""
    last_safe_snapshot: int | None = option_field(
        "commit.strict-mode.last-safe-snapshot", "long", None
    )
    """``commit.strict-mode.last-safe-snapshot``: no other user may have compacted or overwritten
    since; -1: since the first commit of this committer; None: they may."""
    drop_stats_of_deleted: bool = option_field(
        "manifest.delete-file-drop-stats", "boolean", default=False
    )
    """``manifest.delete-file-drop-stats``: entries of deleted files come without statistics."""
    buckets: int = option_field("bucket", "int", -1)
    """``bucket``"""
    row_tracking: bool = option_field("row-tracking.enabled", "boolean", default=False)
    """``row-tracking.enabled``: rows get ids when they are committed."""

    @property
    def makes_empty_snapshots(self) -> bool:
        """Whether a commit without files becomes a snapshot."""
        return self.force_create_snapshot or not self.ignore_empty_commit

    @property
    def retry(self) -> RetryOptions:
        """How long to go on against other writers."""
        return RetryOptions(
            max_retries=self.max_retries,
            timeout_millis=self.timeout_millis,
            min_wait_millis=self.min_retry_wait_millis,
            max_wait_millis=self.max_retry_wait_millis,
        )

    @property
    def manifests(self) -> ManifestOptions:
        """How manifests are written."""
        return ManifestOptions(
            compression=self.manifest_compression,
            file_format=self.manifest_format,
            target_size_bytes=self.manifest_target_size_bytes,
        )

    @property
    def merge(self) -> MergeOptions:
        """When manifests are merged."""
        return MergeOptions(
            target_size_bytes=self.manifest_target_size_bytes,
            merge_min_count=self.manifest_merge_min_count,
            full_compaction_threshold_bytes=self.full_compaction_threshold_bytes,
        )
