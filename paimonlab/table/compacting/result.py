"""What a compaction did, or would do, bucket by bucket."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from paimonlab.spec.byte_counts import bytes_text
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.plurals import many
from paimonlab.spec.snapshot import Snapshot

_SHOWN = 10
"""Buckets that a text names."""


@dataclass(frozen=True, slots=True)
class FileTotals:
    """How much some data files contain."""

    files: int
    bytes: int
    rows: int
    """Before merging, deletes among them."""

    @classmethod
    def of(cls, files: Iterable[DataFileMeta]) -> FileTotals:
        """Add files up."""
        listed = list(files)
        return cls(
            len(listed),
            sum(file.file_size_bytes for file in listed),
            sum(file.row_count for file in listed),
        )

    def __add__(self, other: FileTotals) -> FileTotals:
        """Add two totals."""
        return FileTotals(
            self.files + other.files, self.bytes + other.bytes, self.rows + other.rows
        )

    def __str__(self) -> str:
        """Say files and bytes."""
        return f"{many(self.files, 'file')}, {bytes_text(self.bytes)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketCompaction:
    """What was done to one bucket."""

    partition: str
    """``dt=2026-01-01``; "": the table has no partitions."""
    bucket: int
    """-2: where rows wait for a bucket."""
    reason: str
    """Why files were picked, in words."""
    output_level: int | None
    """Highest level of the new files; None: the table has no levels, or no file is new."""
    picked: FileTotals
    """The files that were picked."""
    before: FileTotals
    """All files of the bucket."""
    after: FileTotals | None
    """All files of the bucket afterwards; None: nothing was done yet."""

    def __str__(self) -> str:
        """Say it in one line."""
        place = f"{self.partition} bucket {self.bucket}".strip()
        level = "" if self.output_level is None else f" -> level {self.output_level}"
        picked = f"{place}: {self.picked}{level} ({self.reason})"
        return picked if self.after is None else f"{picked}; {self.before} -> {self.after}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactResult:
    """What a compaction did, or with ``dry_run`` would do."""

    table: str
    snapshot: Snapshot | None
    """What was committed; None: there was nothing to do, or it was a dry run."""
    buckets: tuple[BucketCompaction, ...]
    """The buckets that had something to compact."""
    is_dry_run: bool = False

    @property
    def before(self) -> FileTotals:
        """All files of these buckets."""
        return sum((bucket.before for bucket in self.buckets), FileTotals(0, 0, 0))

    @property
    def after(self) -> FileTotals | None:
        """All files of these buckets afterwards; None: nothing was done yet."""
        if self.is_dry_run:
            return None
        totals = (bucket.after for bucket in self.buckets if bucket.after is not None)
        return sum(totals, FileTotals(0, 0, 0))

    def __str__(self) -> str:
        """Say it in one line."""
        count = len(self.buckets)
        if not count:
            return f"{self.table}: nothing to compact"
        noun = "bucket" if count == 1 else "buckets"
        if self.is_dry_run:
            return f"{self.table}: would compact {count:,} {noun} of {self.before}"
        landed = f", snapshot {self.snapshot.id}" if self.snapshot else ""
        return f"{self.table}: compacted {count:,} {noun}, {self.before} -> {self.after}{landed}"

    def __repr__(self) -> str:
        """Describe it, one line per bucket."""
        lines = [str(self), *(f"  {bucket}" for bucket in self.buckets[:_SHOWN])]
        if len(self.buckets) > _SHOWN:
            lines.append(f"  and {len(self.buckets) - _SHOWN:,} more")
        return "\n".join(lines)
