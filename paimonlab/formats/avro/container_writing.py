"""Records to Avro container files, of bounded blocks.

Source: https://avro.apache.org/docs/1.12.0/specification/#object-container-files
"""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import fastavro
import pyarrow as pa
import zstandard

from paimonlab.errors import UnsupportedError
from paimonlab.formats.avro.blocks import BLOCK_BYTES, Block, container_pieces
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
    with interrupts_held_back():  # fastavro makes a SystemError of one
        blocks = list(_encode(schema, records))
    return write_blocks(schema, blocks, compression=compression, checksum=checksum, about=about)


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
    compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=checksum)
    ways: dict[str, Callable[[bytes], bytes]]
    ways = {"zstd": compressor.compress, "snappy": _snappy, "null": bytes}
    compress = ways[compression]
    blocks = [Block(block.record_count, compress(block.data)) for block in blocks]
    text = json.dumps(schema, separators=(",", ":")).encode()
    codec = _CODECS[compression]
    sync = digest(text, codec, blocks)
    more = {**about, DIGEST_KEY: DIGEST_NAME}
    return b"".join(container_pieces(text, codec, blocks, sync, more))


def _snappy(data: bytes) -> bytes:
    compressed: bytes = pa.compress(data, "snappy", asbytes=True)
    return compressed + zlib.crc32(data).to_bytes(4, "big")


def _encode(schema: Any, records: Iterable[Mapping[str, Any]]) -> Iterator[Block]:
    parsed = fastavro.parse_schema(schema)
    buffer, count = io.BytesIO(), 0
    for record in records:
        fastavro.schemaless_writer(buffer, parsed, record, disable_tuple_notation=True)
        count += 1
        if buffer.tell() >= BLOCK_BYTES:
            yield Block(count, buffer.getvalue())
            buffer, count = io.BytesIO(), 0
    if count:
        yield Block(count, buffer.getvalue())
