"""How many files, rows and bytes a snapshot has, and how many its commit added and deleted.

A manifest never changes, so its sums are computed once, however many snapshots share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import numpy_values
from paimonlab.spec.manifests.manifest import FileKind, ManifestFileMeta


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


ManifestSums = tuple[Sums, Sums]
"""What the entries of a manifest add, and what they delete."""


def manifest_sums(tables: Sequence[pa.Table]) -> list[ManifestSums]:
    """Add up the entries of each of n manifests.

    Parameters
    ----------
    tables
        n tables of `ENTRY_SCHEMA`.
    """
    narrow = [table.select(["kind", "row_count", "file_size_bytes"]) for table in tables]
    if not narrow:
        return []
    entries = pa.concat_tables(narrow)
    lengths = [table.num_rows for table in narrow]
    is_deleted = numpy_values(entries["kind"]) == int(FileKind.DELETE)
    slot = 2 * np.repeat(np.arange(len(narrow)), lengths) + is_deleted
    size = 2 * len(narrow)
    files = np.bincount(slot, minlength=size)
    rows, file_bytes = np.zeros(size, np.int64), np.zeros(size, np.int64)
    np.add.at(rows, slot, numpy_values(entries["row_count"]))
    np.add.at(file_bytes, slot, numpy_values(entries["file_size_bytes"]))
    sums = [
        Sums(file_count=count, row_count=row_count, file_bytes=size)
        for count, row_count, size in zip(
            files.tolist(), rows.tolist(), file_bytes.tolist(), strict=True
        )
    ]
    return list(zip(sums[::2], sums[1::2], strict=True))


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
    added, deleted = _together(delta, sums) or (None, None)
    return FileTotals(
        manifest_count=len(metas),
        file_count=sum(meta.num_added_files - meta.num_deleted_files for meta in metas),
        added_file_count=sum(meta.num_added_files for meta in delta),
        deleted_file_count=sum(meta.num_deleted_files for meta in delta),
        file_bytes=_live_bytes(metas, sums, newer),
        added=added,
        deleted=deleted,
    )


def _live_bytes(
    metas: Iterable[ManifestFileMeta],
    sums: Mapping[str, ManifestSums],
    newer: FileTotals | None,
) -> int | None:
    everything = _together(metas, sums)
    if everything is not None:
        return everything[0].file_bytes - everything[1].file_bytes
    if newer is None or newer.file_bytes is None or newer.added is None or newer.deleted is None:
        return None
    return newer.file_bytes - newer.added.file_bytes + newer.deleted.file_bytes


def _together(
    metas: Iterable[ManifestFileMeta], sums: Mapping[str, ManifestSums]
) -> ManifestSums | None:
    names = [meta.file_name for meta in metas]
    if any(name not in sums for name in names):
        return None
    return add([sums[name][0] for name in names]), add([sums[name][1] for name in names])


def add(parts: Iterable[Sums]) -> Sums:
    """Add up sums."""
    sums = list(parts)
    return Sums(
        file_count=sum(part.file_count for part in sums),
        row_count=sum(part.row_count for part in sums),
        file_bytes=sum(part.file_bytes for part in sums),
    )
