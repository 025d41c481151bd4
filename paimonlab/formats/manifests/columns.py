"""Records of manifests as Arrow columns, whatever format their file has.

Paimon before 2.1 could write manifests as ORC and Parquet (option ``manifest.format``); the
file says what it is by its first bytes. Java reads what the option says, so all are written.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import orc
from pyarrow import parquet as pq

from paimonlab.errors import CorruptMetadataError
from paimonlab.formats.avro import container as avro_container
from paimonlab.formats.avro.container_writing import write_records

_PARQUET = b"PAR1"
_ORC = b"ORC"


def is_avro(data: bytes) -> bool:
    """Whether a file is to be read as Avro: what is nothing else is, and says what is wrong."""
    return not data.startswith((_PARQUET, _ORC))


def read_table(data: bytes, *, path: str) -> pa.Table:
    """Read all records of a manifest of any format; see `avro_container.read_table`."""
    if is_avro(data):
        return avro_container.read_table(data, path=path)
    source = pa.BufferReader(data)
    try:
        if data.startswith(_PARQUET):
            # Checked where there are checksums: Java writes none.
            return pq.read_table(source, page_checksum_verification=True)
        return orc.read_table(source)
    except (pa.ArrowException, OSError) as error:
        raise CorruptMetadataError(path, f"damaged manifest: {error}") from error


def read_tables(
    files: Sequence[tuple[str, bytes]], convert: Callable[[pa.Table, str], pa.Table]
) -> list[pa.Table]:
    """Read many manifests of any format; see `avro_container.read_tables`."""
    if all(is_avro(data) for _, data in files):
        return avro_container.read_tables(files, convert)
    return [convert(read_table(data, path=path), path) for path, data in files]


def write_rows(
    record: dict[str, Any],
    rows: Iterable[dict[str, Any]],
    *,
    file_format: str,
    compression: str,
    checksum: bool,
) -> bytes:
    """Encode a manifest in any format.

    Parameters
    ----------
    record
        Avro's type of the rows.
    rows
        Their fields by name.
    file_format
        ``manifest.format``: ``avro``, ``orc`` or ``parquet``.
    compression
        ``manifest.compression``: ``zstd`` or ``null``.
    checksum
        Whether what is compressed carries a checksum, where the format has one.
    """
    if file_format == "avro":
        return write_records(record, rows, compression=compression, checksum=checksum)
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
