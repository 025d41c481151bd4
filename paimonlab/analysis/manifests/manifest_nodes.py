"""The manifests of a snapshot as a tree: lists, manifests, entries, and the index files."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class EntrySums(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The data files of some entries together."""

    files: int
    rows: int
    """Before merging."""
    bytes: int | None
    """None: hidden."""


class EntryNode(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An entry: what it does with a data file, and what is known of the file."""

    change: str
    """``ADD`` or ``DELETE``."""
    file: str
    partition: str
    """``dt=2026-01-01``; "" in a table without partitions."""
    bucket: int
    level: int
    rows: int
    bytes: int | None
    min_key: str | None
    """None in a table without primary key."""
    max_key: str | None
    low: tuple[str | None, ...]
    """The least value of each of the columns of the tree; None: unknown, or all are null."""
    high: tuple[str | None, ...]
    nulls: tuple[int | None, ...]


class ManifestNode(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A manifest, as its list and its entries describe it."""

    name: str
    bytes: int | None
    is_shared: bool
    """Whether the parent snapshot also has it."""
    schema_id: int
    min_partition: str | None
    max_partition: str | None
    added: EntrySums
    deleted: EntrySums
    entries: tuple[EntryNode, ...]
    """The first ones."""


class ManifestListNode(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One of the lists of manifests that a snapshot refers to."""

    role: str
    """``base``, ``delta`` or ``changelog``."""
    name: str
    bytes: int | None
    added: EntrySums
    deleted: EntrySums
    manifests: tuple[ManifestNode, ...]
    hidden_count: int
    """Manifests that are not shown."""


class VectorNode(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The deletion vector of a data file."""

    data_file: str
    bytes: int | None
    deleted_rows: int | None
    """None: written by Paimon 0.9 or older."""


class IndexFileNode(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An index file of a bucket."""

    name: str
    type: str
    """``HASH``, ``DELETION_VECTORS`` or the name of a global index."""
    partition: str
    bucket: int
    rows: int
    """Keys, or data files with a deletion vector."""
    bytes: int | None
    vectors: tuple[VectorNode, ...]
    hidden_count: int
    """Deletion vectors that are not shown."""


class IndexNode(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The index manifest of a snapshot."""

    name: str
    is_shared: bool
    file_count: int
    deleted_rows: int | None
    """Rows that deletion vectors hide; None if not all of them say."""
    files: tuple[IndexFileNode, ...]
    """The first ones."""


class ManifestTree(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="manifests", tag_field="kind"
):
    """All that a snapshot refers to."""

    table: str
    snapshot_id: int | None
    """None: the table has no snapshot yet, and the tree has no lists."""
    commit_kind: str
    parent_id: int | None
    """The snapshot before it, if it still exists."""
    shared_count: int
    """How many of the manifests of base and delta the parent also has."""
    manifest_count: int
    """Manifests of base and delta."""
    columns: tuple[str, ...]
    """Whose statistics entries have."""
    column_count: int
    """How many columns the table has."""
    entry_count: int
    shown_count: int
    """Entries that are part of this value."""
    lists: tuple[ManifestListNode, ...]
    index: IndexNode | None


def shares(counts: Sequence[int], most: int) -> list[int]:
    """Divide a number of places among groups: small ones get all they need.

    Parameters
    ----------
    counts
        What each group needs.
    most
        Places to divide.

    Examples
    --------
    >>> shares([2, 50, 7, 90], 20)
    [2, 6, 6, 6]
    """
    given = [0] * len(counts)
    open_groups = sorted(range(len(counts)), key=counts.__getitem__)
    while open_groups:
        group = open_groups.pop(0)
        given[group] = min(counts[group], most // (len(open_groups) + 1))
        most -= given[group]
    return given


def total(sums: Sequence[EntrySums]) -> EntrySums:
    """Add up sums."""
    return EntrySums(
        files=sum(part.files for part in sums),
        rows=sum(part.rows for part in sums),
        bytes=sum(part.bytes or 0 for part in sums),
    )


class _Names:
    """Names that are the same from run to run: ``data#1``."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str] = {}
        self._counts: dict[str, int] = {}

    def __call__(self, prefix: str, name: str) -> str:
        if (prefix, name) not in self._known:
            self._counts[prefix] = self._counts.get(prefix, 0) + 1
            self._known[prefix, name] = f"{prefix}#{self._counts[prefix]}"
        return self._known[prefix, name]


def repeatable_manifests(tree: ManifestTree) -> ManifestTree:
    """Leave out what differs from run to run: names are numbered, bytes are hidden."""
    names = _Names()
    replace = msgspec.structs.replace
    lists = tuple(_repeatable_list(node, names) for node in tree.lists)
    index = tree.index and replace(
        tree.index,
        name=names("index-manifest", tree.index.name),
        files=tuple(_repeatable_index(node, names) for node in tree.index.files),
    )
    return replace(tree, lists=lists, index=index)


def _repeatable_list(node: ManifestListNode, names: _Names) -> ManifestListNode:
    return msgspec.structs.replace(
        node,
        name=names("list", node.name),
        bytes=None,
        added=_without_bytes(node.added),
        deleted=_without_bytes(node.deleted),
        manifests=tuple(_repeatable_manifest(manifest, names) for manifest in node.manifests),
    )


def _repeatable_manifest(node: ManifestNode, names: _Names) -> ManifestNode:
    entries = tuple(
        msgspec.structs.replace(entry, file=names("data", entry.file), bytes=None)
        for entry in node.entries
    )
    return msgspec.structs.replace(
        node,
        name=names("m", node.name),
        bytes=None,
        added=_without_bytes(node.added),
        deleted=_without_bytes(node.deleted),
        entries=entries,
    )


def _repeatable_index(node: IndexFileNode, names: _Names) -> IndexFileNode:
    vectors = tuple(
        msgspec.structs.replace(vector, data_file=names("data", vector.data_file), bytes=None)
        for vector in node.vectors
    )
    return msgspec.structs.replace(
        node, name=names("index", node.name), bytes=None, vectors=vectors
    )


def _without_bytes(sums: EntrySums) -> EntrySums:
    return msgspec.structs.replace(sums, bytes=None)
