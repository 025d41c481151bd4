"""What a history of writes costs under given options: compactions without files.

A bucket is replayed as metadata only: every flush is a file of level 0, picking and the layout
of the work are those of a real bucket, and what a rewrite yields is estimated from sizes, row
counts and key ranges.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

import msgspec
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.compact.levels import LevelSortedRun, level_count, level_runs
from paimonlab.compact.strategy import PickMemory, StrategyOptions, next_unit
from paimonlab.compact.tasks import Rewrite, Step, TaskOptions, drops_deletes, steps
from paimonlab.compact.units import CompactUnit, PickReason
from paimonlab.compact.universal import pick_full
from paimonlab.spec.binary_row.rows import decode, encode
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.types.text import parse_type

KEY_TYPES = (parse_type("BIGINT NOT NULL"),)
"""Keys of a simulated bucket."""
_KEYS_KEPT = 1 << 14


@dataclass(frozen=True, slots=True)
class Flush:
    """One write buffer that became a file: distinct keys, spread evenly over a range."""

    at_millis: int
    """Milliseconds since the epoch, not before the flush before it."""
    size_bytes: int
    row_count: int
    """At least 1, at most the width of the range."""
    min_key: int
    max_key: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatorOptions:
    """All options that steer the compaction of a bucket."""

    strategy: StrategyOptions = field(default_factory=StrategyOptions)
    task: TaskOptions = field(default_factory=TaskOptions)

    @classmethod
    def of(cls, options: Options) -> SimulatorOptions:
        """Read them from the options of a table."""
        return cls(strategy=StrategyOptions.of(options), task=options.slice(TaskOptions))


@dataclass(frozen=True, slots=True)
class Compaction:
    """One compaction of a replay."""

    at_millis: int
    reason: PickReason
    output_level: int
    run_count: int
    """Runs of the bucket before it."""
    steps: tuple[Step, ...]
    read_bytes: int
    """Bytes of the files that were rewritten."""
    written_bytes: int
    upgraded_bytes: int
    """Bytes of the files that only were given another level."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The bucket after a flush and the compaction that it led to."""

    at_millis: int
    runs: tuple[LevelSortedRun, ...]
    compaction: Compaction | None

    @property
    def size_bytes(self) -> int:
        """Bytes of all files."""
        return sum(run.total_size_bytes for run in self.runs)


@dataclass(frozen=True, slots=True)
class Replay:
    """A history of writes and what compaction made of it."""

    moments: tuple[Moment, ...]
    """One for each flush."""
    flushed_bytes: int
    merged_bytes: int
    """Estimated size of the bucket if all of it were merged."""

    @property
    def compactions(self) -> tuple[Compaction, ...]:
        """All compactions, in order."""
        return tuple(moment.compaction for moment in self.moments if moment.compaction is not None)

    @property
    def write_amplification(self) -> float:
        """Bytes written, by flushes and compactions, per byte flushed; nan without flushes."""
        written = sum(compaction.written_bytes for compaction in self.compactions)
        return _ratio(self.flushed_bytes + written, self.flushed_bytes)

    @property
    def read_amplification(self) -> float:
        """Runs that a reader merges, on average over the moments; nan without flushes."""
        return _ratio(sum(len(moment.runs) for moment in self.moments), len(self.moments))

    @property
    def space_amplification(self) -> float:
        """Bytes of the bucket at the end per byte if it were merged; nan without flushes."""
        size = self.moments[-1].size_bytes if self.moments else 0
        return _ratio(size, self.merged_bytes)


def replay(flushes: Iterable[Flush], options: SimulatorOptions) -> Replay:
    """Replay a history of writes: after each flush one pick, done before the next flush.

    Parameters
    ----------
    flushes
        In order of time.
    options
        Those of the bucket.

    Examples
    --------
    >>> hour = [Flush(minute * 60_000, 1_000, 10, 0, 99) for minute in range(60)]
    >>> found = replay(hour, SimulatorOptions())
    >>> len(found.compactions), round(found.write_amplification, 1)
    (20, 2.4)
    """
    bucket = SimulatedBucket(options)
    moments = []
    flushed: list[DataFileMeta] = []
    for flush in flushes:
        flushed.append(bucket.add(flush))
        compaction = bucket.compact(flush.at_millis)
        moments.append(Moment(flush.at_millis, bucket.runs, compaction))
    merged = merged_size(flushed)[0] if flushed else 0
    return Replay(tuple(moments), sum(file.file_size_bytes for file in flushed), merged)


