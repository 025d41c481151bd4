"""Which bucket a row belongs to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.spec.binary_row import hash_codes
from paimonlab.spec.types import DataField


def default_bucket(hash_code: npt.NDArray[np.int32], total_buckets: int) -> npt.NDArray[np.int32]:
    """Assign rows to buckets by the hash of their bucket key.

    Parameters
    ----------
    hash_code : (n,) int32
        Murmur3 of each row's bucket key, encoded as a BinaryRow.
    total_buckets : int
        Buckets of the partition, at least 1.

    Returns
    -------
    (n,) int32
        Bucket ids in ``[0, total_buckets)``.

    Raises
    ------
    ValueError
        If ``total_buckets`` is less than 1.

    Notes
    -----
    Java's ``%`` rounds toward zero, hence `numpy.fmod` and not ``%``: hash -7 over three
    buckets is bucket 1, where Python's ``-7 % 3`` would say 2 and lose the row.

    Source: apache/paimon@1.3.1 ``org.apache.paimon.bucket.DefaultBucketFunction``.

    Examples
    --------
    >>> default_bucket(np.array([-7, 0, 8], np.int32), 3)
    array([1, 0, 2], dtype=int32)
    """
    if total_buckets < 1:
        raise ValueError(f"total_buckets must be at least 1, got {total_buckets}")
    return np.abs(np.fmod(hash_code, np.int32(total_buckets)))


def bucket_ids(
    batch: pa.RecordBatch | pa.Table, bucket_keys: Sequence[DataField], total_buckets: int
) -> npt.NDArray[np.int32]:
    """Assign each row of a batch to its bucket.

    Parameters
    ----------
    batch
        n rows with at least the columns of ``bucket_keys``.
    bucket_keys
        Fields of the bucket key, in the order of the table's definition.
    total_buckets : int
        Buckets of the partition, at least 1.

    Returns
    -------
    (n,) int32
        Bucket ids in ``[0, total_buckets)``.
    """
    columns = [batch.column(field.name) for field in bucket_keys]
    return default_bucket(hash_codes(columns, [field.type for field in bucket_keys]), total_buckets)
