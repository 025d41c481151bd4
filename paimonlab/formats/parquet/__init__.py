"""Parquet data files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.formats.parquet.description import describe_parquet
    from paimonlab.formats.parquet.input import ParquetInput

__all__ = ["ParquetInput", "describe_parquet"]

__getattr__, __dir__ = attributes_on_use(
    __name__, ParquetInput="input", describe_parquet="description"
)
