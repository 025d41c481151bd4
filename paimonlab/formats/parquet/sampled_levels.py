"""How hard zstd works on each column of a Parquet file, judged by a sample of its rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from paimonlab.formats.parquet.options import ParquetOptions

LEAST_ROWS = 1 << 13
"""Rows below which columns are not looked at: they say too little, and are read in no time."""
_PLACES = 3
_ROWS_OF_PLACE = 1 << 11
"""Rows that are looked at: at the begin, in the middle, and at the end."""
_MOST_BYTES = 1 << 20
"""Bytes of a column of these rows above which it is compressed without a look."""
_LEAST_SPARED = 0.15
"""What compression has to spare of a column to be worth undoing it in each read."""
_FASTER_LEVELS = (-2, -1)
"""Levels that do not code single bytes by how often they occur, the fastest first."""
_MANY_REPEATS = 0.6
"""Share of its size to which a column shrinks by repeats, which faster levels find as well."""
_MOST_DIGITS = 18
"""Of decimals that are stored as integers."""
_INT32_DIGITS = 9


def sampled_levels(
    table: pa.Table, options: ParquetOptions, dictionaries: Collection[str]
) -> dict[str, int | None]:
    """Choose other levels of zstd than that of the options, where a sample says so.

    Parameters
    ----------
    table
        First rows of a file, or rows of several.
    options
        Of the file.
    dictionaries
        Columns that have dictionaries, which are compressed as the options say.

    Returns
    -------
    dict
        The level by column; None: it shrinks by less than a seventh, about, and is stored as it
        is. A level below 1, for numbers that become no larger by it. Only numbers, times, texts
        and bytes; nothing if there are few rows, if options name a codec, or if a column is nested,
        for then columns of the file have other names.
    """
    is_small = table.num_rows < LEAST_ROWS
    if is_small or options.names_codec or any(pt.is_nested(field.type) for field in table.schema):
        return {}
    faster = () if options.names_level else _FASTER_LEVELS
    usual, compressor = options.codec_level, options.compressor
    levels = {
        field.name: _level_of(table.column(number), compressor, usual, faster)
        for number, field in enumerate(table.schema)
        if field.name not in dictionaries
    }
    return {name: level for name, level in levels.items() if level != usual}


def _level_of(
    column: pa.ChunkedArray, usual: pa.Codec, usual_level: int | None, faster: Sequence[int]
) -> int | None:
    starts = [(len(column) - _ROWS_OF_PLACE) * place // (_PLACES - 1) for place in range(_PLACES)]
    pieces = [
        stored
        for start in starts
        for chunk in column.slice(start, _ROWS_OF_PLACE).chunks
        if (stored := _stored(chunk)) is not None
    ]
    sample = b"".join(pieces)
    if not sample or len(sample) > _MOST_BYTES:
        return usual_level
    size = len(usual.compress(sample, asbytes=True))
    if size > (1 - _LEAST_SPARED) * len(sample):
        return None
    if _has_texts(column.type) or size > _MANY_REPEATS * len(sample):
        return usual_level
    for level in faster:
        if len(pa.Codec("zstd", level).compress(sample, asbytes=True)) <= size:
            return level
    return usual_level


def _has_texts(kind: pa.DataType) -> bool:
    return bool(pt.is_string(kind) or pt.is_binary(kind))


def _stored(values: pa.Array) -> bytes | None:
    """Return values about as a file has them; None if they are of another kind."""
    if values.null_count:
        values = pc.drop_null(values)
    kind = values.type
    if pt.is_integer(kind) or pt.is_floating(kind) or pt.is_temporal(kind):
        width = kind.bit_width // 8
    elif _has_texts(kind):
        width = 4
    elif pt.is_decimal128(kind) and kind.precision <= _MOST_DIGITS and len(values):
        return _whole_numbers(values)
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


def _whole_numbers(values: pa.Array) -> bytes:
    """Return decimals of few digits as the integers that they are stored as."""
    both = np.frombuffer(values.buffers()[1], np.int64)
    found = both[2 * values.offset : 2 * (values.offset + len(values)) : 2]
    return found.astype(np.int32 if values.type.precision <= _INT32_DIGITS else np.int64).tobytes()
