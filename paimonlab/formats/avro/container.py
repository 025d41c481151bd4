"""Avro object container files: a header, then blocks of records, compressed one by one.

Reading takes a file apart, decompresses its blocks and lets polars turn many records, or fastavro
few, into Arrow columns; writing puts blocks of encoded records together.

In files written here the marker between blocks is a digest of all that matters in the
file, and the header says so: damage is found wherever it is. Other readers need not know.

Source: https://avro.apache.org/docs/1.12.0/specification/#object-container-files
"""

from __future__ import annotations

import json
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa
import zstandard
from msgspec import Struct

from paimonlab.errors import CorruptMetadataError, MemoryLimitError, UnsupportedError
from paimonlab.formats import avro
from paimonlab.formats.avro.blocks import MAGIC, SYNC_BYTES, Block
from paimonlab.formats.avro.digests import DIGEST_KEY, DIGEST_NAME, digest
from paimonlab.interrupts import whole_module

_LONG_BYTES = 10
"""Of a number at most."""
FEW = 64
"""Up to as many records are decoded as fast one by one, even where polars is imported."""
_SMALL_BYTES = 1 << 20
"""Up to as much is believed to be what a frame says it will be."""
MAX_DECODED_BYTES = 1 << 30
"""More than this in one file is not believed to be metadata."""


class _Cursor:
    """A position inside the bytes of a container."""

    def __init__(self, data: bytes | memoryview, path: str) -> None:
        self._data = data
        self._path = path
        self.position = 0

    @property
    def path(self) -> str:
        return self._path

    def at_end(self) -> bool:
        return self.position == len(self._data)

    def take(self, count: int) -> bytes:
        end = self.position + count
        if count < 0 or end > len(self._data):
            raise self.damaged(f"{count} bytes asked for, the file has {len(self._data)}")
        taken = bytes(self._data[self.position : end])
        self.position = end
        return taken

    def take_long(self) -> int:
        """Read a number: zigzag, seven bits a byte."""
        value = 0
        encoded = self._data[self.position : self.position + _LONG_BYTES]
        for number, byte in enumerate(encoded):
            value |= (byte & 0x7F) << (7 * number)
            if byte < 0x80:
                self.position += number + 1
                return (value >> 1) ^ -(value & 1)
        if len(encoded) < _LONG_BYTES:
            raise self.damaged(f"a number is cut: the file has {len(self._data)} bytes")
        raise self.damaged("a number does not end")

    def take_bytes(self) -> bytes:
        return self.take(self.take_long())

    def damaged(self, problem: str) -> CorruptMetadataError:
        return CorruptMetadataError(
            self._path, f"damaged Avro file at byte {self.position}: {problem}"
        )


class Container(Struct, frozen=True):
    """A file taken apart."""

    schema: bytes
    blocks: tuple[Block, ...]
    path: str

    @property
    def record_count(self) -> int:
        """How many records it says it has."""
        return sum(block.record_count for block in self.blocks)


def read_table(data: bytes, *, path: str) -> pa.Table:
    """Read all records of a container as Arrow columns.

    Parameters
    ----------
    data
        The whole file.
    path
        Only for messages.

    Returns
    -------
    pyarrow.Table
        One column a field of the record; records are structs, nullable unions are nulls.

    Raises
    ------
    CorruptMetadataError
        If the file is cut or damaged.
    UnsupportedError
        If the file is of another format or compressed with a codec that is not known.
    """
    return _records([open_container(data, path)])


def read_together(
    files: Sequence[tuple[str, bytes]], convert: Callable[[pa.Table, str], pa.Table]
) -> tuple[pa.Table, list[int]]:
    """Read one or more containers, as `read_table` does, at a fraction of its price per file.

    Parameters
    ----------
    files
        Path and bytes of each.
    convert
        Applied once to all records of one schema, keeping their number and order; the second
        argument is the path of one of the files, for messages.

    Returns
    -------
    tuple
        All records in the order of the files, and how many each file has.
    """
    containers = [open_container(data, path) for path, data in files]
    by_schema: dict[bytes, list[Container]] = {}
    for container in containers:
        by_schema.setdefault(container.schema, []).append(container)
    rest = {schema: convert(_records(alike), alike[0].path) for schema, alike in by_schema.items()}
    pieces = []
    for schema, run in groupby(containers, key=lambda container: container.schema):
        count = sum(container.record_count for container in run)
        pieces.append(rest[schema].slice(0, count))
        rest[schema] = rest[schema].slice(count)
    return pa.concat_tables(pieces), [container.record_count for container in containers]


