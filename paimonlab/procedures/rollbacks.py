"""Procedures that roll back to an older snapshot.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.RollbackProcedure``,
``RollbackToTimestampProcedure``, ``RollbackToWatermarkProcedure``.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.errors import ArgumentError, SnapshotNotFoundError
from paimonlab.procedures.declare import TABLE, columns, optional, required
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row
from paimonlab.spec.snapshot import NO_WATERMARK, Snapshot
from paimonlab.table.table import Table

_IDS = columns(previous_snapshot_id="BIGINT NOT NULL", current_snapshot_id="BIGINT NOT NULL")


def target(procedure: str, version: str | None, snapshot: int | None, tag: str | None) -> int | str:
    """Decide what to roll back to: the id of a snapshot, or the name of a tag.

    Raises
    ------
    ArgumentError
        If not exactly one of them is given.

    Examples
    --------
    >>> target("rollback", "12", None, None), target("rollback", "v12", None, None)
    (12, 'v12')
    """
    if version is not None and not version.strip():
        version = None
    if [version, snapshot, tag].count(None) != 2:
        raise ArgumentError(procedure, "give one of version, snapshot and tag")
    if version is not None:
        return int(version) if version.isdecimal() else version
    chosen = snapshot if tag is None else tag
    assert chosen is not None, "one of them is given"
    return chosen


def _rollback(call: Invocation) -> Sequence[Row]:
    goal = target(call.procedure, call.text("version"), call.number("snapshot"), call.text("tag"))
    table = call.table()
    latest = _latest(table)
    if isinstance(goal, str):
        done = call.note(table.maintenance.rollback_to(tag=goal, dry_run=call.is_dry_run))
        return ((latest.id, done.snapshot_id),)
    return _to_id(call, table, latest, goal)


def _rollback_to_timestamp(call: Invocation) -> Sequence[Row]:
    table, millis = call.table(), call.number("timestamp")
    assert millis is not None, "bind() asks for it"
    latest = _latest(table)
    return _to_id(call, table, latest, table.snapshots.at_or_before(millis).id)


def _rollback_to_watermark(call: Invocation) -> Sequence[Row]:
    table, watermark = call.table(), call.number("watermark")
    assert watermark is not None, "bind() asks for it"
    latest = _latest(table)
    snapshot = up_to_watermark(table.snapshots.list(), watermark)
    if snapshot is None:
        raise SnapshotNotFoundError(table.name, f"with a watermark of {watermark} or earlier")
    return _to_id(call, table, latest, snapshot.id)


def up_to_watermark(snapshots: Sequence[Snapshot], watermark: int) -> Snapshot | None:
    """Return the latest snapshot whose watermark is not later than this one, or None.

    A snapshot without a watermark has that of the one before it.

    Parameters
    ----------
    snapshots
        In the order of their ids.
    watermark
        Milliseconds since 1970.
    """
    if snapshots and snapshots[-1].watermark == NO_WATERMARK:
        return None
    newest = None
    known: int | None = None
    for snapshot in snapshots:
        known = snapshot.watermark if snapshot.watermark is not None else known
        if known is not None and known <= watermark:
            newest = snapshot
    return newest


def _to_id(call: Invocation, table: Table, latest: Snapshot, snapshot_id: int) -> Sequence[Row]:
    """Roll back to a snapshot, which may be kept only by a tag."""
    try:
        table.snapshots.get(snapshot_id)
    except SnapshotNotFoundError:
        for name, tag in table.tags.list().items():
            if tag.id == snapshot_id:
                call.note(table.maintenance.rollback_to(tag=name, dry_run=call.is_dry_run))
                return ((latest.id, snapshot_id),)
        raise
    call.note(table.maintenance.rollback_to(snapshot=snapshot_id, dry_run=call.is_dry_run))
    return ((latest.id, snapshot_id),)


def _latest(table: Table) -> Snapshot:
    snapshot = table.snapshot
    if snapshot is None:
        raise SnapshotNotFoundError(table.name, "to go back to", "Nothing was committed yet.")
    return snapshot


ROLLBACK_PROCEDURES = (
    Procedure(
        name="rollback",
        parameters=(
            TABLE,
            optional("version", "STRING", "The id of a snapshot or the name of a tag."),
            optional("snapshot", "BIGINT", "The id of a snapshot."),
            optional("tag", "STRING", "The name of a tag."),
        ),
        result=_IDS,
        description="Roll back to a snapshot or tag: what came after it is deleted for good.",
        rows=_rollback,
        has_plan=True,
    ),
    Procedure(
        name="rollback_to_timestamp",
        parameters=(
            TABLE,
            required(
                "timestamp",
                "BIGINT",
                "Milliseconds since 1970: the latest snapshot committed then or before.",
            ),
        ),
        result=_IDS,
        description="Roll back to a time: what came after it is deleted for good.",
        rows=_rollback_to_timestamp,
        has_plan=True,
    ),
    Procedure(
        name="rollback_to_watermark",
        parameters=(
            TABLE,
            required(
                "watermark",
                "BIGINT",
                "Milliseconds since 1970: the latest snapshot with no later watermark.",
            ),
        ),
        result=_IDS,
        description="Roll back to a watermark: what came after it is deleted for good.",
        rows=_rollback_to_watermark,
        has_plan=True,
    ),
)
