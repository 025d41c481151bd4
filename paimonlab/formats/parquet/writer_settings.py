"""What pyarrow's Parquet writer is told by the options of the table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa

from paimonlab.formats.parquet.options import ParquetOptions
from paimonlab.formats.parquet.sampled_levels import LEAST_ROWS

_MOST_BYTES = 1 << 20


def is_one_page(row_count: int, size: int, options: ParquetOptions) -> bool:
    """Whether rows of so many bytes are one page of each column of one row group."""
    most = min(_MOST_BYTES, options.page_bytes, options.row_group_bytes)
    return row_count < min(LEAST_ROWS, options.page_rows) and size < most


def writer_settings(
    schema: pa.Schema,
    options: ParquetOptions,
    *,
    dictionary_columns: Sequence[str],
    levels: Mapping[str, int | None],
    constant: Collection[str] = (),
    has_int96: bool = False,
    is_one_page: bool = False,
) -> dict[str, Any]:
    """Say how files are written, in the words of `pyarrow.parquet.ParquetWriter`.

    Parameters
    ----------
    schema
        The physical columns.
    options
        Compression and sizes.
    dictionary_columns
        Columns that have a dictionary.
    levels
        Of columns that are compressed otherwise than the options say; None: not at all.
    constant
        Columns of one value, which are not compressed if they have a dictionary.
    has_int96
        Whether timestamps finer than microseconds are stored as INT96.
    is_one_page
        Whether each column is one page, of which the footer says as much as an index would.

    Returns
    -------
    dict
        All but the rows of a page, and how often its size is looked at.
    """
    codec: str | dict[str, str] = options.codec
    level: int | dict[str, int] | None = options.codec_level
    levels = {**levels, **{name: None for name in dictionary_columns if name in constant}}
    if levels:
        usual = options.codec_level
        of_all = {name: levels.get(name, usual) for name in schema.names}
        codec = {
            name: "none" if name in levels and levels[name] is None else options.codec
            for name in schema.names
        }
        level = {name: one for name, one in of_all.items() if one is not None} or None
    return {
        "compression": codec,
        "compression_level": level,
        "use_dictionary": dictionary_columns,
        "use_deprecated_int96_timestamps": has_int96,
        "store_decimal_as_integer": True,
        "write_time_adjusted_to_utc": True,
        "write_page_checksum": True,
        "write_page_index": not is_one_page,
        "store_schema": False,
        "data_page_size": options.page_bytes,
        "dictionary_pagesize_limit": options.dictionary_bytes,
    }
