"""Records of manifests as Arrow columns, whatever format their file has.

Paimon before 2.1 could write manifests as ORC and Parquet (option ``manifest.format``); the
file says what it is by its first bytes. Java reads what the option says, so all are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

from paimonlab.formats import avro, manifests
from paimonlab.formats.avro import container as avro_container

_OTHER_FORMATS = (b"PAR1", b"ORC")


def is_avro(data: bytes) -> bool:
    """Whether a file is to be read as Avro: what is nothing else is, and says what is wrong."""
    return not data.startswith(_OTHER_FORMATS)


def read_table(data: bytes, *, path: str) -> pa.Table:
    """Read all records of a manifest of any format; see `avro_container.read_table`."""
    if is_avro(data):
        return avro_container.read_table(data, path=path)
    return manifests.read_other(data, path=path)


def read_together(
    files: Sequence[tuple[str, bytes]], convert: Callable[[pa.Table, str], pa.Table]
) -> tuple[pa.Table, list[int]]:
    """Read one or more manifests of any format; see `avro_container.read_together`."""
    if all(is_avro(data) for _, data in files):
        return avro_container.read_together(files, convert)
    tables = [convert(read_table(data, path=path), path) for path, data in files]
    return pa.concat_tables(tables), [table.num_rows for table in tables]


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
        return avro.write_records(record, rows, compression=compression, checksum=checksum)
    return manifests.write_other(
        record, rows, file_format=file_format, compression=compression, checksum=checksum
    )
