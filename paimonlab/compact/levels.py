"""The files of a bucket as sorted runs.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.Levels``, ``…LevelSortedRun``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from paimonlab.spec.manifests.data_file import DataFileMeta


@dataclass(frozen=True, slots=True)
class LevelSortedRun:
    """Files of one level whose key ranges do not overlap: on level 0 always one file."""

    level: int
    files: tuple[DataFileMeta, ...]
    """Not empty, in the order in which they were given."""

    @property
    def total_size_bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.file_size_bytes for file in self.files)


def level_runs(files: Iterable[DataFileMeta]) -> tuple[LevelSortedRun, ...]:
    """Group the files of a bucket into sorted runs.

    Parameters
    ----------
    files
        All live files of the bucket, in any order.

    Returns
    -------
    tuple of LevelSortedRun
        Newest first: one run for each file of level 0, by descending greatest sequence number
        (then smallest sequence number, creation time and name, ascending), then one for each
        level that has files.
    """
    by_level = sorted(files, key=lambda file: file.level)
    runs: list[LevelSortedRun] = []
    for level, grouped in groupby(by_level, key=lambda file: file.level):
        if level == 0:
            runs.extend(LevelSortedRun(0, (file,)) for file in sorted(grouped, key=_newest_first))
        else:
            runs.append(LevelSortedRun(level, tuple(grouped)))
    return tuple(runs)


def _newest_first(file: DataFileMeta) -> tuple[int, int, int, str]:
    return (
        -file.max_sequence_number,
        file.min_sequence_number,
        file.creation_time_millis or 0,
        file.file_name,
    )


def level_count(files: Iterable[DataFileMeta], num_levels: int) -> int:
    """Count the levels of a bucket: ``num_levels``, or more if files are on higher ones."""
    return max(num_levels, *(file.level + 1 for file in files), 0)


def highest_level(runs: Iterable[LevelSortedRun]) -> int:
    """Find the highest level that has files; -1 if there are no files."""
    return max((run.level for run in runs), default=-1)
