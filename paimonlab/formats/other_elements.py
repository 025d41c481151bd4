"""Lists and maps of Arrow with other elements than they had."""

from __future__ import annotations

import pyarrow as pa


def with_elements(array: pa.Array, arrow_type: pa.DataType, elements: pa.Array) -> pa.Array:
    """Give a list or map other elements, as many as it had.

    Parameters
    ----------
    array
        A list or map, which may be a slice.
    arrow_type
        A list of the type of ``elements``, or a map with it for its entries.
    elements
        In the place of all that `array` was cut from.
    """
    return pa.Array.from_buffers(
        arrow_type,
        len(array),
        array.buffers()[:2],
        array.null_count,
        array.offset,
        children=[elements],
    )
