"""The memory of Arrow arrays as numpy arrays, and back, without copying where possible."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import numpy_values
from paimonlab.spec.binary_row.pieces import SPARE, Pieces


def null_mask(array: pa.Array) -> npt.NDArray[np.bool_] | None:
    """Mark the nulls of an array; None if there are none."""
    if array.null_count == 0:
        return None
    return numpy_values(pc.is_null(array), zero_copy_only=False)


def fixed_values(array: pa.Array, dtype: str) -> npt.NDArray[np.generic]:
    """View the values of a fixed-width array; what stands at nulls is arbitrary."""
    itemsize = np.dtype(dtype).itemsize
    buffer = array.buffers()[1]
    if buffer is None or len(array) == 0:
        return np.zeros(len(array), dtype)
    return np.frombuffer(buffer, dtype, len(array), array.offset * itemsize)


def decimal_halves(array: pa.Array) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """View the unscaled values of a decimal128 array: low halves, high halves."""
    buffer = array.buffers()[1]
    if buffer is None or len(array) == 0:
        return np.zeros(len(array), np.uint64), np.zeros(len(array), np.int64)
    halves = np.frombuffer(buffer, "<u8", 2 * len(array), array.offset * 16)
    return halves[::2], halves[1::2].view(np.int64)


def byte_pieces(array: pa.Array) -> Pieces:
    """View the values of a string or binary array (32- or 64-bit offsets); nulls are empty."""
    is_large = pa.types.is_large_binary(array.type) or pa.types.is_large_string(array.type)
    _, offset_buffer, data_buffer = array.buffers()
    if offset_buffer is None or len(array) == 0:
        offsets = np.zeros(len(array) + 1, np.int64)
    else:
        dtype = np.dtype("<i8" if is_large else "<i4")
        start = array.offset * dtype.itemsize
        offsets = np.frombuffer(offset_buffer, dtype, len(array) + 1, start).astype(np.int64)
    lengths = np.diff(offsets)
    is_null = null_mask(array)
    if is_null is not None:
        lengths[is_null] = 0
    first, end = int(offsets[0]), int(offsets[-1])
    data = np.frombuffer(data_buffer, np.uint8) if data_buffer else np.zeros(0, np.uint8)
    if len(data) >= end + SPARE:
        return Pieces(data, offsets[:-1], lengths)
    # Only the part in use is copied: a small slice of a large column stays small.
    spaced = np.concatenate([data[first:end], np.zeros(SPARE, np.uint8)])
    return Pieces(spaced, offsets[:-1] - first, lengths)


def validity(is_null: npt.NDArray[np.bool_] | None) -> pa.Buffer | None:
    """Make the validity bitmap of an Arrow array."""
    if is_null is None or not is_null.any():
        return None
    return pa.py_buffer(np.packbits(~is_null, bitorder="little"))


def fixed_array(
    data_type: pa.DataType,
    values: npt.NDArray[np.generic],
    is_null: npt.NDArray[np.bool_] | None,
) -> pa.Array:
    """Make an array of a fixed-width type around ``values`` of the same memory layout."""
    length = len(values)
    values = np.ascontiguousarray(values)
    return pa.Array.from_buffers(data_type, length, [validity(is_null), pa.py_buffer(values)])


def byte_array(
    data_type: pa.DataType,
    data: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int64],
    is_null: npt.NDArray[np.bool_] | None,
) -> pa.Array:
    """Make a string or binary array (32- or 64-bit offsets) of adjacent pieces.

    Raises
    ------
    OverflowError
        If 32-bit offsets cannot address ``data``.
    """
    is_large = pa.types.is_large_binary(data_type) or pa.types.is_large_string(data_type)
    if not is_large and offsets[-1] >= 2**31:
        raise OverflowError(f"{offsets[-1]} bytes do not fit one array of type {data_type}")
    width = np.int64 if is_large else np.int32
    buffers = [validity(is_null), pa.py_buffer(offsets.astype(width)), pa.py_buffer(data)]
    return pa.Array.from_buffers(data_type, len(offsets) - 1, buffers)