def read_records(data: bytes, *, path: str) -> list[dict[str, Any]]:
    """Read all records of a container as dicts by field name.

    Cheaper than columns for a few hundred records. Parameters and errors are those of
    `read_table`.
    """
    container = open_container(data, path)
    return avro.records_of(container.schema, container.blocks, path)


class Head(Struct, frozen=True):
    """What a file begins with."""

    schema: bytes
    codec: bytes
    sync: bytes
    """The marker after every block."""
    end: int
    """Where the first block begins."""


def read_head(data: bytes | memoryview, path: str) -> Head:
    """Read what a file begins with.

    Raises
    ------
    CorruptMetadataError
        If it is not an Avro file or damaged.
    """
    cursor = _Cursor(data, path)
    header = _read_header(cursor, path)
    sync = cursor.take(SYNC_BYTES)
    codec = header.get("avro.codec", b"null")
    return Head(header["avro.schema"], codec, sync, cursor.position)


def open_container(data: bytes, path: str) -> Container:
    """Take a file apart, and decompress its blocks; errors are those of `read_table`."""
    cursor = _Cursor(data, path)
    header = _known_header(data, cursor)
    if header is None:
        header = _read_header(cursor, path)
        _HEADERS.append((data[: cursor.position], header))
    sync = cursor.take(SYNC_BYTES)
    compressed = list(_read_blocks(cursor, sync))
    codec = header.get("avro.codec", b"null")
    if header.get(DIGEST_KEY) == DIGEST_NAME and sync != digest(
        header["avro.schema"], codec, compressed
    ):
        raise CorruptMetadataError(path, "damaged Avro file: its checksum does not match")
    blocks = tuple(_decompressed(compressed, decompressor(codec, path), cursor))
    return Container(header["avro.schema"], blocks, path)


def _records(containers: Sequence[Container]) -> pa.Table:
    """Read containers of one schema one after the other."""
    path = containers[0].path
    blocks = [block for container in containers for block in container.blocks]
    expected_rows = sum(block.record_count for block in blocks)
    schema, is_wrapped = _record_schema(containers[0].schema, path)
    if expected_rows <= FEW and (few := avro.columns_of(schema, blocks, path)) is not None:
        return _unwrap(few) if is_wrapped else few
    try:
        table = avro.read_apart(schema, [container.blocks for container in containers], path)
    except ValueError as error:
        _blame_one(containers)
        raise CorruptMetadataError(path, f"damaged Avro records: {error}") from error
    return _unwrap(table) if is_wrapped else table


def _blame_one(containers: Sequence[Container]) -> None:
    """Find the damaged one of several by reading each alone."""
    if len(containers) > 1:
        for container in containers:
            _records([container])


def _record_schema(text: bytes, path: str) -> tuple[bytes, bool]:
    """Make sure that the schema is a record, as polars wants it.

    Some writers declare a union of null and the record. A record with one field is encoded
    as the field itself, so the union can be read as such a field.
    """
    try:
        schema = json.loads(text)
    except ValueError as error:
        raise CorruptMetadataError(path, f"the Avro schema is not JSON: {error}") from error
    if not isinstance(schema, list):
        return text, False
    field = {"name": _WRAPPED, "type": schema}
    return json.dumps({"type": "record", "name": _WRAPPED, "fields": [field]}).encode(), True


_WRAPPED = "wrapped"


def _unwrap(table: pa.Table) -> pa.Table:
    column = table.column(_WRAPPED)
    return pa.table(column.flatten(), names=[field.name for field in column.type])


_HEADERS: deque[tuple[bytes, dict[str, bytes]]] = deque(maxlen=4)
"""What the files read last begin with, up to their marker: others of their kind begin alike."""


def _known_header(data: bytes, cursor: _Cursor) -> dict[str, bytes] | None:
    for begin, header in tuple(_HEADERS):
        if data.startswith(begin):
            cursor.position = len(begin)
            return header
    return None


def _read_header(cursor: _Cursor, path: str) -> dict[str, bytes]:
    magic = cursor.take(len(MAGIC))
    if magic != MAGIC:
        raise CorruptMetadataError(path, "this is not an Avro file")
    header: dict[str, bytes] = {}
    while (count := cursor.take_long()) != 0:
        if count < 0:
            cursor.take_long()  # the size of the block, which is of no use here
        for _ in range(abs(count)):
            key = cursor.take_bytes().decode(errors="replace")
            header[key] = cursor.take_bytes()
    if "avro.schema" not in header:
        raise cursor.damaged("the header has no schema")
    return header


