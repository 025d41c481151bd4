"""What metadata says of one data file.

Source: apache/paimon@1.3.1 ``org.apache.paimon.io.DataFileMeta``, ``…stats.SimpleStats``.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec

EMPTY_ROW = bytes(12)
"""A serialised BinaryRow without fields."""


class FileSource(IntEnum):
    """How a data file came to be. The numbers are on disk: never renumber them."""

    APPEND = 0
    COMPACT = 1


class SimpleStats(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Minimum, maximum and null count of columns, in the order of a list of columns."""

    min_values: bytes = EMPTY_ROW
    """A serialised BinaryRow; a null field is unknown."""
    max_values: bytes = EMPTY_ROW
    """A serialised BinaryRow; a null field is unknown."""
    null_counts: tuple[int | None, ...] | None = ()
    """None as an element: unknown."""


EMPTY_STATS = SimpleStats()


class DataFileMeta(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One data file as a manifest entry describes it.

    Keys and statistics are serialised BinaryRows (`paimonlab.spec.binary_row.rows`). A plan
    leaves the statistics out (`EMPTY_STATS`): they have done their work by then.
    """

    file_name: str
    file_size_bytes: int
    row_count: int
    """Rows in the file, deletes included."""
    min_key: bytes = EMPTY_ROW
    """Smallest trimmed primary key; the empty row in append tables."""
    max_key: bytes = EMPTY_ROW
    key_stats: SimpleStats = EMPTY_STATS
    """Over all trimmed primary key columns."""
    value_stats: SimpleStats = EMPTY_STATS
    """Over ``value_stats_cols``, else ``write_cols``, else all columns of the file's schema."""
    min_sequence_number: int
    max_sequence_number: int
    schema_id: int
    """The schema the file was written with."""
    level: int = 0
    extra_files: tuple[str, ...] = ()
    creation_time_millis: int | None = None
    """Local wall clock of the writer, encoded as if it were UTC."""
    delete_row_count: int | None = None
    """Rows of kind -U and -D; None: unknown. 0 is a promise."""
    embedded_file_index: bytes | None = None
    file_source: int | None = None
    """A `FileSource`."""
    value_stats_cols: tuple[str, ...] | None = None
    """None: all columns; (): none of them."""
    external_path: str | None = None
    first_row_id: int | None = None
    write_cols: tuple[str, ...] | None = None
    """None: all columns."""
