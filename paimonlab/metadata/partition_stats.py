"""Statistics over the partitions of manifest entries, kept in the manifest list."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.spec.binary_row import rows as binary_row
from paimonlab.spec.manifests.data_file import EMPTY_STATS, SimpleStats
from paimonlab.spec.types.data_types import DataField


def partition_columns(rows: pa.Array, fields: Sequence[DataField]) -> pa.RecordBatch:
    """Decode serialised partitions.

    Parameters
    ----------
    rows
        n serialised BinaryRows of the partition columns.
    fields
        The partition columns.

    Returns
    -------
    pyarrow.RecordBatch
        n rows, one column per field, all nullable.
    """
    columns = binary_row.decode(rows, [field.type for field in fields])
    return pa.record_batch(columns, names=[field.name for field in fields])


def partition_stats(partitions: pa.ChunkedArray, fields: Sequence[DataField]) -> SimpleStats:
    """Return full minima, maxima and null counts over the partitions of n >= 1 entries."""
    if not fields:
        return EMPTY_STATS
    encoded = pc.dictionary_encode(partitions.combine_chunks())
    distinct = partition_columns(encoded.dictionary, fields)
    bounds = [pc.min_max(column) for column in distinct.columns]
    types = [field.type for field in fields]
    return SimpleStats(
        min_values=binary_row.encode_one([bound["min"] for bound in bounds], types),
        max_values=binary_row.encode_one([bound["max"] for bound in bounds], types),
        null_counts=tuple(column.take(encoded.indices).null_count for column in distinct.columns),
    )
