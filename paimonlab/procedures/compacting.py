"""Procedures that rewrite files: ``compact``, ``compact_manifest``.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.CompactProcedure``,
``CompactManifestProcedure``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, cast

from paimonlab.compact.clustering import ClusteringOptions
from paimonlab.errors import ArgumentError
from paimonlab.procedures.declare import DONE, RESULT, TABLE, optional
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.partitions import partitions
from paimonlab.procedures.procedure import Procedure, Row
from paimonlab.table.inside import definition_of

_OPTIONS = optional("options", "STRING", "Options of the table for this call: k=v,k2=v2.")
_CURVES = ("order", "zorder", "hilbert")
Curve = Literal["order", "zorder", "hilbert"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What a call of ``compact`` asks for."""

    is_full: bool | None = None
    """None: full in tables with buckets, else what the options ask for."""
    partitions: Sequence[Mapping[str, str]] | None = None
    where: str | None = None
    order_by: tuple[str, ...] | None = None
    curve: Curve | None = None
    idle_for: timedelta | None = None

    @classmethod
    def of(cls, call: Invocation) -> Compaction:
        """Read the arguments.

        Raises
        ------
        ArgumentError
            If they do not go together.
        """
        chosen, where = call.filled("partitions"), call.filled("where")
        if chosen is not None and where is not None:
            raise ArgumentError(call.procedure, "give partitions or where, not both")
        strategy = (call.filled("compact_strategy") or "").lower() or None
        if strategy not in {None, "full", "minor"}:
            raise ArgumentError(
                call.procedure, f"compact_strategy => {strategy!r} is neither 'full' nor 'minor'"
            )
        order_by, curve = _order(call)
        if curve is not None and strategy == "minor":
            raise ArgumentError(
                call.procedure, "order_strategy rewrites everything; leave out compact_strategy"
            )
        idle_for = (
            call.duration("partition_idle_time") if call.filled("partition_idle_time") else None
        )
        if curve is not None and idle_for is not None:
            raise ArgumentError(
                call.procedure, "give order_strategy or partition_idle_time, not both"
            )
        return cls(
            is_full=None if strategy is None else strategy == "full",
            partitions=None if chosen is None else partitions(chosen, procedure=call.procedure),
            where=where,
            order_by=order_by,
            curve=curve,
            idle_for=idle_for,
        )


def _order(call: Invocation) -> tuple[tuple[str, ...] | None, Curve | None]:
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
    return tuple(name.strip() for name in names.split(",")), cast("Curve", curve)


def _compact(call: Invocation) -> Sequence[Row]:
    asked = Compaction.of(call)
    table = call.table_with({"write-only": "false", **call.options()})
    overlap = set(asked.order_by or ()) & set(table.partition_keys)
    if overlap:
        raise ArgumentError(
            call.procedure, f"order_by has partition columns: {', '.join(sorted(overlap))}"
        )
    is_clustered = definition_of(table).options.slice(ClusteringOptions).is_incremental
    if asked.curve is not None and is_clustered:
        raise ArgumentError(
            call.procedure,
            f"{table.name} keeps rows in order by itself (clustering.incremental); leave "
            "out order_strategy",
        )
    has_buckets = bool(table.primary_keys) or table.options.get("bucket", "-1") != "-1"
    call.note(
        table.compact(
            full=has_buckets if asked.is_full is None else asked.is_full,
            partitions=asked.partitions,
            where=asked.where,
            idle_for=asked.idle_for,
            order_by=asked.order_by,
            strategy=asked.curve,
            progress=call.progress,
            dry_run=call.is_dry_run,
        )
    )
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
            optional("partition_idle_time", "STRING", "Only partitions without news for so long."),
        ),
        result=RESULT,
        description="Rewrite files so that reads are cheaper; what a reader sees stays.",
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
