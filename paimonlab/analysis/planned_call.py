"""What a call of a procedure would delete or rewrite."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch

import msgspec

from paimonlab.maintenance.orphans import OrphanFiles
from paimonlab.maintenance.partition_expiry import PartitionExpiry
from paimonlab.maintenance.rollback import Rollback
from paimonlab.maintenance.snapshot_expiry import SnapshotExpiry
from paimonlab.maintenance.tag_deletion import TagDeletion
from paimonlab.table.compacting.result import CompactResult
from paimonlab.table.upkeep.lost_files import LostFiles
from paimonlab.table.upkeep.purging import Purge

MOST_CHANGES = 500


class PlannedChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that would be deleted or rewritten."""

    action: str
    """``delete`` or ``rewrite``."""
    what: str
    """``snapshot``, ``tag``, ``data file``, ``bucket`` …"""
    name: str
    file_count: int | None = None
    """Files that would be deleted with it; None if they are not its own."""
    size_bytes: int | None = None
    """Bytes of these; None if metadata does not say."""
    reason: str = ""


class PlannedCall(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a call would do."""

    sql: str
    """Without secrets."""
    procedure: str
    changes: tuple[PlannedChange, ...]
    """The first `MOST_CHANGES`."""
    change_count: int
    file_count: int
    size_bytes: int
    """Of files whose size is known."""
    has_unknown_sizes: bool


def planned_call(sql: str, procedure: str, plans: Iterable[object], *, folder: str) -> PlannedCall:
    """Tell what a call would do.

    Parameters
    ----------
    sql
        The call, without secrets.
    procedure
        Its name.
    plans
        What `paimonlab.procedures.Procedure.plan` returns.
    folder
        Files below it are named relative to it.
    """
    start = folder.rstrip("/") + "/"
    changes = [
        msgspec.structs.replace(change, name=change.name.removeprefix(start))
        for plan in plans
        for change in _changes(plan)
    ]
    return PlannedCall(
        sql=sql,
        procedure=procedure,
        changes=tuple(changes[:MOST_CHANGES]),
        change_count=len(changes),
        file_count=sum(change.file_count or 0 for change in changes),
        size_bytes=sum(change.size_bytes or 0 for change in changes),
        has_unknown_sizes=any(
            change.file_count and change.size_bytes is None for change in changes
        ),
    )


def _deleted(what: str, names: Sequence[object], reason: str = "") -> Iterator[PlannedChange]:
    for name in names:
        yield PlannedChange(action="delete", what=what, name=str(name), reason=reason)


@singledispatch
def _changes(plan: object) -> Iterator[PlannedChange]:
    raise TypeError(f"no view of {type(plan).__name__}")


@_changes.register
def _of_expiry(plan: SnapshotExpiry) -> Iterator[PlannedChange]:
    yield from _deleted(
        "snapshot", plan.snapshots, f"snapshot {plan.first_kept} is kept, as {plan.reason}"
    )
    for file in plan.files:
        yield PlannedChange(
            action="delete",
            what=f"{file.sort} file",
            name=file.path,
            file_count=1,
            size_bytes=file.size_bytes,
            reason=file.reason,
        )


@_changes.register
def _of_rollback(plan: Rollback) -> Iterator[PlannedChange]:
    reason = f"it is later than snapshot {plan.snapshot_id}"
    yield from _deleted("snapshot", plan.snapshots, reason)
    yield from _deleted("changelog", plan.changelogs, reason)
    yield from _deleted("tag", plan.tags, reason)
    yield from _files(plan.files.all, "nothing else needs it")


@_changes.register
def _of_tag(plan: TagDeletion) -> Iterator[PlannedChange]:
    yield from _deleted("tag", [plan.tag], f"of snapshot {plan.snapshot_id}")
    yield from _files(plan.files.all, f"only the tag {plan.tag} needs it")


def _files(paths: Iterable[str], reason: str) -> Iterator[PlannedChange]:
    for path in sorted(paths):
        yield PlannedChange(action="delete", what="file", name=path, file_count=1, reason=reason)


@_changes.register
def _of_orphans(plan: OrphanFiles) -> Iterator[PlannedChange]:
    for file in plan.files:
        yield PlannedChange(
            action="delete",
            what=f"{file.sort} file",
            name=file.path,
            file_count=1,
            size_bytes=file.size_bytes,
            reason=f"nothing refers to it, and it is {file.age.days:,} days old",
        )


@_changes.register
def _of_lost(plan: LostFiles) -> Iterator[PlannedChange]:
    for file in plan.files:
        yield PlannedChange(
            action="delete",
            what="entry of a missing file",
            name=file.path,
            reason=f"its {file.record_count:,} rows are lost",
        )


@_changes.register
def _of_purge(plan: Purge) -> Iterator[PlannedChange]:
    yield PlannedChange(
        action="delete",
        what="all rows and files",
        name=plan.table,
        file_count=plan.file_count,
        size_bytes=plan.size_bytes,
        reason="its definition and one empty snapshot are kept",
    )
    yield from _deleted("snapshot", plan.snapshots)
    yield from _deleted("changelog", plan.changelogs)
    yield from _deleted("tag", plan.tags)
    yield from _deleted("branch", plan.branches)
    yield from _deleted("consumer", plan.consumers)


@_changes.register
def _of_partitions(plan: PartitionExpiry) -> Iterator[PlannedChange]:
    for expired in plan.partitions:
        yield PlannedChange(
            action="delete",
            what="partition",
            name=", ".join(f"{key}={value}" for key, value in expired.partition.values.items()),
            file_count=expired.partition.file_count,
            size_bytes=expired.partition.size_bytes,
            reason=expired.reason,
        )


@_changes.register
def _of_compaction(plan: CompactResult) -> Iterator[PlannedChange]:
    for bucket in plan.buckets:
        level = "" if bucket.output_level is None else f" to level {bucket.output_level}"
        yield PlannedChange(
            action="rewrite",
            what="bucket",
            name=f"{bucket.partition} bucket {bucket.bucket}".strip(),
            file_count=bucket.picked.files,
            size_bytes=bucket.picked.bytes,
            reason=f"{bucket.reason}{level}",
        )


def repeatable_call(value: PlannedCall) -> PlannedCall:
    """Leave out what differs from run to run: files are numbered, bytes and times are hidden."""
    numbers = itertools.count(1)
    changes = tuple(
        msgspec.structs.replace(
            change,
            name=f"{change.what}#{next(numbers)}" if "/" in change.name else change.name,
            size_bytes=None,
            reason=change.reason if change.action == "rewrite" else "",
        )
        for change in value.changes
    )
    return msgspec.structs.replace(value, changes=changes, size_bytes=0, has_unknown_sizes=True)
