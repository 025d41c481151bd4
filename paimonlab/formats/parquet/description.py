"""What a Parquet file says of itself: row groups, columns, pages and their checksums."""

from __future__ import annotations

import zlib
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from paimonlab.errors import CorruptDataError
from paimonlab.formats.description import (
    MOST_CHECKED_BYTES,
    ColumnChunk,
    FileDescription,
    FilePart,
    Pages,
    bound_text,
    short,
)
from paimonlab.formats.parquet.damage import damage_named
from paimonlab.formats.parquet.thrift_compact import DamagedThriftError, decode
from paimonlab.storage import FileIO

_HEADER_BYTES = 1 << 16
"""Of a page that are read to find its size: headers hold statistics, cut to some bytes."""
_STORED_SIZE, _CHECKSUM = 3, 4  # fields of PageHeader


def describe_parquet(file_io: FileIO, path: str, size_bytes: int | None = None) -> FileDescription:
    """Read the footer and the head of each page."""
    with file_io.open_input(path, size_bytes=size_bytes) as file, damage_named(path):
        meta = pq.read_metadata(file)
        size = file.size()
        first, parts = 0, []
        for index in range(meta.num_row_groups):
            group = meta.row_group(index)
            columns = tuple(
                _chunk(group.column(at), meta.schema.column(at), file, path, size)
                for at in range(group.num_columns)
            )
            stored = sum(column.stored_bytes or 0 for column in columns)
            parts.append(
                FilePart(
                    first_row=first, row_count=group.num_rows, stored_bytes=stored, columns=columns
                )
            )
            first += group.num_rows
    properties = {
        name.decode(errors="replace"): short(value.decode(errors="replace"))
        for name, value in (meta.metadata or {}).items()
    }
    return FileDescription(
        format="parquet",
        version=str(meta.format_version),
        written_by=short(str(meta.created_by or "")),
        size_bytes=size,
        row_count=meta.num_rows,
        parts=tuple(parts),
        properties=properties,
    )


def _chunk(chunk: Any, column: Any, file: pa.NativeFile, path: str, size: int) -> ColumnChunk:
    stats = chunk.statistics
    low = high = None
    if stats is not None and stats.has_min_max:
        low, high = _bounds(stats)
    logical = str(column.logical_type)
    return ColumnChunk(
        name=chunk.path_in_schema,
        type_text=chunk.physical_type + ("" if logical == "None" else f" {logical}"),
        encodings=tuple(chunk.encodings),
        compression=chunk.compression,
        stored_bytes=chunk.total_compressed_size,
        plain_bytes=chunk.total_uncompressed_size,
        low=low,
        high=high,
        null_count=stats.null_count if stats is not None and stats.has_null_count else None,
        pages=_pages(chunk, file, path, is_checked=size <= MOST_CHECKED_BYTES),
    )


def _bounds(stats: Any) -> tuple[str | None, str | None]:
    try:
        return bound_text(stats.min), bound_text(stats.max)
    except (ValueError, OverflowError, pa.ArrowException):
        return bound_text(stats.min_raw), bound_text(stats.max_raw)  # Python has no such value


def _pages(chunk: Any, file: pa.NativeFile, path: str, *, is_checked: bool) -> Pages:
    """Walk over the pages of a column chunk."""
    position = chunk.data_page_offset
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        position = min(position, chunk.dictionary_page_offset)
    end = position + chunk.total_compressed_size
    count = checksums = wrong = 0
    while position < end:
        header = decode(file.read_at(min(_HEADER_BYTES, end - position), position))
        stored = header.get(_STORED_SIZE)
        if not isinstance(stored, int) or stored < 0 or position + header.end + stored > end:
            raise CorruptDataError(path, f"the page at byte {position:,} ends where it cannot")
        count += 1
        checksum = header.get(_CHECKSUM)
        if checksum is not None:
            checksums += 1
            if is_checked:
                data = file.read_at(stored, position + header.end)
                wrong += zlib.crc32(data) != checksum & 0xFFFFFFFF
        position += header.end + stored
    if not count and chunk.num_values:
        raise DamagedThriftError(f"column {chunk.path_in_schema} has no pages")
    return Pages(count=count, checksum_count=checksums, wrong_count=wrong if is_checked else None)
