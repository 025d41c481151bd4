"""Where a row group is cut so that no page of it is open between two pieces.

A stream of a column holds a page, as it is stored and decoded. With hundreds of columns, or large
values, that is more than the rows that are wanted at once; with many files side by side it is most
of the memory. Pieces that end where pages end leave nothing open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from paimonlab.formats.parquet.cut import RowRanges
from paimonlab.formats.parquet.pages import PagePlaces

_MOST_AGAIN = 0.25
"""Share of the bytes that may be decoded twice, as pages of some columns end elsewhere."""


def page_stretches(
    columns: Sequence[PagePlaces],
    row_count: int,
    *,
    encoded_bytes: int,
    decoded_bytes: int,
    most_bytes: int,
) -> list[RowRanges] | None:
    """Cut a row group at the pages that most bytes are in.

    Parameters
    ----------
    columns
        All pages of c column chunks.
    row_count
        Rows of the row group.
    encoded_bytes, decoded_bytes
        What the columns take in memory, about: as a page has them, not compressed, and as Arrow
        has them.
    most_bytes
        What open pages may take.

    Returns
    -------
    list of RowRanges or None
        One range each, one after the other; None: streams hold little, or less than pieces
        would, or pages end too differently.

    Examples
    --------
    >>> places = PagePlaces(np.array([4, 14]), np.array([10, 10]), np.array([0, 3]))
    >>> sizes = {"encoded_bytes": 40, "decoded_bytes": 40}
    >>> [rows.tolist() for rows in page_stretches([places] * 2, 5, **sizes, most_bytes=10) or ()]
    [[[0, 3]], [[3, 5]]]
    >>> page_stretches([places] * 2, 5, **sizes, most_bytes=100) is None
    True
    """
    stored_of = Counter[bytes]()
    for places in columns:
        stored_of[places.first_rows.tobytes()] += int(places.sizes.sum())
    stored = stored_of.total()
    if not stored:
        return None
    layouts = {layout: np.frombuffer(layout, np.int64) for layout in stored_of}
    # A stream holds a page as it is stored, and decompressed.
    of_pages = sum(stored_of[layout] / len(first_rows) for layout, first_rows in layouts.items())
    held = of_pages * (1 + encoded_bytes / stored)
    ((common, _),) = stored_of.most_common(1)
    starts = layouts[common]
    ends = np.append(starts[1:], row_count)
    if held <= most_bytes or decoded_bytes * int((ends - starts).max()) / row_count > held:
        return None
    decoded = sum(
        stored_of[layout] * _decoded_rows(first_rows, row_count, starts, ends)
        for layout, first_rows in layouts.items()
    )
    if decoded > (1 + _MOST_AGAIN) * row_count * stored:
        return None
    return [np.array([[start, end]]) for start, end in zip(starts, ends, strict=True)]


def _decoded_rows(
    first_rows: npt.NDArray[np.int64],
    row_count: int,
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
) -> int:
    """Count the rows of a column that are decoded for all pieces."""
    page_ends = np.append(first_rows[1:], row_count)
    first = np.searchsorted(first_rows, starts, side="right") - 1
    last = np.searchsorted(first_rows, ends, side="left") - 1
    return int((page_ends[last] - first_rows[first]).sum())
