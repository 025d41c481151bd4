"""Merging sorted runs piece by piece, so that memory does not grow with the runs.

Every run is a stream of key batches. As much as all runs can tell is decided, then more is
read: rows up to the smallest of the runs' last buffered keys cannot meet a key that is still
unread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

from paimonlab.merge.deduplicate import DEDUPLICATE, winners
from paimonlab.merge.engines import merge
from paimonlab.merge.groups import Members
from paimonlab.merge.key_rows import Merged
from paimonlab.merge.levels import without_deeper_levels
from paimonlab.merge.order import Keys, as_numpy, sort_keys
from paimonlab.spec.merge_engine import MergeEngine
from paimonlab.spec.types.system_fields import SEQUENCE_NUMBER, VALUE_KIND, key_column


class KeyColumns(Struct, frozen=True, kw_only=True):
    """How to read batches of keys."""

    keys: tuple[str, ...]
    """Columns of the trimmed primary key, at least one."""
    sequence_fields: tuple[str, ...] = ()
    """Columns that decide before the sequence number."""
    is_descending: bool = False
    """Whether the smallest sequence field wins."""
    is_position_enough: bool = False
    """Whether a later run is newer in all its rows, so that nothing else needs to be read."""
    has_deletes: bool = True
    """Whether rows may be of another kind than ``+I`` and ``+U``."""
    engine: MergeEngine = DEDUPLICATE
    """What becomes of several rows of a key."""
    values: tuple[str, ...] = ()
    """Columns that are merged, for engines that make new rows."""
    required: frozenset[str] = frozenset()
    """Those of them that are never null."""
    levels: tuple[int, ...] | None = None
    """Level of each run, where rows above level 0 were merged with those of deeper levels; None:
    all rows of a key are merged."""

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that batches must have."""
        sequence = () if self.is_position_enough else (*self.sequence_fields, SEQUENCE_NUMBER)
        kind = (VALUE_KIND,) if self.has_deletes else ()
        values = (name for name in self.needed_values if key_column(name) not in self.keys)
        return tuple(dict.fromkeys((*self.keys, *sequence, *kind, *values)))

    @property
    def needed_values(self) -> tuple[str, ...]:
        """What merging `values` looks at."""
        return self.engine.needs(self.values) if self.values else ()

    def with_keys(self, rows: pa.Table) -> pa.Table:
        """Give key columns their names in the table, if they are among what is merged."""
        for name in self.needed_values:
            if key_column(name) in self.keys:
                rows = rows.append_column(name, rows[key_column(name)])
        return rows


class KeyBatch(NamedTuple):
    """Some rows of a run."""

    rows: pa.RecordBatch
    """n >= 0 rows with the columns of `KeyColumns.names`."""
    is_last: bool
    """Whether the run ends here."""


def winners_of_runs(
    runs: Sequence[Iterator[KeyBatch]], columns: KeyColumns, *, piece_rows: int
) -> Iterator[list[npt.NDArray[np.bool_]]]:
    """Decide which rows of sorted runs a reader sees, in bounded memory.

    Parameters
    ----------
    runs
        r >= 1 streams of batches, oldest run first; each sorted by key, every key at most
        once in a run.
    columns
        What the columns mean.
    piece_rows
        How many rows to hold at once, over all runs; whole batches are held, which may be more.

    Yields
    ------
    list of r (k,) bool
        For every run the mask of its next k >= 0 rows. The masks of a run, one after
        the other, cover the run.
    """
    for piece in _pieces(runs, columns, piece_rows):
        mask = winners(
            piece.keys,
            sequences=_sequences(piece.rows, columns),
            kinds=_kinds(piece.rows, columns),
            engine=columns.engine,
            run_lengths=piece.counts,
        )
        yield np.split(mask, np.cumsum(piece.counts)[:-1])


def merged_runs(
    runs: Sequence[Iterator[KeyBatch]], columns: KeyColumns, *, piece_rows: int
) -> Iterator[Merged]:
    """Merge sorted runs into one row per key, in bounded memory.

    Parameters
    ----------
    runs, columns, piece_rows
        As in `winners_of_runs`; the batches also have ``columns.values``.

    Yields
    ------
    Merged
        The next keys, with the columns ``columns.values``; deletes are among them.
    """
    for piece in ordered_runs(runs, columns, piece_rows=piece_rows):
        members = piece.members
        if columns.levels is not None:
            levels = np.repeat(np.array(columns.levels, np.int8), piece.counts)
            members = without_deeper_levels(members, levels)
        yield merge(
            columns.with_keys(piece.rows),
            columns.values,
            members,
            kinds=_kinds(piece.rows, columns),
            engine=columns.engine,
            required=columns.required,
        )


