"""Splits -> rows: merged, deletes left out, filtered, projected.

A merge on read has two phases. First the keys of overlapping files are merged into one mask a
file (`paimonlab.read.merging`). Then each file is read by itself, wanted columns only, row
groups without a wanted row left out, and filtered by its mask. So value columns are never
merged, and a condition on values may prune: which row of a key is the newest is decided.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from paimonlab import read
from paimonlab.arrow_values import arrow_array
from paimonlab.datafile.masks import WHOLE, Mask, Share, Turns, Whole, first_of
from paimonlab.datafile.row_conditions import RowCondition
from paimonlab.progress import Progress
from paimonlab.read.lookups import few_rows, rules_out_most
from paimonlab.read.mask_cache import shared_masks
from paimonlab.read.merged_rows import merged_rows
from paimonlab.read.merging import key_condition, key_predicate, masks_of, open_data_file
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.reading_progress import FileSource, Source, told
from paimonlab.read.row_groups import group_splits, needs_no_columns_of_others, read_row_group
from paimonlab.read.streaming import in_threads, is_far, reader_count
from paimonlab.scan.split import DataSplit
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import Predicate, all_of, columns, evaluate, split_and
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.storage import FileIO

Batches: TypeAlias = Generator[pa.RecordBatch, None, None]


def read_splits(
    splits: Sequence[DataSplit],
    plan: ReadPlan,
    file_io: FileIO,
    *,
    limit: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> pa.RecordBatchReader:
    """Stream the rows of splits in bounded memory.

    Parameters
    ----------
    splits
        As planned.
    plan
        Columns, condition and schemas.
    file_io
        The table's store.
    limit
        Stop after this many rows; None: all.
    threads
        How many splits, or files, are read at once; None: `reader_count`.
    progress
        Called with the number of ``files`` done and in all; from any thread, one call at a time.

    Returns
    -------
    pyarrow.RecordBatchReader
        Of ``plan.arrow_schema``, in no particular order. The work stops
        when nothing refers to it any more; pyarrow's ``close`` does not reach what makes the
        batches.
    """
    count = threads or reader_count(plan.table_path)
    batches = _batches(splits, plan, file_io, count, progress, limit=limit)
    if limit is not None:
        batches = limited(batches, limit)
    return pa.RecordBatchReader.from_batches(plan.arrow_schema, batches)


def read_split(
    split: DataSplit, plan: ReadPlan, file_io: FileIO, condition: RowCondition | None = None
) -> Iterator[pa.RecordBatch]:
    """Read one split in the calling thread.

    Parameters
    ----------
    split
        What to read.
    plan, file_io
        Columns, predicate and schemas; the table's store.
    condition
        What rows have to satisfy as well, over columns of the plan. It may be asked of rows that
        are no longer rows of the table. None: nothing.

    Yields
    ------
    pyarrow.RecordBatch
        Of ``plan.arrow_schema``, none empty: the newest row of every key, no deletes, only
        rows for which predicate and condition are true.
    """
    wanted = within_partition(split, plan)
    if wanted is None:
        return
    if plan.options.data_evolution or _merges_values(split, wanted):
        yield from _satisfying(_put_together(split, wanted, file_io), condition)
        return
    few = few_rows(split, key_predicate(wanted), wanted, file_io)
    if few is not None:
        yield from _satisfying(few, condition)
        return
    masks = _masks(split, wanted, file_io, condition)
    for file, mask in zip(split.files, masks, strict=True):
        yield from _rows(split, file, mask, wanted, file_io, condition=condition)


def _put_together(split: DataSplit, plan: ReadPlan, file_io: FileIO) -> Iterator[pa.RecordBatch]:
    """Read rows that are made of rows of several files."""
    if not plan.options.data_evolution:
        read_file = partial(_rows, split, plan=plan, file_io=file_io)
        yield from merged_rows(split, plan, file_io, read_file)
        return
    for group in group_splits(split, plan.table_name):
        yield from _group(group, plan, file_io)


def _satisfying(
    batches: Iterable[pa.RecordBatch], condition: RowCondition | None
) -> Iterator[pa.RecordBatch]:
    if condition is None:
        yield from batches
        return
    for rows in batches:
        found = rows.filter(condition.is_true(rows))
        if found.num_rows:
            yield found


def _merges_values(split: DataSplit, plan: ReadPlan) -> bool:
    """Whether rows of the split become rows that are in no file."""
    return not split.raw_convertible and not plan.engine.selects_rows


def count_rows(splits: Sequence[DataSplit], plan: ReadPlan, file_io: FileIO) -> int:
    """Count the rows of splits, reading no more than that takes.

    Without a condition only keys of files that overlap are read, else the columns of the
    condition.
    """
    if plan.predicate is not None:
        batches = _batches(
            splits, replace(plan, columns=()), file_io, reader_count(plan.table_path)
        )
        return sum(batch.num_rows for batch in batches)

    def count(split: DataSplit) -> Iterator[int]:
        if plan.options.data_evolution:
            yield from (group.row_count for group in group_splits(split, plan.table_name))
            return
        if split.raw_convertible and split.has_known_deletions:
            yield split.least_row_count
            return
        if _merges_values(split, plan):
            yield sum(len(batch) for batch in read_split(split, replace(plan, columns=()), file_io))
            return
        masks = _masks(split, plan, file_io)
        for file, mask in zip(split.files, masks, strict=True):
            yield file.row_count if mask is None else int(np.count_nonzero(mask))

    sources = [partial(count, split) for split in splits]
    are_small = all(_are_small(split.files, plan) for split in splits)
    threads = 1 if are_small else reader_count(plan.table_path)
    return sum(in_threads(sources, threads=threads))


def winner_masks(split: DataSplit, plan: ReadPlan, file_io: FileIO) -> list[Mask]:
    """Find the rows of each file that a reader sees.

    Parameters
    ----------
    split
        f files.
    plan
        How to read the table; its columns and predicate do not matter.
    file_io
        The table's store.

    Returns
    -------
    list of f (row_count,) bool
        Over the rows as they are in the file.
    """
    return [
        np.ones(file.row_count, np.bool_) if mask is None else mask
        for file, mask in zip(split.files, masks_of(split, plan, file_io), strict=True)
    ]


def _batches(
    splits: Sequence[DataSplit],
    plan: ReadPlan,
    file_io: FileIO,
    threads: int,
    progress: Progress | None = None,
    *,
    limit: int | None = None,
) -> Batches:
    """Read splits in threads; where there are few of them, their files.

    Where a limit says which rows of files are enough, only those are read. Small files are read by
    one thread.
    """
    file_count = sum(len(split.files) for split in splits)
    if plan.options.data_evolution:
        splits = [group for split in splits for group in group_splits(split, plan.table_name)]
    largest_first = sorted(splits, key=lambda split: -split.size_bytes)
    sources: list[FileSource]
    first = None if limit is None else _first_rows(splits, plan, file_io, limit)
    if first is not None:
        sources = first
    elif len(splits) >= threads or plan.options.data_evolution:
        sources = [
            FileSource(
                partial(read_split, split, plan, file_io),
                len(split.files),
                is_small=_are_small(split.files, plan),
            )
            for split in largest_first
        ]
    else:
        sources = _file_sources(largest_first, plan, file_io, threads)
    sources.sort(key=lambda source: not source.is_small)
    small_count = sum(source.is_small for source in sources)
    reads = told(sources, file_count, progress)
    if small_count:
        reads[:small_count] = [partial(_one_by_one, reads[:small_count])]
    yield from in_threads(reads, threads=threads, size_of=lambda batch: batch.nbytes)


def _are_small(files: Sequence[DataFileMeta], plan: ReadPlan) -> bool:
    """Whether most of the work is Python's, of which threads do one at a time."""
    size = sum(file.file_size_bytes for file in files)
    return (
        size < _SMALL_BYTES * len(files)
        and not is_far(plan.table_path)
        and all(file.external_path is None for file in files)
    )


