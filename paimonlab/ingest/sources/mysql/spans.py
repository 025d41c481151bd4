"""Values that lie somewhere in a piece of memory, in rising order, as Arrow arrays and numbers."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array

Places: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Numbers: TypeAlias = npt.NDArray[np.uint64]

_PADDING = bytes(64)


class Memory:
    """Some bytes, read as numbers at any place."""

    def __init__(self, data: bytes) -> None:
        padded = data + _PADDING
        self.bytes = np.frombuffer(padded, np.uint8)
        """With zeros after the end, so that values of fixed size can be taken at any place."""
        self.buffer = pa.py_buffer(padded)
        count = len(padded) - 7
        self._little = np.ndarray((count,), "<u8", padded, strides=(1,))
        self._big = np.ndarray((count,), ">u8", padded, strides=(1,))

    def little(self, places: Places, size: int) -> Numbers:
        """Return numbers of 1 to 8 bytes, least significant byte first, shape (n,)."""
        found = self._little[places].astype(np.uint64, copy=False)
        return found if size == 8 else found & np.uint64((1 << 8 * size) - 1)

    def big(self, places: Places, size: int) -> Numbers:
        """Return numbers of 1 to 8 bytes, most significant byte first, shape (n,)."""
        return self._big[places].astype(np.uint64) >> np.uint64(64 - 8 * size)

    def spans(self, begins: Places, ends: Places, is_null: Flags | None) -> pa.Array:
        """Return the bytes between places as a binary array.

        Nothing is copied row by row here: the places are taken as the offsets of an array that also
        has the bytes between the values, and Arrow takes every other element of it.

        Parameters
        ----------
        begins, ends
            Shape (n,), rising: ``begins[i] <= ends[i] <= begins[i + 1]``.
        is_null
            Shape (n,); None: no nulls.
        """
        count = len(begins)
        if not count:
            return pa.nulls(0, pa.binary())
        offsets = np.empty(2 * count, np.int32)
        offsets[::2] = begins
        offsets[1::2] = ends
        every = pa.Array.from_buffers(
            pa.binary(), 2 * count - 1, [None, pa.py_buffer(offsets), self.buffer]
        )
        return every.take(arrow_array(np.arange(0, 2 * count, 2), mask=is_null))


def fixed_width(
    kind: pa.DataType, values: npt.NDArray[np.generic], is_null: Flags | None
) -> pa.Array:
    """Return an array of a type whose values are as many bytes as those of a row here."""
    validity = None
    if is_null is not None and is_null.any():
        validity = pa.py_buffer(np.packbits(~is_null, bitorder="little"))
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(kind, len(values), [validity, buffer])
