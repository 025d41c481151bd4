"""Manifests that Paimon before 2.1 wrote as ORC and Parquet."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from pyarrow import orc
from pyarrow import parquet as pq

from paimonlab.errors import CorruptMetadataError

_PARQUET = b"PAR1"


def read_other(data: bytes, *, path: str) -> pa.Table:
    """Read all records of a manifest that is ORC or Parquet, as its first bytes say.

    Raises
    ------
    CorruptMetadataError
        If it is damaged.
    """
    source = pa.BufferReader(data)
    try:
        if data.startswith(_PARQUET):
            # Checked where there are checksums: Java writes none.
            return pq.read_table(source, page_checksum_verification=True)
        return orc.read_table(source)
    except (pa.ArrowException, OSError) as error:
        raise CorruptMetadataError(path, f"damaged manifest: {error}") from error


def write_other(
    record: dict[str, Any],
    rows: Iterable[dict[str, Any]],
    *,
    file_format: str,
    compression: str,
    checksum: bool,
) -> bytes:
    """Encode a manifest as ORC or Parquet; see `columns.write_rows`."""
    table = pa.Table.from_pylist(list(rows), schema=pa.schema(_arrow_type(record)))
    sink = io.BytesIO()
    is_plain = compression == "null"
    if file_format == "orc":
        orc.write_table(table, sink, compression="uncompressed" if is_plain else "zstd")
    else:
        pq.write_table(
            table,
            sink,
            compression="none" if is_plain else "zstd",
            write_page_checksum=checksum,
            store_schema=False,
        )
    return sink.getvalue()


_ARROW_TYPES = {
    "int": pa.int32(),
    "long": pa.int64(),
    "bytes": pa.binary(),
    "string": pa.string(),
    "timestamp-millis": pa.timestamp("ms"),
}
_TINY = ("_KIND", "_FILE_SOURCE")
"""Fields of Java's TINYINT, for which Avro has no type."""


def _arrow_type(avro: Any) -> pa.DataType:
    if isinstance(avro, str):
        return _ARROW_TYPES[avro]
    if avro["type"] == "record":
        return pa.struct([_arrow_field(field["name"], field["type"]) for field in avro["fields"]])
    if avro["type"] == "array":
        return pa.list_(_arrow_field("element", avro["items"]))
    return _ARROW_TYPES[avro["logicalType"]]


def _arrow_field(name: str, avro: Any) -> pa.Field:
    is_nullable = isinstance(avro, list)
    type_ = _arrow_type(avro[1] if is_nullable else avro)
    return pa.field(name, pa.int8() if name in _TINY else type_, nullable=is_nullable)
