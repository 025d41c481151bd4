"""Where keys are in data files, found block by block; the blocks used last stay in memory.

A block is what the pages of a file tell apart: some thousand rows of which the smallest and
the greatest key are known. Files never change, so a block that was decoded once is good for
ever; memory is bounded, and a table whose keys do not fit is read block by block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.datafile.layout import key_field
from paimonlab.datafile.reader import DataFile
from paimonlab.read.merging import open_data_file
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.split import DataSplit
from paimonlab.spec.data_file import DataFileMeta
from paimonlab.spec.fields import key_column
from paimonlab.spec.predicate import (
    ColumnStats,
    Predicate,
    columns,
    evaluate,
    may_match_stats,
    rename_columns,
)
from paimonlab.storage import FileIO
from paimonlab.storage.recent import Recent

_BLOCK_OVERHEAD_BYTES = 500
_FileKey = tuple[str, str, str, int, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class KeyHits:
    """Rows of one file that a lookup found."""

    file: DataFileMeta
    positions: npt.NDArray[np.int64]
    """(h,) in the file, ascending."""
    keys: pa.Table
    """Their key copies, h rows."""


@dataclass(frozen=True, slots=True)
class _Blocks:
    """The blocks of one file."""

    starts: npt.NDArray[np.int64]
    """(b,) first row of each."""
    ends: npt.NDArray[np.int64]
    stats: dict[str, ColumnStats]
    """By key copy, one value a block."""


class KeyBlocks:
    """Finds keys in files. Thread-safe."""

    def __init__(self, limit_bytes: int) -> None:
        self._files: Recent[_FileKey, _Blocks] = Recent(limit_bytes // 8)
        self._rows: Recent[tuple[_FileKey, int], pa.RecordBatch] = Recent(limit_bytes)

    def find(
        self,
        split: DataSplit,
        file: DataFileMeta,
        predicate: Predicate,
        plan: ReadPlan,
        file_io: FileIO,
    ) -> KeyHits | None:
        """Find the rows of a file whose keys match; None: there is none.

        Parameters
        ----------
        split, file
            A file of a primary-key table and the split it is in.
        predicate
            Over trimmed primary key columns.
        plan, file_io
            Of the read.
        """
        names = {name: key_column(name) for name in columns(predicate)}
        wanted = rename_columns(predicate, names)
        with _Lazy(split, file, plan, file_io) as lazy:
            blocks = self._blocks(lazy)
            hits = [
                (int(blocks.starts[block]) + within, rows)
                for block in np.flatnonzero(
                    may_match_stats(wanted, blocks.stats, count=len(blocks.starts))
                ).tolist()
                for within, rows in _matching(wanted, self._block(lazy, blocks, block))
            ]
        if not hits:
            return None
        rows = pa.Table.from_batches([rows for _, rows in hits])
        return KeyHits(file, np.concatenate([positions for positions, _ in hits]), rows)

    def _blocks(self, lazy: _Lazy) -> _Blocks:
        blocks = self._files.get(lazy.key)
        if blocks is None:
            blocks = _Blocks(*lazy.data.blocks(lazy.fields))
            self._files.put(lazy.key, blocks, _BLOCK_OVERHEAD_BYTES * (len(blocks.starts) + 1))
        return blocks

    def _block(self, lazy: _Lazy, blocks: _Blocks, number: int) -> pa.RecordBatch:
        """Return the keys of a block."""
        rows = self._rows.get((lazy.key, number))
        if rows is None:
            positions = np.arange(blocks.starts[number], blocks.ends[number])
            rows = lazy.data.rows_at(lazy.fields, positions)
            self._rows.put((lazy.key, number), rows, rows.nbytes + _BLOCK_OVERHEAD_BYTES)
        return rows

    def clear(self) -> None:
        """Forget everything."""
        self._files.clear()
        self._rows.clear()


class _Lazy:
    """A data file that is opened when it is needed."""

    def __init__(
        self, split: DataSplit, file: DataFileMeta, plan: ReadPlan, file_io: FileIO
    ) -> None:
        keys = plan.schema.trimmed_primary_keys
        self.fields = [key_field(plan.schema.field(name)) for name in keys]
        self.key = (
            plan.table_path,
            split.bucket_path,
            file.file_name,
            file.file_size_bytes,
            keys,
        )
        self._open: Callable[[], DataFile] = partial(open_data_file, split, file, plan, file_io)
        self._data: DataFile | None = None

    @property
    def data(self) -> DataFile:
        """The open file."""
        if self._data is None:
            self._data = self._open()
        return self._data

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._data is not None:
            self._data.__exit__(kind, error, traceback)


def _matching(
    predicate: Predicate, rows: pa.RecordBatch
) -> Iterator[tuple[npt.NDArray[np.int64], pa.RecordBatch]]:
    """Yield the positions of rows that match and these rows, if there are any."""
    is_true = evaluate(predicate, rows).fill_null(False)  # noqa: FBT003
    within = np.flatnonzero(is_true.to_numpy(zero_copy_only=False))
    if within.size:
        yield within, rows.take(pa.array(within))


shared_blocks = KeyBlocks(limit_bytes=64 << 20)
"""The blocks of this process: eight million keys of eight bytes."""
