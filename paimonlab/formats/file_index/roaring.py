"""Sets of rows as Roaring bitmaps of 32 bits, in the portable format, as small as they get."""

from __future__ import annotations

import array

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from paimonlab.formats.file_index.container import DamagedIndexError


def bitmap_of(rows: npt.NDArray[np.int64]) -> BitMap:
    """Make a set of rows."""
    return BitMap(array.array("I", rows.astype(np.uint32).tobytes()))


def all_rows(row_count: int) -> BitMap:
    """Make the set of all rows of a file."""
    rows = BitMap()
    rows.add_range(0, row_count)
    return rows


def to_bytes(bitmap: BitMap) -> bytes:
    """Encode a set, runs as runs where that is smaller."""
    bitmap.run_optimize()
    return bitmap.serialize()


def from_bytes(data: bytes, at: int = 0, size: int | None = None) -> tuple[BitMap, int]:
    """Decode a set; returns it and the position after it.

    Parameters
    ----------
    data
        Bytes that hold it.
    at
        Where it begins.
    size
        How many bytes it has; None: as many as it needs.

    Raises
    ------
    DamagedIndexError
        If the bytes are not a bitmap.
    """
    try:
        bitmap = BitMap.deserialize(data[at:] if size is None else data[at : at + size])
    except (ValueError, MemoryError) as error:
        raise DamagedIndexError("a bitmap is damaged") from error
    return bitmap, at + (len(bitmap.serialize()) if size is None else size)
