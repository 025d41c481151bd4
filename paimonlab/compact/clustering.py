"""Incremental clustering: the files of a partition as runs of rows in order.

Files as they were written are runs of one file on level 0; what is clustered together becomes a
run of a higher level. So few runs are put in order again for every new one, as in universal
compaction.

Source: apache/paimon@1.3.1 ``org.apache.paimon.append.cluster.IncrementalClusterManager``,
``…IncrementalClusterStrategy``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import groupby

from paimonlab.compact.levels import LevelSortedRun
from paimonlab.compact.units import CompactUnit
from paimonlab.compact.universal import PickOptions, UniversalOptions, pick, pick_full
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.table_options import OptionSlice, option_field, parse_list


class ClusteringOptions(OptionSlice):
    """The table options that steer incremental clustering."""

    is_incremental: bool = option_field("clustering.incremental", "boolean", default=False)
    """``clustering.incremental``: a compaction puts rows in order."""
    columns: tuple[str, ...] = option_field("clustering.columns", "string", (), parse=parse_list)
    """``clustering.columns``: what rows are ordered by."""
    strategy: str = option_field("clustering.strategy", "string", "auto")
    """``clustering.strategy``: ``order``, ``zorder``, ``hilbert``, or by the number of columns."""


def cluster_runs(files: Iterable[DataFileMeta]) -> tuple[LevelSortedRun, ...]:
    """Group the files of a partition into runs.

    Parameters
    ----------
    files
        All live files of the partition.

    Returns
    -------
    tuple of LevelSortedRun
        By level: one for each file of level 0, in the order given, then one for each level.
    """
    runs: list[LevelSortedRun] = []
    by_level = sorted(files, key=lambda file: file.level)
    for level, grouped in groupby(by_level, key=lambda file: file.level):
        if level == 0:
            runs += [LevelSortedRun(0, (file,)) for file in grouped]
        else:
            runs.append(LevelSortedRun(level, tuple(grouped)))
    return tuple(runs)


def pick_to_cluster(
    runs: Sequence[LevelSortedRun],
    options: UniversalOptions,
    *,
    level_count: int,
    now: datetime,
) -> CompactUnit | None:
    """Choose runs to be put in order together, by universal compaction.

    Parameters
    ----------
    runs
        As `cluster_runs` makes them.
    options
        When to compact.
    level_count
        ``num-levels``
    now
        Ignored: neither intervals nor off-peak hours apply.
    """
    return pick(runs, PickOptions(universal=options), max_level=level_count - 1, now=now)


def pick_all_to_cluster(
    runs: Sequence[LevelSortedRun],
    columns: Sequence[str],
    columns_of: Callable[[int], Sequence[str]],
    *,
    level_count: int,
) -> CompactUnit | None:
    """Choose everything, unless it is one run in this order already.

    Parameters
    ----------
    runs
        As `cluster_runs` makes them.
    columns
        What rows are ordered by.
    columns_of
        Returns the same for the schema of an id.
    level_count
        ``num-levels``
    """
    max_level = level_count - 1
    if len(runs) == 1 and runs[0].level == max_level:
        before = columns_of(runs[0].files[0].schema_id)
        return (
            None
            if tuple(before) == tuple(columns)
            else pick_full(runs, max_level=max_level, rewrites_all=True)
        )
    return pick_full(runs, max_level=max_level)
