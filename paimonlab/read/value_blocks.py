"""A few rows of data files, read block by block; the blocks used last stay in memory.

Decoding a page to find one row takes longer than all the rest of a lookup, and lookups come back
to the same pages. Files never change, so a block that was decoded once is good for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.read.key_blocks import Blocks
from paimonlab.read.lazy_file import FileKey, LazyFile
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage.recent import Recent

_MOST_BLOCK_BYTES = 4 << 20
"""Of a block, by the average row: of larger ones only the rows wanted are read."""

_BlockKey: TypeAlias = tuple[FileKey, tuple[DataField, ...], int]


class ValueBlocks:
    """Reads rows by their positions. Thread-safe."""

    def __init__(self, limit_bytes: int) -> None:
        self._rows: Recent[_BlockKey, pa.RecordBatch] = Recent(limit_bytes)

    def rows_at(
        self,
        file: LazyFile,
        blocks: Blocks,
        fields: Sequence[DataField],
        positions: npt.NDArray[np.int64],
    ) -> list[pa.RecordBatch]:
        """Read a few rows of a file.

        Parameters
        ----------
        file
            Opened only if a block is not in memory.
        blocks
            The blocks of the file.
        fields
            Columns of the result, of the reader's schema.
        positions : (n,) int64
            Rows of the file, ascending, n at least 1.

        Returns
        -------
        list of pyarrow.RecordBatch
            n rows together.
        """
        wanted = tuple(fields)
        numbers = np.searchsorted(blocks.starts, positions, side="right") - 1
        batches = []
        for number in distinct_integers(numbers).tolist():
            chosen = positions[numbers == number]
            key = (file.key, wanted, number)
            rows = self._rows.get(key)
            if rows is None:
                start, end = int(blocks.starts[number]), int(blocks.ends[number])
                if file.data.rows_within(wanted, _MOST_BLOCK_BYTES) < end - start:
                    batches.append(file.data.rows_at(wanted, chosen))
                    continue
                rows = file.data.rows_at(wanted, np.arange(start, end))
                self._rows.put(key, rows, rows.nbytes)
            batches.append(rows.take(arrow_array(chosen - blocks.starts[number])))
        return batches

    @property
    def size_bytes(self) -> int:
        """What is in memory."""
        return self._rows.size_bytes

    def clear(self) -> None:
        """Forget everything."""
        self._rows.clear()


shared_values = ValueBlocks(limit_bytes=64 << 20)
"""The blocks of this process."""
