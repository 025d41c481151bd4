"""An Avro data file -> Arrow batches.

Blocks are decompressed and given to polars a run at a time, under a schema of the same bytes
that has no logical types and no maps; what these mean is put back column by column.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from paimonlab.errors import CorruptDataError, CorruptMetadataError, MemoryLimitError
from paimonlab.formats import avro
from paimonlab.formats.avro.blocks import MAGIC, SYNC_BYTES, Block
from paimonlab.formats.avro.container import DECOMPRESS_ERRORS, decompressor, read_head
from paimonlab.formats.avro.schema import FileSchema
from paimonlab.formats.avro.values import AvroColumns
from paimonlab.formats.row_group import RowGroup
from paimonlab.formats.whole_groups import WholeGroups
from paimonlab.spec.predicates.predicate import ColumnStats
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import FileIO

_GROUP_ROWS = 1 << 17
_GROUP_BYTES = 16 << 20
"""Rows, and bytes as they are stored, that are decoded in one go."""
_WRAPPED = "wrapped"


@dataclass(frozen=True, slots=True)
class _StoredBlock:
    record_count: int
    start: int
    end: int


class AvroInput(WholeGroups):
    """An open file. Use it as a context manager.

    Every block's count and length is checked when the file is opened; the bytes of a block
    have a checksum in the codecs zstandard, snappy and xz only, as their writers chose.
    """

    def __init__(self, file_io: FileIO, path: str) -> None:
        self.path = path
        with file_io.open_input(path) as file:
            self._data = memoryview(file.read_buffer()).cast("B")
        if self._data[: len(MAGIC)] != MAGIC:
            raise CorruptDataError(path, "this is not an Avro file")
        with _damage_named(path):
            head = read_head(self._data, path)
            self._schema = FileSchema(_parsed(head.schema), path)
            self._is_wrapped = isinstance(_parsed(head.schema), list)
            self._decompress = decompressor(head.codec, path)
            self._codec = head.codec.decode(errors="replace")
            self._members = self._schema.members(self._schema.record)
            self._plain = self._plain_schema()
            groups = list(_grouped(_blocks(self._data, head.end, head.sync, path)))
        self._blocks = [blocks for _, blocks in groups]
        self.row_groups = tuple(group for group, _ in groups)
        """All runs of blocks, in file order."""

    @property
    def size_bytes(self) -> int:
        """Size of the file."""
        return len(self._data)

    def close(self) -> None:
        """Let go of the file."""
        self._data = memoryview(b"")

    @property
    def column_names(self) -> frozenset[str]:
        """Names of the columns."""
        return frozenset(self._members)

    def group_stats(self, fields: Sequence[DataField]) -> dict[str, ColumnStats]:  # noqa: ARG002
        """Return nothing: Avro files have no statistics."""
        return {}

    def group_columns(self, index: int, fields: Sequence[DataField]) -> Iterator[list[pa.Array]]:
        """Decode columns of a run of blocks."""
        columns = AvroColumns(self._schema, self.path)
        table = self._decoded(index, [field.name for field in fields])
        yield [columns.convert(_one(table.column(field.name)), field) for field in fields]

    def _plain_schema(self) -> bytes:
        plain = self._schema.plain()
        if self._is_wrapped:
            # Some writers declare a union of null and the record: the same bytes as a record
            # with one such field.
            members = [{"name": _WRAPPED, "type": ["null", plain]}]
            plain = {"type": "record", "name": _WRAPPED, "fields": members}
        return json.dumps(plain).encode()

    def _decoded(self, index: int, names: Sequence[str]) -> pa.Table:
        expected = self.row_groups[index].row_count
        blocks = [self._block(stored) for stored in self._blocks[index]]
        wanted = [_WRAPPED] if self._is_wrapped else list(dict.fromkeys(names))
        try:
            table = avro.read_columns(self._plain, blocks, wanted)
        except ValueError as error:
            raise CorruptDataError(self.path, f"damaged Avro records: {error}") from error
        if table.num_rows != expected:
            problem = f"{expected:,} Avro records announced, {table.num_rows:,} found"
            raise CorruptDataError(self.path, problem)
        if self._is_wrapped:
            rows = table.column(_WRAPPED)
            if rows.null_count:
                raise CorruptDataError(self.path, "a record is null")
            table = pa.table(rows.flatten(), names=[field.name for field in rows.type])
        return table

    def _block(self, stored: _StoredBlock) -> Block:
        compressed = bytes(self._data[stored.start : stored.end])
        try:
            data = self._decompress(compressed)
        except MemoryError as error:
            raise MemoryLimitError(self.path, str(error)) from error
        except DECOMPRESS_ERRORS as error:
            problem = f"the block at byte {stored.start} does not decompress ({self._codec})"
            raise CorruptDataError(self.path, f"{problem}: {error}") from error
        return Block(stored.record_count, data)


def _one(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"the Avro schema is not JSON: {error}") from error


def _blocks(data: memoryview, start: int, sync: bytes, path: str) -> Iterator[_StoredBlock]:
    """Find the blocks of a file, looking at their heads and ends only."""
    position, size = start, len(data)
    while position < size:
        count, position = _long(data, position, path)
        length, position = _long(data, position, path)
        end = position + length
        if count < 0 or length < 0 or end + SYNC_BYTES > size:
            problem = f"damaged Avro file: a block at byte {position} has {length} bytes"
            raise CorruptDataError(path, problem)
        if data[end : end + SYNC_BYTES] != sync:
            problem = f"damaged Avro file: the block at byte {position} has no end"
            raise CorruptDataError(path, problem)
        yield _StoredBlock(count, position, end)
        position = end + SYNC_BYTES


def _long(data: memoryview, position: int, path: str) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return (value >> 1) ^ -(value & 1), position
    raise CorruptDataError(path, f"damaged Avro file: no number at byte {position}")


def _grouped(
    blocks: Iterator[_StoredBlock],
) -> Iterator[tuple[RowGroup, list[_StoredBlock]]]:
    """Put blocks together that are decoded in one go."""
    first_row = index = 0
    gathered: list[_StoredBlock] = []
    rows = size = 0
    for block in blocks:
        gathered.append(block)
        rows += block.record_count
        size += block.end - block.start
        if rows >= _GROUP_ROWS or size >= _GROUP_BYTES:
            yield RowGroup(index, first_row, rows, size), gathered
            index, first_row = index + 1, first_row + rows
            gathered, rows, size = [], 0, 0
    if gathered:
        yield RowGroup(index, first_row, rows, size), gathered


@contextmanager
def _damage_named(path: str) -> Iterator[None]:
    """Turn what is said of a damaged file into an error of a data file."""
    try:
        yield
    except CorruptMetadataError as error:
        raise CorruptDataError(error.path, error.problem) from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CorruptDataError(path, f"cannot be read as Avro: {error!r}") from error
