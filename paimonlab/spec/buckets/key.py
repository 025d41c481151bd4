"""Which bucket is meant, among those of all partitions of a table."""

from __future__ import annotations

from typing import TypeAlias

BucketKey: TypeAlias = tuple[bytes, int]
"""Partition, as a serialised BinaryRow, and bucket."""
