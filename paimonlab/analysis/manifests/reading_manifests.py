"""Read what a snapshot refers to: manifest lists, manifests, entries, index files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.analysis.manifests.manifest_nodes import EntryNode, ManifestTree
from paimonlab.analysis.manifests.manifest_tree import (
    Parent,
    ReadList,
    Writing,
    find_entries,
    manifest_tree,
)
from paimonlab.arrow_values import arrow_array
from paimonlab.errors import SnapshotExpiredError, SnapshotNotFoundError
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.scan.live_files import (
    changelog_manifests_of,
    delta_manifests_of,
    index_files_of,
    manifests_of,
    read_entries,
)
from paimonlab.scan.statistics import column_stats
from paimonlab.spec.manifests.manifest import FileKind
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.data_types import AtomicType
from paimonlab.table.definition import TableDefinition
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.store import TableStore
from paimonlab.table.table import Table
from paimonlab.table.texts import key_text, names_of_partitions, value_texts

DEFAULT_ENTRIES = 500
MOST_COLUMNS = 8
"""Columns whose statistics are shown."""
MOST_FOUND = 200
_MOST_CHARACTERS = 80


def manifest_tree_of(
    table: Table, *, snapshot: int | None = None, entries: int = DEFAULT_ENTRIES
) -> ManifestTree:
    """Read the manifests of a snapshot into a tree.

    Parameters
    ----------
    table
        The table.
    snapshot
        Its id; None: the latest.
    entries
        How many entries become part of the tree; all are counted.

    Returns
    -------
    ManifestTree
        Without lists if nothing was written yet.

    Raises
    ------
    SnapshotNotFoundError
        If there is no such snapshot.
    """
    shown = table.snapshot if snapshot is None else table.snapshots.get(snapshot)
    definition, store = definition_of(table), store_of(table)
    writing = writing_of(definition, store.schemas)
    if shown is None:
        return manifest_tree(table.name, None, (), (), parent=None, writing=writing, most=entries)
    return manifest_tree(
        table.name,
        shown,
        _lists(store.manifests, shown),
        index_files_of(shown, store.manifests),
        parent=_parent(store, shown),
        writing=writing,
        most=entries,
    )


def entries_of(
    table: Table,
    snapshot: int,
    name: str,
    *,
    partition: str | None = None,
    bucket: int | None = None,
) -> tuple[Sequence[EntryNode], int]:
    """Find the entries of some data files of a snapshot.

    Parameters
    ----------
    table
        The table.
    snapshot
        Its id.
    name
        A part of the names of the files.
    partition
        As entries show it; None: all partitions.
    bucket
        Its number; None: all buckets.

    Returns
    -------
    sequence of EntryNode
        The first `MOST_FOUND`.
    int
        How many there are.
    """
    lists = _lists(store_of(table).manifests, table.snapshots.get(snapshot))
    writing = writing_of(definition_of(table), store_of(table).schemas)
    is_wanted = _wanted(name, partition, bucket, writing)
    entries, count = find_entries(lists, MOST_FOUND, is_wanted)
    return writing.entries(entries), count


def _lists(manifests: ManifestStore, snapshot: Snapshot) -> list[ReadList]:
    delta = delta_manifests_of(snapshot, manifests)
    everything = manifests_of(snapshot, manifests)
    parts = [
        (
            "base",
            snapshot.base_manifest_list,
            snapshot.base_manifest_list_size,
            everything[: len(everything) - len(delta)],
        ),
        ("delta", snapshot.delta_manifest_list, snapshot.delta_manifest_list_size, delta),
    ]
    if snapshot.changelog_manifest_list is not None:
        changelog = changelog_manifests_of(snapshot, manifests)
        size = snapshot.changelog_manifest_list_size
        parts.append(("changelog", snapshot.changelog_manifest_list, size, changelog))
    return [
        ReadList(
            role=role,
            name=name,
            size_bytes=size,
            metas=metas,
            entries=read_entries(snapshot, metas, manifests),
        )
        for role, name, size, metas in parts
    ]


def _parent(store: TableStore, snapshot: Snapshot) -> Parent | None:
    try:
        parent = store.snapshots.get(snapshot.id - 1)
        metas = manifests_of(parent, store.manifests)
    except (SnapshotNotFoundError, SnapshotExpiredError):
        return None
    return Parent(
        id=parent.id,
        manifests={meta.file_name for meta in metas},
        index_manifest=parent.index_manifest,
    )


def writing_of(definition: TableDefinition, schemas: SchemaManager) -> Writing:
    """Return how rows of bytes of a table become texts, as its system tables write them."""
    schema = definition.schema
    fields = [field for field in schema.fields if isinstance(field.type, AtomicType)]
    names = [field.name for field in fields[:MOST_COLUMNS]]

    def partition(rows: Sequence[bytes]) -> list[str | None]:
        return _cut(names_of_partitions(arrow_array(rows, pa.large_binary()), schema))

    def entries(table: pa.Table) -> list[EntryNode]:
        return _nodes(definition, schemas, table.combine_chunks(), names)

    return Writing(
        entries=entries, partition=partition, columns=names, column_count=len(schema.fields)
    )


def _nodes(
    definition: TableDefinition, schemas: SchemaManager, table: pa.Table, names: Sequence[str]
) -> list[EntryNode]:
    schema = definition.schema
    key_fields = [schema.field(name) for name in schema.trimmed_primary_keys]
    stats = column_stats(table, "value_stats", names, schema, schemas)
    texts = {
        name: (
            _short(value_texts(stats[name].min, schema.field(name).type)),
            _short(value_texts(stats[name].max, schema.field(name).type)),
            stats[name].null_count.to_pylist(),
        )
        for name in names
    }
    nothing: list[tuple[Any, ...]] = [()] * table.num_rows
    low, high, nulls = (
        list(zip(*(bounds[part] for bounds in texts.values()), strict=True)) or nothing
        for part in range(3)
    )
    partitions = _cut(names_of_partitions(_array(table, "partition"), schema))
    columns = zip(
        [FileKind(kind).name for kind in table["kind"].to_pylist()],
        table["file_name"].to_pylist(),
        partitions,
        *(table[name].to_pylist() for name in ("bucket", "level", "row_count", "file_size_bytes")),
        _short(key_text(_array(table, "min_key"), key_fields)),
        _short(key_text(_array(table, "max_key"), key_fields)),
        low,
        high,
        nulls,
        strict=True,
    )
    fields = EntryNode.__struct_fields__
    return [EntryNode(**dict(zip(fields, values, strict=True))) for values in columns]


def _array(table: pa.Table, name: str) -> pa.Array:
    column = table[name]
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _short(texts: pa.Array) -> list[str | None]:
    return _cut(texts.to_pylist())


def _cut(texts: Iterable[str | None]) -> list[str | None]:
    return [
        text if text is None or len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + "…"
        for text in texts
    ]


def _wanted(
    name: str, partition: str | None, bucket: int | None, writing: Writing
) -> Callable[[pa.Table], pa.Array]:
    """Tell for rows of entries whether a question is about them."""

    def is_wanted(entries: pa.Table) -> pa.Array:
        wanted = pc.match_substring(entries["file_name"], name)
        if bucket is not None:
            wanted = pc.and_(wanted, pc.equal(entries["bucket"], bucket))
        if partition is not None and entries.num_rows:
            # Few distinct ones: partitions repeat.
            rows = _array(entries, "partition").dictionary_encode()
            texts = writing.partition(rows.dictionary.to_pylist())
            same = arrow_array([shown == partition for shown in texts], pa.bool_())
            wanted = pc.and_(wanted, same.take(rows.indices))
        return wanted

    return is_wanted
