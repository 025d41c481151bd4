"""The table options that steer planning."""

from __future__ import annotations

from paimonlab.spec.buckets.mode import DYNAMIC
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.spec.partitions.folders import DEFAULT_PARTITION, PartitionOptions, relative_folder


class ScanOptions(OptionSlice):
    """The table options that steer planning."""

    bucket: int = option_field("bucket", "int", DYNAMIC)
    """``bucket``"""
    split_target_bytes: int = option_field("source.split.target-size", "memory", 128 << 20)
    """``source.split.target-size``: splits are not made larger than this."""
    open_file_cost_bytes: int = option_field("source.split.open-file-cost", "memory", 4 << 20)
    """``source.split.open-file-cost``: what a file counts at least."""
    default_name: str = option_field("partition.default-name", "string", DEFAULT_PARTITION)
    """``partition.default-name``"""
    legacy_name: bool = option_field("partition.legacy-name", "boolean", default=True)
    """``partition.legacy-name``"""
    data_directory: str = option_field(
        "data-file.path-directory", "string", "", parse=relative_folder
    )
    """``data-file.path-directory``"""
    data_evolution: bool = option_field("data-evolution.enabled", "boolean", default=False)
    """``data-evolution.enabled``: files with the same row ids are read together."""
    has_deletion_vectors: bool = option_field("deletion-vectors.enabled", "boolean", default=False)
    """``deletion-vectors.enabled``: compaction marks rows that newer ones replace."""
    merges_on_read: bool = option_field("deletion-vectors.merge-on-read", "boolean", default=False)
    """``deletion-vectors.merge-on-read``: what is not compacted yet is merged by readers."""
    is_first_row: bool = option_field(
        "merge-engine", "enum", default=False, parse="first-row".__eq__
    )
    """``merge-engine`` = ``first-row``: compaction throws away rows of keys that are there."""
    has_indexes_beside_data: bool = option_field(
        "index-file-in-data-file-dir", "boolean", default=False
    )
    """``index-file-in-data-file-dir``: where index files are."""

    @property
    def needs_no_merging(self) -> bool:
        """Whether compacted files of a primary-key table hold each key once.

        Source: apache/paimon@1.3.1 ``org.apache.paimon.table.source.MergeTreeSplitGenerator``.
        """
        return self.has_deletion_vectors or self.is_first_row

    @property
    def skips_level_0(self) -> bool:
        """Whether readers of a primary-key table do not see what is not compacted yet.

        Source: apache/paimon@2.0.0 ``org.apache.paimon.CoreOptions.batchScanSkipLevel0``.
        """
        return self.needs_no_merging and not (self.has_deletion_vectors and self.merges_on_read)

    @property
    def partition(self) -> PartitionOptions:
        """How partitions are named."""
        return PartitionOptions(
            default_name=self.default_name,
            legacy_name=self.legacy_name,
            data_directory=self.data_directory,
        )
