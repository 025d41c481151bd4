"""The table options that steer how Avro data files are written."""

from __future__ import annotations

from paimonlab.spec.options.table_options import OptionSlice, option_field


class AvroOptions(OptionSlice):
    """How Avro files are written."""

    compression: str = option_field("file.compression", "string", "zstd")
    """``file.compression``: zstd, zstandard, snappy, deflate, bzip2, xz or null."""
    zstd_level: int = option_field("file.compression.zstd-level", "int", 1)
    """``file.compression.zstd-level``"""
