"""What Iceberg's metadata of a snapshot is, given that of the one before and what changed.

Source: apache/paimon@1.4.2 ``org.apache.paimon.iceberg.IcebergCommitCallback``. As since 2.0:
summaries with totals, ids of rows in version 3, the snapshot that deleted a file in its entry.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from paimonlab.spec.iceberg.manifests import (
    Content,
    IcebergEntry,
    IcebergFile,
    IcebergManifest,
    Partition,
    Status,
)
from paimonlab.spec.iceberg.options import IcebergOptions
from paimonlab.spec.iceberg.table_metadata import (
    COMMIT_KEY,
    FIRST_PARTITION_ID,
    NO_PARTITION_ID,
    IcebergSnapshot,
    TableMetadata,
    commit_identity,
    same_place,
    tags_of,
)
from paimonlab.spec.iceberg.types import name_mapping
from paimonlab.spec.snapshot import CommitKind, Snapshot

_NAME_MAPPING = "schema.name-mapping.default"
"""Property of a table: by which names columns are found in files without field ids."""


@dataclass(slots=True)
class FileChanges:
    """What a commit changed of the files that Iceberg may see."""

    added: dict[str, IcebergFile] = field(default_factory=dict)
    """By `same_place` of the path."""
    removed: dict[str, Partition] = field(default_factory=dict)
    """Partitions by `same_place` of the path; Iceberg may not have seen the files."""
    is_add_only: bool = True
    """Whether the commit deleted no file at all."""

    def add(self, file: IcebergFile) -> None:
        """Note a file that was added, perhaps after it was deleted at another level."""
        place = same_place(file.path)
        self.removed.pop(place, None)
        self.added[place] = file

    def remove(self, path: str, partition: Partition) -> None:
        """Note a file that was deleted."""
        place = same_place(path)
        self.is_add_only = False
        self.added.pop(place, None)
        self.removed[place] = partition

    @property
    def partitions(self) -> list[Partition]:
        """The partitions with changes, each once."""
        files = self.added.values()
        return list(dict.fromkeys([*self.removed.values(), *(file.partition for file in files)]))


@dataclass(slots=True)
class Totals:
    """What the summary of a snapshot says."""

    operation: str = "append"
    added_files: int = 0
    added_rows: int = 0
    added_bytes: int = 0
    deleted_files: int = 0
    deleted_rows: int = 0
    deleted_bytes: int = 0
    partitions: int = 0
    vectors: int = 0
    vector_rows: int = 0
    before: Mapping[str, str] = field(default_factory=dict)
    """The summary of the snapshot before; without totals for the first."""

    def note(self, file: IcebergFile, status: Status) -> None:
        """Count a file that the snapshot adds or deletes."""
        if status is Status.ADDED:
            self.added_files += 1
            self.added_rows += file.record_count
            self.added_bytes += file.size_bytes
        elif status is Status.DELETED:
            self.deleted_files += 1
            self.deleted_rows += file.record_count
            self.deleted_bytes += file.size_bytes

    def summary(self, snapshot: Snapshot, data: Sequence[IcebergManifest]) -> dict[str, str]:
        """Return the summary of a snapshot.

        Parameters
        ----------
        snapshot
            Paimon's.
        data
            All of its manifests of data files.
        """
        numbers: dict[str, int] = {
            "added-data-files": self.added_files,
            "added-records": self.added_rows,
            "added-files-size": self.added_bytes,
            "deleted-data-files": self.deleted_files,
            "deleted-records": self.deleted_rows,
            "removed-files-size": self.deleted_bytes,
            "changed-partition-count": self.partitions,
            "total-records": sum(one.added_rows + one.existing_rows for one in data),
            "total-data-files": sum(one.added_files + one.existing_files for one in data),
            "total-delete-files": self.vectors,
            "total-position-deletes": self.vector_rows,
            "total-equality-deletes": 0,
        }
        total = self._total_bytes()
        if total is not None:
            numbers["total-files-size"] = total
        return {
            "operation": self.operation,
            **{key: str(number) for key, number in numbers.items()},
            **(snapshot.properties or {}),
            COMMIT_KEY: commit_identity(snapshot),
        }

    def _total_bytes(self) -> int | None:
        """Add up the bytes of all data files; None: Java before 2.0 did not say how many."""
        before = self.before.get("total-files-size", "0" if not self.before else "")
        if not before.isdecimal():
            return None
        return int(before) + self.added_bytes - self.deleted_bytes


def rewritten(
    entries: Sequence[IcebergEntry],
    changes: FileChanges,
    totals: Totals,
    snapshot: Snapshot,
    *,
    has_key: bool,
) -> list[IcebergEntry] | None:
    """Return the entries of a manifest after a commit.

    Parameters
    ----------
    entries
        Of the manifest, with ids of rows.
    changes
        Of the commit; files that the manifest has already are left out of what was added.
    totals
        Are told what is deleted.
    snapshot
        Of the commit.
    has_key
        Whether the table has a primary key: then compaction lets Iceberg see rows that it did
        not see before.

    Returns
    -------
    list or None
        None: the manifest stays as it is.
    """
    keeps = True
    for entry in entries:
        if entry.is_live:
            place = same_place(entry.file.path)
            if place in changes.added:  # its level changed
                del changes.added[place]
            elif place in changes.removed:
                keeps = False
    if keeps:
        return None
    is_same_rows = snapshot.commit_kind is CommitKind.COMPACT and not has_key
    totals.operation = "replace" if is_same_rows else "overwrite"
    rewritten = []
    for entry in entries:
        if not entry.is_live:
            continue
        if same_place(entry.file.path) in changes.removed:
            totals.note(entry.file, Status.DELETED)
            rewritten.append(replace(entry, status=Status.DELETED, snapshot_id=snapshot.id))
        else:
            rewritten.append(replace(entry, status=Status.EXISTING))
    return rewritten


def added(files: Sequence[IcebergFile], snapshot_id: int) -> list[IcebergEntry]:
    """Return the entries of files that a snapshot adds."""
    return [
        IcebergEntry(
            status=Status.ADDED,
            snapshot_id=snapshot_id,
            sequence_number=snapshot_id,
            file_sequence_number=snapshot_id,
            file=file,
        )
        for file in files
    ]


def to_merge(
    manifests: Sequence[IcebergManifest], options: IcebergOptions
) -> tuple[list[IcebergManifest], list[IcebergManifest]]:
    """Decide which manifests become one.

    Returns
    -------
    kept, merged : list
        ``merged`` is empty if nothing is to be done.
    """
    small = [one for one in manifests if one.length_bytes < options.manifest_bytes * 2 // 3]
    total = sum(one.length_bytes for one in small)
    is_little = len(small) < options.merge_max_count and total < options.manifest_bytes
    if len(small) < options.merge_min_count or is_little:
        return list(manifests), []
    names = {one.name for one in small}
    return [one for one in manifests if one.name not in names], small


def carried_over(entries: Sequence[IcebergEntry], snapshot_id: int) -> list[IcebergEntry]:
    """Return the entries of a manifest that is merged with others.

    What older snapshots added exists by now; what they deleted is left out.
    """
    kept = []
    for entry in entries:
        if entry.snapshot_id == snapshot_id or entry.status is Status.EXISTING:
            kept.append(entry)
        elif entry.status is Status.ADDED:
            kept.append(replace(entry, status=Status.EXISTING))
    return kept


def with_row_ids(
    entries: Sequence[IcebergEntry], manifest: IcebergManifest
) -> Sequence[IcebergEntry]:
    """Write down the ids that rows got by their place in a manifest, before they leave it.

    Source: https://iceberg.apache.org/spec/#first-row-id-inheritance
    """
    following = manifest.first_row_id
    if following is None or manifest.content is not Content.DATA:
        return entries
    known = []
    for entry in entries:
        if entry.is_live and entry.file.first_row_id is None:
            known.append(replace(entry, file=replace(entry.file, first_row_id=following)))
            following += entry.file.record_count
        else:
            known.append(entry)
    return known


def with_first_row_ids(
    manifests: Sequence[IcebergManifest], first: int
) -> tuple[list[IcebergManifest], int]:
    """Give ids to the rows of manifests that have none.

    Parameters
    ----------
    manifests
        Of a snapshot.
    first
        The first id that was never given.

    Returns
    -------
    manifests : list
        Those of data files have a first id.
    following : int
        The first id that is not given then.
    """
    given, following = list[IcebergManifest](), first
    for one in manifests:
        if one.content is Content.DATA and one.first_row_id is None:
            given.append(replace(one, first_row_id=following))
            following += one.added_rows + one.existing_rows
        else:
            given.append(one)
    return given, following


@dataclass(frozen=True, kw_only=True)
class TableNow:
    """What a table is, apart from its files."""

    location: str
    uuid: str
    """Of a table that has no metadata yet."""
    schemas: Sequence[dict[str, Any]]
    """All schemas up to the current one, as Iceberg has them, by id."""
    partition_keys: Sequence[str]
    has_key: bool
    """Whether the table has a primary key."""
    tags: Mapping[str, int]
    """Ids of their snapshots."""

    @property
    def current_schema(self) -> dict[str, Any]:
        """The current schema as Iceberg has it."""
        return self.schemas[-1]

    @property
    def partition_fields(self) -> list[dict[str, Any]]:
        """How the table is partitioned: by values of columns, always in the same way."""
        ids = {field_["name"]: field_["id"] for field_ in self.current_schema["fields"]}
        return [
            {
                "name": name,
                "transform": "identity",
                "source-id": ids[name],
                "field-id": FIRST_PARTITION_ID + number,
            }
            for number, name in enumerate(self.partition_keys)
        ]


def can_follow(base: TableMetadata, table: TableNow, options: IcebergOptions) -> bool:
    """Whether metadata can be gone on with; else it is made anew.

    Parameters
    ----------
    base
        Of the snapshot before.
    table
        What it is of.
    options
        Of the table.
    """
    if base.format_version != options.format_version or not base.snapshots:
        return False
    if options.format_version >= 3 and base.next_row_id is None:
        return False  # Java before 2.0 gave no ids to rows
    if same_place(base.location) != same_place(table.location):
        return False  # the table was moved, and paths are absolute
    known = {schema["schema-id"]: _essence(schema["fields"]) for schema in table.schemas}
    return all(
        known.get(schema["schema-id"], _essence(schema["fields"])) == _essence(schema["fields"])
        for schema in base.schemas
    )


def _essence(fields: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """Return what tells schemas of one id apart that a rollback made different."""
    return [
        (one["id"], one["name"], one["required"], isinstance(one["type"], str) and one["type"])
        for one in fields
    ]


def following(
    base: TableMetadata | None,
    snapshot: Snapshot,
    table: TableNow,
    *,
    summary: dict[str, str],
    manifest_list: str,
    options: IcebergOptions,
    row_ids: tuple[int, int] | None,
    now_millis: int,
    floor: TableMetadata | None = None,
) -> TableMetadata:
    """Return the metadata of a snapshot.

    Parameters
    ----------
    base
        That of the snapshot before; None: it is made anew.
    snapshot
        Paimon's.
    table
        What it is of.
    summary, manifest_list
        Of the new snapshot.
    options
        Of the table.
    row_ids
        The first id that rows got, and the first one that is free then; None before version 3.
    now_millis
        The present, epoch milliseconds: what is older than the options say expires.
    floor
        What is replaced when metadata is made anew: the table is still the same one to readers.
    """
    earlier = base or floor
    current = IcebergSnapshot(
        sequence_number=snapshot.id,
        snapshot_id=snapshot.id,
        parent_snapshot_id=None if base is None else base.current_snapshot_id,
        timestamp_ms=snapshot.time_millis,
        summary=summary,
        manifest_list=manifest_list,
        schema_id=snapshot.schema_id,
        first_row_id=None if row_ids is None else row_ids[0],
        added_rows=None if row_ids is None else row_ids[1] - row_ids[0],
    )
    snapshots = kept_snapshots(base.snapshots if base else (), current, options, now_millis)
    partition_fields = table.partition_fields
    ids = [field_["id"] for schema in table.schemas for field_ in schema["fields"]]
    return TableMetadata(
        format_version=options.format_version,
        table_uuid=earlier.table_uuid if earlier else table.uuid,
        location=table.location,
        last_sequence_number=snapshot.id,
        last_updated_ms=max(snapshot.time_millis, base.last_updated_ms if base else 0),
        last_column_id=max([*ids, earlier.last_column_id if earlier else 0]),
        schemas=list(table.schemas),
        current_schema_id=table.current_schema["schema-id"],
        partition_specs=[{"spec-id": 0, "fields": partition_fields}],
        default_spec_id=0,
        last_partition_id=NO_PARTITION_ID + len(partition_fields),
        sort_orders=[{"order-id": 0, "fields": []}],
        default_sort_order_id=0,
        snapshots=snapshots,
        current_snapshot_id=snapshot.id,
        next_row_id=None if row_ids is None else row_ids[1],
        properties={_NAME_MAPPING: json.dumps(name_mapping(table.schemas))},
        refs=tags_of(table.tags, snapshots),
    )


def kept_snapshots(
    before: Sequence[IcebergSnapshot],
    current: IcebergSnapshot,
    options: IcebergOptions,
    now_millis: int,
) -> list[IcebergSnapshot]:
    """Return the snapshots that do not expire with a new one, the new one last."""
    for number, one in enumerate(before):
        if not _expires(one, current.snapshot_id, options, now_millis):
            return [*before[number:], current]
    return [current]


def _expires(
    one: IcebergSnapshot, current_id: int, options: IcebergOptions, now_millis: int
) -> bool:
    if one.snapshot_id > current_id - options.retain_min:
        return False
    if one.snapshot_id <= current_id - options.retain_max:
        return True
    return one.timestamp_ms < now_millis - options.retained_millis


def former_versions(
    versions: Collection[int], snapshot_id: int, options: IcebergOptions
) -> list[int]:
    """Return the metadata files to delete after that of a snapshot was written."""
    if not options.deletes_former:
        return []
    return sorted(one for one in versions if one < snapshot_id - options.former_versions)
