"""Putting the rows of large partitions in order by several workers: each writes one range.

A sample of the rows says where ranges begin, so that each becomes a file of about the target size.
All rows of a range meet at one worker, which sorts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from paimonlab.compact.append_rewriting import (
    AppendPlan,
    AppendTask,
    rewrite_files,
    split_of,
    write_files,
)
from paimonlab.compact.compaction import delete_outputs
from paimonlab.compact.ordering.external_sort import sorted_stream
from paimonlab.compact.ordering.ranges import Ranges, sampled
from paimonlab.compact.ordering.sorting import RowsInOrder
from paimonlab.compact.units import CompactIncrement
from paimonlab.datafile.writer import FileTarget
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import read_split
from paimonlab.scan.split import DataSplit
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.storage import FileIO
from paimonlab.workers import Divided, Workers

_SAMPLES_PER_RANGE = 500
_LEAST_SAMPLES = 20_000
_MOST_RANGES = 10_000


def rewrite_in_ranges(
    tasks: Sequence[AppendTask],
    plan: AppendPlan,
    file_io: FileIO,
    ordering: RowsInOrder,
    workers: Workers,
    *,
    what: str,
    done: Callable[[AppendTask], object],
) -> list[list[DataFileMeta]]:
    """Write the rows of each task in order, those of large ones by several workers.

    Parameters
    ----------
    tasks
        What is put in order, each by itself.
    plan, file_io
        How to rewrite files of the table; its store.
    ordering
        The order, and the memory for sorting.
    workers
        What reads and writes; it divides rows.
    what
        What is done, in words.
    done
        Is called with each task when it is done.

    Returns
    -------
    list of list of DataFileMeta
        The new files of each task, in order.
    """
    work = _Work(plan, file_io, ordering, workers, what)
    counts = [_range_count(task) for task in tasks]
    small = [number for number, count in enumerate(counts) if count == 1]
    large = [number for number, count in enumerate(counts) if count > 1]
    made: dict[int, list[DataFileMeta]] = {}
    try:
        alone = workers(
            partial(rewrite_files, plan=plan, file_io=file_io, rows_of=ordering),
            [tasks[number] for number in small],
            what=what,
            size=_size,
            undo=work.undo,
            done=done,
        )
        made |= zip(small, alone, strict=True)
        if large:
            divided = work.divided([tasks[n] for n in large], [counts[n] for n in large])
            made |= zip(large, divided, strict=True)
            for number in large:
                done(tasks[number])
    except BaseException:
        for number, files in made.items():
            work.undo(tasks[number], files)
        raise
    return [made[number] for number in range(len(tasks))]


def _size(task: AppendTask) -> int:
    return sum(file.file_size_bytes for file in task.files)


def _range_count(task: AppendTask) -> int:
    target = task.bucket.targets(task.output_level).target_file_size_bytes
    return min(max(-(-_size(task) // target), 1), _MOST_RANGES)


@dataclass(frozen=True, slots=True)
class _Part:
    """A file that is read, and which of its rows belong to which share."""

    split: DataSplit
    ranges: Ranges
    first: int
    """Share of the first range."""


@dataclass(frozen=True, slots=True)
class _Work:
    plan: AppendPlan
    file_io: FileIO
    ordering: RowsInOrder
    workers: Workers
    what: str

    def divided(
        self, tasks: Sequence[AppendTask], counts: Sequence[int]
    ) -> list[list[DataFileMeta]]:
        """Put the rows of tasks in order, each in so many ranges at most."""
        ranges = self._ranges(tasks, counts)
        firsts = [0, *accumulate(one.count for one in ranges)]
        shares = [
            _Target(task.bucket.targets, task.output_level)
            for task, ours in zip(tasks, ranges, strict=True)
            for _ in range(ours.count)
        ]
        made = self.workers.exchange(
            partial(_read, plan=self.plan.read, file_io=self.file_io),
            [
                _Part(split, ours, first)
                for task, ours, first in zip(tasks, ranges, firsts, strict=False)
                for split in _splits(task, self.plan)
            ],
            partial(_write, ordering=self.ordering, file_io=self.file_io),
            shares,
            what=self.what,
            undo=lambda share, files: _delete(share.new(), files, self.file_io),
        )
        return [
            _numbered(task, made[first : first + ours.count])
            for task, ours, first in zip(tasks, ranges, firsts, strict=False)
        ]

    def _ranges(self, tasks: Sequence[AppendTask], counts: Sequence[int]) -> list[Ranges]:
        """Read the columns of the order once, and choose ranges by a sample."""
        names = self.ordering.order.names
        read = replace(self.plan.read, columns=tuple(names))
        jobs = []
        for number, (task, count) in enumerate(zip(tasks, counts, strict=True)):
            rows = sum(file.row_count for file in task.files)
            chance = min(1.0, max(_LEAST_SAMPLES, _SAMPLES_PER_RANGE * count) / max(rows, 1))
            jobs += [(number, split, chance) for split in _splits(task, self.plan)]
        samples: list[list[pa.Table]] = [[] for _ in tasks]
        work = partial(_sample, plan=read, file_io=self.file_io)
        for number, sample in self.workers(work, jobs, what=f"{self.what}, a sample"):
            samples[number].append(sample)
        return [
            Ranges.of(self.ordering.order, pa.concat_tables(sample), count)
            for sample, count in zip(samples, counts, strict=True)
        ]

    def undo(self, task: AppendTask, files: Iterable[DataFileMeta]) -> None:
        """Delete the new files of a task."""
        delete_outputs(CompactIncrement(after=tuple(files)), task.bucket, self.file_io)


@dataclass(frozen=True, slots=True)
class _Target:
    """Where the files of a range go; picklable."""

    targets: Callable[[int], FileTarget]
    level: int

    def new(self) -> FileTarget:
        """Return a target with names of its own."""
        return self.targets(self.level)


def _splits(task: AppendTask, plan: AppendPlan) -> Iterator[DataSplit]:
    """Return each file as what is read."""
    whole = split_of(task, plan)
    places = whole.deletion_files or (None,) * len(whole.files)
    for file, place in zip(whole.files, places, strict=True):
        deleted = () if place is None else (place,)
        yield msgspec.structs.replace(whole, files=(file,), deletion_files=deleted)


def _sample(
    job: tuple[int, DataSplit, float], *, plan: ReadPlan, file_io: FileIO
) -> tuple[int, pa.Table]:
    number, split, chance = job
    schema = pa.schema([])
    taken: list[pa.RecordBatch] = []
    for rows in read_split(split, plan, file_io):
        schema = rows.schema
        taken += sampled([rows], chance, np.random.default_rng())
    return number, pa.Table.from_batches(taken, schema=schema)


def _read(part: _Part, *, plan: ReadPlan, file_io: FileIO) -> Divided:
    for rows in read_split(part.split, plan, file_io):
        for number, ours in part.ranges.divided(rows):
            yield part.first + number, ours


def _write(
    target: _Target,
    batches: Iterator[pa.RecordBatch],
    *,
    ordering: RowsInOrder,
    file_io: FileIO,
) -> list[DataFileMeta]:
    memory_bytes = ordering.memory_bytes // 2
    rng = np.random.default_rng()
    ordered = sorted_stream(batches, ordering.order, memory_bytes=memory_bytes, rng=rng)
    return write_files(ordered, target.new(), file_io, 0)


def _delete(target: FileTarget, files: Iterable[DataFileMeta], file_io: FileIO) -> None:
    for file in files:
        for path in target.paths_of(file):
            file_io.delete(path)


def _numbered(task: AppendTask, made: Sequence[list[DataFileMeta] | None]) -> list[DataFileMeta]:
    """Give the rows of all ranges their numbers, one after the other."""
    number = task.files[0].min_sequence_number
    files = []
    for file in (file for of_range in made for file in of_range or ()):
        last = number + file.row_count - 1
        files.append(
            msgspec.structs.replace(file, min_sequence_number=number, max_sequence_number=last)
        )
        number = last + 1
    return files
