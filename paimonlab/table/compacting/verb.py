"""Compacting a table on demand: ``table.compact()``.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.CompactProcedure``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.clock import now_millis
from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.metadata.partition_stats import partition_columns
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.options.table_options import check_supported
from paimonlab.spec.predicates.predicate import Predicate, columns, evaluate
from paimonlab.table.compacting.append import AppendChoice, compact_appends
from paimonlab.table.compacting.append_strategies import append_strategy
from paimonlab.table.compacting.idle_partitions import idle_partitions
from paimonlab.table.compacting.keyed import Keep, compact_buckets, with_latest_schema
from paimonlab.table.compacting.postponed import compact_postponed
from paimonlab.table.compacting.request import CompactRequest
from paimonlab.table.compacting.result import CompactResult
from paimonlab.table.definition import TableDefinition
from paimonlab.table.partition_values import partition_values
from paimonlab.table.reading.conditions import bound
from paimonlab.table.store import TableStore


def compact_table(
    definition: TableDefinition, store: TableStore, request: CompactRequest
) -> CompactResult:
    """Compact a table; see `Table.compact`."""
    definition = with_latest_schema(definition, store.schemas)
    keep = kept(definition, request.partitions, request.buckets, request.where)
    if request.idle_for is not None:
        keep = _only_idle(keep, store, request.idle_for)
    return _compacted(definition, store, request, keep)


def _compacted(
    definition: TableDefinition, store: TableStore, request: CompactRequest, keep: Keep
) -> CompactResult:
    if not definition.primary_keys:
        strategy = append_strategy(
            definition,
            store,
            full=request.full,
            order_by=request.order_by,
            strategy=request.strategy,
        )
        return compact_appends(
            definition, store, request, AppendChoice(keep=keep, strategy=strategy)
        )
    _check_keyed(definition, request)
    if definition.bucket_mode is not BucketMode.POSTPONE_MODE:
        return compact_buckets(definition, store, request, keep)
    if request.buckets is not None:
        raise UnsupportedError(
            "compacting some buckets of a table with bucket = '-2'",
            f"rows of {definition.name} that wait for a bucket have none yet",
        )
    return compact_postponed(definition, store, request, keep)


def _check_keyed(definition: TableDefinition, request: CompactRequest) -> None:
    if request.order_by is not None or request.strategy is not None:
        raise UnsupportedError(
            "ordering rows while compacting",
            f"{definition.name} has a primary key, which orders its rows",
        )


def planned_compaction(
    definition: TableDefinition, store: TableStore, keep: Keep, *, full: bool
) -> CompactResult:
    """Return what compacting some buckets would do, as ``table.compact(dry_run=True)`` does.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    keep
        Which entries are of buckets that are looked at; decides by partition and bucket alone.
    full
        As in `Table.compact`.

    Raises
    ------
    UnsupportedError
        If compacting the table needs what is not implemented.
    """
    check_supported(definition.options, definition.schema, "write")
    definition = with_latest_schema(definition, store.schemas)
    request = CompactRequest(full=full, dry_run=True)
    if not definition.schema.primary_keys:
        choice = AppendChoice(keep=keep, strategy=append_strategy(definition, store, full=full))
        return compact_appends(definition, store, request, choice)
    return compact_buckets(definition, store, request, keep)


def _only_idle(keep: Keep, store: TableStore, idle_for: timedelta) -> Keep:
    since_millis = now_millis() - idle_for // timedelta(milliseconds=1)
    idle = idle_partitions(store, since_millis)

    def keep_idle(entries: pa.Table) -> pa.Table:
        entries = keep(entries)
        return entries.filter(pc.is_in(entries["partition"], idle.cast(entries["partition"].type)))

    return keep_idle


def kept(
    definition: TableDefinition,
    partitions: Sequence[Mapping[str, Any]] | None,
    buckets: Collection[int] | None,
    where: str | Predicate | None,
) -> Keep:
    """Return what keeps the entries of the buckets that are asked for."""
    fields = definition.partition_fields
    predicate = bound(where, definition.schema.fields, definition.name)
    if predicate is not None and not columns(predicate) <= set(definition.schema.partition_keys):
        keys = ", ".join(definition.schema.partition_keys) or "none"
        raise SchemaError(
            f"{definition.name}: where must look at partition columns only; they are: {keys}"
        )
    scope = OverwriteScope.whole_table()
    if partitions is not None:
        scope = OverwriteScope.partitions_with(
            [partition_values(partition, definition) for partition in partitions]
        )

    def keep(entries: pa.Table) -> pa.Table:
        if buckets is not None:
            entries = entries.filter(
                pc.is_in(entries["bucket"], arrow_array([*buckets], pa.int32()))
            )
        if not entries.num_rows or (partitions is None and predicate is None):
            return entries
        encoded = pc.dictionary_encode(entries["partition"].combine_chunks())
        covered = scope.covers(encoded.dictionary, fields)
        if predicate is not None:
            rows = partition_columns(encoded.dictionary, fields)
            is_true = null_filled(evaluate(predicate, rows), False)
            covered = covered & numpy_values(is_true, zero_copy_only=False)
        return entries.filter(arrow_array(np.asarray(covered)[numpy_values(encoded.indices)]))

    return keep
