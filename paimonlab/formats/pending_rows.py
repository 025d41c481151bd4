"""Rows that wait until there are enough of them to be encoded together."""

from __future__ import annotations

from typing import Generic, TypeVar

import pyarrow as pa

_GUESSED_COMPRESSION = 0.5
"""Bytes in the file per byte in memory, until some were written."""

Piece = TypeVar("Piece", pa.RecordBatch, pa.Table)


class PendingRows(Generic[Piece]):
    """Pieces in order of arrival, and how large they will be."""

    def __init__(self) -> None:
        self.rows = 0
        self.memory_bytes = 0
        self._pieces: list[Piece] = []
        self._written_memory_bytes = 0

    def add(self, piece: Piece, size: int | None = None) -> None:
        """Append rows; ``size`` is what they take in memory, if that is known."""
        self._pieces.append(piece)
        self.rows += piece.num_rows
        self.memory_bytes += piece.nbytes if size is None else size

    def take(self) -> list[Piece]:
        """Hand the pieces over to be written."""
        pieces, self._pieces = self._pieces, []
        self._written_memory_bytes += self.memory_bytes
        self.rows = self.memory_bytes = 0
        return pieces

    def clear(self) -> None:
        """Forget the pieces."""
        self._pieces.clear()
        self.rows = self.memory_bytes = 0

    def with_file(self, file_bytes: int, unwritten_bytes: int = 0) -> int:
        """Estimate the size of a file once all rows are in it.

        Parameters
        ----------
        file_bytes
            Its size now.
        unwritten_bytes
            Memory of rows that were handed over and are not in it yet.
        """
        ratio = _GUESSED_COMPRESSION
        if self._written_memory_bytes > unwritten_bytes:
            ratio = file_bytes / (self._written_memory_bytes - unwritten_bytes)
        return file_bytes + int((unwritten_bytes + self.memory_bytes) * ratio)
