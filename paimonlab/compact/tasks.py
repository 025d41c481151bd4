"""What is done with the files of a compact unit: rewritten together, or given another level.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.MergeTreeCompactTask``,
``…FileRewriteCompactTask``, ``…MergeTreeCompactManager#triggerCompaction``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from paimonlab.compact.levels import LevelSortedRun, highest_level
from paimonlab.compact.units import CompactUnit
from paimonlab.merge.sections import sections
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.spec.types.data_types import DataType

_TARGET_BYTES = 128 << 20

Files: TypeAlias = tuple[DataFileMeta, ...]


class TaskOptions(OptionSlice):
    """The table options that steer `steps`."""

    target_file_size_bytes: int = option_field("target-file-size", "memory", _TARGET_BYTES)
    """``target-file-size`` of a table with primary key."""
    small_file_ratio: float = option_field("compaction.small-file-ratio", "float", 0.7)
    """``compaction.small-file-ratio``: a file below this part of the target size is small."""
    rewrites_all: bool = option_field(
        "compaction.force-rewrite-all-files", "boolean", default=False
    )
    """``compaction.force-rewrite-all-files``: no file is upgraded."""

    @property
    def min_file_size_bytes(self) -> int:
        """Size at which a file is large enough to stay as it is."""
        if self.small_file_ratio == 0.7:
            return self.target_file_size_bytes // 10 * 7
        return int(self.target_file_size_bytes * self.small_file_ratio)


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A file that shares no key with others goes to another level as it is."""

    file: DataFileMeta
    output_level: int


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Files whose rows are merged into new files, in one pass over the keys."""

    sections: tuple[Files, ...]
    """In key order; files of different sections share no key. Within one in no order."""
    output_level: int
    drop_deletes: bool
    """Whether no older row of these keys is left that a delete would have to cover."""

    @property
    def files(self) -> Files:
        """All files, section by section."""
        return tuple(file for section in self.sections for file in section)


Step: TypeAlias = Upgrade | Rewrite


def drops_deletes(unit: CompactUnit, runs: Sequence[LevelSortedRun], *, has_vectors: bool) -> bool:
    """Return whether deletes can be dropped: they have no older rows to hide.

    Parameters
    ----------
    unit
        What is compacted.
    runs
        All runs of the bucket.
    has_vectors
        Whether older rows are marked in deletion vectors, whatever their level.
    """
    if unit.output_level == 0:
        return False
    return has_vectors or unit.output_level >= highest_level(runs)


def steps(
    unit: CompactUnit,
    key_types: Sequence[DataType],
    options: TaskOptions,
    *,
    max_level: int,
    drop_deletes: bool,
    expired: Collection[str] = (),
) -> list[Step]:
    """Lay out the work of a compaction.

    Files that share keys are merged. A file that shares none is rewritten with its neighbours
    if it is small, so that files become larger, else upgraded; on the highest level deletes
    must not stay, so a file that may hold some is rewritten.

    Parameters
    ----------
    unit
        What is compacted.
    key_types
        Types of the trimmed primary key columns.
    options
        What a small file is.
    max_level
        Level of the oldest data of this bucket.
    drop_deletes
        See `drops_deletes`.
    expired
        Names of files with rows whose time is over: they are rewritten.

    Returns
    -------
    list of Step
        In key order. A file of the unit that is on the output level already, and good as it
        is, is in none of them.
    """
    if unit.is_file_by_file:
        return [Rewrite(((file,),), unit.output_level, drop_deletes) for file in unit.files]
    work: list[Step] = []
    for batch in _batches(unit, key_types, options.min_file_size_bytes):
        file = batch[0][0]
        is_alone = len(batch) == 1 and len(batch[0]) == 1
        if not is_alone or (
            options.rewrites_all
            or file.file_name in expired
            or (unit.output_level == max_level and file.delete_row_count != 0)
        ):
            work.append(Rewrite(batch, unit.output_level, drop_deletes))
        elif file.level != unit.output_level:
            work.append(Upgrade(file, unit.output_level))
    return work


def _batches(
    unit: CompactUnit, key_types: Sequence[DataType], min_file_size_bytes: int
) -> Iterator[tuple[Files, ...]]:
    """Yield sections in key order, each large file by itself, neighbours of others together."""
    waiting: list[Files] = []
    for section in sections(unit.files, key_types):
        files = tuple(unit.files[position] for position in section.positions)
        is_large = len(files) == 1 and files[0].file_size_bytes >= min_file_size_bytes
        if is_large and waiting:
            yield tuple(waiting)
            waiting = []
        if is_large:
            yield (files,)
        else:
            waiting.append(files)
    if waiting:
        yield tuple(waiting)
