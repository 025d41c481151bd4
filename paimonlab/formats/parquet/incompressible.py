"""Which columns of Parquet files are stored as they are, since compression hardly shrinks them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

LEAST_ROWS = 1 << 13
"""Rows below which columns are not looked at: they say too little, and are read in no time."""
_PLACES = 3
_ROWS_OF_PLACE = 1 << 11
"""Rows that are looked at: at the begin, in the middle, and at the end."""
_MOST_BYTES = 1 << 20
"""Bytes of a column of these rows above which it is compressed without a look."""
_LEAST_SPARED = 0.15
"""What compression has to spare of a column to be worth undoing it in each read."""


def incompressible_columns(
    table: pa.Table, codec: pa.Codec, dictionaries: Collection[str]
) -> frozenset[str]:
    """Name the columns that a codec shrinks by less than a seventh, about, judged by a sample.

    Parameters
    ----------
    table
        First rows of a file, or rows of several.
    codec
        Of the file.
    dictionaries
        Columns that have dictionaries, which are compressed.

    Returns
    -------
    frozenset of str
        Only numbers, times, texts and bytes; none if there are few rows or a column is nested, for
        then columns of the file have other names.
    """
    if table.num_rows < LEAST_ROWS or any(pt.is_nested(field.type) for field in table.schema):
        return frozenset()
    return frozenset(
        field.name
        for number, field in enumerate(table.schema)
        if field.name not in dictionaries and _is_incompressible(table.column(number), codec)
    )


def _is_incompressible(column: pa.ChunkedArray, codec: pa.Codec) -> bool:
    starts = [(len(column) - _ROWS_OF_PLACE) * place // (_PLACES - 1) for place in range(_PLACES)]
    pieces = [
        stored
        for start in starts
        for chunk in column.slice(start, _ROWS_OF_PLACE).chunks
        if (stored := _stored(chunk)) is not None
    ]
    sample = b"".join(pieces)
    if not sample or len(sample) > _MOST_BYTES:
        return False
    return len(codec.compress(sample, asbytes=True)) > (1 - _LEAST_SPARED) * len(sample)


def _stored(values: pa.Array) -> bytes | None:
    """Return values about as a file has them; None if they are of another kind."""
    if values.null_count:
        values = pc.drop_null(values)
    kind = values.type
    if pt.is_integer(kind) or pt.is_floating(kind) or pt.is_temporal(kind):
        width = kind.bit_width // 8
    elif pt.is_string(kind) or pt.is_binary(kind):
        width = 4
    else:
        return None
    if not len(values):
        return None
    buffers = values.buffers()
    start = values.offset * width
    plain = buffers[1].slice(start, len(values) * width)
    if len(buffers) == 2:
        return plain.to_pybytes()
    offsets = np.frombuffer(buffers[1], np.int32, len(values) + 1, start)
    lengths = np.diff(offsets).tobytes()
    texts = buffers[2].slice(int(offsets[0]), int(offsets[-1] - offsets[0])).to_pybytes()
    return lengths + texts