class OrderedRows(NamedTuple):
    """All rows of some keys, as sorted runs have them."""

    rows: pa.Table
    """n rows; the runs one after the other, oldest first."""
    members: Members
    """The rows by key, in the order of the keys, oldest row first."""
    counts: list[int]
    """How many rows are of each run."""


def ordered_runs(
    runs: Sequence[Iterator[KeyBatch]], columns: KeyColumns, *, piece_rows: int
) -> Iterator[OrderedRows]:
    """Bring the rows of sorted runs together by key, in bounded memory.

    Parameters
    ----------
    runs, columns, piece_rows
        As in `winners_of_runs`; the batches may have more columns.

    Yields
    ------
    OrderedRows
        The next keys with all their rows.
    """
    for piece in _pieces(runs, columns, piece_rows):
        members = Members.of(piece.keys, _sequences(piece.rows, columns))
        yield OrderedRows(piece.rows, members, piece.counts)


class _Piece(NamedTuple):
    """Rows of all runs that no unread row can contest."""

    keys: Keys
    """(n,) codes; the runs one after the other."""
    rows: pa.Table
    """n rows in that order."""
    counts: list[int]
    """How many rows are of each run."""


def _pieces(
    runs: Sequence[Iterator[KeyBatch]], columns: KeyColumns, piece_rows: int
) -> Iterator[_Piece]:
    streams = [_Stream(run) for run in runs]
    while True:
        for stream in streams:
            stream.fill(max(1, piece_rows // len(streams)))
        if not any(stream.row_count for stream in streams):
            return
        yield _next_piece(streams, columns)


class _Stream:
    """A run with the rows read from it and not decided yet."""

    __slots__ = ("_batches", "buffer", "is_exhausted")

    def __init__(self, batches: Iterator[KeyBatch]) -> None:
        self._batches = batches
        self.buffer: list[pa.RecordBatch] = []
        self.is_exhausted = False

    @property
    def row_count(self) -> int:
        return sum(batch.num_rows for batch in self.buffer)

    def fill(self, row_count: int) -> None:
        """Read until ``row_count`` rows are there or the run ends."""
        while not self.is_exhausted and self.row_count < row_count:
            rows, self.is_exhausted = next(self._batches)
            if rows.num_rows:
                self.buffer.append(rows)

    def take(self, count: int) -> list[pa.RecordBatch]:
        """Remove the first ``count`` rows and return them."""
        taken, kept = [], []
        for batch in self.buffer:
            if count > 0:
                taken.append(batch.slice(0, count))
            if count < batch.num_rows:
                kept.append(batch.slice(max(0, count)))
            count -= batch.num_rows
        self.buffer = kept
        return taken


def _next_piece(streams: Sequence[_Stream], columns: KeyColumns) -> _Piece:
    """Take all rows up to the smallest last key of the runs that go on."""
    buffered = pa.Table.from_batches([batch for stream in streams for batch in stream.buffer])
    ends = np.cumsum([stream.row_count for stream in streams])
    codes = sort_keys([buffered[name] for name in columns.keys])
    keys = np.split(codes, ends[:-1])
    counts = _decidable(streams, keys)
    rows = pa.Table.from_batches(
        [
            batch
            for stream, count in zip(streams, counts, strict=True)
            for batch in stream.take(count)
        ],
        buffered.schema,
    )
    taken = [run[:count] for run, count in zip(keys, counts, strict=True)]
    return _Piece(codes if rows.num_rows == len(codes) else np.concatenate(taken), rows, counts)


def _decidable(streams: Sequence[_Stream], keys: Sequence[Keys]) -> list[int]:
    """Count the rows at the head of each buffer that no unread row can contest."""
    last = [run[-1] for stream, run in zip(streams, keys, strict=True) if not stream.is_exhausted]
    if not last:
        return [len(run) for run in keys]
    cut = min(last)
    return [int(np.searchsorted(run, cut, side="right")) for run in keys]


def _sequences(rows: pa.Table, columns: KeyColumns) -> list[Keys]:
    if columns.is_position_enough:
        return []
    sequences: list[Keys] = [as_numpy(rows[SEQUENCE_NUMBER])]
    if columns.sequence_fields:
        fields = [rows[name] for name in columns.sequence_fields]
        sequences.insert(0, sort_keys(fields, is_descending=columns.is_descending))
    return sequences


def _kinds(rows: pa.Table, columns: KeyColumns) -> npt.NDArray[np.int8] | None:
    return as_numpy(rows[VALUE_KIND]) if columns.has_deletes else None
