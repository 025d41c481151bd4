"""Rows of a result set in columns: MySQL's text protocol, thousands of rows at a time.

Source: MySQL Source Code Documentation, "Text Resultset" (a row is length-encoded strings, 0xFB is
NULL).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from paimonlab.ingest.sources.mysql.spans import Memory, Places

_NULL = 0xFB
_SIZES = {0xFC: 2, 0xFD: 3, 0xFE: 8}


def text_columns(data: bytes, starts: Places, count: int) -> Iterator[pa.Array]:
    """Yield the columns of rows as binary arrays of shape (n,).

    Parameters
    ----------
    data
        Packets; shorter than 2 GiB.
    starts
        Where the payload of each row begins, rising.
    count
        How many columns there are.
    """
    memory = Memory(data)
    at = starts
    for _ in range(count):
        first = memory.bytes[at]
        length = first.astype(np.int64)
        begins = at + 1
        is_null = None
        if len(first) and first.max() >= _NULL:
            is_null = first == _NULL
            length[is_null] = 0
            for mark, size in _SIZES.items():
                rows = np.flatnonzero(first == mark)
                if len(rows):
                    length[rows] = memory.little(begins[rows], size).astype(np.int64)
                    begins[rows] += size
        ends = begins + length
        yield memory.spans(begins, ends, is_null)
        at = ends
