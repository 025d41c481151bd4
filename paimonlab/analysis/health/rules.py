"""The rules: each looks at measured values and says what could be better.

A rule is a function of `Measures` and `Thresholds`; none of them reads anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from paimonlab.analysis.health.actions import Action, set_option, shell
from paimonlab.analysis.health.conflicts import conflicts
from paimonlab.analysis.health.measures import Measures, Thresholds
from paimonlab.analysis.health.report import SEVERITIES, HealthFinding, Severity
from paimonlab.spec.byte_counts import bytes_text
from paimonlab.spec.plurals import many
from paimonlab.spec.sql_text.call_text import call_text

Rule = Callable[[Measures, Thresholds], Iterator[HealthFinding]]


def findings(measures: Measures, thresholds: Thresholds) -> tuple[HealthFinding, ...]:
    """Apply every rule to a table; the worst findings come first."""
    unsorted = [finding for rule in RULES for finding in rule(measures, thresholds)]
    return tuple(sorted(unsorted, key=lambda finding: SEVERITIES.index(finding.severity)))


def small_files(measures: Measures, limits: Thresholds) -> Iterator[HealthFinding]:
    """Many files are opened where few would do."""
    avoidable = measures.avoidable_files
    if avoidable >= limits.small_files and 2 * avoidable >= measures.file_count:
        yield _finding(
            "small-files",
            "warning",
            f"{avoidable:,} of {measures.file_count:,} files could be saved: they are much smaller "
            f"than the {bytes_text(measures.target_file_size_bytes)} that a file should have",
            (avoidable, limits.small_files, "files"),
            action=_compact(measures),
        )


def small_buckets(measures: Measures, limits: Thresholds) -> Iterator[HealthFinding]:
    """Little data lies in many places, and no compaction brings rows of two buckets together."""
    count = measures.bucket_count
    if count < limits.small_buckets or measures.total_bytes >= count * limits.small_bucket_bytes:
        return
    yield _finding(
        "small-buckets",
        "warning",
        f"{count:,} buckets have less than {bytes_text(limits.small_bucket_bytes)} on average, "
        "with a file each at least; coarser partitions (months, not days) or fewer buckets help, a "
        "compaction does not",
        (count, limits.small_buckets, "buckets"),
        action=_rescale(measures, 1) if measures.bucket > 1 else Action(),
    )


def level_0_backlog(measures: Measures, limits: Thresholds) -> Iterator[HealthFinding]:
    """Readers merge many runs because compaction lags behind."""
    if not measures.has_primary_key or not measures.level_0_worst:
        return
    ratio = measures.level_0_worst / measures.compaction_trigger
    if ratio < limits.level_0_ratio:
        return
    is_stopped = measures.runs_worst >= measures.stop_trigger
    yield _finding(
        "level-0-backlog",
        "error" if is_stopped else "warning",
        f"{many(measures.level_0_worst, 'file')} of level 0 among "
        f"{many(measures.runs_worst, 'sorted run')} that each read of the bucket merges; "
        f"a compaction is due at {many(measures.compaction_trigger, 'run')}"
        + (f", and writers wait at {measures.stop_trigger:,}" if is_stopped else ""),
        (ratio, limits.level_0_ratio, "of the trigger"),
        where=str(measures.worst_place or ""),
        action=_compact(measures),
    )


def bucket_skew(measures: Measures, limits: Thresholds) -> Iterator[HealthFinding]:
    """One bucket contains much more than the others of its partition."""
    is_large = measures.largest_bucket_bytes >= limits.skew_bytes
    if is_large and measures.skew_ratio >= limits.skew_ratio:
        yield _finding(
            "bucket-skew",
            "warning",
            f"the largest bucket has {bytes_text(measures.largest_bucket_bytes)}, "
            f"{measures.skew_ratio:.1f} times the median of its partition; more "
            "buckets help only if the bucket key has more values",
            (measures.skew_ratio, limits.skew_ratio, "times the median"),
            where=str(measures.largest_place or ""),
            action=_rescale(measures, 2 * measures.bucket) if measures.bucket > 0 else Action(),
        )


def many_snapshots(measures: Measures, limits: Thresholds) -> Iterator[HealthFinding]:
    """Snapshots pile up, and with them files that nobody reads any more."""
    if measures.snapshot_count > limits.snapshots:
        yield _finding(
            "many-snapshots",
            "warning",
            f"{measures.snapshot_count:,} snapshots are kept, with all files they need",
            (measures.snapshot_count, limits.snapshots, "snapshots"),
            action=_expire(measures, limits.snapshots),
        )


def many_manifests(measures: Measures, limits: Thresholds) -> Iterator[HealthFinding]:
    """Planning a read opens many manifests."""
    if measures.manifest_count > limits.manifests:
        yield _finding(
            "many-manifests",
            "warning",
            f"the latest snapshot has {measures.manifest_count:,} manifests, and planning a read "
            "opens them all",
            (measures.manifest_count, limits.manifests, "manifests"),
            action=Action(
                call_text("compact_manifest", measures.name),
                "table.compact_manifests()",
                shell("compact-manifests", measures.name),
            ),
        )


def consumers(measures: Measures, limits: Thresholds) -> Iterator[HealthFinding]:
    """Consumers have lost snapshots, or hold up expiry."""
    earliest, latest = measures.earliest_snapshot, measures.latest_snapshot
    if earliest is None or latest is None:
        return
    for consumer in measures.consumers:
        lag = latest - consumer.next_snapshot + 1
        where = f"consumer {consumer.name}"
        if consumer.next_snapshot < earliest:
            yield _finding(
                "consumer-lost",
                "error",
                f"its next snapshot {consumer.next_snapshot} has expired; the earliest is "
                f"{earliest}: the consumer misses the changes in between",
                (consumer.next_snapshot, earliest, "snapshot"),
                where=where,
                action=Action(
                    call_text(
                        "reset_consumer",
                        measures.name,
                        consumerId=consumer.name,
                        nextSnapshotId=earliest,
                    ),
                    f"table.consumers.reset({consumer.name!r}, {earliest})",
                    shell(
                        "reset-consumer",
                        measures.name,
                        consumer.name,
                        f"--next-snapshot={earliest}",
                    ),
                ),
            )
        elif lag > limits.consumer_lag or (
            lag > 0 and consumer.idle_days > limits.consumer_idle_days
        ):
            is_lag = lag > limits.consumer_lag
            yield _finding(
                "consumer-blocks-expiry",
                "warning",
                f"it has {many(lag, 'snapshot')} to read, which cannot expire, and last moved "
                f"{consumer.idle_days:,.1f} days ago",
                (lag, limits.consumer_lag, "snapshots")
                if is_lag
                else (consumer.idle_days, limits.consumer_idle_days, "days"),
                where=where,
                action=Action(
                    call_text("reset_consumer", measures.name, consumerId=consumer.name),
                    f"table.consumers.delete({consumer.name!r})  # if it is no longer used",
                    shell("reset-consumer", measures.name, consumer.name),
                ),
            )


def orphan_files(measures: Measures, limits: Thresholds) -> Iterator[HealthFinding]:
    """Files that nothing refers to take up space."""
    if measures.orphan_files and measures.orphan_bytes > limits.orphan_bytes:
        yield _finding(
            "orphan-files",
            "warning",
            f"{measures.orphan_files:,} orphan files older than a day take "
            f"{bytes_text(measures.orphan_bytes)}",
            (measures.orphan_bytes, limits.orphan_bytes, "bytes"),
            action=Action(
                call_text("remove_orphan_files", measures.name),
                "table.maintenance.remove_orphan_files(dry_run=False)",
                shell("orphans", measures.name),
            ),
        )


def never_compacted(measures: Measures, _limits: Thresholds) -> Iterator[HealthFinding]:
    """No compaction has ever happened, though there is work for one."""
    if not measures.file_count or measures.compacted_files or measures.compact_snapshots:
        return
    due = measures.level_0_worst if measures.has_primary_key else measures.avoidable_files
    if due >= measures.compaction_trigger:
        yield _finding(
            "never-compacted",
            "info",
            "no file was written by a compaction, and no retained snapshot is a compaction",
            (0, 1, "compactions"),
            action=_compact(measures),
        )


def option_conflicts(measures: Measures, _limits: Thresholds) -> Iterator[HealthFinding]:
    """Options that contradict each other."""
    for conflict in conflicts(measures):
        yield _finding(
            "option-conflict",
            conflict.severity,
            conflict.message,
            (conflict.measured, 0, conflict.unit),
            where=conflict.options,
            action=conflict.action,
        )


def statistics_off(measures: Measures, _limits: Thresholds) -> Iterator[HealthFinding]:
    """For lack of statistics, filters skip no files."""
    if not measures.columns_with_stats:
        yield _finding(
            "statistics-off",
            "info",
            "no column has minimum and maximum in the manifests of new files: filters read every "
            "file of a partition",
            (0, 1, "columns"),
            action=set_option(measures.name, "metadata.stats-mode", "truncate(16)"),
        )


def clock_jumps(measures: Measures, limits: Thresholds) -> Iterator[HealthFinding]:
    """Commit times go back or lie in the future: time travel by time finds the wrong snapshot."""
    for jump in measures.clock_jumps:
        if jump.millis > limits.clock_millis:
            where = (
                "lies in the future" if jump.is_in_future else "is before that of the previous one"
            )
            yield _finding(
                "clock-jump",
                "warning",
                f"its commit time {where} by {jump.millis:,} ms; the clocks of writers differ",
                (jump.millis, limits.clock_millis, "ms"),
                where=f"snapshot {jump.snapshot_id}",
            )


RULES: tuple[Rule, ...] = (
    consumers,
    level_0_backlog,
    small_files,
    small_buckets,
    never_compacted,
    bucket_skew,
    many_snapshots,
    many_manifests,
    orphan_files,
    option_conflicts,
    statistics_off,
    clock_jumps,
)


def _finding(
    code: str,
    severity: Severity,
    message: str,
    values: tuple[float, float, str],
    *,
    where: str = "",
    action: Action | None = None,
) -> HealthFinding:
    measured, threshold, unit = values
    suggested = action or Action()
    return HealthFinding(
        code=code,
        severity=severity,
        message=message,
        measured=round(float(measured), 3),
        threshold=float(threshold),
        unit=unit,
        where=where,
        sql=suggested.sql,
        python=suggested.python,
        shell=suggested.shell,
    )


def _expire(measures: Measures, most: int) -> Action:
    least = int(measures.options.get("snapshot.num-retained.min", "10"))
    arguments = {"retain_max": most} | ({"retain_min": most} if least > most else {})
    return Action(
        call_text("expire_snapshots", measures.name, **arguments),
        f"table.maintenance.expire_snapshots(retain_max={most})",
        shell("expire", measures.name, "--retain-max", str(most)),
    )


def _compact(measures: Measures) -> Action:
    return Action(
        call_text("compact", measures.name, compact_strategy="full"),
        "table.compact(full=True)",
        shell("compact", measures.name, "--full"),
    )


def _rescale(measures: Measures, buckets: int) -> Action:
    """Suggest no SQL: Paimon's connector for Spark has no such procedure."""
    return Action(
        python=f"table.maintenance.rescale(buckets={buckets})",
        shell=shell("rescale", measures.name, "--buckets", str(buckets)),
    )
