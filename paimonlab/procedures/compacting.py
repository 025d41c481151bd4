"""Procedures that rewrite files: ``compact``, ``compact_manifest``.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.CompactProcedure``,
``CompactManifestProcedure``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from paimonlab.compact.clustering import ClusteringOptions
from paimonlab.errors import ArgumentError
from paimonlab.procedures.declare import DONE, RESULT, TABLE, optional
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.partitions import partitions
from paimonlab.procedures.procedure import Procedure, Row
from paimonlab.table.compacting.request import CompactRequest
from paimonlab.table.compacting.verb import compact_table
from paimonlab.table.inside import definition_of, writable

_OPTIONS = optional("options", "STRING", "Options of the table for this call: k=v,k2=v2.")
_CURVES = ("order", "zorder", "hilbert")


def _request(call: Invocation) -> CompactRequest:
    """Read the arguments.

    Raises
    ------
    ArgumentError
        If they cannot be combined.
    """
    chosen, where = call.filled("partitions"), call.filled("where")
    if chosen is not None and where is not None:
        raise ArgumentError(call.procedure, "give partitions or where, not both")
    strategy = _strategy(call)
    if strategy not in {None, "full", "minor"}:
        raise ArgumentError(
            call.procedure, f"compact_strategy => {strategy!r} is neither 'full' nor 'minor'"
        )
    order_by, curve = _order(call)
    if curve is not None and strategy == "minor":
        raise ArgumentError(
            call.procedure, "order_strategy rewrites everything; leave out compact_strategy"
        )
    idle_for = call.duration("partition_idle_time") if call.filled("partition_idle_time") else None
    if curve is not None and idle_for is not None:
        raise ArgumentError(call.procedure, "give order_strategy or partition_idle_time, not both")
    return CompactRequest(
        full=strategy == "full",
        partitions=None if chosen is None else partitions(chosen, procedure=call.procedure),
        where=where,
        idle_for=idle_for,
        order_by=order_by,
        strategy=curve,
        progress=call.progress,
        workers=call.workers,
        dry_run=call.is_dry_run,
    )


def _strategy(call: Invocation) -> str | None:
    return (call.filled("compact_strategy") or "").lower() or None


def _order(call: Invocation) -> tuple[tuple[str, ...] | None, str | None]:
    curve = (call.filled("order_strategy") or "none").strip().lower()
    names = call.filled("order_by")
    if curve == "none":
        if names is not None:
            raise ArgumentError(call.procedure, f"order_by => {names!r} needs an order_strategy")
        return None, None
    if curve not in _CURVES:
        raise ArgumentError(
            call.procedure, f"order_strategy => {curve!r} is not one of {', '.join(_CURVES)}, none"
        )
    if names is None:
        raise ArgumentError(call.procedure, f"order_strategy => {curve!r} needs order_by")
    return tuple(name.strip() for name in names.split(",")), curve


def _compact(call: Invocation) -> Sequence[Row]:
    request = _request(call)
    table = call.table_with({"write-only": "false", **call.options()})
    overlap = set(request.order_by or ()) & set(table.partition_keys)
    if overlap:
        raise ArgumentError(
            call.procedure, f"order_by has partition columns: {', '.join(sorted(overlap))}"
        )
    is_clustered = definition_of(table).options.slice(ClusteringOptions).is_incremental
    if request.strategy is not None and is_clustered:
        raise ArgumentError(
            call.procedure,
            f"{table.name} keeps rows in order by itself (clustering.incremental); leave "
            "out order_strategy",
        )
    if _strategy(call) is None:
        has_buckets = bool(table.primary_keys) or table.options.get("bucket", "-1") != "-1"
        request = replace(request, full=has_buckets)
    call.note(compact_table(*writable(table), request))
    return DONE


def _compact_manifest(call: Invocation) -> Sequence[Row]:
    call.table_with(call.options()).compact_manifests()
    return DONE


COMPACT_PROCEDURES = (
    Procedure(
        name="compact",
        parameters=(
            TABLE,
            optional("partitions", "STRING", "Partitions: dt=1,hh=2;dt=3. None: all."),
            optional("compact_strategy", "STRING", "full, or minor: what the options ask for."),
            optional("order_strategy", "STRING", "How rows are ordered: order, zorder, hilbert."),
            optional("order_by", "STRING", "Columns that rows are ordered by: a,b."),
            optional("where", "STRING", "A condition on partition columns."),
            _OPTIONS,
            optional("partition_idle_time", "STRING", "Only partitions idle for so long."),
        ),
        result=RESULT,
        description="Rewrite files so that reads are cheaper; rows stay the same.",
        rows=_compact,
        has_plan=True,
    ),
    Procedure(
        name="compact_manifest",
        parameters=(TABLE, _OPTIONS),
        result=RESULT,
        description="Rewrite small manifests so that plans read few files.",
        rows=_compact_manifest,
    ),
)
