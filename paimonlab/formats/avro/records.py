"""Records of an Avro file -> Arrow columns; polars decodes them."""

from __future__ import annotations

import io
from collections.abc import Sequence

import polars as pl
import pyarrow as pa

from paimonlab.formats.avro.blocks import SYNC_BYTES, Block, container_pieces
from paimonlab.interrupts import interrupts_held_back

_SYNC = bytes(SYNC_BYTES)


def read_columns(
    schema: bytes, blocks: Sequence[Block], columns: Sequence[str] | None = None
) -> pa.Table:
    """Decode blocks of records.

    Parameters
    ----------
    schema
        The schema of a record, as JSON.
    blocks
        Decompressed.
    columns
        The fields to decode; None: all.

    Raises
    ------
    ValueError
        If they are damaged.

    Notes
    -----
    The blocks are handed over as one: each costs polars far more than its records, if they are few.
    Also, it works with threads when it puts blocks together, and when it converts a frame. A forked
    process does not have them and would wait for ever; so columns are converted by the one who
    asks.
    """
    count = sum(block.record_count for block in blocks)
    whole = Block(count, b"".join(block.data for block in blocks))
    try:
        with interrupts_held_back():  # polars makes a panic of one, or nothing
            return _decoded(schema, [whole] if count else [], columns)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise ValueError(str(error)) from error


def _decoded(schema: bytes, blocks: Sequence[Block], columns: Sequence[str] | None) -> pa.Table:
    plain = b"".join(container_pieces(schema, b"null", blocks, _SYNC))
    frame = pl.read_avro(io.BytesIO(plain), columns=None if columns is None else list(columns))
    arrays = [column.to_arrow() for column in frame.get_columns()]
    return pa.table(arrays, names=frame.columns)
