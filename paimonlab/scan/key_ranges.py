"""Which files of a bucket share keys, decided for all buckets at once.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.IntervalPartition``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import numpy_values
from paimonlab.scan.entries import group_codes
from paimonlab.spec.binary_row import rows as binary_row
from paimonlab.spec.types.data_types import DataType


def sections(
    bucket: npt.NDArray[np.int64],
    min_keys: pa.ChunkedArray,
    max_keys: pa.ChunkedArray,
    key_types: Sequence[DataType],
) -> npt.NDArray[np.int64]:
    """Give each group of files whose key ranges overlap a number.

    Parameters
    ----------
    bucket : (n,) int64
        Which bucket of which partition each file is in, as a number.
    min_keys, max_keys
        n serialised BinaryRows: the smallest and the greatest key of each file.
    key_types
        Types of the trimmed primary key columns.

    Returns
    -------
    (n,) int64
        Section of each file; sections ascend by bucket and, inside it, by key.

    Notes
    -----
    -0.0 and 0.0 count as equal here, which can only make a section larger than needed.
    """
    low, high = key_ranks(min_keys, max_keys, key_types)
    order = np.lexsort((high, low, bucket))
    stride = 2 * bucket.size + 1
    starts = bucket[order] * stride + low[order]
    ends = np.maximum.accumulate(bucket[order] * stride + high[order])
    is_new = np.ones(order.size, np.bool_)
    is_new[1:] = starts[1:] > ends[:-1]
    section = np.empty(order.size, np.int64)
    section[order] = np.cumsum(is_new) - 1
    return section


def first_overlap(
    group: npt.NDArray[np.int64],
    min_keys: pa.ChunkedArray,
    max_keys: pa.ChunkedArray,
    key_types: Sequence[DataType],
) -> tuple[int, int] | None:
    """Return two files of one group whose key ranges overlap, None if there are none.

    Parameters
    ----------
    group : (n,) int64
        The level and bucket of each file, as a number.
    min_keys, max_keys, key_types
        As in `sections`.
    """
    low, high = key_ranks(min_keys, max_keys, key_types)
    order = np.lexsort((high, low, group))
    is_same = group[order][1:] == group[order][:-1]
    meets = np.flatnonzero(is_same & (low[order][1:] <= high[order][:-1]))
    return (int(order[meets[0]]), int(order[meets[0] + 1])) if meets.size else None


def key_ranks(
    min_keys: pa.ChunkedArray, max_keys: pa.ChunkedArray, key_types: Sequence[DataType]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rank smallest and greatest keys among each other.

    Parameters
    ----------
    min_keys, max_keys, key_types
        As in `sections`.

    Returns
    -------
    low, high : (n,) int64
        Ranks from 0 without gaps, in the order of keys; equal keys have equal ranks.
    """
    both = pa.chunked_array([*min_keys.chunks, *max_keys.chunks], pa.large_binary())
    columns = binary_row.decode(both.combine_chunks(), key_types)
    ranks = group_codes([_rank(column) for column in columns])
    return ranks[: len(min_keys)], ranks[len(min_keys) :]


def _rank(column: pa.Array) -> npt.NDArray[np.int64]:
    ranks = pc.rank(column, sort_keys="ascending", tiebreaker="dense")
    return numpy_values(ranks, zero_copy_only=False).astype(np.int64) - 1
