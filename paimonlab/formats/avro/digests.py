"""Sync markers of container files that are digests of what they hold."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from paimonlab.formats.avro.blocks import SYNC_BYTES, Block, encoded_long
from paimonlab.interrupts import whole_module

if TYPE_CHECKING:
    import hashlib

DIGEST_KEY = "paimonlab.sync"
DIGEST_NAME = b"blake2b"
"""Key and value of a header whose sync marker is a digest of all else."""


def digest(schema: bytes, codec: bytes, blocks: Iterable[Block]) -> bytes:
    """Return a sync marker that tells damage: a digest of schema, codec and blocks."""
    hasher = _begun(schema, codec).copy()
    for block in blocks:
        hasher.update(encoded_long(block.record_count) + encoded_long(len(block.data)))
        hasher.update(block.data)
    return hasher.digest()


@lru_cache(maxsize=16)
def _begun(schema: bytes, codec: bytes) -> hashlib.blake2b:
    """Take schema and codec into account, which are those of many files."""
    hasher: hashlib.blake2b = whole_module("hashlib").blake2b(digest_size=SYNC_BYTES)
    for part in (schema, codec):
        hasher.update(encoded_long(len(part)) + part)
    return hasher
