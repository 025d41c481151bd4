"""All that a writer has to know about a table, as one picklable value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paimonlab.formats.data_output import DataFormats
from paimonlab.formats.file_index.options import FileIndexOptions
from paimonlab.spec.buckets.mode import BucketMode, bucket_mode
from paimonlab.spec.external_paths import ExternalFolders
from paimonlab.spec.merge_engine import MergeEngine
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.spec.partitions.folders import PartitionOptions
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.statistics.mode import StatsOptions
from paimonlab.write.key_hashes import DynamicBucketOptions

if TYPE_CHECKING:
    from paimonlab.compact.ordering.row_order import RowOrder

_TARGET_WITH_KEY_BYTES = 128 << 20
_TARGET_WITHOUT_KEY_BYTES = 256 << 20
_PASSED_ON_BYTES = 64 << 20
"""Bytes of rows that need no sorting at which they go to their file, to wait there."""


class WriterCompactionOptions(OptionSlice):
    """The table options for compaction by writers."""

    write_only: bool = option_field("write-only", "boolean", default=False)
    """``write-only``: writers leave compaction, and the upkeep after commits, to others."""
    always_waits: bool = option_field("commit.force-compact", "boolean", default=False)
    """``commit.force-compact``: a commit waits for compaction; here it always does."""
    full_every: int | None = option_field("full-compaction.delta-commits", "int", None)
    """``full-compaction.delta-commits``: after so many commits of a writer the buckets it wrote
    to are compacted in full; None: never."""


class WriteOptions(OptionSlice):
    """The table options that steer writing."""

    bucket: int = option_field("bucket", "int", -1)
    """``bucket``: at least 1, or -1: append tables without buckets."""
    target_file_size_bytes: int | None = option_field("target-file-size", "memory", None)
    """``target-file-size``; None: 128 MB with a primary key, 256 MB without."""
    target_file_rows: int = option_field("target-file-row-num", "long", 2**63 - 1)
    """``target-file-row-num``: rows at which a new file is begun."""
    write_buffer_size_bytes: int = option_field("write-buffer-size", "memory", 256 << 20)
    """``write-buffer-size``: Arrow bytes a writer holds before it writes files."""
    file_prefix: str = option_field("data-file.prefix", "string", "data-")
    """``data-file.prefix``"""
    changelog_prefix: str = option_field("changelog-file.prefix", "string", "changelog-")
    """``changelog-file.prefix``"""
    changelog_producer: str = option_field("changelog-producer", "enum", "none")
    """``changelog-producer``: ``input`` also keeps rows as they came."""
    indexes_beside_data: bool = option_field(
        "index-file-in-data-file-dir", "boolean", default=False
    )
    """``index-file-in-data-file-dir``: where index files are."""
    kind_field: str | None = option_field("rowkind.field", "string", None)
    """``rowkind.field``: the column that holds the row kinds."""
    is_thin: bool = option_field("data-file.thin-mode", "boolean", default=False)
    """``data-file.thin-mode``: whether files go without key copies."""
    merge_engine: str = option_field("merge-engine", "enum", "deduplicate")
    """``merge-engine``"""
    sequence_fields: tuple[str, ...] = option_field("sequence.field", "list", ())
    """``sequence.field``: columns that order rows of a key before the sequence number."""
    sequence_descending: bool = option_field(
        "sequence.field.sort-order", "enum", default=False, parse="descending".__eq__
    )
    """``sequence.field.sort-order``: whether the smallest value wins."""
    ignore_delete: bool = option_field("ignore-delete", "boolean", default=False)
    """``ignore-delete``: rows of kind ``-U`` and ``-D`` are not written."""
    ignore_update_before: bool = option_field("ignore-update-before", "boolean", default=False)
    """``ignore-update-before``: rows of kind ``-U`` are not written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePlan:
    """What a writer needs, on the driver or on an executor."""

    table_path: str
    table_name: str
    """``database.table``, for messages."""
    schema: TableSchema
    options: WriteOptions
    partition: PartitionOptions
    formats: DataFormats
    stats: StatsOptions
    file_index: FileIndexOptions = field(default_factory=FileIndexOptions)
    dynamic: DynamicBucketOptions = field(default_factory=DynamicBucketOptions)
    external: ExternalFolders = field(default_factory=ExternalFolders)
    """Roots that new data files go to, if there are some."""
    engine: MergeEngine = field(default_factory=MergeEngine)
    """What becomes of several rows of one key."""
    order: RowOrder | None = None
    """In which order rows are put that are written together; None: as they come."""

    @property
    def target_file_size_bytes(self) -> int:
        """Size at which a new file is begun."""
        if self.options.target_file_size_bytes is not None:
            return self.options.target_file_size_bytes
        has_key = bool(self.schema.primary_keys)
        return _TARGET_WITH_KEY_BYTES if has_key else _TARGET_WITHOUT_KEY_BYTES

    @property
    def buckets(self) -> int:
        """The option ``bucket``: buckets a partition has, -1 or -2."""
        return self.options.bucket

    @property
    def bucket_mode(self) -> BucketMode:
        """How rows find their bucket."""
        return bucket_mode(self.options.bucket, self.schema)

    @property
    def most_buffered_bytes(self) -> int:
        """Bytes at which rows are written: sorting needs many, and so does dividing them."""
        option = self.options.write_buffer_size_bytes
        if self.order is not None:
            return max(option // 2, 1)  # they and their copy in order
        is_divided = self.schema.primary_keys or self.schema.partition_keys
        if is_divided or self.bucket_mode is not BucketMode.BUCKET_UNAWARE:
            return option
        return min(option, _PASSED_ON_BYTES)
