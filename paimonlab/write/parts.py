"""Groups of rows that are picked and written together, by several threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pyarrow as pa

from paimonlab.write.buckets import Group

THREADS = os.cpu_count() or 1
_MOST_GROUPS = 512
"""Groups of a part; each holds some rows until all of the part are described."""
Job = TypeVar("Job")
Result = TypeVar("Result")


def parts_of(
    groups: Sequence[Group], rows: pa.RecordBatch | pa.Table, part_rows: int
) -> list[list[Group]]:
    """Cut groups into parts of about so many rows, to be picked and written together.

    Parameters
    ----------
    groups
        Groups of the rows.
    rows
        n rows.
    part_rows
        Rows at which a part is full.
    """
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
