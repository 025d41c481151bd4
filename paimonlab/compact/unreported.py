"""Files with rows that become known only by compaction.

Source: apache/paimon@1.3.1 ``org.apache.paimon.CoreOptions.batchScanSkipLevel0``,
``org.apache.paimon.mergetree.compact.LookupChangelogMergeFunctionWrapper``,
``…FullChangelogMergeFunctionWrapper``.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.compact.levels import level_count
from paimonlab.compact.strategy import LevelOptions
from paimonlab.spec.manifests.data_file import DataFileMeta


def tells_by_compaction(levels: LevelOptions, *, skips_level_0: bool) -> bool:
    """Whether readers or followers see rows only once they are compacted."""
    return skips_level_0 or levels.changelog_producer in ("lookup", "full-compaction")


def unreported_files(
    files: Sequence[DataFileMeta], levels: LevelOptions, *, skips_level_0: bool
) -> tuple[DataFileMeta, ...]:
    """Find the files of a bucket whose rows readers or followers do not know yet.

    Parameters
    ----------
    files
        All live files of a bucket of a primary-key table.
    levels
        The table's options for levels.
    skips_level_0
        Whether readers do not see level 0.

    Returns
    -------
    tuple of DataFileMeta
        Those of level 0, with ``changelog-producer`` = ``full-compaction`` all below the highest
        level; () where rows are known as soon as they are committed.
    """
    if not tells_by_compaction(levels, skips_level_0=skips_level_0):
        return ()
    least = 1
    if levels.changelog_producer == "full-compaction":
        least = level_count(files, levels.level_count) - 1
    return tuple(file for file in files if file.level < least)
