"""The tree of a snapshot's manifests, made of what was read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.analysis.manifests.manifest_nodes import (
    EntryNode,
    EntrySums,
    IndexFileNode,
    IndexNode,
    ManifestListNode,
    ManifestNode,
    ManifestTree,
    VectorNode,
    shares,
    total,
)
from paimonlab.spec.manifests.index_manifest import DELETION_VECTORS, IndexManifestEntry
from paimonlab.spec.manifests.manifest import FileKind, ManifestFileMeta, is_kind
from paimonlab.spec.snapshot import Snapshot

MOST_MANIFESTS = 300
"""Manifests of one list that are shown."""
MOST_INDEX_FILES = 200
MOST_VECTORS = 400
"""Of all index files together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadList:
    """A manifest list and all that it leads to."""

    role: str
    """``base``, ``delta`` or ``changelog``."""
    name: str
    size_bytes: int | None
    metas: Sequence[ManifestFileMeta]
    entries: Sequence[pa.Table]
    """Of `ENTRY_SCHEMA`, one for each manifest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """How rows of bytes become texts."""

    entries: Callable[[pa.Table], Sequence[EntryNode]]
    partition: Callable[[Sequence[bytes]], Sequence[str | None]]
    columns: Sequence[str]
    """Whose statistics are shown."""
    column_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """What the previous snapshot refers to."""

    id: int
    manifests: Collection[str]
    """Names in its base and its delta."""
    index_manifest: str | None


def manifest_tree(
    table: str,
    snapshot: Snapshot | None,
    lists: Sequence[ReadList],
    index: Sequence[IndexManifestEntry],
    *,
    parent: Parent | None,
    writing: Writing,
    most: int,
) -> ManifestTree:
    """Lay out what a snapshot refers to.

    Parameters
    ----------
    table
        Name of the table.
    snapshot
        The snapshot; None: nothing was written yet.
    lists
        Base, delta and, if there is one, changelog.
    index
        All entries of its index manifest.
    parent
        The snapshot before it; None if it no longer exists.
    writing
        How values are written.
    most
        Entries that become part of the tree, those of the delta first, then of the changelog,
        then of the base; the manifests of a list share them.

    Raises
    ------
    ValueError
        If ``most`` is negative.
    """
    if most < 0:
        raise ValueError(f"entries must be 0 or more, got {most}")
    known = frozenset() if parent is None else frozenset(parent.manifests)
    left, nodes = most, {}
    for part in sorted(lists, key=lambda part: ("delta", "changelog", "base").index(part.role)):
        nodes[part.role] = _list(part, known, writing, left)
        left -= sum(len(manifest.entries) for manifest in nodes[part.role].manifests)
    names = [meta.file_name for part in lists if part.role != "changelog" for meta in part.metas]
    return ManifestTree(
        table=table,
        snapshot_id=None if snapshot is None else snapshot.id,
        commit_kind="" if snapshot is None else snapshot.commit_kind.value,
        parent_id=None if parent is None else parent.id,
        shared_count=sum(name in known for name in names),
        manifest_count=len(names),
        columns=tuple(writing.columns),
        column_count=writing.column_count,
        entry_count=sum(entries.num_rows for part in lists for entries in part.entries),
        shown_count=most - left,
        lists=tuple(nodes[part.role] for part in lists),
        index=None if snapshot is None else _index(snapshot, index, parent, writing),
    )


def _list(part: ReadList, known: Collection[str], writing: Writing, most: int) -> ManifestListNode:
    sums = [entry_sums(entries) for entries in part.entries]
    shown = part.metas[:MOST_MANIFESTS]
    counts = shares([entries.num_rows for entries in part.entries[: len(shown)]], most)
    shown_entries = [
        entries.slice(0, count) for entries, count in zip(part.entries, counts, strict=False)
    ]
    # One call for all texts: each call has a fixed cost.
    written = iter(writing.entries(pa.concat_tables(shown_entries)) if any(counts) else ())
    lows = writing.partition([meta.partition_stats.min_values for meta in shown])
    highs = writing.partition([meta.partition_stats.max_values for meta in shown])
    manifests = [
        ManifestNode(
            name=meta.file_name,
            bytes=meta.file_size_bytes,
            is_shared=meta.file_name in known,
            schema_id=meta.schema_id,
            min_partition=low,
            max_partition=high,
            added=added,
            deleted=deleted,
            entries=tuple(next(written) for _ in range(count)),
        )
        for meta, (added, deleted), count, low, high in zip(
            shown, sums[: len(shown)], counts, lows, highs, strict=True
        )
    ]
    return ManifestListNode(
        role=part.role,
        name=part.name,
        bytes=part.size_bytes,
        added=total([added for added, _ in sums]),
        deleted=total([deleted for _, deleted in sums]),
        manifests=tuple(manifests),
        hidden_count=len(part.metas) - len(manifests),
    )


def entry_sums(entries: pa.Table) -> tuple[EntrySums, EntrySums]:
    """Add up what entries (`ENTRY_SCHEMA`) add and what they delete."""
    is_added = is_kind(entries, FileKind.ADD)
    numbers = entries.select(["row_count", "file_size_bytes"])
    return _sums(numbers.filter(is_added)), _sums(numbers.filter(pc.invert(is_added)))


def _sums(files: pa.Table) -> EntrySums:
    return EntrySums(
        files=files.num_rows,
        rows=pc.sum(files["row_count"]).as_py() or 0,
        bytes=pc.sum(files["file_size_bytes"]).as_py() or 0,
    )


def _index(
    snapshot: Snapshot,
    entries: Sequence[IndexManifestEntry],
    parent: Parent | None,
    writing: Writing,
) -> IndexNode | None:
    if snapshot.index_manifest is None:
        return None
    shown = entries[:MOST_INDEX_FILES]
    counts = shares([len(entry.deletion_vectors or ()) for entry in shown], MOST_VECTORS)
    partitions = writing.partition([entry.partition for entry in shown])
    vectors = [
        vector.cardinality
        for entry in entries
        if entry.index_type == DELETION_VECTORS
        for vector in entry.deletion_vectors or ()
    ]
    return IndexNode(
        name=snapshot.index_manifest,
        is_shared=parent is not None and parent.index_manifest == snapshot.index_manifest,
        file_count=len(entries),
        deleted_rows=None if None in vectors else sum(count or 0 for count in vectors),
        files=tuple(
            _index_file(entry, partition or "", count)
            for entry, partition, count in zip(shown, partitions, counts, strict=True)
        ),
    )


def _index_file(entry: IndexManifestEntry, partition: str, count: int) -> IndexFileNode:
    vectors = entry.deletion_vectors or ()
    return IndexFileNode(
        name=entry.file_name,
        type=entry.index_type,
        partition=partition,
        bucket=entry.bucket,
        rows=entry.row_count,
        bytes=entry.file_size_bytes,
        vectors=tuple(
            VectorNode(
                data_file=vector.data_file_name,
                bytes=vector.length_bytes,
                deleted_rows=vector.cardinality,
            )
            for vector in vectors[:count]
        ),
        hidden_count=len(vectors) - count,
    )


def find_entries(
    lists: Sequence[ReadList], most: int, is_wanted: Callable[[pa.Table], pa.Array]
) -> tuple[pa.Table, int]:
    """Find entries in all manifests.

    Parameters
    ----------
    lists
        All that a snapshot leads to.
    most
        How many are returned.
    is_wanted
        A boolean for each row of a table of `ENTRY_SCHEMA`.

    Returns
    -------
    entries
        At most ``most``, of `ENTRY_SCHEMA`.
    count
        How many there are.
    """
    matches, count = [], 0
    for part in lists:
        for entries in part.entries:
            chosen = entries.filter(is_wanted(entries))
            matches.append(chosen.slice(0, max(most - count, 0)))
            count += chosen.num_rows
    return pa.concat_tables(matches), count
