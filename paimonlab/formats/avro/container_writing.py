"""Records to Avro container files, of bounded blocks.

Source: https://avro.apache.org/docs/1.12.0/specification/#object-container-files
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import fastavro
import zstandard

from paimonlab.errors import UnsupportedError
from paimonlab.formats.avro.blocks import BLOCK_BYTES, Block, container_pieces
from paimonlab.formats.avro.digests import DIGEST_KEY, DIGEST_NAME, digest
from paimonlab.interrupts import interrupts_held_back

ZSTD_LEVEL = 1
_CODECS = {"zstd": b"zstandard", "null": b"null"}


def write_records(
    schema: Any,
    records: Iterable[Mapping[str, Any]],
    *,
    compression: str = "zstd",
    checksum: bool = True,
) -> bytes:
    """Encode records as a container.

    Parameters
    ----------
    schema
        The Avro schema of a record.
    records
        Values by field name.
    compression
        ``zstd`` or ``null``.
    checksum
        Whether zstd frames end with a checksum (4 bytes per block), so that damage is found.

    Returns
    -------
    bytes
        The same bytes for the same records.

    Raises
    ------
    UnsupportedError
        If ``compression`` is neither.
    """
    with interrupts_held_back():  # fastavro makes a SystemError of one
        blocks = list(_encode(schema, records))
    return write_blocks(schema, blocks, compression=compression, checksum=checksum)


def write_blocks(
    schema: Any, blocks: Iterable[Block], *, compression: str, checksum: bool
) -> bytes:
    """Make a container of encoded records that are not compressed yet; see `write_records`."""
    if compression not in _CODECS:
        raise UnsupportedError(f"compression of manifests {compression!r}", "use zstd or null")
    compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=checksum)
    compress = compressor.compress if compression == "zstd" else bytes
    blocks = [Block(block.record_count, compress(block.data)) for block in blocks]
    text = json.dumps(schema, separators=(",", ":")).encode()
    codec = _CODECS[compression]
    sync = digest(text, codec, blocks)
    return b"".join(container_pieces(text, codec, blocks, sync, {DIGEST_KEY: DIGEST_NAME}))


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
