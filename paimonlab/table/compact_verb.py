"""Compacting a table on demand: ``table.compact()``.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.CompactProcedure``.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.metadata.partition_stats import partition_columns
from paimonlab.progress import Progress
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.options.table_options import check_supported
from paimonlab.spec.predicates.predicate import Predicate, columns, evaluate
from paimonlab.table.append_compacting import AppendRequest, compact_appends
from paimonlab.table.append_strategies import append_strategy
from paimonlab.table.compact_result import CompactResult
from paimonlab.table.compacting import (
    CompactRequest,
    Keep,
    compact_buckets,
    planned,
    with_latest_schema,
)
from paimonlab.table.conditions import bound
from paimonlab.table.idle_partitions import idle_partitions
from paimonlab.table.overwriting import partition_values
from paimonlab.table.parts import TableParts
from paimonlab.table.postponed_compacting import PostponedRequest, compact_postponed


def compact_table(
    parts: TableParts,
    *,
    full: bool,
    partitions: Sequence[Mapping[str, Any]] | None,
    buckets: Collection[int] | None,
    where: str | Predicate | None,
    idle_for: timedelta | None = None,
    order_by: Sequence[str] | None = None,
    strategy: str | None = None,
    progress: Progress | None,
    dry_run: bool,
) -> CompactResult:
    """Compact a table; see `Table.compact`."""
    parts = with_latest_schema(parts)
    keep = kept(parts, partitions, buckets, where)
    if idle_for is not None:
        keep = _only_idle(keep, parts, idle_for)
    if not parts.schema.primary_keys:
        how = append_strategy(parts, full=full, order_by=order_by, strategy=strategy)
        return compact_appends(
            parts, AppendRequest(keep=keep, strategy=how, progress=progress, dry_run=dry_run)
        )
    if order_by is not None or strategy is not None:
        raise UnsupportedError(
            "ordering rows while compacting", f"{parts.name} has a primary key: its order is that"
        )
    if parts.write_plan().bucket_mode is BucketMode.POSTPONE_MODE:
        if buckets is not None:
            raise UnsupportedError(
                "compacting some buckets of a table with bucket = '-2'",
                f"rows of {parts.name} that wait for a bucket are of none yet",
            )
        return compact_postponed(
            parts, PostponedRequest(full=full, keep=keep, progress=progress, dry_run=dry_run)
        )
    request = CompactRequest(full=full, keep=keep, progress=progress)
    return planned(parts, request) if dry_run else compact_buckets(parts, request)


def planned_compaction(parts: TableParts, keep: Keep, *, full: bool) -> CompactResult:
    """Tell what compacting some buckets would do, as ``table.compact(dry_run=True)`` does.

    Parameters
    ----------
    parts
        Of the table.
    keep
        Which entries are of buckets that are looked at; decides by partition and bucket alone.
    full
        As in `Table.compact`.

    Raises
    ------
    UnsupportedError
        If compacting the table takes what is not built.
    """
    check_supported(parts.options, parts.schema, "write")
    parts = with_latest_schema(parts)
    if not parts.schema.primary_keys:
        strategy = append_strategy(parts, full=full)
        return compact_appends(parts, AppendRequest(keep=keep, strategy=strategy, dry_run=True))
    return planned(parts, CompactRequest(full=full, keep=keep))


def _only_idle(keep: Keep, parts: TableParts, idle_for: timedelta) -> Keep:
    since_millis = time.time_ns() // 1_000_000 - idle_for // timedelta(milliseconds=1)
    idle = idle_partitions(parts, since_millis)

    def keep_idle(entries: pa.Table) -> pa.Table:
        found = keep(entries)
        return found.filter(pc.is_in(found["partition"], idle.cast(found["partition"].type)))

    return keep_idle


def kept(
    parts: TableParts,
    partitions: Sequence[Mapping[str, Any]] | None,
    buckets: Collection[int] | None,
    where: str | Predicate | None,
) -> Keep:
    """Return what keeps the entries of the buckets that are asked for."""
    fields = [parts.schema.field(name) for name in parts.schema.partition_keys]
    predicate = bound(where, parts.schema.fields, parts.name)
    if predicate is not None and not columns(predicate) <= set(parts.schema.partition_keys):
        keys = ", ".join(parts.schema.partition_keys) or "none"
        raise SchemaError(
            f"{parts.name}: where must look at partition columns only; they are: {keys}"
        )
    scope = OverwriteScope.whole_table()
    if partitions is not None:
        scope = OverwriteScope.partitions_with(
            [partition_values(partition, parts) for partition in partitions]
        )

    def keep(entries: pa.Table) -> pa.Table:
        if buckets is not None:
            entries = entries.filter(pc.is_in(entries["bucket"], pa.array([*buckets], pa.int32())))
        if not entries.num_rows or (partitions is None and predicate is None):
            return entries
        encoded = pc.dictionary_encode(entries["partition"].combine_chunks())
        covered = scope.covers(encoded.dictionary, fields)
        if predicate is not None:
            rows = partition_columns(encoded.dictionary, fields)
            is_true = evaluate(predicate, rows).fill_null(False)  # noqa: FBT003
            covered = covered & is_true.to_numpy(zero_copy_only=False)
        return entries.filter(pa.array(np.asarray(covered)[encoded.indices.to_numpy()]))

    return keep
