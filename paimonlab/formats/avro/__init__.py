"""Avro: data files, and the containers that manifests lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.formats.avro.description import describe_avro
    from paimonlab.formats.avro.input import AvroInput
    from paimonlab.formats.avro.records import read_columns

__all__ = ["AvroInput", "describe_avro", "read_columns"]

__getattr__, __dir__ = attributes_on_use(
    __name__, AvroInput="input", describe_avro="description", read_columns="records"
)
