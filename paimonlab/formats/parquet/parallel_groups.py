"""Row groups of one file, encoded by several threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq

from paimonlab.formats.parquet.joined_groups import JoinedGroups

MOST_BYTES = 32 << 20
"""Arrow memory of the largest row group that waits, or is encoded, beside others."""


class ParallelGroups:
    """Writes row groups to a file in their order; at most one per thread is being encoded.

    Parameters
    ----------
    file
        Where to write; it stays open.
    start
        Begins a Parquet file of one row group in memory.
    threads
        How many encode.
    """

    def __init__(
        self,
        file: pa.NativeFile,
        start: Callable[[pa.NativeFile], pq.ParquetWriter],
        threads: int,
    ) -> None:
        self._threads = threads
        self._start = start
        self._joined = JoinedGroups(file)
        self._pool = ThreadPoolExecutor(threads)
        self._parts: deque[tuple[Future[memoryview], int]] = deque()

    @property
    def unwritten_bytes(self) -> int:
        """Arrow memory of the row groups that are not in the file yet."""
        return sum(size for _, size in self._parts)

    def write(self, table: pa.Table) -> None:
        """Append a row group."""
        size = table.nbytes
        if size > MOST_BYTES:
            self.settle()
            self._joined.add(self._encoded(table))
            return
        # Only as many as are to be written, whichever is done: sizes must not depend on timing.
        while len(self._parts) >= self._threads:
            self._add_first()
        self._parts.append((self._pool.submit(self._encoded, table), size))

    def settle(self) -> None:
        """Wait until all row groups are in the file."""
        while self._parts:
            self._add_first()

    def close(self) -> None:
        """Write the end of the file."""
        self.settle()
        self._joined.close()
        self._pool.shutdown()

    def abort(self) -> None:
        """Stop; nothing more is written."""
        self._parts.clear()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _add_first(self) -> None:
        part, _ = self._parts[0]
        self._joined.add(part.result())
        self._parts.popleft()

    def _encoded(self, table: pa.Table) -> memoryview:
        file = pa.BufferOutputStream()
        with self._start(file) as writer:
            writer.write_table(table, row_group_size=table.num_rows)
        return memoryview(file.getvalue())
