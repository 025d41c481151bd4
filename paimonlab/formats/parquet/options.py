"""The table options that steer how Parquet files are written."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from paimonlab.errors import UnsupportedError
from paimonlab.spec.options.table_options import OptionSlice, option_field

_CODECS = {
    "zstd": "zstd",
    "snappy": "snappy",
    "gzip": "gzip",
    "lz4": "lz4",
    "lz4_raw": "lz4",
    "uncompressed": "none",
}
_ZSTD_LEVEL = 1
_GROUP_BYTES = 64 << 20
_PAGE_ROWS = 20_000
"""As parquet-java has them by itself, and so the files of Java Paimon."""
_PAGE_ROWS_BY_KEY = 8192
"""Few enough that finding one row decodes little; a scan takes a twentieth longer."""


def _rows(count: int) -> int:
    if count < 1:
        raise ValueError("not a number of rows above 0")
    return count


class ParquetOptions(OptionSlice):
    """How Parquet files are written."""

    compression: str | None = option_field("file.compression", "string", None)
    """``file.compression``: zstd, snappy, gzip, lz4, lz4_raw or uncompressed; None: zstd, but for
    columns that it hardly shrinks."""
    own_compression: str | None = option_field("parquet.compression", "string", None)
    """``parquet.compression``: in place of ``file.compression``."""
    zstd_level: int | None = option_field("file.compression.zstd-level", "int", None)
    """``file.compression.zstd-level``; None: 1, or less for numbers that it shrinks no more."""
    own_zstd_level: int | None = option_field("parquet.compression.codec.zstd.level", "int", None)
    """``parquet.compression.codec.zstd.level``: in place of ``file.compression.zstd-level``."""
    block_size_bytes: int | None = option_field("file.block-size", "memory", None)
    """``file.block-size``: bytes of Arrow memory that fill a row group."""
    own_block_size_bytes: int | None = option_field("parquet.block.size", "long", None)
    """``parquet.block.size``: the same, unless ``file.block-size`` says so."""
    page_bytes: int = option_field("parquet.page.size", "int", 1 << 20)
    """``parquet.page.size``: encoded bytes that fill a page."""
    page_row_limit: int | None = option_field(
        "parquet.page.row.count.limit", "int", None, parse=_rows
    )
    """``parquet.page.row.count.limit``: rows that fill a page; None: `page_rows` chooses."""
    dictionary_bytes: int = option_field("parquet.dictionary.page.size", "int", 1 << 20)
    """``parquet.dictionary.page.size``: a dictionary that grows larger is given up."""

    enable_dictionary: bool | None = option_field("parquet.enable.dictionary", "boolean", None)
    """``parquet.enable.dictionary``: False forbids dictionaries; else columns whose values
    repeat have one."""
    dictionary_of: dict[str, bool] = option_field("parquet.enable.dictionary#*", "boolean", {})
    """``parquet.enable.dictionary#<column>``: the same of one column, True: it has one."""
    has_keys: bool = False
    """Whether rows are looked up by key: the table has a primary key."""

    @property
    def page_rows(self) -> int:
        """Rows that fill a page, unless its bytes do before."""
        if self.page_row_limit is None:
            return _PAGE_ROWS_BY_KEY if self.has_keys else _PAGE_ROWS
        return self.page_row_limit

    @property
    def codec(self) -> str:
        """The codec as pyarrow calls it.

        Raises
        ------
        UnsupportedError
            If the options name another codec.
        """
        key = "file.compression" if self.own_compression is None else "parquet.compression"
        name = self.own_compression or self.compression or "zstd"
        if name.lower() not in _CODECS:
            raise UnsupportedError(f"{key} = {name!r}", f"use {', '.join(_CODECS)} for Parquet")
        return _CODECS[name.lower()]

    @property
    def names_codec(self) -> bool:
        """Whether the codec was named: then it is that of all columns."""
        return self.own_compression is not None or self.compression is not None

    @property
    def names_level(self) -> bool:
        """Whether the level of zstd was named: then it is that of all columns it shrinks."""
        return self.own_zstd_level is not None or self.zstd_level is not None

    @property
    def compressor(self) -> pa.Codec:
        """The codec, to try what it makes of some bytes."""
        return pa.Codec(self.codec, self.codec_level)

    @property
    def codec_level(self) -> int | None:
        """How hard the codec works; None: as it does by itself."""
        if self.codec != "zstd":
            return None
        level = self.zstd_level if self.own_zstd_level is None else self.own_zstd_level
        return _ZSTD_LEVEL if level is None else level

    def dictionary_columns(self, names: Sequence[str], repetitive: Sequence[str]) -> list[str]:
        """Choose the columns that have dictionaries.

        Parameters
        ----------
        names
            All columns without parts of their own.
        repetitive
            Those whose values repeat.
        """
        by_default = () if self.enable_dictionary is False else repetitive
        return [name for name in names if self.dictionary_of.get(name, name in by_default)]

    @property
    def row_group_rows(self) -> int:
        """Rows that fill a row group.

        Small enough that a lookup of a key reads little, large enough that a scan does not
        notice.
        """
        return 1 << 17

    @property
    def row_group_bytes(self) -> int:
        """Bytes of Arrow memory that fill a row group.

        Java's 128 MB are of encoded rows, which are fewer bytes; a compaction with a changelog
        holds two row groups.
        """
        return self.block_size_bytes or self.own_block_size_bytes or _GROUP_BYTES
