"""Buckets drawn on one line: ``L0 1 2 | L1 30``, sizes of runs in bytes, newest first."""

from __future__ import annotations

from paimonlab.compact.levels import LevelSortedRun, level_runs
from paimonlab.spec.manifests.data_file import DataFileMeta


def drawn_runs(drawing: str) -> tuple[LevelSortedRun, ...]:
    """Make the runs of a drawing, one file each."""
    files = []
    for part in filter(None, drawing.split("|")):
        level, *sizes = part.split()
        files += [(int(level[1:]), int(size)) for size in sizes]
    return level_runs(
        DataFileMeta(
            file_name=f"f{position}",
            file_size_bytes=size,
            row_count=1,
            level=level,
            min_sequence_number=len(files) - position,
            max_sequence_number=len(files) - position,
            schema_id=0,
        )
        for position, (level, size) in enumerate(files)
    )
