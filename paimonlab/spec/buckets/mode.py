"""How rows of a table find their bucket.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.BucketMode``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

DYNAMIC = -1
POSTPONE = -2


class BucketMode(StrEnum):
    """What the option ``bucket`` means for a table."""

    HASH_FIXED = "hash-fixed"
    """A number of buckets; a function of the bucket key chooses."""
    HASH_DYNAMIC = "hash-dynamic"
    """Buckets are added as keys come; an index of key hashes knows the bucket of a key."""
    KEY_DYNAMIC = "key-dynamic"
    """The same, but a key may move to another partition: the keys themselves are looked up."""
    BUCKET_UNAWARE = "bucket-unaware"
    """An append table without buckets."""
    POSTPONE_MODE = "postpone-mode"
    """Rows wait in one folder until a compaction gives them their buckets."""


class KeyedTable(Protocol):
    """What `bucket_mode` has to know of a schema."""

    @property
    def primary_keys(self) -> tuple[str, ...]:
        """Names of the primary key columns."""

    @property
    def partition_keys(self) -> tuple[str, ...]:
        """Names of the partition columns."""


def bucket_mode(bucket: int, schema: KeyedTable) -> BucketMode:
    """Say what a value of the option ``bucket`` means.

    Parameters
    ----------
    bucket
        At least 1, -1 or -2.
    schema
        The table's schema.
    """
    if bucket == POSTPONE:
        return BucketMode.POSTPONE_MODE
    if bucket != DYNAMIC:
        return BucketMode.HASH_FIXED
    if not schema.primary_keys:
        return BucketMode.BUCKET_UNAWARE
    if set(schema.partition_keys) <= set(schema.primary_keys):
        return BucketMode.HASH_DYNAMIC
    return BucketMode.KEY_DYNAMIC
