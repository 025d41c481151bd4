"""Manifests and manifest lists of Iceberg as values.

Source: https://iceberg.apache.org/spec/#manifests and apache/paimon@1.4.2
``org.apache.paimon.iceberg.manifest``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum

import msgspec

from paimonlab.spec.iceberg.single_values import Plain, bounds_of, from_bytes, is_nan, to_bytes
from paimonlab.spec.types.data_types import AtomicType

Partition = tuple[Plain | None, ...]
"""The values of a partition, plain ones."""


class Status(IntEnum):
    """What an entry says of its file. The numbers are on disk: never renumber them."""

    EXISTING = 0
    ADDED = 1
    DELETED = 2


class Content(IntEnum):
    """What files, or the manifests of some, are. The numbers are on disk: never renumber them."""

    DATA = 0
    DELETES = 1


class IcebergFile(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One data file, or one deletion vector."""

    content: Content = Content.DATA
    path: str
    file_format: str
    partition: Partition
    record_count: int
    """Rows; of a deletion vector the rows it deletes."""
    size_bytes: int
    """Of the whole file, also of one with several deletion vectors."""
    null_counts: Mapping[int, int] | None = None
    """By field id."""
    lower_bounds: Mapping[int, bytes] | None = None
    """By field id."""
    upper_bounds: Mapping[int, bytes] | None = None
    """By field id."""
    data_file: str | None = None
    """Path of the file whose rows a deletion vector deletes."""
    content_offset: int | None = None
    """Where the vector begins in its file."""
    content_bytes: int | None = None
    first_row_id: int | None = None
    """Since version 3; None: it follows from the manifest's."""


class IcebergEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a manifest says of a file."""

    status: Status
    snapshot_id: int
    """Which one added the file, or deleted it."""
    sequence_number: int
    """When its rows were written."""
    file_sequence_number: int
    """When the file was added."""
    file: IcebergFile

    @property
    def is_live(self) -> bool:
        """Whether the file is part of the table."""
        return self.status is not Status.DELETED


class PartitionSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The values that a partition column has in a manifest."""

    has_null: bool
    has_nan: bool | None = None
    lower: bytes | None = None
    """None: there is no value but null and NaN."""
    upper: bytes | None = None


class IcebergManifest(msgspec.Struct, frozen=True, kw_only=True):
    """A manifest as a manifest list describes it."""

    path: str
    length_bytes: int
    spec_id: int = 0
    content: Content
    sequence_number: int
    min_sequence_number: int
    snapshot_id: int
    """Which one added it."""
    added_files: int
    existing_files: int
    deleted_files: int
    added_rows: int
    existing_rows: int
    deleted_rows: int
    partitions: tuple[PartitionSummary, ...] | None
    """One per partition column; None: unknown."""
    first_row_id: int | None = None
    """Since version 3; None for manifests of deletes."""

    @property
    def name(self) -> str:
        """Name of its file."""
        return self.path.rpartition("/")[2]


def describe(
    entries: Sequence[IcebergEntry],
    *,
    path: str,
    length_bytes: int,
    content: Content,
    sequence_number: int,
    types: Sequence[AtomicType],
) -> IcebergManifest:
    """Describe a manifest that was written.

    Parameters
    ----------
    entries
        All of them, at least one.
    path, length_bytes
        Its file.
    content
        What its files are.
    sequence_number
        Of the snapshot that adds it, which is its id as well.
    types
        Of the partition columns.
    """
    files = dict.fromkeys(Status, 0)
    rows = dict.fromkeys(Status, 0)
    for entry in entries:
        files[entry.status] += 1
        rows[entry.status] += entry.file.record_count
    columns = zip(*(entry.file.partition for entry in entries), strict=True)
    return IcebergManifest(
        path=path,
        length_bytes=length_bytes,
        content=content,
        sequence_number=sequence_number,
        min_sequence_number=min(entry.sequence_number for entry in entries),
        snapshot_id=sequence_number,
        added_files=files[Status.ADDED],
        existing_files=files[Status.EXISTING],
        deleted_files=files[Status.DELETED],
        added_rows=rows[Status.ADDED],
        existing_rows=rows[Status.EXISTING],
        deleted_rows=rows[Status.DELETED],
        partitions=tuple(
            _summary(values, data_type) for values, data_type in zip(columns, types, strict=True)
        )
        if types
        else (),
    )


def _summary(values: Sequence[Plain | None], data_type: AtomicType) -> PartitionSummary:
    bounds = bounds_of(values)
    return PartitionSummary(
        has_null=None in values,
        has_nan=any(map(is_nan, values)),
        lower=None if bounds is None else to_bytes(bounds[0], data_type),
        upper=None if bounds is None else to_bytes(bounds[1], data_type),
    )


def may_have(
    manifest: IcebergManifest, partitions: Sequence[Partition], types: Sequence[AtomicType]
) -> bool:
    """Whether files of one of the partitions may be in a manifest."""
    summaries = manifest.partitions
    if summaries is None or len(summaries) != len(types):
        return True
    ranges = [_range(summary, kind) for summary, kind in zip(summaries, types, strict=True)]
    return any(
        all(
            _is_within(value, summary, known)
            for value, summary, known in zip(partition, summaries, ranges, strict=True)
        )
        for partition in partitions
    )


def _range(summary: PartitionSummary, data_type: AtomicType) -> tuple[Plain, Plain] | None:
    if summary.lower is None or summary.upper is None:
        return None
    return from_bytes(summary.lower, data_type), from_bytes(summary.upper, data_type)


def _is_within(
    value: Plain | None, summary: PartitionSummary, known: tuple[Plain, Plain] | None
) -> bool:
    if value is None:
        return summary.has_null
    if is_nan(value):
        return summary.has_nan is not False
    return known is not None and known[0] <= value <= known[1]  # type: ignore[operator]