def _one_by_one(reads: Sequence[Source]) -> Iterator[pa.RecordBatch]:
    return chain.from_iterable(read() for read in reads)


def _file_sources(
    splits: Sequence[DataSplit], plan: ReadPlan, file_io: FileIO, threads: int
) -> list[FileSource]:
    """Merge the keys of splits now and make a source of every file with rows."""
    sources: list[tuple[Callable[..., Iterable[pa.RecordBatch]], DataFileMeta]] = []
    merging: list[FileSource] = []
    for split in splits:
        wanted = within_partition(split, plan)
        if wanted is not None and _merges_values(split, wanted):
            merging.append(
                FileSource(partial(read_split, split, wanted, file_io), len(split.files))
            )
            continue
        if wanted is None:
            continue
        few = few_rows(split, key_predicate(wanted), wanted, file_io)
        if few is not None:
            merging.append(FileSource(partial(iter, few), len(split.files)))
        else:
            masks = _masks(split, wanted, file_io)
            sources += [
                (partial(_rows, split, file, mask, wanted, file_io), file)
                for file, mask in zip(split.files, masks, strict=True)
                if mask is None or mask.any()
            ]
    # Few files: threads that have no other read row groups of one that another has begun.
    is_waited_for = threads > (os.cpu_count() or 1)
    shared: list[tuple[int, int, FileSource]] = []
    for position, (source, file) in enumerate(sources):
        if _are_small([file], plan):
            shared.append((0, position, FileSource(source, 1, is_small=True)))
            continue
        count = min(threads, 1 + file.file_size_bytes // _SHARE_BYTES) if is_waited_for else threads
        # Of a store that is far rows are waited for, not decoded.
        is_end = not is_waited_for and position + threads >= len(sources)
        turns = partial(source, share=Turns(last=threads if is_end else 0))
        shared += [(turn, position, FileSource(turns, 1 / count)) for turn in range(count)]
    shared.sort(key=lambda one: one[:2])  # each file is begun before one is shared
    return [*merging, *(source for _, _, source in shared)]


def _first_rows(
    splits: Sequence[DataSplit], plan: ReadPlan, file_io: FileIO, limit: int
) -> list[FileSource] | None:
    """Make sources of as many rows as are enough; None: which ones, only reading them tells."""
    if plan.options.data_evolution or limit > plan.bounds.batch_rows:
        return None
    wanted = [(split, within_partition(split, plan)) for split in splits]
    if any(
        part is not None and (part.predicate is not None or _merges_values(split, part))
        for split, part in wanted
    ):
        return None
    bounds = replace(plan.bounds, batch_rows=max(limit, _LEAST_BATCH_ROWS))
    sources: list[FileSource] = []
    missing = limit
    for split, part in wanted:
        if part is None or missing <= 0:
            continue
        masks = _masks(split, part, file_io)
        small = replace(part, bounds=bounds)
        for file, mask in zip(split.files, masks, strict=True):
            rows = file.row_count if mask is None else int(np.count_nonzero(mask))
            if missing > 0 and rows:
                keep = None if mask is None else first_of(mask, missing)
                share = Whole(first_rows=missing if mask is None else None)
                source = partial(_rows, split, file, keep, small, file_io, share=share)
                sources.append(FileSource(partial(_first_of_file, source, missing), 1))
            missing -= rows
    return sources


def _first_of_file(read: Callable[[], Batches], count: int) -> Batches:
    """Read rows of a file until there are enough: what follows them is not decoded."""
    return limited(read(), count)


_SMALL_BYTES = 80 << 10
"""Of files smaller than this two threads take longer than one; those of 120 kB they read faster."""
_SHARE_BYTES = 4 << 20
"""Of a file that is far, what another thread opens it for: opening it takes a request."""
_LEAST_BATCH_ROWS = 1 << 10
"""Arrow takes longer for smaller batches than for these."""


def _group(split: DataSplit, plan: ReadPlan, file_io: FileIO) -> Iterator[pa.RecordBatch]:
    """Read a group of files with the same row ids."""
    if needs_no_columns_of_others(split, plan):
        return _rows(split, split.files[0], None, plan, file_io)
    return read_row_group(split, plan, file_io)


def _masks(
    split: DataSplit, plan: ReadPlan, file_io: FileIO, condition: RowCondition | None = None
) -> list[Mask | None]:
    """Find the rows of each file that a reader sees, or those of them that keys let through."""
    if split.raw_convertible and not split.has_deletions:
        return [None] * len(split.files)
    predicate = key_predicate(plan)
    asked = None if condition is None else key_condition(condition, plan)

    def find() -> list[Mask | None]:
        return masks_of(split, plan, file_io)

    if predicate is None and asked is None:
        return shared_masks.of(split, plan, find)
    known = shared_masks.get(split, plan)
    if known is not None:
        return known
    if (
        asked is None
        and predicate is not None
        and not rules_out_most(split, predicate, plan, file_io)
    ):
        # Merging all keys costs little more, and is good for other conditions as well.
        return shared_masks.of(split, plan, find)
    return masks_of(split, plan, file_io, predicate=predicate, condition=asked)


def _rows(
    split: DataSplit,
    file: DataFileMeta,
    mask: Mask | None,
    plan: ReadPlan,
    file_io: FileIO,
    *,
    condition: RowCondition | None = None,
    share: Share = WHOLE,
) -> Batches:
    """Read the rows of a file, or of a share of it, that its mask lets through."""
    if share.is_over or (mask is not None and not mask.any()):
        return
    keep = None if mask is None or mask.all() else mask
    told = None
    if plan.predicate is not None:  # else its modules are not loaded
        told = read.file_indexes.indexed_rows(split, file, plan, file_io)
    if told is not None:
        keep = told if keep is None else keep & told
        if not keep.any():
            share.end()
            return
    wanted = plan.fields_to_read
    with open_data_file(split, file, plan, file_io) as data:
        for batch in data.batches(
            wanted,
            predicate=plan.predicate,
            condition=condition,
            keep=keep,
            batch_rows=plan.bounds.batch_rows,
            share=share,
        ):
            yield batch if len(wanted) == len(plan.columns) else batch.select(list(plan.columns))


def within_partition(split: DataSplit, plan: ReadPlan) -> ReadPlan | None:
    """Apply a plan's predicate to the partition columns; None if no row of the split is wanted."""
    if plan.predicate is None or not plan.schema.partition_keys:
        return plan
    keys = frozenset(plan.schema.partition_keys)
    parts = split_and(plan.predicate)
    decided = [part for part in parts if columns(part) <= keys]
    if not decided:
        return plan
    if not evaluate(all_of(*decided), _partition_row(split, plan))[0].as_py():
        return None
    open_parts = [part for part in parts if not columns(part) <= keys]
    return replace(plan, predicate=_all_or_none(open_parts))


def _all_or_none(parts: Sequence[Predicate]) -> Predicate | None:
    return all_of(*parts) if parts else None


def _partition_row(split: DataSplit, plan: ReadPlan) -> pa.RecordBatch:
    fields = [plan.schema.field(name) for name in plan.schema.partition_keys]
    rows = arrow_array([split.partition], pa.large_binary())
    arrays = decode(rows, [field.type for field in fields])
    return pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(fields))


def limited(batches: Batches, limit: int) -> Batches:
    """Yield the first ``limit`` rows, then stop what produces ``batches``."""
    missing = limit
    try:
        while missing > 0 and (batch := next(batches, None)) is not None:
            yield batch.slice(0, missing)
            missing -= batch.num_rows
    finally:
        batches.close()
