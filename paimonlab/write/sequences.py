"""The next sequence number of each bucket.

Numbers go on after the highest one among the live files of the bucket, or from 0 in an empty
bucket.
"""

from __future__ import annotations

import pyarrow as pa

from paimonlab.spec.buckets.key import BucketKey


class SequenceNumbers:
    """Hands out consecutive sequence numbers per partition and bucket.

    Parameters
    ----------
    known
        One row per bucket: ``partition`` (serialised BinaryRow), ``bucket``,
        ``max_sequence_number`` over its live files; None if there are no files.
    """

    def __init__(self, known: pa.Table | None) -> None:
        self._next: dict[BucketKey, int] = {}
        if known is not None:
            columns = ("partition", "bucket", "max_sequence_number")
            rows = zip(*(known.column(name).to_pylist() for name in columns), strict=True)
            self._next = {(partition, bucket): last + 1 for partition, bucket, last in rows}

    def take(self, partition: bytes, bucket: int, count: int) -> int:
        """Reserve ``count`` numbers and return the first."""
        first = self._next.get((partition, bucket), 0)
        self._next[partition, bucket] = first + count
        return first
