"""What to compact, and the result of it.

Source: apache/paimon@1.3.1 ``org.apache.paimon.compact.CompactUnit``, ``…CompactResult``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from paimonlab.compact.levels import LevelSortedRun
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry


class PickReason(Enum):
    """Why files were picked; the value is for people."""

    FULL = "full compaction"
    INTERVAL = "optimization interval"
    TOTAL_SIZE = "total size below threshold"
    INCREMENTAL_SIZE = "incremental size above threshold"
    SIZE_AMPLIFICATION = "size amplification"
    SIZE_RATIO = "size ratio"
    RUN_COUNT = "number of sorted runs"
    LEVEL_0 = "files on level 0"


@dataclass(frozen=True, slots=True)
class CompactUnit:
    """Files of one bucket to merge, and the level their rows go to."""

    output_level: int
    files: tuple[DataFileMeta, ...]
    """Newest run first."""
    is_file_by_file: bool = False
    """Whether every file is rewritten by itself, none upgraded: they are one run already."""
    reason: PickReason = PickReason.FULL

    @classmethod
    def of_runs(
        cls, output_level: int, runs: Sequence[LevelSortedRun], reason: PickReason
    ) -> CompactUnit:
        """Take all files of some runs, newest first."""
        return cls(output_level, tuple(file for run in runs for file in run.files), reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactIncrement:
    """What compactions of one bucket changed: the ``compact_*`` part of a `CommitMessage`."""

    before: tuple[DataFileMeta, ...] = ()
    after: tuple[DataFileMeta, ...] = ()
    """The rows of ``before``, rewritten; a file in both was given another level."""
    changelog: tuple[DataFileMeta, ...] = ()
    """What changed for a reader who saw only higher levels, or only the highest."""
    new_indexes: tuple[IndexManifestEntry, ...] = ()
    deleted_indexes: tuple[IndexManifestEntry, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        return self == CompactIncrement()

    @classmethod
    def merge(cls, increments: Iterable[CompactIncrement]) -> CompactIncrement:
        """Combine what several steps of one compaction changed, in order."""
        parts = tuple(increments)
        return cls(
            before=tuple(file for part in parts for file in part.before),
            after=tuple(file for part in parts for file in part.after),
            changelog=tuple(file for part in parts for file in part.changelog),
            new_indexes=tuple(entry for part in parts for entry in part.new_indexes),
            deleted_indexes=tuple(entry for part in parts for entry in part.deleted_indexes),
        )
