"""Procedures that let old snapshots and partitions expire.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.ExpireSnapshotsProcedure``,
``ExpirePartitionsProcedure``, ``org.apache.paimon.utils.ProcedureUtils``.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.errors import ArgumentError
from paimonlab.maintenance.partition_expiry import PartitionExpireOptions, PartitionExpiryRequest
from paimonlab.maintenance.retention import ExpireOptions, RetentionRequest
from paimonlab.maintenance.snapshot_expiry import SnapshotExpiryRequest, expire_snapshots
from paimonlab.procedures.declare import TABLE, columns, optional
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.partitions.folders import PartitionOptions
from paimonlab.table.committing.users import new_user
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.reading.time_travel import epoch_millis
from paimonlab.table.upkeep.history import history_of
from paimonlab.table.upkeep.partition_expiring import expire_partitions

_OPTIONS = optional("options", "STRING", "Options of the table for this call: k=v,k2=v2.")


def _expire_snapshots(call: Invocation) -> Sequence[Row]:
    table = call.table_with(call.options())
    retain_max, retain_min = call.number("retain_max"), call.number("retain_min")
    _check_counts(call.procedure, definition_of(table).options, retain_max, retain_min)
    older_than = call.time("older_than") if call.filled("older_than") else None
    request = SnapshotExpiryRequest(
        retention=RetentionRequest(
            retain_max=retain_max,
            retain_min=retain_min,
            older_than_millis=epoch_millis(older_than),
            max_deletes=call.number("max_deletes"),
        ),
        dry_run=call.is_dry_run,
        progress=call.progress,
    )
    history = history_of(definition_of(table), store_of(table))
    done = call.note(expire_snapshots(history, request))
    return ((len(done.snapshots),),)


def _check_counts(
    procedure: str, options: Options, retain_max: int | None, retain_min: int | None
) -> None:
    """Check what a call and the table say together: neither overrides the other.

    Raises
    ------
    ArgumentError
        If more snapshots must be kept than may be.
    """
    of_table = options.slice(ExpireOptions)
    retain_max = of_table.retain_max if retain_max is None else retain_max
    retain_min = of_table.retain_min if retain_min is None else retain_min
    if retain_max < retain_min:
        raise ArgumentError(
            procedure,
            f"retain_max is {retain_max}, and retain_min is {retain_min} "
            "(snapshot.num-retained.max and .min of the table, where they are not given); give "
            "both",
        )


def _expire_partitions(call: Invocation) -> Sequence[Row]:
    request = PartitionExpiryRequest(
        expiration_time=call.filled("expiration_time"),
        expire_strategy=call.filled("expire_strategy"),
        timestamp_pattern=call.filled("timestamp_pattern"),
        timestamp_formatter=call.filled("timestamp_formatter"),
        max_expires=call.number("max_expires"),
        dry_run=call.is_dry_run,
    )
    table = call.table_with({**call.options(), **request.options})
    definition = definition_of(table)
    if not table.partition_keys:
        raise ArgumentError(call.procedure, f"{table.name} has no partitions")
    if definition.options.slice(PartitionExpireOptions).expiration_millis is None:
        raise ArgumentError(
            call.procedure, f"give expiration_time: how old partitions of {table.name} may become"
        )
    user = new_user(definition.options)
    expiry = call.note(expire_partitions(definition, store_of(table), request, user=user))
    default = definition.options.slice(PartitionOptions).default_name
    return [
        (", ".join(f"{key}={default if v is None else v}" for key, v in values.items()),)
        for values in expiry.values
    ] or (("No expired partitions.",),)


EXPIRE_PROCEDURES = (
    Procedure(
        name="expire_snapshots",
        parameters=(
            TABLE,
            optional("retain_max", "INT", "At most this many are kept, whatever their age."),
            optional("retain_min", "INT", "At least this many are kept, whatever their age."),
            optional("older_than", "STRING", "Local time: those with a successor before expire."),
            optional("max_deletes", "INT", "At most this many snapshots expire in one call."),
            _OPTIONS,
        ),
        result=columns(deleted_snapshots_count="INT NOT NULL"),
        description="Let old snapshots expire, and delete the files that nothing else needs.",
        rows=_expire_snapshots,
        has_plan=True,
    ),
    Procedure(
        name="expire_partitions",
        parameters=(
            TABLE,
            optional("expiration_time", "STRING", "How old partitions may become, as in 7 d."),
            optional("timestamp_formatter", "STRING", "How a time is written, as in yyyyMMdd."),
            optional("timestamp_pattern", "STRING", "How values make a time: $dt $hour:00:00."),
            optional("expire_strategy", "STRING", "values-time or update-time."),
            optional("max_expires", "INT", "At most this many are dropped."),
            _OPTIONS,
        ),
        result=columns(expired_partitions="STRING"),
        description="Drop the partitions that are older than they may be.",
        rows=_expire_partitions,
        has_plan=True,
    ),
)
