"""The table options that steer planning."""

from __future__ import annotations

from dataclasses import dataclass

from paimonlab.spec.options import option_field
from paimonlab.spec.partition import DEFAULT_PARTITION, PartitionOptions, relative_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanOptions:
    """The table options that steer planning."""

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

    @property
    def partition(self) -> PartitionOptions:
        """How partitions are named."""
        return PartitionOptions(
            default_name=self.default_name,
            legacy_name=self.legacy_name,
            data_directory=self.data_directory,
        )
