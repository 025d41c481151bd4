"""Which files of an append table are worth rewriting together.

Without buckets the small files of a partition are packed by size. In a bucket rows have an
order, so only files that follow one another are put together.

Source: apache/paimon@1.3.1 ``org.apache.paimon.append.AppendCompactCoordinator`` and
``…BucketedAppendCompactManager``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.table_options import OptionSlice, option_field

Files: TypeAlias = tuple[DataFileMeta, ...]

_LEAST_IN_FULL_COMPACTION = 3


class AppendPackingOptions(OptionSlice):
    """The table options that say when files of append tables are rewritten."""

    target_file_size_bytes: int = option_field("target-file-size", "memory", 256 << 20)
    """``target-file-size``: what a file shall have."""
    open_file_cost_bytes: int = option_field("source.split.open-file-cost", "memory", 4 << 20)
    """``source.split.open-file-cost``: what each file weighs besides its bytes."""
    least_files: int = option_field("compaction.min.file-num", "int", 5)
    """``compaction.min.file-num``: files that are worth a rewrite though they are small."""
    delete_ratio_threshold: float = option_field("compaction.delete-ratio-threshold", "float", 0.2)
    """``compaction.delete-ratio-threshold``: deleted rows of a row of a file."""
    rewrites_all: bool = option_field(
        "compaction.force-rewrite-all-files", "boolean", default=False
    )
    """``compaction.force-rewrite-all-files``: a full compaction also takes large files."""

    @property
    def small_file_size_bytes(self) -> int:
        """Files of at least this size are left alone in tables without buckets."""
        return self.target_file_size_bytes // 10 * 7


@dataclass(frozen=True, slots=True)
class FileVector:
    """The deletion vector of a data file, as the index manifest has it."""

    index_file: str
    """Name of the index file that it is in, along with those of other data files."""
    cardinality: int | None
    """Deleted rows; None: unknown."""


def is_worth_packing(
    file: DataFileMeta, vector: FileVector | None, options: AppendPackingOptions
) -> bool:
    """Say whether a file of a table without buckets is small, or full of deleted rows."""
    if file.file_size_bytes < options.small_file_size_bytes:
        return True
    if vector is None:
        return False
    deleted = vector.cardinality
    return deleted is None or deleted > file.row_count * options.delete_ratio_threshold


def pack(
    files: Iterable[DataFileMeta],
    options: AppendPackingOptions,
    *,
    vectors: Mapping[str, FileVector] | None = None,
    full: bool = False,
) -> list[Files]:
    """Choose files of one partition of a table without buckets to be rewritten together.

    Parameters
    ----------
    files
        All live files of the partition.
    options
        When to compact.
    vectors
        By the name of the data file. Files whose vectors lie in one index file stay together,
        since it is written anew, and are always rewritten. None: the table has no vectors.
    full
        Whether to rewrite also groups of at least two files that would otherwise wait for more;
        Java does so in a partition that was not written to for a while.

    Returns
    -------
    list of tuple of DataFileMeta
        Each to be rewritten as one; no file is in two of them. Smaller files come first.
    """
    known = vectors or {}
    chosen = [
        file
        for file in files
        if (full and options.rewrites_all)
        or is_worth_packing(file, known.get(file.file_name), options)
    ]
    groups: dict[str, list[DataFileMeta]] = {}
    alone: list[DataFileMeta] = []
    for file in chosen:
        vector = known.get(file.file_name)
        if vector is None:
            alone.append(file)
        else:
            groups.setdefault(vector.index_file, []).append(file)
    packed, rest = _fill(sorted(groups.values(), key=_size_bytes), options)
    if rest:
        packed.append(rest)
    by_size = sorted(alone, key=lambda file: file.file_size_bytes)
    without, rest = _fill([[file] for file in by_size], options)
    is_worth_it = len(rest) >= options.least_files and (vectors is None or len(alone) > 1)
    if is_worth_it or (full and len(rest) > 1):
        without.append(rest)
    return [*packed, *without]


def _fill(
    groups: Iterable[Sequence[DataFileMeta]], options: AppendPackingOptions
) -> tuple[list[Files], Files]:
    """Put groups of files into bins until each weighs twice the target; also returns the rest."""
    packed: list[Files] = []
    opened: list[DataFileMeta] = []
    weight = 0
    for group in groups:
        opened += group
        weight += _size_bytes(group) + len(group) * options.open_file_cost_bytes
        if len(opened) > 1 and weight >= 2 * options.target_file_size_bytes:
            packed.append(tuple(opened))
            opened, weight = [], 0
    return packed, tuple(opened)


def in_order(files: Iterable[DataFileMeta]) -> Files:
    """Return the files of a bucket in the order in which their rows were written."""
    return tuple(sorted(files, key=lambda file: file.min_sequence_number))


def pick_neighbours(
    files: Sequence[DataFileMeta], options: AppendPackingOptions
) -> tuple[Files, Files]:
    """Choose files of a bucket that follow one another, as a writer does after every file.

    Parameters
    ----------
    files
        Files of the bucket, `in_order`, without those passed over by earlier calls.
    options
        When to compact.

    Returns
    -------
    picked : tuple of DataFileMeta
        To be rewritten as one; () if there is nothing to do.
    later : tuple of DataFileMeta
        What may be picked later. A file that is passed over because those after it are
        large enough is in neither.
    """
    window: list[DataFileMeta] = []
    size = 0
    for number, file in enumerate(files, start=1):
        window.append(file)
        size += file.file_size_bytes
        if len(window) >= options.least_files:
            return tuple(window), tuple(files[number:])
        if size >= options.target_file_size_bytes:
            size -= window.pop(0).file_size_bytes
    return (), tuple(window)


def pick_bucket(
    files: Sequence[DataFileMeta],
    options: AppendPackingOptions,
    *,
    with_vectors: Collection[str] | None = None,
) -> Files:
    """Choose files of a bucket for a full compaction.

    Parameters
    ----------
    files
        All live files of the bucket, `in_order`.
    options
        When to compact.
    with_vectors
        Names of the files that have a deletion vector; None: the table has no vectors.

    Returns
    -------
    tuple of DataFileMeta
        To be rewritten as one; () if there is nothing to do. With vectors that is all but the
        first files, if these are large and have none; without vectors there must be more small
        files than large ones.
    """
    if options.rewrites_all:
        return tuple(files)
    owners = frozenset(with_vectors or ())
    if with_vectors is None and len(files) < _LEAST_IN_FULL_COMPACTION:
        return ()
    target = options.target_file_size_bytes
    is_large = [file.file_size_bytes >= target for file in files]
    first = next(
        (
            number
            for number, file in enumerate(files)
            if not is_large[number] or file.file_name in owners
        ),
        len(files),
    )
    chosen, large_count = tuple(files[first:]), sum(is_large[first:])
    if with_vectors is not None:
        return chosen
    has_many_small = len(chosen) - large_count > large_count
    return chosen if has_many_small and len(chosen) >= _LEAST_IN_FULL_COMPACTION else ()


def _size_bytes(files: Iterable[DataFileMeta]) -> int:
    return sum(file.file_size_bytes for file in files)
