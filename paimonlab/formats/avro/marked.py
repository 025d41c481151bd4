"""Records of several Avro files -> Arrow columns of all of them, each file on its own.

Files are decoded at once, as one block: their bytes one after the other. A record more in one than
it says would be taken for one of the next. So a record that no file has is put after each, and has
to be where the counts say.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_scalar, null_filled, numpy_values
from paimonlab.formats.avro.blocks import Block
from paimonlab.formats.avro.few_records import Marker, marker_of
from paimonlab.formats.avro.records import read_columns


def read_apart(schema: bytes, files: Sequence[Sequence[Block]], path: str) -> pa.Table:
    """Decode the records of files.

    Parameters
    ----------
    schema
        That of a record of all of them, as JSON.
    files
        The blocks of each, decompressed; one at least has a record.
    path
        Of one of them, for messages.

    Returns
    -------
    pyarrow.Table
        All records, in their order.

    Raises
    ------
    ValueError
        If the records of a file are damaged, or not as many as it says.
    CorruptMetadataError
        If the schema is damaged, or the first record.
    """
    first = next(block for blocks in files for block in blocks)
    marker = marker_of(schema, first, path)
    if marker is None:
        return pa.concat_tables([_alone(schema, blocks) for blocks in files])
    ending = Block(1, marker.data)
    table = read_columns(schema, [block for blocks in files for block in (*blocks, ending)])
    is_marker = pc.equal(_texts(table, marker), arrow_scalar(marker.text))
    is_marker = null_filled(is_marker, False)
    expected = np.cumsum([_count(blocks) + 1 for blocks in files]) - 1
    if not np.array_equal(np.flatnonzero(numpy_values(is_marker, zero_copy_only=False)), expected):
        raise ValueError("there are not as many as the file says")
    return table.filter(pc.invert(is_marker))


def _texts(table: pa.Table, marker: Marker) -> pa.ChunkedArray:
    column = table.column(marker.place[0])
    for name in marker.place[1:]:
        column = pc.struct_field(column, name)
    return column


def _alone(schema: bytes, blocks: Sequence[Block]) -> pa.Table:
    table = read_columns(schema, blocks)
    if table.num_rows != _count(blocks):
        raise ValueError(f"{_count(blocks)} were announced, {table.num_rows} found")
    return table


def _count(blocks: Sequence[Block]) -> int:
    return sum(block.record_count for block in blocks)
