"""Row groups of one file, encoded by several threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paimonlab.formats.parquet.joined_groups import JoinedGroups
from paimonlab.formats.parquet.whole_numbers import WholeNumbers

MOST_BYTES = 32 << 20
"""Arrow memory of the largest row group that waits, or is encoded, beside others."""
_COLUMN_BYTES = 4096
"""What is stored of a column beside its values, about."""
_Part = tuple[memoryview, pa.Buffer | None]
"""A row group that is encoded, and the memory it is in, to be used again; None: that of its own."""


class ParallelGroups:
    """Writes row groups to a file in their order; at most one per thread is being encoded.

    It keeps the memory that they are encoded to: new pages of the system take a tenth of the time.

    Parameters
    ----------
    file
        Where to write; it stays open.
    start
        Begins a Parquet file of one row group in memory.
    threads
        How many encode.
    whole
        What makes integers of decimals; None: there are none to be made.
    """

    def __init__(
        self,
        file: pa.NativeFile,
        start: Callable[[pa.NativeFile], pq.ParquetWriter],
        threads: int,
        whole: WholeNumbers | None = None,
    ) -> None:
        self._threads = threads
        self._start = start
        self._whole = whole
        self._joined = JoinedGroups(file)
        self._pool = ThreadPoolExecutor(threads)
        self._parts: deque[tuple[Future[_Part], int]] = deque()
        self._free: deque[pa.Buffer] = deque()
        self._is_larger = False
        """Whether a row group was larger than its values, as those of a few bits are."""

    @property
    def unwritten_bytes(self) -> int:
        """Arrow memory of the row groups that are not in the file yet."""
        return sum(size for _, size in self._parts)

    def write(self, table: pa.Table) -> None:
        """Append a row group."""
        size = table.nbytes
        if size > MOST_BYTES:
            self.settle()
            self._joined.add(self._grown(table))
            return
        # Only as many as are to be written, whichever is done: sizes must not depend on timing.
        while len(self._parts) >= self._threads:
            self._add_first()
        self._parts.append((self._pool.submit(self._encoded, table, size), size))

    def settle(self) -> None:
        """Wait until all row groups are in the file."""
        while self._parts:
            self._add_first()

    def close(self) -> None:
        """Write the end of the file."""
        self.settle()
        self._joined.close(None if self._whole is None else self._whole.footer)
        self._free.clear()
        self._pool.shutdown()

    def abort(self) -> None:
        """Stop; nothing more is written."""
        self._parts.clear()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _add_first(self) -> None:
        part, _ = self._parts[0]
        data, memory = part.result()
        self._joined.add(data)
        if memory is not None:
            self._free.append(memory)
        self._parts.popleft()

    def _encoded(self, rows: pa.Table, size: int) -> _Part:
        table = rows if self._whole is None else self._whole.of(rows)
        if self._is_larger:
            return self._grown(rows), None
        try:
            memory = self._free.pop()
        except IndexError:
            memory = pa.py_buffer(b"")
        room = size + size // 4 + _COLUMN_BYTES * table.num_columns
        if memory.size < room:
            memory = pa.py_buffer(np.empty(room, np.uint8))
        file = pa.FixedSizeBufferWriter(memory)
        writer = self._start(file)
        try:
            writer.write_table(table, row_group_size=table.num_rows)
            writer.close()
        except OSError:  # it is larger than it seemed, for values that a dictionary has once
            writer.is_open = False  # or it would be closed when it is collected, and fail again
            self._is_larger = True
            return self._grown(rows), None
        except BaseException:
            writer.is_open = False
            raise
        return memoryview(memory)[: file.tell()], memory

    def _grown(self, rows: pa.Table) -> memoryview:
        table = rows if self._whole is None else self._whole.of(rows)
        file = pa.BufferOutputStream()
        with self._start(file) as writer:
            writer.write_table(table, row_group_size=table.num_rows)
        return memoryview(file.getvalue())
