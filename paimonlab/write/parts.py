"""Groups of rows that are picked and written together, by several threads.

What the files of many groups share is found out once, by some rows of the largest.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pyarrow as pa
from msgspec.structs import replace

from paimonlab.datafile.together import AdjacentRows
from paimonlab.datafile.writer import FileTarget
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.write.buckets import Group
from paimonlab.write.gathering import THREADS, piece_rows

_PART_ROWS = 1 << 16
"""Rows of a part, at least: many small buckets cost no more than one."""
_PARTS_OF_EACH = 4
"""Parts that each thread gets at least, if there are rows for them: so none waits long at last."""
_MOST_GROUPS = 512
"""Groups of a part; each holds some rows until all of the part are described."""
_SAMPLED_GROUPS = 4
_SAMPLED_ROWS = 2048
"""Rows of each that are looked at."""
Job = TypeVar("Job")
Result = TypeVar("Result")


def parts_of(groups: Sequence[Group], rows: pa.Table) -> list[list[Group]]:
    """Cut groups into parts, to be picked, sorted and written together.

    Parameters
    ----------
    groups
        Groups of the rows.
    rows
        n rows.
    """
    share = rows.num_rows // (_PARTS_OF_EACH * THREADS)
    part_rows = min(max(share, _PART_ROWS), piece_rows(rows))
    parts, filled = list[list[Group]](), part_rows
    for group in groups:
        if filled >= part_rows or len(parts[-1]) >= _MOST_GROUPS:
            parts.append([])
            filled = 0
        parts[-1].append(group)
        filled += group.count_in(rows)
    return parts


def threads_of_each(groups: Sequence[Group]) -> int:
    """How many threads may encode the files of a group: many groups are written at once anyway."""
    return THREADS if len(groups) == 1 else 1


def in_threads(run: Callable[[Job], Result], jobs: Sequence[Job]) -> list[Result]:
    """Do jobs, as many at once as there are processors; give their results in order."""
    if len(jobs) < 2:
        return [*map(run, jobs)]
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, jobs))


def fitted_targets(
    targets: Mapping[BucketKey, FileTarget],
    groups: Sequence[Group],
    rows_of: Callable[[list[Group]], AdjacentRows | Iterable[pa.Table]],
    partition_keys: Sequence[str],
) -> Mapping[BucketKey, FileTarget]:
    """Say how the files of groups are written: those of many alike, those of one by its own rows.

    Parameters
    ----------
    targets
        Of all groups, of the same columns and format; or none at all.
    groups
        Of one batch of rows.
    rows_of
        Gives two groups or more their rows, as files have them.
    partition_keys
        Columns of which each group has one value.
    """
    if len(groups) < 2 or not targets:
        return targets
    first = targets[groups[0].key]
    samples = rows_of([_sampled(group) for group in _largest(groups)])
    assert isinstance(samples, AdjacentRows), "rows of two groups or more"
    samples_of_each = samples.of_each()
    fitted = first.format.fitted_to(first.columns.physical, samples_of_each, partition_keys)
    return {group.key: replace(targets[group.key], format=fitted) for group in groups}


def _largest(groups: Sequence[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: -group.count)[:_SAMPLED_GROUPS]


def _sampled(group: Group) -> Group:
    assert group.rows is not None, "a group of many has positions"
    return dataclasses.replace(group, rows=group.rows[:_SAMPLED_ROWS])
