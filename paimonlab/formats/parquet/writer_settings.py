"""What pyarrow's Parquet writer is told by the options of the table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from paimonlab.formats.parquet.options import ParquetOptions


def writer_settings(
    schema: pa.Schema,
    options: ParquetOptions,
    *,
    dictionary_columns: Sequence[str],
    left: Collection[str],
    has_int96: bool = False,
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
    left
        Columns that are not compressed.
    has_int96
        Whether timestamps finer than microseconds are stored as INT96.

    Returns
    -------
    dict
        All but the rows of a page, and how often its size is looked at.
    """
    codec: str | dict[str, str] = options.codec
    level: int | dict[str, int] | None = options.codec_level
    if left:
        codec = {name: "none" if name in left else options.codec for name in schema.names}
        if options.codec_level is not None:
            level = dict.fromkeys(set(schema.names) - set(left), options.codec_level)
    return {
        "compression": codec,
        "compression_level": level,
        "use_dictionary": dictionary_columns,
        "use_deprecated_int96_timestamps": has_int96,
        "store_decimal_as_integer": True,
        "write_time_adjusted_to_utc": True,
        "write_page_checksum": True,
        "write_page_index": True,
        "store_schema": False,
        "data_page_size": options.page_bytes,
        "dictionary_pagesize_limit": options.dictionary_bytes,
    }
