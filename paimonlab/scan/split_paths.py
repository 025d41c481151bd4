"""In which folder the files of a bucket are."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from paimonlab.metadata.partition_stats import partition_columns
from paimonlab.spec.partitions.folders import PartitionOptions, bucket_path, partition_paths
from paimonlab.spec.types.data_types import DataField


def bucket_paths(
    partitions: pa.Array,
    buckets: Sequence[int],
    fields: Sequence[DataField],
    options: PartitionOptions,
) -> list[str]:
    """Return the folders of buckets, relative to the table.

    Parameters
    ----------
    partitions
        n serialised BinaryRows.
    buckets
        n numbers.
    fields
        The partition columns.
    options
        How partitions are named.
    """
    encoded = partitions.dictionary_encode()
    columns = partition_columns(encoded.dictionary, fields).columns
    names, types = [field.name for field in fields], [field.type for field in fields]
    paths = partition_paths(names, columns, types, options)
    return [
        bucket_path(paths[partition], bucket, options.data_directory)
        for partition, bucket in zip(encoded.indices.to_pylist(), buckets, strict=True)
    ]
