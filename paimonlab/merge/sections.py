"""Which files of a bucket share keys, and which of two rows of a key is the newer one.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.IntervalPartition``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

from paimonlab.arrow_values import arrow_array
from paimonlab.merge.order import sort_keys
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.types.data_types import DataType

Ranks: TypeAlias = npt.NDArray[np.int64]

SortedRun: TypeAlias = tuple[int, ...]
"""Positions of files in key order whose key ranges do not overlap."""


class Section(Struct, frozen=True):
    """Files that have to be merged with each other, and with no other file."""

    runs: tuple[SortedRun, ...]
    """Oldest first: by the sequence numbers of their files where these tell, else in the
    order in which the files were given."""
    is_age_enough: bool
    """Whether every row of a run is newer than all rows of the runs before it. Then no
    sequence number has to be read to find the newest row of a key."""

    @property
    def positions(self) -> tuple[int, ...]:
        """Positions of the files, run by run."""
        return tuple(position for run in self.runs for position in run)


def sections(files: Sequence[DataFileMeta], key_types: Sequence[DataType]) -> list[Section]:
    """Group the files of one bucket by overlapping key ranges.

    The files of a level above 0 are one run as long as they do not overlap, and so are files of
    level 0 that follow each other in time.

    Parameters
    ----------
    files
        n files of one bucket, older ones first.
    key_types
        Types of the trimmed primary key columns.

    Returns
    -------
    list of Section
        In key order; every position of ``files`` is in exactly one.
    """
    if not files:
        return []
    low, high = _key_ranks(files, key_types)
    return [_section(files, group.tolist(), low, high) for group in overlapping(low, high)]


def overlapping(low: Ranks, high: Ranks) -> list[Ranks]:
    """Group closed intervals that overlap, directly or through others.

    Parameters
    ----------
    low, high : (n,) int64
        The intervals' ends, n >= 1.

    Returns
    -------
    list of (k,) int64
        Positions of the intervals of each group, by ascending ``low``.

    Examples
    --------
    >>> overlapping(np.array([5, 0, 3]), np.array([9, 3, 4]))
    [array([1, 2]), array([0])]
    """
    order = np.lexsort((high, low))
    reach = np.maximum.accumulate(high[order])
    starts = np.flatnonzero(low[order][1:] > reach[:-1]) + 1
    return np.split(order, starts)


def _key_ranks(files: Sequence[DataFileMeta], key_types: Sequence[DataType]) -> tuple[Ranks, Ranks]:
    """Rank the smallest and greatest keys of files among each other."""
    rows = [file.min_key for file in files] + [file.max_key for file in files]
    keys = sort_keys(decode(arrow_array(rows, pa.large_binary()), key_types))
    ranks = np.unique(keys, return_inverse=True)[1].astype(np.int64)
    return ranks[: len(files)], ranks[len(files) :]


def _section(
    files: Sequence[DataFileMeta], positions: Sequence[int], low: Ranks, high: Ranks
) -> Section:
    levels: dict[tuple[int, int], list[int]] = {}
    newest = [position for position in positions if files[position].level == 0]
    clusters = _clusters(files, newest, low, high)
    for position in positions:
        level_and_cluster = (files[position].level, clusters.get(position, 0))
        levels.setdefault(level_and_cluster, []).append(position)
    runs: list[list[int]] = []
    for run in levels.values():
        ends = [int(high[position]) for position in run]
        starts = [int(low[position]) for position in run]
        is_sorted = all(end < start for end, start in zip(ends[:-1], starts[1:], strict=True))
        runs.extend([run] if is_sorted else [[position] for position in run])
    runs.sort(key=lambda run: _sequence_range(files, run))
    ranges = [_sequence_range(files, run) for run in runs]
    is_age_enough = all(newer[0] > older[1] for older, newer in pairwise(ranges))
    if not is_age_enough:
        runs.sort(key=min)
    return Section(tuple(tuple(run) for run in runs), is_age_enough)


def _clusters(
    files: Sequence[DataFileMeta], positions: Sequence[int], low: Ranks, high: Ranks
) -> dict[int, int]:
    """Give files of level 0 a number: those of one follow in time and share no key.

    A writer that writes many rows at once makes several such files.
    """
    numbers: dict[int, int] = {}
    number = 0
    taken: list[tuple[int, int]] = []
    for position in sorted(positions, key=lambda one: _sequence_range(files, [one])):
        keys = (int(low[position]), int(high[position]))
        cluster = bisect_left(taken, keys)
        is_free = (cluster == 0 or taken[cluster - 1][1] < keys[0]) and (
            cluster == len(taken) or keys[1] < taken[cluster][0]
        )
        if not is_free:
            number += 1
            taken, cluster = [], 0
        taken.insert(cluster, keys)
        numbers[position] = number
    return numbers


def _sequence_range(files: Sequence[DataFileMeta], run: Sequence[int]) -> tuple[int, int]:
    """Return the smallest and the greatest sequence number of a run."""
    return (
        min(files[position].min_sequence_number for position in run),
        max(files[position].max_sequence_number for position in run),
    )
