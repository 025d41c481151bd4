"""Where keys are in data files, found block by block; the blocks used last stay in memory.

A block is the finest division that the pages of a file allow: some thousand rows of which the
smallest and the greatest key are known; a small file is one block. Files never change, so a block
that was decoded once is good for ever; memory is bounded, and a table whose keys do not fit is read
block by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.read.lazy_file import FileKey, LazyFile
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import ColumnStats, Predicate, evaluate, may_match_stats
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage.recent import Recent

_BLOCK_OVERHEAD_BYTES = 500
_ONE_BLOCK_ROWS, _ONE_BLOCK_BYTES = 1 << 13, 1 << 20
"""Rows of a file, and bytes of their keys, that are read at once: where the pages of a small file
are, and what is in them, takes several times as long to find out as its keys."""
_KeysOfFile: TypeAlias = tuple[FileKey, tuple[DataField, ...]]
_KeysOfBlock: TypeAlias = tuple[FileKey, tuple[DataField, ...], int]


class Blocks(Struct, frozen=True):
    """The blocks of one file."""

    starts: npt.NDArray[np.int64]
    """(b,) first row of each."""
    ends: npt.NDArray[np.int64]
    stats: dict[str, ColumnStats]
    """By key copy, one value per block."""


class KeyHits(Struct, frozen=True):
    """Rows of one file that a lookup found."""

    file: LazyFile
    blocks: Blocks
    positions: npt.NDArray[np.int64]
    """(h,) in the file, ascending."""
    keys: pa.Table
    """Their key copies, h rows."""


class KeyBlocks:
    """Finds keys in files. Thread-safe."""

    def __init__(self, limit_bytes: int) -> None:
        self._files: Recent[_KeysOfFile, Blocks] = Recent(limit_bytes // 8)
        self._rows: Recent[_KeysOfBlock, pa.RecordBatch] = Recent(limit_bytes)

    def find(
        self,
        file: LazyFile,
        fields: tuple[DataField, ...],
        wanted: Predicate,
        *,
        most_rows: int | None = None,
    ) -> KeyHits | None:
        """Find the rows of a file whose keys match; None if there are none.

        Parameters
        ----------
        file
            Of a primary-key table; opened only if something of it is not in memory.
        fields
            All key copies (`paimonlab.datafile.layout.key_field`).
        wanted
            Over key copies.
        most_rows
            Stop when more than so many are found, with those; None: find all.
        """
        blocks = self._blocks(file, fields)
        hits = []
        count = 0
        for number in _candidates(blocks, wanted):
            for within, rows in _matching(wanted, self._block(file, fields, blocks, number)):
                hits.append((blocks.starts[number] + within, rows))
                count += len(within)
            if most_rows is not None and count > most_rows:
                break
        if not hits:
            return None
        rows = pa.Table.from_batches([rows for _, rows in hits])
        positions = np.concatenate([positions for positions, _ in hits])
        return KeyHits(file, blocks, positions, rows)

    def candidate_rows(
        self, file: LazyFile, fields: tuple[DataField, ...], wanted: Predicate
    ) -> int:
        """Count the rows of the blocks that `find` would look at."""
        blocks = self._blocks(file, fields)
        return sum(
            int(blocks.ends[number] - blocks.starts[number])
            for number in _candidates(blocks, wanted)
        )

    def _blocks(self, file: LazyFile, fields: tuple[DataField, ...]) -> Blocks:
        """Return the blocks of a file; a small one is one block, and is not opened for that."""
        if _is_one_block(file.meta):
            return Blocks(np.zeros(1, np.int64), np.array([file.meta.row_count], np.int64), {})
        key = (file.key, fields)
        blocks = self._files.get(key)
        if blocks is None:
            blocks = Blocks(*file.data.blocks(fields))
            self._files.put(key, blocks, _BLOCK_OVERHEAD_BYTES * (len(blocks.starts) + 1))
        return blocks

    def _block(
        self, file: LazyFile, fields: tuple[DataField, ...], blocks: Blocks, number: int
    ) -> pa.RecordBatch:
        """Return the keys of a block."""
        key = (file.key, fields, number)
        rows = self._rows.get(key)
        if rows is None:
            positions = np.arange(blocks.starts[number], blocks.ends[number])
            rows = file.data.rows_at(fields, positions)
            self._rows.put(key, rows, rows.nbytes + _BLOCK_OVERHEAD_BYTES)
        return rows

    def clear(self) -> None:
        """Forget everything."""
        self._files.clear()
        self._rows.clear()


def _is_one_block(file: DataFileMeta) -> bool:
    key_bytes = max(len(file.min_key), len(file.max_key))
    return 0 < file.row_count <= min(_ONE_BLOCK_ROWS, _ONE_BLOCK_BYTES // max(key_bytes, 1))


def _candidates(blocks: Blocks, wanted: Predicate) -> list[int]:
    may_match = may_match_stats(wanted, blocks.stats, count=len(blocks.starts))
    numbers: list[int] = np.flatnonzero(may_match).tolist()
    return numbers


def _matching(
    predicate: Predicate, rows: pa.RecordBatch
) -> Iterator[tuple[npt.NDArray[np.int64], pa.RecordBatch]]:
    """Yield the positions of rows that match and these rows, if there are any."""
    is_true = null_filled(evaluate(predicate, rows), False)
    within = np.flatnonzero(numpy_values(is_true, zero_copy_only=False))
    if within.size:
        yield within, rows.take(arrow_array(within))


shared_blocks = KeyBlocks(limit_bytes=64 << 20)
"""The blocks of this process: eight million keys of eight bytes."""
