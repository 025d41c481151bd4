"""Values of rows where they are in what a server sent: in columns, without an object per value.

A binary COPY and a message of pgoutput write a row as its values one after the other. All rows of a
batch are walked at once, a column at a time: where the value of each row begins and how long it is.

Source: PostgreSQL's documentation, "COPY" (binary format), "Logical Replication Message Formats".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import DataError

Places: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

_PADDING = 16
"""Bytes after the last message, so that a place after a value can be looked at."""
_TEXT, _NULL, _UNCHANGED = b"tnu"
_BINARY = ord("b")


@dataclass(frozen=True, slots=True, eq=False)
class Bytes:
    """Messages in one piece of memory."""

    data: npt.NDArray[np.uint8]
    """All of them, and some bytes after the last one."""
    starts: Places
    """Where each begins."""
    ends: Places

    @classmethod
    def of(cls, messages: Sequence[Any]) -> Bytes:
        """Join messages."""
        lengths = np.fromiter(map(len, messages), np.int64, len(messages))
        ends = np.cumsum(lengths)
        joined = b"".join((*messages, bytes(_PADDING)))
        if len(joined) > np.iinfo(np.int32).max:
            raise DataError(f"rows of {len(joined) >> 20} MB at once are too large")
        return cls(np.frombuffer(joined, np.uint8), ends - lengths, ends)

    def numbers(self, places: Places, dtype: str) -> npt.NDArray[Any]:
        """Return the numbers that begin at places, which need not be multiples of anything.

        Parameters
        ----------
        places
            Shape (n,).
        dtype
            As numpy writes it, big-endian: ``>i4``.
        """
        size = np.dtype(dtype).itemsize
        every = np.ndarray((len(self.data) - size + 1,), dtype, self.data, strides=(1,))
        found: npt.NDArray[Any] = every[places]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The values of one column; all arrays of shape (n,)."""

    source: Bytes
    starts: Places
    """Where each value begins; never before the end of the one before it."""
    lengths: Places
    """0 where there is none."""
    nulls: Flags
    unchanged: Flags | None = None
    """Values that were not sent, since they are as before; they are null, too. None: no value."""
    from_before: Flags | None = None
    """Values that are those of the row before. None: no value."""

    def __len__(self) -> int:
        return len(self.starts)

    def texts(self, arrow_type: pa.DataType) -> pa.Array:
        """Return the bytes of the values as an array of string or binary.

        The bytes between two values are values of their own, which are not taken.
        """
        count = len(self)
        offsets = np.empty(2 * count + 1, np.int32)
        offsets[0:-1:2] = self.starts
        offsets[1::2] = self.starts + self.lengths
        offsets[-1] = offsets[-2] if count else 0
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self.source.data)]
        every = pa.Array.from_buffers(arrow_type, 2 * count, buffers)
        places, nulls = np.arange(count, dtype=np.int32), self.nulls
        if self.from_before is not None:
            places = places - self.from_before
            nulls = nulls[places]
        return every.take(arrow_array(places * np.int32(2), mask=nulls if nulls.any() else None))

    def numbers(self, dtype: str) -> npt.NDArray[Any]:
        """Return values of a fixed size; anything where they are null.

        Raises
        ------
        DataError
            If one has another size.
        """
        size = np.dtype(dtype).itemsize
        if not np.all((self.lengths == size) | self.nulls):
            raise DataError(f"a value that should have {size} bytes has another size")
        starts = np.where(self.nulls, 0, self.starts)
        return self.source.numbers(starts, dtype)


_SIGNATURE = b"PGCOPY\n\xff\r\n\x00"
_HEAD_BYTES = 19
_END = b"\xff\xff"


def without_head(message: Any) -> Any:
    """Return what follows the head of a binary COPY.

    Raises
    ------
    DataError
        If it has another head.
    """
    if bytes(message[:11]) != _SIGNATURE or any(message[11:_HEAD_BYTES]):
        raise DataError("this is not a binary COPY without extensions")
    return message[_HEAD_BYTES:]


def is_end(message: Any) -> bool:
    """Say whether a message is the end of a binary COPY."""
    return bytes(message) == _END


def copied_cells(rows: Bytes, columns: int) -> list[Cells]:
    """Return the values of rows of a binary COPY, by column.

    Parameters
    ----------
    rows
        A message per row.
    columns
        How many each has.

    Raises
    ------
    DataError
        If rows are not as they should be.
    """
    at = rows.starts
    if not np.all(rows.numbers(at, ">i2") == columns):
        raise DataError(f"rows do not have {columns} columns")
    at = at + 2
    found = []
    for _ in range(columns):
        lengths = rows.numbers(at, ">i4").astype(np.int64)
        nulls = lengths < 0
        lengths[nulls] = 0
        at = at + 4
        found.append(Cells(rows, at, lengths, nulls))
        at = at + lengths
    if not np.array_equal(at, rows.ends):
        raise DataError("a row does not end with its last value")
    return found


def tuple_cells(messages: Bytes, at: Places, columns: int) -> tuple[list[Cells], Places]:
    """Return the values of tuples of pgoutput, by column, and where each tuple ends.

    Parameters
    ----------
    messages
        Where the tuples are.
    at
        Where each begins: with the number of its columns.
    columns
        How many each has.

    Raises
    ------
    DataError
        If they are not as they should be.
    """
    if not np.all(messages.numbers(at, ">i2") == columns):
        raise DataError(f"tuples do not have {columns} columns, as their relation has")
    at = at + 2
    found = []
    for _ in range(columns):
        words = messages.data[at]
        has_value = words == _TEXT
        unchanged = words == _UNCHANGED
        if not np.all(has_value | unchanged | (words == _NULL)):
            raise DataError("a value is not in text, null or unchanged")
        lengths = np.where(has_value, messages.numbers(at + 1, ">i4"), 0).astype(np.int64)
        starts = at + 1 + 4 * has_value
        found.append(
            Cells(messages, starts, lengths, ~has_value, unchanged if unchanged.any() else None)
        )
        at = starts + lengths
    return found, at
