"""The table options that steer how Parquet files are written."""

from __future__ import annotations

from dataclasses import dataclass

from paimonlab.errors import UnsupportedError
from paimonlab.spec.options import option_field

_CODECS = {
    "zstd": "zstd",
    "snappy": "snappy",
    "gzip": "gzip",
    "lz4": "lz4",
    "lz4_raw": "lz4",
    "uncompressed": "none",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetOptions:
    """How Parquet files are written."""

    compression: str = option_field("file.compression", "string", "zstd")
    """``file.compression``: zstd, snappy, gzip, lz4, lz4_raw or uncompressed."""
    zstd_level: int = option_field("file.compression.zstd-level", "int", 1)
    """``file.compression.zstd-level``"""
    block_size_bytes: int | None = option_field("file.block-size", "memory", None)
    """``file.block-size``: bytes of Arrow memory that fill a row group."""

    enable_dictionary: bool | None = option_field("parquet.enable.dictionary", "boolean", None)
    """``parquet.enable.dictionary``: False forbids dictionaries; else columns whose values
    repeat have one."""

    @property
    def codec(self) -> str:
        """The codec as pyarrow calls it.

        Raises
        ------
        UnsupportedError
            If ``file.compression`` names another codec.
        """
        if self.compression.lower() not in _CODECS:
            feature = f"file.compression = {self.compression!r}"
            raise UnsupportedError(feature, f"use {', '.join(_CODECS)} for Parquet")
        return _CODECS[self.compression.lower()]

    @property
    def row_group_rows(self) -> int:
        """Rows that fill a row group.

        Small enough that a lookup of a key reads little, large enough that a scan does not
        notice.
        """
        return 1 << 17

    @property
    def row_group_bytes(self) -> int:
        """Bytes of Arrow memory that fill a row group."""
        return self.block_size_bytes or 128 << 20
