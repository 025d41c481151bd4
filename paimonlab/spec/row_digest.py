"""A number that says whether two sets of rows are the same, whatever their order.

Murmur3 of each row as a BinaryRow, which has all bits of all values, mixed and added up. A row that
differs is overlooked once in four thousand million times: it finds mistakes, it is no signature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from paimonlab.spec.binary_row.rows import hash_codes
from paimonlab.spec.types.data_types import DataType

_MASK = 2**64 - 1
_GOLDEN, _FIRST, _SECOND = (
    np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


@dataclass(slots=True)
class RowDigest:
    """How many rows there were, and the sum of their hashes.

    Examples
    --------
    >>> from paimonlab.spec.types.text import parse_type
    >>> one, other = (RowDigest([parse_type("BIGINT")]) for _ in range(2))
    >>> one.add(pa.record_batch({"a": [1, 2]}))
    >>> other.add(pa.record_batch({"a": [2]}))
    >>> other.add(pa.record_batch({"a": [1]}))
    >>> one.rows, one == other
    (2, True)
    """

    types: Sequence[DataType] = field(compare=False)
    """Of the columns, in their order."""
    rows: int = 0
    total: int = 0
    """Unsigned, of 64 bits."""

    def add(self, batch: pa.RecordBatch) -> None:
        """Count the rows of a batch."""
        if not batch.num_rows:
            return
        # splitmix64, so that sums of neighbouring hashes have nothing to do with each other
        mixed = hash_codes(batch.columns, self.types).view(np.uint32).astype(np.uint64) + _GOLDEN
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
        mixed ^= mixed >> np.uint64(31)
        self.rows += batch.num_rows
        self.total = (self.total + int(mixed.sum(dtype=np.uint64))) & _MASK

    def unite(self, other: RowDigest) -> None:
        """Count the rows that another one has seen."""
        self.rows += other.rows
        self.total = (self.total + other.total) & _MASK
