"""Avro: data files, and the containers that manifests lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.formats.avro.container_writing import (
        encoded_records,
        write_blocks,
        write_encoded,
        write_records,
    )
    from paimonlab.formats.avro.description import describe_avro
    from paimonlab.formats.avro.few_records import columns_of, records_after, records_of
    from paimonlab.formats.avro.input import AvroInput
    from paimonlab.formats.avro.marked import read_apart
    from paimonlab.formats.avro.records import read_columns
    from paimonlab.formats.avro.schema import record_schema
    from paimonlab.formats.avro.writer import AvroWriter, compressor

__all__ = [
    "AvroInput",
    "AvroWriter",
    "columns_of",
    "compressor",
    "describe_avro",
    "encoded_records",
    "read_apart",
    "read_columns",
    "record_schema",
    "records_after",
    "records_of",
    "write_blocks",
    "write_encoded",
    "write_records",
]

__getattr__, __dir__ = attributes_on_use(
    __name__,
    AvroInput="input",
    AvroWriter="writer",
    columns_of="few_records",
    compressor="writer",
    describe_avro="description",
    encoded_records="container_writing",
    read_apart="marked",
    read_columns="records",
    record_schema="schema",
    records_after="few_records",
    records_of="few_records",
    write_blocks="container_writing",
    write_encoded="container_writing",
    write_records="container_writing",
)
