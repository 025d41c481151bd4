"""The table options that steer how ORC data files are written, and read."""

from __future__ import annotations

from paimonlab.errors import UnsupportedError
from paimonlab.spec.options.table_options import OptionSlice, option_field

_CODECS = {
    "zstd": "zstd",
    "snappy": "snappy",
    "zlib": "zlib",
    "lz4": "lz4",
    "none": "uncompressed",
}
_ZSTD_LEVEL = 1
"""That of the library, which cannot be told another one."""


class OrcOptions(OptionSlice):
    """How ORC files are written."""

    compression: str = option_field("file.compression", "string", "zstd")
    """``file.compression``: zstd, snappy, zlib, lz4 or none."""
    own_compression: str | None = option_field("orc.compress", "string", None)
    """``orc.compress``: in place of ``file.compression``."""
    zstd_level: int = option_field("file.compression.zstd-level", "int", 1)
    """``file.compression.zstd-level``: 1."""
    block_size_bytes: int | None = option_field("file.block-size", "memory", None)
    """``file.block-size``: bytes that fill a stripe."""
    stripe_size_bytes: int = option_field("orc.stripe.size", "int", 64 << 20)
    """``orc.stripe.size``: bytes that fill a stripe, unless ``file.block-size`` says so."""
    chunk_bytes: int = option_field("orc.compress.size", "int", 256 << 10)
    """``orc.compress.size``: bytes that are compressed together."""
    index_stride_rows: int = option_field("orc.row.index.stride", "int", 10_000)
    """``orc.row.index.stride``: rows with statistics of their own."""
    dictionary_threshold: float = option_field("orc.dictionary.key.threshold", "float", 0.0)
    """``orc.dictionary.key.threshold``: how much of the rows of a text column may be distinct
    for it to have a dictionary; 0: none has."""
    bloom_filter_columns: tuple[str, ...] = option_field("orc.bloom.filter.columns", "list", ())
    """``orc.bloom.filter.columns``"""
    bloom_filter_fpp: float = option_field("orc.bloom.filter.fpp", "float", 0.01)
    """``orc.bloom.filter.fpp``"""
    legacy_ltz: bool = option_field("orc.timestamp-ltz.legacy.type", "boolean", default=True)
    """``orc.timestamp-ltz.legacy.type``"""

    @property
    def codec(self) -> str:
        """The codec as pyarrow calls it.

        Raises
        ------
        UnsupportedError
            If the options name another codec or another level.
        """
        key = "file.compression" if self.own_compression is None else "orc.compress"
        name = self.own_compression or self.compression
        if name.lower() not in _CODECS:
            raise UnsupportedError(f"{key} = {name!r}", f"use {', '.join(_CODECS)} for ORC")
        if name.lower() == "zstd" and self.zstd_level != _ZSTD_LEVEL:
            raise UnsupportedError(
                f"file.compression.zstd-level = '{self.zstd_level}' for ORC", "use 1"
            )
        return _CODECS[name.lower()]

    @property
    def stripe_bytes(self) -> int:
        """Bytes that fill a stripe."""
        return self.block_size_bytes or self.stripe_size_bytes
