"""Which files stand for all of a table where it has too many to read."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from msgspec import Struct

_GOLDEN_RATIO = (5**0.5 - 1) / 2


class FileSample(Struct, frozen=True):
    """How much of a table is read in its place."""

    most_files: int
    most_bytes: int


def sampled_files(
    bucket: npt.NDArray[np.int64],
    unit: npt.NDArray[np.int64],
    size_bytes: npt.NDArray[np.int64],
    sample: FileSample,
) -> npt.NDArray[np.bool_]:
    """Choose files that are spread over all partitions and buckets, the same each time.

    Parameters
    ----------
    bucket, unit : (n,)
        As `Placement` has them: files of a unit are read together.
    size_bytes : (n,)
        Sizes of the files.
    sample
        How many at most; one unit is chosen whatever its size.

    Returns
    -------
    (n,) bool
        Which of the files are chosen. Each partition has about the same share of them as of all.

    Notes
    -----
    Multiples of the golden ratio, modulo 1, are spread evenly however many of them are taken.

    Examples
    --------
    >>> zeros, ten = np.zeros(6, np.int64), np.full(6, 10)
    >>> np.flatnonzero(sampled_files(zeros, np.arange(6), ten, FileSample(3, 30))).tolist()
    [0, 2, 5]
    """
    _, first, of_file = np.unique(unit, return_index=True, return_inverse=True)
    file_counts, sizes = np.bincount(of_file), np.bincount(of_file, size_bytes)
    ordered = np.argsort(bucket[first], kind="stable")
    order = ordered[np.argsort(np.arange(first.size) * _GOLDEN_RATIO % 1, kind="stable")]
    fits = (np.cumsum(file_counts[order]) <= sample.most_files) & (
        np.cumsum(sizes[order]) <= sample.most_bytes
    )
    fits[:1] = True
    is_chosen = np.zeros(first.size, np.bool_)
    is_chosen[order[fits]] = True
    return is_chosen[of_file]