class SimulatedBucket:
    """The files of one bucket, of which there is only metadata."""

    def __init__(self, options: SimulatorOptions, files: Iterable[DataFileMeta] = ()) -> None:
        self._options = options
        self._files = list(files)
        self._memory = PickMemory()
        self._flush_count = 0
        self._written_count = 0
        self._sequence_number = 0

    @property
    def runs(self) -> tuple[LevelSortedRun, ...]:
        """All runs, newest first."""
        return level_runs(self._files)

    def add(self, flush: Flush) -> DataFileMeta:
        """Put a file on level 0 and return it."""
        first = self._sequence_number
        self._sequence_number += flush.row_count
        file = simulated_file(
            f"f{self._flush_count}",
            size_bytes=flush.size_bytes,
            row_count=flush.row_count,
            level=0,
            keys=(flush.min_key, flush.max_key),
            sequence_numbers=(first, self._sequence_number - 1),
        )
        self._flush_count += 1
        self.add_file(file)
        return file

    def add_file(self, file: DataFileMeta) -> None:
        """Add a file on the level that its metadata says."""
        self._files.append(file)

    def compact(self, at_millis: int, *, full: bool = False) -> Compaction | None:
        """Pick once and do what was picked; None if nothing was."""
        runs, levels = self.runs, self._options.strategy.levels
        max_level = level_count(self._files, levels.level_count) - 1
        unit: CompactUnit | None
        if full:
            unit = pick_full(
                runs, max_level=max_level, rewrites_all=self._options.task.rewrites_all
            )
        else:
            unit, self._memory = next_unit(
                runs,
                self._options.strategy,
                self._memory,
                max_level=max_level,
                now=datetime.fromtimestamp(at_millis / 1000, UTC),
            )
        if unit is None:
            return None
        drop = drops_deletes(unit, runs, has_vectors=levels.deletion_vectors)
        todo = steps(unit, KEY_TYPES, self._options.task, max_level=max_level, drop_deletes=drop)
        read, written, upgraded = 0, 0, 0
        for step in todo:
            if isinstance(step, Rewrite):
                read += sum(file.file_size_bytes for file in step.files)
                written += self._rewrite(step)
            else:
                upgraded += step.file.file_size_bytes
                self._replace([step.file], [_on_level(step.file, step.output_level)])
        return Compaction(
            at_millis,
            unit.reason,
            unit.output_level,
            len(runs),
            tuple(todo),
            read,
            written,
            upgraded,
        )

    def _rewrite(self, step: Rewrite) -> int:
        sizes = [merged_size(section) for section in step.sections]
        size, rows = sum(one[0] for one in sizes), sum(one[1] for one in sizes)
        low, high = _key_range(step.files)
        span = high - low + 1
        target = self._options.task.target_file_size_bytes
        parts = max(1, min(-(-size // target), span))
        oldest = min(file.min_sequence_number for file in step.files)
        newest = max(file.max_sequence_number for file in step.files)
        after = []
        for part in range(parts):
            keys = low + span * part // parts, low + span * (part + 1) // parts - 1
            after.append(
                simulated_file(
                    f"c{self._written_count}",
                    size_bytes=size * (part + 1) // parts - size * part // parts,
                    row_count=max(1, rows * (part + 1) // parts - rows * part // parts),
                    level=step.output_level,
                    keys=keys,
                    sequence_numbers=(oldest, newest),
                )
            )
            self._written_count += 1
        self._replace(step.files, after)
        return size

    def _replace(self, before: Sequence[DataFileMeta], after: Sequence[DataFileMeta]) -> None:
        gone = {file.file_name for file in before}
        self._files = [file for file in self._files if file.file_name not in gone]
        self._files.extend(after)


def simulated_file(
    name: str,
    *,
    size_bytes: int,
    row_count: int,
    level: int,
    keys: tuple[int, int],
    sequence_numbers: tuple[int, int],
    delete_row_count: int | None = 0,
) -> DataFileMeta:
    """Make up a file; ``keys`` and ``sequence_numbers`` are its smallest and greatest ones."""
    min_key, max_key = map(_key_bytes, keys)
    return DataFileMeta(
        file_name=name,
        file_size_bytes=size_bytes,
        row_count=row_count,
        min_key=min_key,
        max_key=max_key,
        min_sequence_number=sequence_numbers[0],
        max_sequence_number=sequence_numbers[1],
        schema_id=0,
        level=level,
        delete_row_count=delete_row_count,
    )


def merged_size(files: Sequence[DataFileMeta]) -> tuple[int, int]:
    """Estimate bytes and rows of merged files whose keys are spread evenly over their ranges.

    Notes
    -----
    Of a range of k keys, a file of n rows holds each with probability n / k; what is in none of
    the files is absent from the result. Rows keep their average size.
    """
    low, high = _key_range(files)
    span = high - low + 1
    absent = 1.0
    for file in sorted(files, key=lambda file: file.file_name):
        absent *= 1.0 - min(1.0, file.row_count / span)
    total = sum(file.row_count for file in files)
    most = max(file.row_count for file in files)
    rows = min(total, max(most, int(span * (1.0 - absent))))
    return sum(file.file_size_bytes for file in files) * rows // total, rows


def _key_range(files: Sequence[DataFileMeta]) -> tuple[int, int]:
    low = min(_key_of(file.min_key) for file in files)
    return low, max(_key_of(file.max_key) for file in files)


# Files keep their keys while they are merged again and again.
@lru_cache(maxsize=_KEYS_KEPT)
def _key_bytes(key: int) -> bytes:
    (row,) = encode([arrow_array([key], pa.int64())], KEY_TYPES).to_pylist()
    return bytes(row)


@lru_cache(maxsize=_KEYS_KEPT)
def _key_of(row: bytes) -> int:
    (keys,) = decode(arrow_array([row], pa.large_binary()), KEY_TYPES)
    return int(keys[0].as_py())


def _on_level(file: DataFileMeta, level: int) -> DataFileMeta:
    return msgspec.structs.replace(file, level=level)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
