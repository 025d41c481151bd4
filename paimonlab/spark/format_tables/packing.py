"""Which files of a format table one task reads."""

from __future__ import annotations

from collections.abc import Sequence


def target_bytes(sizes: Sequence[int], *, most: int, open_cost: int, tasks: int) -> int:
    """Return how many bytes a task should read at most.

    Parameters
    ----------
    sizes
        Bytes of the files.
    most
        Bytes of a task at most, ``spark.sql.files.maxPartitionBytes``.
    open_cost
        Bytes that could be read while a file is opened, ``spark.sql.files.openCostInBytes``.
    tasks
        How many run at once.

    Notes
    -----
    Source: apache/spark@v4.2.0 ``FilePartition.maxSplitBytes``.

    Examples
    --------
    >>> target_bytes([10] * 100, most=1000, open_cost=10, tasks=4)
    500
    >>> target_bytes([10], most=1000, open_cost=40, tasks=4)
    40
    """
    total = sum(sizes) + len(sizes) * open_cost
    return min(most, max(open_cost, total // max(tasks, 1)))


def packed(sizes: Sequence[int], *, target: int, open_cost: int) -> list[list[int]]:
    """Divide files among tasks, the largest first; a file is never cut.

    Returns
    -------
    list of list of int
        Places in ``sizes``, each in one list. A list is closed when the next file would take it
        over ``target``, where each file counts ``open_cost`` bytes more than it has.

    Notes
    -----
    Source: apache/spark@v4.2.0 ``FilePartition.getFilePartitions``.

    Examples
    --------
    >>> packed([30, 500, 20, 10], target=100, open_cost=10)
    [[1], [0, 2, 3]]
    >>> packed([], target=100, open_cost=10)
    []
    """
    found: list[list[int]] = []
    filled = 0
    for place in sorted(range(len(sizes)), key=lambda place: -sizes[place]):
        if not found or filled + sizes[place] > target:
            found.append([])
            filled = 0
        found[-1].append(place)
        filled += sizes[place] + open_cost
    return found
