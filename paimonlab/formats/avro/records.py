"""Records of an Avro file -> Arrow columns; polars decodes them."""

from __future__ import annotations

import io
from collections.abc import Sequence

import polars as pl
import pyarrow as pa

from paimonlab.formats.avro.blocks import SYNC_BYTES, Block, container_pieces
from paimonlab.interrupts import interrupts_held_back
from paimonlab.storage.forks import fork_count

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
    polars works with threads when it puts blocks together and when it converts a frame. A forked
    process does not have them and would wait for ever: it decodes block by block, and columns
    are always converted by the one who asks.
    """
    parts = [[block] for block in blocks] if fork_count() and blocks else [blocks]
    try:
        with interrupts_held_back():  # polars makes a panic of one, or nothing
            tables = [_decoded(schema, part, columns) for part in parts]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise ValueError(str(error)) from error
    return pa.concat_tables(tables)


def _decoded(schema: bytes, blocks: Sequence[Block], columns: Sequence[str] | None) -> pa.Table:
    plain = b"".join(container_pieces(schema, b"null", blocks, _SYNC))
    frame = pl.read_avro(io.BytesIO(plain), columns=None if columns is None else list(columns))
    arrays = [column.to_arrow() for column in frame.get_columns()]
    return pa.table(arrays, names=frame.columns)
