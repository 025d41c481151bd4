"""What is known of the rows of a file when it is written, and how metadata describes it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.datafile.layout import FileColumns
from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.manifests.data_file import EMPTY_ROW, DataFileMeta, FileSource, SimpleStats
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.statistics.columns import StatsCollector, finish_each, stats_of_slices
from paimonlab.spec.statistics.mode import StatsMode, StatsOptions
from paimonlab.spec.types.system_fields import SEQUENCE_NUMBER, VALUE_KIND

_KEY_MODE = StatsMode.parse("truncate(128)")  # whatever the table's options say


@lru_cache(maxsize=64)
def _key_modes(count: int) -> tuple[StatsMode, ...]:
    return (_KEY_MODE,) * count


class RowFacts:
    """What metadata says of the rows of a file.

    Parameters
    ----------
    columns
        The columns of the file.
    stats
        What is kept of the values as statistics.
    only_counts
        Whether rows are only counted, and what else is known of them is found out by
        `described_slices`.
    """

    def __init__(
        self, columns: FileColumns, stats: StatsOptions, *, only_counts: bool = False
    ) -> None:
        self.only_counts = only_counts
        self.columns = columns
        self.stats = stats
        if not only_counts:
            self.values = StatsCollector(columns.values, stats.modes)
            self.keys = StatsCollector(columns.keys, _key_modes(len(columns.keys)))
        self.count = 0
        self.deleted = 0
        self.min_sequence_number = 2**63 - 1
        self.max_sequence_number = -(2**63)
        self.ends: list[list[pa.Array | pa.ChunkedArray]] = []
        """The first and the last key, a column each."""
        self.text_bounds: Mapping[str, tuple[bytes, bytes]] = {}
        """The smallest and the largest text or bytes of columns of which they are known."""

    def add(self, rows: pa.RecordBatch | pa.Table, first_sequence_number: int) -> None:
        """Take rows into account.

        Parameters
        ----------
        rows
            The physical columns of the file.
        first_sequence_number
            That of the first row, in append tables.
        """
        if self.only_counts:
            self.counted(rows.num_rows, first_sequence_number)
            return
        self.values.add(rows)
        if not self.columns.keys:
            self._add_numbers(first_sequence_number, first_sequence_number + rows.num_rows - 1)
        else:
            self.keys.add(rows)
            sequence = _numbers(rows, SEQUENCE_NUMBER)
            self._add_numbers(int(sequence.min()), int(sequence.max()))
            self.deleted += int(np.count_nonzero(_is_retract(rows)))
            keys = [rows.column(key.name) for key in self.columns.keys]
            if self.count == 0:
                self.ends.append([key.slice(0, 1) for key in keys])
            self.ends[1:] = [[key.slice(rows.num_rows - 1, 1) for key in keys]]
        self.count += rows.num_rows

    def counted(self, row_count: int, first_sequence_number: int) -> None:
        """Take rows into account that are only counted."""
        assert self.only_counts, "what else is known of the rows is needed"
        if not self.columns.keys:
            self._add_numbers(first_sequence_number, first_sequence_number + row_count - 1)
        self.count += row_count

    def _add_numbers(self, low: int, high: int) -> None:
        self.min_sequence_number = min(self.min_sequence_number, low)
        self.max_sequence_number = max(self.max_sequence_number, high)

    def reduce(self) -> None:
        """Let go of the rows."""
        self.values.reduce()
        self.keys.reduce()
        self.ends = [[_copied(key) for key in keys] for keys in self.ends]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A file that is complete, and what has been found out about it."""

    file_name: str
    external_path: str | None
    """URI of the file if it is not in the bucket's folder."""
    file_size_bytes: int
    schema_id: int
    level: int
    source: FileSource
    facts: RowFacts
    embedded_index: bytes | None = None
    extra_files: tuple[str, ...] = field(default=())


def described(files: Sequence[WrittenFile]) -> list[DataFileMeta]:
    """Describe files, in their order.

    What neighbours with the same columns have in common is done once for all of them.
    """
    described_files = list[DataFileMeta]()
    now = local_time_millis()
    for _, alike in itertools.groupby(
        files, key=lambda file: (file.facts.columns, file.facts.stats.modes, file.facts.stats.dense)
    ):
        described_files += _described(list(alike), now)
    return described_files


def _described(files: Sequence[WrittenFile], now_millis: int) -> list[DataFileMeta]:
    facts = [file.facts for file in files]
    values = finish_each([fact.values for fact in facts], dense=facts[0].stats.dense)
    keys = finish_each([fact.keys for fact in facts], dense=False)
    return _metas(files, values, keys, _encoded_ends(facts), now_millis)


