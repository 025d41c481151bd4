"""What is measured of a table, and which values are reported."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from paimonlab.errors import close_matches
from paimonlab.secrets import hides_secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Values from which something is reported."""

    small_files: int = 10
    """Files that a compaction would save, if they are half of all files or more."""
    small_buckets: int = 100
    """Buckets of all partitions, if they have less than `small_bucket_bytes` on average."""
    small_bucket_bytes: int = 1 << 20
    level_0_ratio: float = 1.0
    """Level-0 files of a bucket for each run of ``num-sorted-run.compaction-trigger``."""
    skew_ratio: float = 4.0
    """Bytes of the largest bucket of a partition for each byte of the median one."""
    skew_bytes: int = 64 << 20
    """A smaller bucket is never called too large."""
    snapshots: int = 500
    """Snapshots that are kept."""
    manifests: int = 200
    """Manifests of the latest snapshot."""
    consumer_lag: int = 100
    """Snapshots that a consumer has yet to read, and that cannot expire until then."""
    consumer_idle_days: float = 7.0
    """Days since a consumer with snapshots to read last moved."""
    clock_millis: int = 1_000
    """How far commit times may go back, or lie in the future."""
    orphan_bytes: int = 0
    """Bytes of orphan files; more is reported."""
    ingest_lag_seconds: float = 300.0
    """Age of the newest change in the last commit of an ingest job; more is reported."""
    ingest_idle_days: float = 1.0
    """Days since an ingest job committed that no process runs; more is reported."""
    ingest_dead_rows: int = 0
    """Rows that an ingest job set aside; more is reported."""

    @classmethod
    def of(cls, given: Mapping[str, float | str]) -> Self:
        """Return the defaults with some values replaced.

        Raises
        ------
        ValueError
            If there is no such threshold, or a value is not a number of its kind.

        Examples
        --------
        >>> Thresholds.of({"snapshots": "20"}).snapshots
        20
        """
        kinds = {
            threshold.name: int if threshold.type == "int" else float
            for threshold in dataclasses.fields(cls)
        }
        for name in given:
            if name not in kinds:
                close = close_matches(name, kinds) or f" There are {', '.join(kinds)}."
                raise ValueError(f"no threshold {name!r}.{close}")
        values: dict[str, Any] = {}
        for name, value in given.items():
            try:
                values[name] = kinds[name](value)
            except ValueError:
                wanted = "a whole number" if kinds[name] is int else "a number"
                raise ValueError(f"threshold {name}: {value!r} is not {wanted}") from None
        return cls(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketPlace:
    """A bucket of a partition."""

    partition: str
    """``dt=2026-01-01``"""
    bucket: int

    def __str__(self) -> str:
        place = f"bucket {self.bucket}"
        return place if self.partition in {"", "{}"} else f"{self.partition}, {place}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerState:
    """Where a consumer is."""

    name: str
    next_snapshot: int
    idle_days: float
    """Since it last moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockJump:
    """A commit time that cannot be right."""

    snapshot_id: int
    millis: int
    """How much earlier than that of the snapshot before it, or how far in the future."""
    is_in_future: bool = False


@hides_secrets
@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """All that the rules look at: one table in its latest snapshot."""

    name: str
    has_primary_key: bool
    options: Mapping[str, str] = field(default_factory=dict)
    bucket: int = -1
    """The option ``bucket``."""

    file_count: int = 0
    total_bytes: int = 0
    record_count: int = 0
    avoidable_files: int = 0
    """Files beyond those that the bytes of each bucket, and its runs at rest, need."""
    bucket_count: int = 0
    """Buckets of all partitions that have files."""
    target_file_size_bytes: int = 128 << 20
    compacted_files: int = 0
    """Files that a compaction wrote."""
    rescaled_partitions: int = 0
    """Partitions whose number of buckets is not the option's."""
    postponed_rows: int = 0
    """Rows that wait for a bucket (``bucket`` = -2)."""

    level_0_files: int = 0
    level_0_rows: int = 0
    level_0_worst: int = 0
    """Level-0 files of the bucket that has most."""
    runs_worst: int = 0
    """Sorted runs of that bucket."""
    worst_place: BucketPlace | None = None
    compaction_trigger: int = 5
    stop_trigger: int = 8
    skips_level_0: bool = False
    """Whether readers do not see level 0."""

    skew_ratio: float = 1.0
    """Of the partition where it is highest."""
    largest_bucket_bytes: int = 0
    largest_place: BucketPlace | None = None

    earliest_snapshot: int | None = None
    latest_snapshot: int | None = None
    snapshot_count: int = 0
    compact_snapshots: int = 0
    """Snapshots of kind COMPACT among those looked at."""
    looked_at_snapshots: int = 0
    """The newest ones, whose times and kinds were read."""
    manifest_count: int = 0

    consumers: tuple[ConsumerState, ...] = ()
    clock_jumps: tuple[ClockJump, ...] = ()
    columns_with_stats: int = 1
    """Columns with minimum and maximum in manifests."""
    orphan_files: int | None = None
    """None: not looked for."""
    orphan_bytes: int = 0
