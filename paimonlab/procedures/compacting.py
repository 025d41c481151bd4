"""Procedures that rewrite files: ``compact``, ``compact_database``, ``compact_manifest``.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.CompactProcedure``,
``CompactManifestProcedure``; apache/paimon@5dacde5 ``CompactDatabaseProcedure``.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from msgspec import structs

from paimonlab.compact.clustering import ClusteringOptions
from paimonlab.errors import ArgumentError, PaimonError
from paimonlab.procedures.consumers import check_pattern
from paimonlab.procedures.declare import DONE, RESULT, TABLE, columns, optional
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.partitions import partitions
from paimonlab.procedures.procedure import Procedure, Row
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.table.compacting.request import CompactRequest
from paimonlab.table.compacting.verb import compact_table
from paimonlab.table.inside import definition_of, writable

if TYPE_CHECKING:
    from paimonlab.catalog import Catalog
    from paimonlab.table.table import Table

logger = logging.getLogger(__name__)

_OPTIONS = optional("options", "STRING", "Options of the table for this call: k=v,k2=v2.")
_CURVES = ("order", "zorder", "hilbert")
_BUCKETS = re.compile(r"\s*(?P<first>\d+)\s*(-\s*(?P<last>\d+)\s*)?", re.ASCII)


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


def _buckets(call: Invocation, table: Table) -> frozenset[int] | None:
    """Return the buckets that are asked for: ``0-99,200``; None: all.

    Raises
    ------
    ArgumentError
        If the table has no fixed number of buckets, or the text names none of them.
    """
    text = call.filled("buckets")
    if text is None:
        return None
    definition = definition_of(table)
    if definition.bucket_mode is not BucketMode.HASH_FIXED:
        raise ArgumentError(
            call.procedure,
            f"buckets => {text!r} is for tables with a fixed number of buckets; {table.name} has "
            f"'bucket' = '{table.options.get('bucket', '-1')}'",
        )
    count, chosen = int(table.options["bucket"]), set[int]()
    for part in text.split(","):
        found = _BUCKETS.fullmatch(part)
        first = count if found is None else int(found["first"])
        last = first if found is None or found["last"] is None else int(found["last"])
        if not first <= last < count:
            raise ArgumentError(
                call.procedure,
                f"buckets => {text!r}: {part.strip()!r} is not among 0 to {count - 1}; write "
                "numbers and ranges, as 0-3,7",
            )
        chosen.update(range(first, last + 1))
    return frozenset(chosen)


def _compact(call: Invocation) -> Sequence[Row]:
    request = _request(call)
    table = call.table_with({"write-only": "false", **call.options()})
    buckets = _buckets(call, table)
    if buckets is not None and request.strategy is not None:
        raise ArgumentError(call.procedure, "give order_strategy or buckets, not both")
    request = structs.replace(request, buckets=buckets)
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
        request = structs.replace(request, full=has_buckets)
    call.note(compact_table(*writable(table), request))
    return DONE


def _compact_database(call: Invocation) -> Sequence[Row]:
    given = {
        name: call.filled(name)
        for name in ("including_databases", "including_tables", "excluding_tables")
    }
    for name, pattern in given.items():
        check_pattern(pattern or "", procedure=call.procedure, argument=name)
    call.options()  # before the first table is compacted
    compacted, failed = 0, 0
    for name in _chosen(call.catalog, given):
        one = replace(
            call,
            arguments=dict.fromkeys(_PARAMETERS) | {"table": name, "options": call.text("options")},
        )
        try:
            _compact(one)
        except PaimonError:
            logger.exception("compacting %s failed", name)
            failed += 1
        else:
            compacted += 1
    return ((f"Compact database finished. Success: {compacted}, Failed: {failed}",),)


def _chosen(catalog: Catalog, given: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the tables that whole names match."""
    of_databases = re.compile(given["including_databases"] or ".*", re.ASCII)
    including = re.compile(given["including_tables"] or ".*", re.ASCII)
    excluding = given["excluding_tables"]
    for database in catalog.databases():
        if of_databases.fullmatch(database) is None:
            continue
        for table in catalog.tables(database):
            name = f"{database}.{table}"
            is_excluded = excluding is not None and re.fullmatch(excluding, name, re.ASCII)
            if including.fullmatch(name) and not is_excluded:
                yield name


def _compact_manifest(call: Invocation) -> Sequence[Row]:
    table = call.table_with(call.options())
    snapshot = table.compact_manifests()
    done = "no manifest to rewrite" if snapshot is None else f"manifests, snapshot {snapshot.id:,}"
    call.note(f"{table.name}: {'' if snapshot is None else 'rewrote '}{done}")
    return DONE


_OF_COMPACT = (
    TABLE,
    optional("partitions", "STRING", "Partitions: dt=1,hh=2;dt=3. None: all."),
    optional("compact_strategy", "STRING", "full, or minor: what the options ask for."),
    optional("order_strategy", "STRING", "How rows are ordered: order, zorder, hilbert."),
    optional("order_by", "STRING", "Columns that rows are ordered by: a,b."),
    optional("where", "STRING", "A condition on partition columns."),
    _OPTIONS,
    optional("partition_idle_time", "STRING", "Only partitions idle for so long."),
    optional("buckets", "STRING", "Buckets of a fixed number: 0-99,200. None: all."),
)
_PARAMETERS = tuple(parameter.name for parameter in _OF_COMPACT)

COMPACT_PROCEDURES = (
    Procedure(
        name="compact",
        parameters=_OF_COMPACT,
        result=RESULT,
        description="Rewrite files so that reads are cheaper; rows stay the same.",
        rows=_compact,
        has_plan=True,
    ),
    Procedure(
        name="compact_database",
        parameters=(
            optional("including_databases", "STRING", "What whole names match; none: all."),
            optional("including_tables", "STRING", "What database.table matches; none: all."),
            optional("excluding_tables", "STRING", "What database.table matches that are left."),
            optional("options", "STRING", "Options of the tables for this call: k=v,k2=v2."),
        ),
        result=columns(result="STRING"),
        description="Compact all tables that regular expressions of their names choose.",
        rows=_compact_database,
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
