"""How many bytes slices of a table have, each column in one pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from paimonlab.arrow_values import OFFSET_TYPES


def sizes_of_slices(rows: pa.Table, lengths: Sequence[int]) -> list[int]:
    """Count the bytes of slices of a table, one after the other.

    Asking each slice takes as long as writing a tenth of it where slices are small.

    Parameters
    ----------
    rows
        n rows.
    lengths
        How many rows each slice has; n together.

    Returns
    -------
    list of int
        What ``nbytes`` of each slice is, but for bits that do not fill a byte.

    Examples
    --------
    >>> sizes_of_slices(pa.table({"i": pa.array([1, 2, 3], pa.int32())}), [1, 2])
    [4, 8]
    """
    counts = np.asarray(lengths, np.int64)
    ends = np.concatenate([[0], np.cumsum(counts)])
    sizes = np.zeros(len(counts), np.int64)
    for column in rows.columns:
        of_column = _sizes(column, counts, ends)
        if of_column is None:
            starts = ends[:-1].tolist()
            return [rows.slice(*where).nbytes for where in zip(starts, lengths, strict=True)]
        sizes += of_column
    return sizes.tolist()


def _sizes(
    column: pa.ChunkedArray, counts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64] | None:
    """Count the bytes of slices of a column; None if only Arrow can."""
    if column.num_chunks != 1:
        return None
    values = column.chunk(0)
    buffers = values.buffers()
    bits = -(-counts // 8)
    of_validity = bits if buffers[0] is not None else np.zeros_like(counts)
    offset_type = OFFSET_TYPES.get(values.type)
    if offset_type is not None:
        offsets = np.frombuffer(buffers[1], offset_type)[values.offset :][ends]
        return of_validity + np.diff(offsets) + counts * offsets.itemsize
    if pt.is_boolean(values.type):
        return of_validity + bits
    if not pt.is_primitive(values.type) and not pt.is_decimal(values.type):
        return None
    return of_validity + counts * (values.type.bit_width // 8)
