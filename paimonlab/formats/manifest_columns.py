"""Records of manifests as Arrow columns, whatever format their file has.

Paimon before 2.1 could write manifests as ORC and Parquet (option ``manifest.format``); the
file says what it is by its first bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
from pyarrow import orc
from pyarrow import parquet as pq

from paimonlab.errors import CorruptMetadataError
from paimonlab.formats import avro_container

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
            # Checked where there are checksums: Java writes none, we write no such manifest.
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
