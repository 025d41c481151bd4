"""Which bucket a row belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import null_filled, one_array
from paimonlab.spec.binary_row.buffers import fixed_values
from paimonlab.spec.binary_row.rows import hash_codes
from paimonlab.spec.buckets.hive_hash import hive_hashes
from paimonlab.spec.types.data_types import AtomicType, DataField, DataType, TypeRoot


class BucketFunction(StrEnum):
    """How the bucket key becomes a bucket: the option ``bucket-function.type``."""

    DEFAULT = "default"
    """By the Murmur hash of the key as a BinaryRow."""
    MOD = "mod"
    """By the remainder of the key, one INT or BIGINT column."""
    HIVE = "hive"
    """By Hive's hash."""


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
    Java's ``%`` rounds toward zero, and the sign of what remains does not count: hash -7 over
    three buckets is bucket 1, where Python's ``-7 % 3`` would say 2 and lose the row.

    Source: apache/paimon@1.3.1 ``org.apache.paimon.bucket.DefaultBucketFunction``.

    Examples
    --------
    >>> default_bucket(np.array([-7, 0, 8], np.int32), 3)
    array([1, 0, 2], dtype=int32)
    """
    if total_buckets < 1:
        raise ValueError(f"total_buckets must be at least 1, got {total_buckets}")
    # Without signs, processors divide several numbers at once.
    sizes = np.abs(hash_code).view(np.uint32)  # that of the smallest, 2**31, has no sign to lose
    buckets = sizes - sizes // np.uint32(total_buckets) * np.uint32(total_buckets)
    return buckets.view(np.int32)


def mod_bucket(values: pa.Array | pa.ChunkedArray, total_buckets: int) -> npt.NDArray[np.int32]:
    """Assign rows to buckets by the remainder of their bucket key, which is never negative.

    Parameters
    ----------
    values
        n values of type int32 or int64; null counts as 0.
    total_buckets : int
        Buckets of the partition, at least 1.

    Returns
    -------
    (n,) int32
        Bucket ids in ``[0, total_buckets)``.

    Notes
    -----
    Source: apache/paimon@1.3.1 ``org.apache.paimon.bucket.ModBucketFunction``.

    Examples
    --------
    >>> mod_bucket(pa.array([-7, 0, 8, None], pa.int64()), 3)
    array([2, 0, 2, 0], dtype=int32)
    """
    array = one_array(values)
    if array.null_count:
        array = null_filled(array, 0)
    keys = fixed_values(array, f"<i{array.type.bit_width // 8}").astype(np.int64)
    return np.mod(keys, total_buckets).astype(np.int32)


def takes_mod(types: Sequence[DataType]) -> bool:
    """Say whether ``mod`` can be the function of a bucket key of these types."""
    roots = [data_type.root for data_type in types if isinstance(data_type, AtomicType)]
    return len(types) == 1 and roots in ([TypeRoot.INT], [TypeRoot.BIGINT])


def bucket_ids(
    batch: pa.RecordBatch | pa.Table,
    bucket_keys: Sequence[DataField],
    total_buckets: int,
    function: BucketFunction = BucketFunction.DEFAULT,
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
    function
        How.

    Returns
    -------
    (n,) int32
        Bucket ids in ``[0, total_buckets)``.
    """
    if total_buckets < 1:
        raise ValueError(f"total_buckets must be at least 1, got {total_buckets}")
    columns = [batch.column(field.name) for field in bucket_keys]
    types = [field.type for field in bucket_keys]
    match function:
        case BucketFunction.MOD:
            return mod_bucket(columns[0], total_buckets)
        case BucketFunction.HIVE:
            positive = hive_hashes(columns, types) & np.int32(2**31 - 1)
            return positive % np.int32(total_buckets)
        case BucketFunction.DEFAULT:
            return default_bucket(hash_codes(columns, types), total_buckets)
