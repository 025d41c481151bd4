"""How records lie in an Avro file: a head, then blocks.

Source: https://avro.apache.org/docs/1.12.0/specification/#object-container-files
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from msgspec import Struct

from paimonlab.formats.varints import varint_of

MAGIC = b"Obj\x01"
BLOCK_BYTES = 64 * 1024
"""Encoded records that fill a block."""
SYNC_BYTES = 16
"""Length of the marker after the head and after each block."""


class Block(Struct, frozen=True):
    """Some records of a container, decompressed."""

    record_count: int
    data: bytes


def container_pieces(
    schema: bytes,
    codec: bytes,
    blocks: Iterable[Block],
    sync: bytes,
    more: Mapping[str, bytes] = MappingProxyType({}),
) -> Iterator[bytes]:
    """Yield the pieces of a file: head, then blocks, whose data is compressed already."""
    yield head(schema, codec, more)
    yield from pieces_after_head(blocks, sync)


def head(schema: bytes, codec: bytes, more: Mapping[str, bytes]) -> bytes:
    """Return what stands in a file before the first sync marker."""
    header = {"avro.schema": schema, "avro.codec": codec, **more}
    pieces = [MAGIC, encoded_long(len(header))]
    for key, value in header.items():
        pieces += (encoded_long(len(key)), key.encode(), encoded_long(len(value)), value)
    return b"".join((*pieces, encoded_long(0)))


def pieces_after_head(blocks: Iterable[Block], sync: bytes) -> Iterator[bytes]:
    """Yield a sync marker, then blocks, each with another one."""
    yield sync
    for block in blocks:
        yield block_head(block)
        yield block.data
        yield sync


def block_head(block: Block) -> bytes:
    """Return what stands before the bytes of a block."""
    return encoded_long(block.record_count) + encoded_long(len(block.data))


def encoded_long(value: int) -> bytes:
    """Return a number as Avro has it."""
    return varint_of((value << 1) ^ (value >> 63))
