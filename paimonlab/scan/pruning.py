"""Which manifests and files may hold rows that are asked for.

All functions return (n,) bool masks that are False only where certainly no row is wanted.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.KeyValueFileStoreScan`` and
``…AppendOnlyFileStoreScan``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.metadata.partition_stats import partition_columns
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.scan.conditions import Conditions
from paimonlab.scan.statistics import column_stats
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.manifests.manifest import ManifestFileMeta
from paimonlab.spec.predicates.predicate import (
    AlwaysTrue,
    ColumnStats,
    columns,
    evaluate,
    may_match_stats,
)
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.data_types import DataField, DataType, with_nullable
from paimonlab.spec.types.system_fields import ROW_ID

Mask = npt.NDArray[np.bool_]


def matches_manifests(
    metas: Sequence[ManifestFileMeta],
    conditions: Conditions,
    buckets: Collection[int] | None,
    schema: TableSchema,
) -> Mask:
    """Mark manifests by their partition statistics and bucket range."""
    mask = np.ones(len(metas), np.bool_)
    if buckets is not None:
        mask &= np.array([_overlaps(meta, buckets) for meta in metas], np.bool_)
    if not metas or isinstance(conditions.partition, AlwaysTrue):
        return mask
    stats = _manifest_stats(metas, partition_fields(schema))
    return mask & may_match_stats(conditions.partition, stats)


def matches_partitions(entries: pa.Table, conditions: Conditions, schema: TableSchema) -> Mask:
    """Mark entries in partitions for which the partition condition is true."""
    if isinstance(conditions.partition, AlwaysTrue) or not entries.num_rows:
        return np.ones(entries.num_rows, np.bool_)
    partitions = pc.dictionary_encode(entries["partition"].combine_chunks())
    distinct = partition_columns(partitions.dictionary, partition_fields(schema))
    is_true = null_filled(evaluate(conditions.partition, distinct), False)
    return numpy_values(is_true, zero_copy_only=False)[numpy_values(partitions.indices)]


def matches_buckets(
    entries: pa.Table,
    conditions: Conditions,
    buckets: Collection[int] | None,
    schema: TableSchema,
    schemas: SchemaManager,
) -> Mask:
    """Mark entries in buckets that are asked for, or that rows with such keys are in.

    A key is hashed as the schema of its file has it: after a change of its type, say from INT
    to BIGINT, old files are not pruned.
    """
    own, totals = numpy_values(entries["bucket"]), numpy_values(entries["total_buckets"])
    mask = np.ones(entries.num_rows, np.bool_)
    if buckets is not None:
        mask &= np.isin(own, list(buckets))
    if conditions.is_empty:
        return mask
    hashed_otherwise = ~_has_bucket_keys_of(schema, entries, schemas)
    for total in distinct_integers(totals).tolist():
        possible = conditions.buckets(schema, total)
        if possible is not None:
            mask &= np.isin(own, possible) | (totals != total) | hashed_otherwise
    return mask


def _has_bucket_keys_of(schema: TableSchema, entries: pa.Table, schemas: SchemaManager) -> Mask:
    ids = numpy_values(entries["schema_id"])
    wanted = _bucket_key_types(schema)
    same = [
        id for id in distinct_integers(ids).tolist() if _bucket_key_types(schemas.get(id)) == wanted
    ]
    return np.isin(ids, same)


def _bucket_key_types(schema: TableSchema) -> list[tuple[int, DataType]]:
    fields = [schema.field(name) for name in schema.bucket_keys]
    return [(field.id, with_nullable(field.type, nullable=True)) for field in fields]


def matches_keys(
    files: pa.Table, conditions: Conditions, schema: TableSchema, schemas: SchemaManager
) -> Mask:
    """Mark files of a primary-key table whose keys may match.

    All versions of a row have the same key, so either all of them are read or none.
    """
    if isinstance(conditions.key, AlwaysTrue) or not files.num_rows:
        return np.ones(files.num_rows, np.bool_)
    names = columns(conditions.key) & set(schema.trimmed_primary_keys)
    stats = column_stats(files, "key_stats", names, schema, schemas)
    return may_match_stats(conditions.key, stats, count=files.num_rows)


def matches_row_ids(
    files: pa.Table, conditions: Conditions, schema: TableSchema, schemas: SchemaManager
) -> Mask:
    """Mark files that may have rows with such ids.

    Files that hold columns of the same rows have the same ids, so either all are read or none.
    """
    if isinstance(conditions.row_id, AlwaysTrue) or not files.num_rows:
        return np.ones(files.num_rows, np.bool_)
    stats = column_stats(files, "value_stats", [ROW_ID], schema, schemas)
    return may_match_stats(conditions.row_id, stats, count=files.num_rows)


def matches_values(
    files: pa.Table, conditions: Conditions, schema: TableSchema, schemas: SchemaManager
) -> Mask:
    """Mark files whose rows may match as they are: only sound where nothing merges."""
    if isinstance(conditions.value, AlwaysTrue) or not files.num_rows:
        return np.ones(files.num_rows, np.bool_)
    names = columns(conditions.value) - set(schema.partition_keys)
    stats = column_stats(files, "value_stats", names, schema, schemas)
    return may_match_stats(conditions.value, stats, count=files.num_rows)


def partition_fields(schema: TableSchema) -> list[DataField]:
    """Return the partition columns."""
    return [schema.field(name) for name in schema.partition_keys]


def _overlaps(meta: ManifestFileMeta, buckets: Collection[int]) -> bool:
    if meta.min_bucket is None or meta.max_bucket is None:
        return True
    return any(meta.min_bucket <= bucket <= meta.max_bucket for bucket in buckets)


def _manifest_stats(
    metas: Sequence[ManifestFileMeta], fields: Sequence[DataField]
) -> dict[str, ColumnStats]:
    stats = [meta.partition_stats for meta in metas]
    low = partition_columns(
        arrow_array([stat.min_values for stat in stats], pa.large_binary()), fields
    )
    high = partition_columns(
        arrow_array([stat.max_values for stat in stats], pa.large_binary()), fields
    )
    rows = arrow_array(
        [meta.num_added_files + meta.num_deleted_files for meta in metas], pa.int64()
    )
    return {
        field.name: ColumnStats(
            low.column(position),
            high.column(position),
            _null_counts([stat.null_counts for stat in stats], position),
            rows,
        )
        for position, field in enumerate(fields)
    }


def _null_counts(counts: Sequence[tuple[int | None, ...] | None], position: int) -> pa.Array:
    return arrow_array(
        [of_manifest[position] if of_manifest else None for of_manifest in counts], pa.int64()
    )