def _read_blocks(cursor: _Cursor, sync: bytes) -> Iterator[Block]:
    while not cursor.at_end():
        block = Block(cursor.take_long(), cursor.take_bytes())
        if cursor.take(SYNC_BYTES) != sync:
            raise cursor.damaged("a block does not end with the marker of the file")
        yield block


def _decompressed(
    blocks: Iterable[Block], decompress: Callable[[bytes], bytes], cursor: _Cursor
) -> Iterator[Block]:
    decoded_bytes = 0
    for block in blocks:
        try:
            data = decompress(block.data)
        except DECOMPRESS_ERRORS as error:
            raise cursor.damaged(f"a block does not decompress: {error}") from error
        except MemoryError as error:
            raise MemoryLimitError(cursor.path, str(error)) from error
        decoded_bytes += len(data)
        if decoded_bytes > MAX_DECODED_BYTES:
            raise cursor.damaged(f"more than {MAX_DECODED_BYTES} bytes of records")
        # Every record of a manifest takes more than one byte; a larger count is damage, and so is
        # none where there are bytes.
        if not bool(data) <= block.record_count <= len(data):
            raise cursor.damaged(f"{block.record_count} records in {len(data)} bytes")
        yield Block(block.record_count, data)


DECOMPRESS_ERRORS = (zstandard.ZstdError, zlib.error, OSError, ValueError)
"""What is raised for a damaged block."""


def decompressor(codec: bytes, path: str) -> Callable[[bytes], bytes]:
    """Return what takes the compression off a block; it raises `DECOMPRESS_ERRORS`.

    Raises
    ------
    UnsupportedError
        If the codec is not known.
    """
    name = codec.decode(errors="replace")
    if name not in _DECOMPRESSORS:
        raise UnsupportedError(f"Avro codec {name!r}", f"{path} is compressed with it")
    return _DECOMPRESSORS[name]


_OF_THREAD = threading.local()
"""What may be used again, but not by two threads at once."""


def _plain(data: bytes) -> bytes:
    return data


def _inflate(data: bytes) -> bytes:
    return _whole(zlib.decompressobj(-15), data)


def _unbzip2(data: bytes) -> bytes:
    return _whole(whole_module("bz2").BZ2Decompressor(), data)


def _unxz(data: bytes) -> bytes:
    lzma = whole_module("lzma")
    try:
        return _whole(lzma.LZMADecompressor(), data)
    except lzma.LZMAError as error:
        raise ValueError(str(error)) from error


def _whole(decompressor: Any, data: bytes) -> bytes:
    """Take the compression off, up to a size that is believed."""
    plain = bytes(decompressor.decompress(data, MAX_DECODED_BYTES))
    if not decompressor.eof:
        raise ValueError("the compressed data is truncated or too large")
    return plain


def _unzstd(data: bytes) -> bytes:
    if 0 < zstandard.frame_content_size(data) <= _SMALL_BYTES:
        # To make one takes ten times as long as what few records take.
        if not hasattr(_OF_THREAD, "unzstd"):
            _OF_THREAD.unzstd = zstandard.ZstdDecompressor().decompress
        return bytes(_OF_THREAD.unzstd(data, allow_extra_data=False))
    pieces, size = [], 0
    for piece in zstandard.ZstdDecompressor().read_to_iter(data):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_DECODED_BYTES:
            raise ValueError(f"more than {MAX_DECODED_BYTES} bytes")
    return b"".join(pieces)


def _unsnappy(data: bytes) -> bytes:
    body, checksum = data[:-4], int.from_bytes(data[-4:], "big")
    size = shift = 0
    for byte in body[:5]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            break
    if size > MAX_DECODED_BYTES:
        raise ValueError(f"more than {MAX_DECODED_BYTES} bytes")
    plain = pa.Codec("snappy").decompress(body, size, asbytes=True)
    if zlib.crc32(plain) != checksum:
        raise ValueError("the checksum does not match")
    return plain


_DECOMPRESSORS: Mapping[str, Callable[[bytes], bytes]] = {
    "null": _plain,
    "deflate": _inflate,
    "zstandard": _unzstd,
    "snappy": _unsnappy,
    "bzip2": _unbzip2,
    "xz": _unxz,
}
