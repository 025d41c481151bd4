"""Procedures that let old snapshots and partitions go.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.ExpireSnapshotsProcedure``,
``ExpirePartitionsProcedure``, ``org.apache.paimon.utils.ProcedureUtils``.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.errors import ArgumentError
from paimonlab.maintenance.partition_expiry import PartitionExpireOptions
from paimonlab.maintenance.retention import ExpireOptions
from paimonlab.procedures.declare import TABLE, columns, optional
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.partitions.folders import PartitionOptions
from paimonlab.table.inside import definition_of
from paimonlab.table.reading.time_travel import to_millis

_OPTIONS = optional("options", "STRING", "Options of the table for this call: k=v,k2=v2.")


def _expire_snapshots(call: Invocation) -> Sequence[Row]:
    table = call.table_with(call.options())
    most, least = call.number("retain_max"), call.number("retain_min")
    _check_counts(call.procedure, definition_of(table).options, most, least)
    older_than = call.time("older_than") if call.filled("older_than") else None
    done = call.note(
        table.maintenance.expire_snapshots(
            most,
            least,
            older_than=None if older_than is None else to_millis(older_than),
            max_deletes=call.number("max_deletes"),
            dry_run=call.is_dry_run,
            progress=call.progress,
        )
    )
    return ((len(done.snapshots),),)


def _check_counts(procedure: str, options: Options, most: int | None, least: int | None) -> None:
    """Check what a call and the table say together: neither gives way to the other.

    Raises
    ------
    ArgumentError
        If more snapshots must be kept than may be.
    """
    kept = options.slice(ExpireOptions).of_snapshots(0)
    most = kept.retain_max if most is None else most
    least = kept.retain_min if least is None else least
    if most < least:
        raise ArgumentError(
            procedure,
            f"retain_max is {most}, and retain_min is {least} (snapshot.num-retained.max and .min "
            "of the table, where they are not given); give both",
        )


def _expire_partitions(call: Invocation) -> Sequence[Row]:
    most = call.number("max_expires")
    given = {
        "partition.expiration-strategy": call.filled("expire_strategy"),
        "partition.timestamp-formatter": call.filled("timestamp_formatter"),
        "partition.timestamp-pattern": call.filled("timestamp_pattern"),
        "partition.expiration-time": call.filled("expiration_time"),
        "partition.expiration-max-num": None if most is None else str(most),
    }
    options = {key: value for key, value in given.items() if value is not None}
    table = call.table_with({**call.options(), **options})
    if not table.partition_keys:
        raise ArgumentError(call.procedure, f"{table.name} has no partitions")
    if definition_of(table).options.slice(PartitionExpireOptions).expiration_millis is None:
        raise ArgumentError(
            call.procedure, f"give expiration_time: how old partitions of {table.name} may become"
        )
    default = definition_of(table).options.slice(PartitionOptions).default_name
    done = call.note(table.maintenance.expire_partitions(dry_run=call.is_dry_run))
    return [
        (", ".join(f"{key}={default if v is None else v}" for key, v in values.items()),)
        for values in done.values
    ] or (("No expired partitions.",),)


EXPIRE_PROCEDURES = (
    Procedure(
        name="expire_snapshots",
        parameters=(
            TABLE,
            optional("retain_max", "INT", "More snapshots are not kept."),
            optional("retain_min", "INT", "So many are kept, whatever their age."),
            optional("older_than", "STRING", "Those committed before this local time go."),
            optional("max_deletes", "INT", "At most this many snapshots expire in one call."),
            _OPTIONS,
        ),
        result=columns(deleted_snapshots_count="INT NOT NULL"),
        description="Let old snapshots go, and the files that nothing needs then.",
        rows=_expire_snapshots,
        has_plan=True,
    ),
    Procedure(
        name="expire_partitions",
        parameters=(
            TABLE,
            optional("expiration_time", "STRING", "How old partitions may be, as 7 d."),
            optional("timestamp_formatter", "STRING", "How a time is written, as yyyyMMdd."),
            optional("timestamp_pattern", "STRING", "How values make a time, as $dt $hour:00:00."),
            optional("expire_strategy", "STRING", "values-time or update-time."),
            optional("max_expires", "INT", "More do not go."),
            _OPTIONS,
        ),
        result=columns(expired_partitions="STRING"),
        description="Drop the partitions that are older than they may be.",
        rows=_expire_partitions,
        has_plan=True,
    ),
)
