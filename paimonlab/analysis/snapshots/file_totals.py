"""How many files, rows and bytes a snapshot has, and how many its commit added and deleted.

A manifest never changes, so its sums are computed once, however many snapshots share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import null_filled, numpy_values
from paimonlab.spec.manifests.manifest import FileKind, ManifestFileMeta
from paimonlab.spec.snapshot import CommitKind


class Sums(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Some files together."""

    file_count: int = 0
    row_count: int = 0
    """Rows in the files, before merging."""
    file_bytes: int = 0


class FileTotals(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the manifests of a snapshot say about its data files, those of waiting rows included."""

    manifest_count: int
    """Manifests of the base and of the delta."""
    file_count: int
    """Live files."""
    added_file_count: int
    deleted_file_count: int
    file_bytes: int | None = None
    """Of the live files; None if not all manifests were read."""
    added: Sums | None = None
    """What the commit added; None if its manifests were not read."""
    deleted: Sums | None = None
    delete_row_count: int | None = None
    """Rows of kind -U and -D in the files that it added."""


class ManifestSums(NamedTuple):
    """What the entries of a manifest add, and what they delete."""

    added: Sums
    deleted: Sums
    delete_row_count: int
    """Rows of kind -U and -D in the files that are added."""


class ChangedRows(NamedTuple):
    """What a commit did to rows, as far as its manifests say it."""

    written: int
    """Inserted or updated; 0 of a compaction, which writes no new rows."""
    deleted: int
    """Rows of kind -U and -D, and those of files that were deleted."""


def changed_rows(kind: CommitKind, sums: ManifestSums) -> ChangedRows:
    """Say what a commit did to rows.

    A row of kind -D is a row of a file that was added, and it counts among those of
    ``deltaRecordCount``: five deletes of a primary-key table are five rows more in its files.

    Parameters
    ----------
    kind
        That of the commit.
    sums
        Of its own entries.
    """
    if kind is CommitKind.COMPACT:
        return ChangedRows(0, 0)
    deletes = sums.delete_row_count
    return ChangedRows(sums.added.row_count - deletes, sums.deleted.row_count + deletes)


def changed_rows_of(kind: CommitKind, totals: FileTotals | None) -> ChangedRows | None:
    """Say what a commit did to rows; None if its manifests were not read."""
    if totals is None or totals.added is None or totals.deleted is None:
        return None
    return changed_rows(
        kind, ManifestSums(totals.added, totals.deleted, totals.delete_row_count or 0)
    )


def manifest_sums(tables: Sequence[pa.Table]) -> list[ManifestSums]:
    """Add up the entries of each of n manifests.

    Parameters
    ----------
    tables
        n tables of `ENTRY_SCHEMA`.
    """
    names = ["kind", "row_count", "file_size_bytes", "delete_row_count"]
    narrow = [table.select(names) for table in tables]
    if not narrow:
        return []
    entries = pa.concat_tables(narrow)
    lengths = [table.num_rows for table in narrow]
    is_deleted = numpy_values(entries["kind"]) == int(FileKind.DELETE)
    slot = 2 * np.repeat(np.arange(len(narrow)), lengths) + is_deleted
    size = 2 * len(narrow)
    files = np.bincount(slot, minlength=size)
    rows, file_bytes, deletes = (np.zeros(size, np.int64) for _ in range(3))
    np.add.at(rows, slot, numpy_values(entries["row_count"]))
    np.add.at(file_bytes, slot, numpy_values(entries["file_size_bytes"]))
    np.add.at(deletes, slot, numpy_values(null_filled(entries["delete_row_count"], 0)))
    sums = [
        Sums(file_count=count, row_count=row_count, file_bytes=size)
        for count, row_count, size in zip(
            files.tolist(), rows.tolist(), file_bytes.tolist(), strict=True
        )
    ]
    parts = zip(sums[::2], sums[1::2], deletes[::2].tolist(), strict=True)
    return [ManifestSums(*part) for part in parts]


def file_totals(
    base: Sequence[ManifestFileMeta],
    delta: Sequence[ManifestFileMeta],
    sums: Mapping[str, ManifestSums],
    *,
    newer: FileTotals | None = None,
) -> FileTotals:
    """Add up what the manifests of one snapshot say.

    Parameters
    ----------
    base, delta
        The manifests of its two lists.
    sums
        By the names of the manifests; those that are missing were not read.
    newer
        What the next snapshot has: without its changes, it is what this one has.

    Notes
    -----
    A file that is added by one manifest and deleted by another counts in neither: the additions
    less the deletions are the live files.
    """
    metas = (*base, *delta)
    own = _together(delta, sums)
    return FileTotals(
        manifest_count=len(metas),
        file_count=sum(meta.num_added_files - meta.num_deleted_files for meta in metas),
        added_file_count=sum(meta.num_added_files for meta in delta),
        deleted_file_count=sum(meta.num_deleted_files for meta in delta),
        file_bytes=_live_bytes(metas, sums, newer),
        added=own and own.added,
        deleted=own and own.deleted,
        delete_row_count=own and own.delete_row_count,
    )


def _live_bytes(
    metas: Iterable[ManifestFileMeta],
    sums: Mapping[str, ManifestSums],
    newer: FileTotals | None,
) -> int | None:
    everything = _together(metas, sums)
    if everything is not None:
        return everything.added.file_bytes - everything.deleted.file_bytes
    if newer is None or newer.file_bytes is None or newer.added is None or newer.deleted is None:
        return None
    return newer.file_bytes - newer.added.file_bytes + newer.deleted.file_bytes


def _together(
    metas: Iterable[ManifestFileMeta], sums: Mapping[str, ManifestSums]
) -> ManifestSums | None:
    names = [meta.file_name for meta in metas]
    if any(name not in sums for name in names):
        return None
    return together([sums[name] for name in names])


def together(parts: Sequence[ManifestSums]) -> ManifestSums:
    """Add up what several manifests add and delete."""
    return ManifestSums(
        add([part.added for part in parts]),
        add([part.deleted for part in parts]),
        sum(part.delete_row_count for part in parts),
    )


def add(parts: Iterable[Sums]) -> Sums:
    """Add up sums."""
    sums = list(parts)
    return Sums(
        file_count=sum(part.file_count for part in sums),
        row_count=sum(part.row_count for part in sums),
        file_bytes=sum(part.file_bytes for part in sums),
    )
