"""How much memory columns of a Parquet file take once they are decoded."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow.parquet as pq

_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8}
_OFFSET_BYTES = 8
_DECIMAL_BYTES = 16
"""Decimals of any precision take as many; few other values have a fixed length in bytes."""


def decoded_bytes(group: pq.RowGroupMetaData, names: Collection[str]) -> int:
    """Estimate how many bytes columns of a row group take in memory.

    Parameters
    ----------
    group
        What the footer says of it.
    names
        The columns, parts of nested ones by the name before the first point.
    """
    chosen = frozenset(names)
    chunks = (group.column(number) for number in range(group.num_columns))
    return sum(
        _chunk_bytes(chunk) for chunk in chunks if chunk.path_in_schema.split(".")[0] in chosen
    )


def _chunk_bytes(chunk: pq.ColumnChunkMetaData) -> int:
    width = _WIDTHS.get(chunk.physical_type)
    if width is not None:
        return width * chunk.num_values
    least = _OFFSET_BYTES * chunk.num_values + chunk.total_uncompressed_size
    if chunk.physical_type == "FIXED_LEN_BYTE_ARRAY":
        return max(_DECIMAL_BYTES * chunk.num_values, chunk.total_uncompressed_size)
    if not _has_dictionary(chunk):
        return least
    # A dictionary has each value once; the bounds say about how long values are. Writers leave
    # out bounds that are long: then all of the dictionary may be one value.
    stats = chunk.statistics
    length = chunk.total_uncompressed_size
    if stats is not None and stats.has_min_max:
        length = (len(stats.min_raw) + len(stats.max_raw)) // 2
    elif stats is not None and stats.null_count == chunk.num_values:
        length = 0
    return max(least, (_OFFSET_BYTES + length) * chunk.num_values)


def _has_dictionary(chunk: pq.ColumnChunkMetaData) -> bool:
    return any("DICTIONARY" in encoding for encoding in chunk.encodings)
