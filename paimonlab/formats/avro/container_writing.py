"""Records to Avro container files, of bounded blocks.

Source: https://avro.apache.org/docs/1.12.0/specification/#object-container-files
"""

from __future__ import annotations

import io
import json
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import fastavro
import pyarrow as pa
import zstandard

from paimonlab.errors import UnsupportedError
from paimonlab.formats.avro.blocks import BLOCK_BYTES, Block, head, pieces_after_head
from paimonlab.formats.avro.digests import DIGEST_KEY, DIGEST_NAME, digest
from paimonlab.interrupts import interrupts_held_back

ZSTD_LEVEL = 1
_CODECS = {"zstd": b"zstandard", "snappy": b"snappy", "null": b"null"}
_NOTHING: Mapping[str, bytes] = MappingProxyType({})


def write_records(
    schema: Any,
    records: Iterable[Mapping[str, Any]],
    *,
    compression: str = "zstd",
    checksum: bool = True,
    about: Mapping[str, bytes] = _NOTHING,
) -> bytes:
    """Encode records as a container.

    Parameters
    ----------
    schema
        The Avro schema of a record.
    records
        Values by field name.
    compression
        ``zstd``, ``snappy`` or ``null``.
    checksum
        Whether zstd frames end with a checksum (4 bytes per block), so that damage is found.
    about
        What else the head of the file says.

    Returns
    -------
    bytes
        The same bytes for the same records.

    Raises
    ------
    UnsupportedError
        If ``compression`` is none of them.
    """
    blocks = _in_blocks(encoded_records(schema, records))
    return write_blocks(schema, blocks, compression=compression, checksum=checksum, about=about)


def encoded_records(schema: Any, records: Iterable[Mapping[str, Any]]) -> list[bytes]:
    """Encode records, each by itself; parameters are those of `write_records`."""
    parsed = _known(schema).parsed
    encoded = list[bytes]()
    with interrupts_held_back():  # fastavro makes a SystemError of one
        for record in records:
            buffer = io.BytesIO()
            fastavro.schemaless_writer(buffer, parsed, record, disable_tuple_notation=True)
            encoded.append(buffer.getvalue())
    return encoded


def write_encoded(
    schema: Any, records: Iterable[bytes], *, compression: str, checksum: bool
) -> bytes:
    """Make a container of what `encoded_records` returns; see `write_records`."""
    return write_blocks(schema, _in_blocks(records), compression=compression, checksum=checksum)


def write_blocks(
    schema: Any,
    blocks: Iterable[Block],
    *,
    compression: str,
    checksum: bool,
    about: Mapping[str, bytes] = _NOTHING,
) -> bytes:
    """Make a container of encoded records that are not compressed yet; see `write_records`."""
    if compression not in _CODECS:
        raise UnsupportedError(
            f"compression of manifests {compression!r}", "use zstd, snappy or null"
        )
    ways: dict[str, Callable[[bytes], bytes]]
    zstd = _compressors.of(checksum=checksum).compress
    ways = {"zstd": zstd, "snappy": _snappy, "null": bytes}
    compress = ways[compression]
    blocks = [Block(block.record_count, compress(block.data)) for block in blocks]
    text, codec = _known(schema).text, _CODECS[compression]
    sync = digest(text, codec, blocks)
    more = (*about.items(), (DIGEST_KEY, DIGEST_NAME))
    return b"".join((_head(text, codec, more), *pieces_after_head(blocks, sync)))


def _snappy(data: bytes) -> bytes:
    compressed: bytes = pa.compress(data, "snappy", asbytes=True)
    return compressed + zlib.crc32(data).to_bytes(4, "big")


class _Compressors(threading.local):
    """Compressors of a thread, made once: two threads must not use one at a time."""

    def __init__(self) -> None:
        self._made = dict[bool, zstandard.ZstdCompressor]()

    def of(self, *, checksum: bool) -> zstandard.ZstdCompressor:
        """Return one whose frames end with a checksum, or do not."""
        if checksum not in self._made:
            made = zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=checksum)
            self._made[checksum] = made
        return self._made[checksum]


_compressors = _Compressors()


@lru_cache(maxsize=16)
def _head(schema: bytes, codec: bytes, more: tuple[tuple[str, bytes], ...]) -> bytes:
    return head(schema, codec, dict(more))


def _in_blocks(records: Iterable[bytes]) -> Iterator[Block]:
    pieces, size = list[bytes](), 0
    for record in records:
        pieces.append(record)
        size += len(record)
        if size >= BLOCK_BYTES:
            yield Block(len(pieces), b"".join(pieces))
            pieces, size = [], 0
    if pieces:
        yield Block(len(pieces), b"".join(pieces))


class _Schema(NamedTuple):
    """What is made of the schema of a record."""

    given: Any
    """Kept, so that no other object gets its ``id``."""
    text: bytes
    parsed: Any


_SCHEMAS = dict[int, _Schema]()
"""Those of manifests, by the ``id`` of the schema: it never changes."""
_MOST_SCHEMAS = 64


def _known(schema: Any) -> _Schema:
    known = _SCHEMAS.get(id(schema))
    if known is None:
        text = json.dumps(schema, separators=(",", ":")).encode()
        known = _Schema(schema, text, fastavro.parse_schema(schema))
        if len(_SCHEMAS) >= _MOST_SCHEMAS:
            _SCHEMAS.clear()
        _SCHEMAS[id(schema)] = known
    return known
