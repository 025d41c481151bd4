"""What reading all of a snapshot takes."""

from __future__ import annotations

from dataclasses import dataclass

from paimonlab.table.reading.scan import Scan


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotPlan:
    """The files and splits of a snapshot."""

    all_file_count: int
    all_size_bytes: int
    split_count: int
    merged_split_count: int
    """Splits whose rows are merged, or fewer than the files have."""
    level_0_count: int
    """Files on level 0."""


def snapshot_plan(scan: Scan) -> SnapshotPlan:
    """Count what a scan without condition reads."""
    splits = scan.plan().splits
    merged = [split for split in splits if not split.raw_convertible or split.has_deletions]
    levels = [file.level for split in splits for file in split.files]
    return SnapshotPlan(
        all_file_count=len(levels),
        all_size_bytes=sum(split.size_bytes for split in splits),
        split_count=len(splits),
        merged_split_count=len(merged),
        level_0_count=levels.count(0),
    )
