"""Statistics of a table: the JSON document that ANALYZE leaves.

Source: apache/paimon@1.3.1 ``org.apache.paimon.stats.Statistics``, ``…stats.ColStats``.
"""

from __future__ import annotations

from typing import Self

import msgspec

from paimonlab.errors import CorruptMetadataError
from paimonlab.spec.decoding import ready


class ColumnStatistics(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True
):
    """What is known of one column; None: unknown."""

    id: int = msgspec.field(name="colId")
    """Field id of the column."""
    distinct_count: int | None = None
    min: str | None = None
    """As text."""
    max: str | None = None
    """As text."""
    null_count: int | None = None
    average_length: int | None = msgspec.field(default=None, name="avgLen")
    """Bytes."""
    max_length: int | None = msgspec.field(default=None, name="maxLen")
    """Bytes."""


class Statistics(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Statistics of the rows of a snapshot, merged."""

    snapshot_id: int
    """The snapshot whose rows were looked at."""
    schema_id: int
    merged_record_count: int | None = None
    merged_record_size: int | None = None
    """Bytes."""
    columns: dict[str, ColumnStatistics] = msgspec.field(name="colStats")

    def to_json(self) -> bytes:
        """Encode as the bytes of a statistics file."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2)

    @classmethod
    def from_json(cls, data: bytes, *, path: str, referrer: str = "") -> Self:
        """Decode the bytes of a statistics file; unknown fields are ignored.

        Raises
        ------
        CorruptMetadataError
            If a field is missing or has the wrong type. ``path`` and ``referrer`` are only for
            the message.
        """
        try:
            return msgspec.json.decode(data, type=ready(cls))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CorruptMetadataError(path, str(error), referrer) from error