def described_slices(files: Sequence[WrittenFile], rows: pa.Table) -> list[DataFileMeta]:
    """Describe files that have the rows of a table, in its order; each column in one pass.

    Parameters
    ----------
    files
        Of the same columns, in the order of their rows, which were only counted.
    rows
        The physical columns.
    """
    if not files:
        return []
    first = files[0].facts
    columns, stats = first.columns, first.stats
    lengths = np.array([file.facts.count for file in files])
    assert lengths.sum() == rows.num_rows, "the files have the rows"
    known = [file.facts.text_bounds for file in files]
    values = stats_of_slices(
        rows, lengths, columns.values, stats.modes, dense=stats.dense, text_bounds=known
    )
    key_modes = _key_modes(len(columns.keys))
    keys = stats_of_slices(rows, lengths, columns.keys, key_modes, dense=False, text_bounds=known)
    ends = [(EMPTY_ROW, EMPTY_ROW)] * len(files)
    if columns.keys:
        starts = np.cumsum(lengths) - lengths
        sequence = _numbers(rows, SEQUENCE_NUMBER)
        lows = np.minimum.reduceat(sequence, starts).tolist()
        highs = np.maximum.reduceat(sequence, starts).tolist()
        deleted = np.add.reduceat(_is_retract(rows), starts, dtype=np.int64).tolist()
        for file, low, high, count in zip(files, lows, highs, deleted, strict=True):
            facts = file.facts
            facts.min_sequence_number, facts.max_sequence_number = low, high
            facts.deleted = count
        places = arrow_array(np.stack([starts, starts + lengths - 1], axis=1).ravel())
        picked = [_one(rows.column(key.name)).take(places) for key in columns.keys]
        encoded = iter(encode(picked, [key.type for key in columns.keys]).to_pylist())
        ends = [*zip(encoded, encoded, strict=True)]
    return _metas(files, values, keys, ends, local_time_millis())


_Stats = tuple[SimpleStats, tuple[str, ...] | None]


def _metas(
    files: Sequence[WrittenFile],
    values: Sequence[_Stats],
    keys: Sequence[_Stats],
    ends: Sequence[tuple[bytes, bytes]],
    now_millis: int,
) -> list[DataFileMeta]:
    return [
        DataFileMeta(
            file_name=file.file_name,
            file_size_bytes=file.file_size_bytes,
            row_count=file.facts.count,
            min_key=min_key,
            max_key=max_key,
            key_stats=key_stats,
            value_stats=value_stats,
            value_stats_cols=value_stats_cols,
            min_sequence_number=file.facts.min_sequence_number,
            max_sequence_number=file.facts.max_sequence_number,
            schema_id=file.schema_id,
            level=file.level,
            creation_time_millis=now_millis,
            delete_row_count=file.facts.deleted,
            file_source=int(file.source),
            external_path=file.external_path,
            embedded_file_index=file.embedded_index,
            extra_files=file.extra_files,
        )
        for file, (value_stats, value_stats_cols), (key_stats, _), (min_key, max_key) in zip(
            files, values, keys, ends, strict=True
        )
    ]


def _encoded_ends(facts: Sequence[RowFacts]) -> list[tuple[bytes, bytes]]:
    """Serialise the first and the last key of files."""
    fields = facts[0].columns.keys
    if not fields:
        return [(EMPTY_ROW, EMPTY_ROW)] * len(facts)
    columns = [
        pa.concat_arrays([_one(end[number]) for fact in facts for end in fact.ends])
        for number in range(len(fields))
    ]
    rows = iter(encode(columns, [key.type for key in fields]).to_pylist())
    return [(next(rows), next(rows)) if fact.ends else (EMPTY_ROW, EMPTY_ROW) for fact in facts]


def _one(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _copied(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return _one(column).take(arrow_array(np.arange(len(column))))


def _is_retract(rows: pa.RecordBatch | pa.Table) -> npt.NDArray[np.bool_]:
    kinds = _numbers(rows, VALUE_KIND)
    is_retract: npt.NDArray[np.bool_] = kinds == RowKind.UPDATE_BEFORE
    return is_retract | (kinds == RowKind.DELETE)


def _numbers(rows: pa.RecordBatch | pa.Table, column: str) -> npt.NDArray[np.int64]:
    numbers: npt.NDArray[np.int64] = numpy_values(rows.column(column))
    return numbers


def local_time_millis() -> int:
    """Local wall clock in milliseconds, counted as if it were UTC, as manifests have it."""
    now = time.time()
    offset = datetime.fromtimestamp(now).astimezone().utcoffset()
    assert offset is not None, "an aware datetime has an offset"
    return int((now + offset.total_seconds()) * 1000)
