"""Histories of writes to one bucket: those of a table, and invented ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.analysis.buckets.bucket_lives import Commit, ShownBucket
from paimonlab.arrow_values import arrow_scalar, numpy_values
from paimonlab.compact.simulator import Flush
from paimonlab.scan.key_ranges import key_ranks
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.manifests.manifest import FileKind, is_kind
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.snapshot import CommitKind

Pattern = Literal["uniform", "rising", "hot"]
"""Where the keys of a flush lie: anywhere, after those of earlier flushes, or mostly in a tenth."""

_SEED = 7


@dataclass(frozen=True, slots=True)
class FlushHistory:
    """What was flushed to a bucket, or might have been."""

    table: str
    """"" for an invented history."""
    words: str
    """Where it comes from."""
    flushes: tuple[Flush, ...]
    """Oldest first."""
    options: Options
    """Of the table; none for an invented history."""

    def repeatable(self) -> FlushHistory:
        """Leave out what differs from run to run: times and bytes of files."""
        flushes = (
            replace(flush, at_millis=60_000 * number, size_bytes=100 * flush.row_count)
            for number, flush in enumerate(self.flushes)
        )
        return replace(self, flushes=tuple(flushes))


def replayed(key: ShownBucket, commits: Sequence[Commit], schema: TableSchema) -> list[Flush]:
    """Return what commits flushed to level 0 of a bucket, oldest first.

    Keys of one whole-number column are used as they are; of others the ranks among all
    bounds, with room for all rows between two ranks.
    """
    written = [
        (commit.snapshot.time_millis, key.entries(commit.entries))
        for commit in commits
        if commit.snapshot.commit_kind is not CommitKind.COMPACT
    ]
    parts = [(millis, entries.filter(_is_flush(entries))) for millis, entries in written]
    times = [millis for millis, entries in parts for _ in range(entries.num_rows)]
    files = pa.concat_tables([entries for _, entries in parts]) if parts else None
    if files is None or not files.num_rows:
        return []
    low, high = _key_numbers(files, schema)
    order = np.lexsort((numpy_values(files["min_sequence_number"]), np.array(times)))
    sizes, rows = files["file_size_bytes"].to_pylist(), files["row_count"].to_pylist()
    return [
        Flush(times[row], max(sizes[row], 1), max(rows[row], 1), low[row], high[row])
        for row in order.tolist()
    ]


def _is_flush(entries: pa.Table) -> pa.ChunkedArray:
    is_added = is_kind(entries, FileKind.ADD)
    return pc.and_(is_added, pc.equal(entries["level"], arrow_scalar(0)))


def _key_numbers(files: pa.Table, schema: TableSchema) -> tuple[list[int], list[int]]:
    types = [schema.field(name).type for name in schema.trimmed_primary_keys]
    if len(types) == 1:
        ends = [decode(files[name].combine_chunks(), types)[0] for name in ("min_key", "max_key")]
        if pa.types.is_integer(ends[0].type):
            smallest, greatest = (end.to_pylist() for end in ends)
            return smallest, greatest
    low, high = key_ranks(files["min_key"], files["max_key"], types)
    room = max(files["row_count"].to_pylist())
    return (low * room).tolist(), (high * room + room - 1).tolist()


def invented(
    *,
    flushes: int,
    flush_bytes: int,
    rows: int,
    keys: int,
    pattern: Pattern,
    every_seconds: int,
) -> list[Flush]:
    """Make up a history; equal arguments give equal histories.

    Parameters
    ----------
    flushes
        How many, at least 1.
    flush_bytes, rows
        Of each flush, at least 1.
    keys
        How many there are, at least ``rows``.
    pattern
        Where the keys of a flush lie.
    every_seconds
        Time between two flushes.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    numbers = {"flushes": flushes, "flush_bytes": flush_bytes, "rows": rows}
    for name, value in numbers.items():
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    if keys < rows:
        raise ValueError(f"keys must be at least rows ({rows}), got {keys}")
    if pattern not in get_args(Pattern):
        raise ValueError(f"pattern must be one of {', '.join(get_args(Pattern))}, got {pattern!r}")
    random = np.random.default_rng(_SEED)
    history = []
    for number in range(flushes):
        first, last = 0, keys - 1
        if pattern == "rising":
            first = (keys - rows) * number // max(flushes - 1, 1)
            last = first + rows - 1
        elif pattern == "hot" and random.random() < 0.8:
            last = max(keys // 10, rows) - 1
        history.append(Flush(1000 * every_seconds * number, flush_bytes, rows, first, last))
    return history
