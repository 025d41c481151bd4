"""``$file_indexes``: the indexes of single data files.

Source: the documentation of Paimon 2.1 and apache/paimon@5dacde5
``org.apache.paimon.table.system.FileIndexesTable``.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import CorruptDataError
from paimonlab.formats.file_index.container import DamagedIndexError, decode
from paimonlab.spec.external_paths import folder_of
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import LARGE_LIMIT_BYTES
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.system.files import files
from paimonlab.table.system.live import files_of

FILE_INDEXES = pa.schema(
    [
        pa.field("partition", pa.string()),
        pa.field("bucket", pa.int32(), nullable=False),
        pa.field("file_path", pa.string(), nullable=False),
        pa.field("file_size_in_bytes", pa.int64(), nullable=False),
        pa.field("record_count", pa.int64(), nullable=False),
        pa.field("schema_id", pa.int64(), nullable=False),
        pa.field("column_name", pa.string(), nullable=False),
        pa.field("index_type", pa.string(), nullable=False),
        pa.field("storage_type", pa.string(), nullable=False),
        pa.field("index_file_path", pa.string()),
        pa.field("index_size_in_bytes", pa.int64(), nullable=False),
        pa.field("index_container_size_in_bytes", pa.int64(), nullable=False),
        pa.field("is_empty", pa.bool_(), nullable=False),
    ]
)
_OF_FILE = FILE_INDEXES.names[: FILE_INDEXES.get_field_index("column_name")]
_SUFFIX = ".index"


class _Container(NamedTuple):
    """The indexes of one data file."""

    data: bytes
    path: str | None
    """None: they are in the manifest."""


def file_indexes(
    definition: TableDefinition, store: TableStore, snapshot: Snapshot | None
) -> pa.Table:
    """``$file_indexes``: one row an index of a column of a live file."""
    entries = files_of(store.manifests, snapshot)
    described = files(definition, store, snapshot).select(_OF_FILE)
    rows: list[int] = []
    index_rows: list[tuple[Any, ...]] = []
    for number, container in _containers(store, entries, described):
        path = described["file_path"][number].as_py()
        for index in _indexes(container, path, definition.name):
            rows.append(number)
            index_rows.append(index)
    own = list(FILE_INDEXES)[len(_OF_FILE) :]
    columns = zip(*index_rows, strict=True) if index_rows else ([] for _ in own)
    arrays = [
        arrow_array(list(column), field.type) for column, field in zip(columns, own, strict=True)
    ]
    whole = described.take(arrow_array(rows, pa.int64())).combine_chunks().columns
    return pa.Table.from_arrays([*whole, *arrays], schema=FILE_INDEXES)


def _containers(
    store: TableStore, entries: pa.Table, described: pa.Table
) -> Iterator[tuple[int, _Container]]:
    """Read the indexes of the files that have some, with the numbers of the files."""
    embedded = entries["embedded_file_index"].to_pylist()
    extras = entries["extra_files"].to_pylist()
    for number, (data, names) in enumerate(zip(embedded, extras, strict=True)):
        if data is not None:
            yield number, _Container(data, None)
            continue
        beside = [name for name in names or () if name.endswith(_SUFFIX)]
        if beside:
            folder = posixpath.dirname(described["file_path"][number].as_py())
            path = posixpath.join(folder, beside[0])
            yield number, _Container(_read(store, path), path)


def _read(store: TableStore, path: str) -> bytes:
    try:
        is_own = path.startswith(f"{store.layout.table_path}/")
        where = path if is_own else folder_of(path)
        return store.file_io.read(where, limit_bytes=LARGE_LIMIT_BYTES)
    except FileNotFoundError as error:
        raise CorruptDataError(path, "the index file is missing", store.name) from error


def _indexes(container: _Container, file: str, table: str) -> Iterator[tuple[Any, ...]]:
    try:
        indexes = decode(container.data)
    except DamagedIndexError as error:
        raise CorruptDataError(container.path or file, str(error), table) from error
    storage = "EMBEDDED" if container.path is None else "FILE"
    for column, kinds in indexes.items():
        for kind, data in kinds.items():
            size = 0 if data is None else len(data)
            row = (column, kind, storage, container.path, size, len(container.data), data is None)
            yield row
