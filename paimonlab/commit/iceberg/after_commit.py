"""Iceberg's metadata follows Paimon's: after every commit, and with tags.

A commit is there before its Iceberg metadata; who is killed in between leaves it behind, and the
next commit makes it anew.

Source: apache/paimon@1.4.2 ``org.apache.paimon.iceberg.IcebergCommitCallback``. As since 2.0,
metadata of snapshots that a rollback deleted is not gone on with.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, one_array
from paimonlab.clock import now_millis
from paimonlab.commit.iceberg.catalogs import IcebergCatalog, NewestMetadata
from paimonlab.commit.iceberg.files import FileDescriber
from paimonlab.commit.iceberg.folder import MetadataFolder
from paimonlab.errors import CorruptMetadataError, UnsupportedError
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.scan.live_files import in_real_buckets, index_files_of, live_entries
from paimonlab.spec.iceberg import succession
from paimonlab.spec.iceberg.manifests import Content, IcebergEntry, IcebergManifest, may_have
from paimonlab.spec.iceberg.options import IcebergOptions, IcebergPlace
from paimonlab.spec.iceberg.succession import FileChanges, TableNow, Totals
from paimonlab.spec.iceberg.table_metadata import TableMetadata, is_of, same_place
from paimonlab.spec.iceberg.types import iceberg_schema
from paimonlab.spec.manifests.index_manifest import DELETION_VECTORS
from paimonlab.spec.manifests.manifest import FileKind
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.partitions.folders import PartitionOptions
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileIO

logger = logging.getLogger(__name__)


class _VectorPlaces(OptionSlice):
    is_beside_data: bool = option_field("index-file-in-data-file-dir", "boolean", default=False)
    """``index-file-in-data-file-dir``"""


@dataclass(frozen=True, kw_only=True)
class IcebergUpkeep:
    """Keeps the Iceberg metadata of a table's main branch up to date: a `CommitCallback`."""

    name: str
    """``database.table``, for messages."""
    file_io: FileIO
    layout: TableLayout
    snapshots: SnapshotManager
    manifests: ManifestStore
    schemas: SchemaManager
    tags: TagManager
    options: Options
    catalog: IcebergCatalog | None = None
    """What else is told of the newest metadata."""
    now_millis: Callable[[], int] = now_millis

    def __call__(self, snapshot: Snapshot, changes: pa.Table, /) -> None:
        """Write the metadata of a snapshot, from that of the one before if there is one."""
        self._write(snapshot, changes)

    def refresh(self) -> None:
        """Write the metadata of the latest snapshot if it is not there, as after a rollback."""
        latest = self.snapshots.latest()
        if latest is not None:
            self._write(latest, None)

    def _write(self, snapshot: Snapshot, changes: pa.Table | None) -> None:
        latest = self.snapshots.latest()
        if latest is None or not self.snapshots.still_has(snapshot):
            return  # rolled back
        schema = self._schema()
        folder = self._folder(schema)
        folder.look()
        is_head = latest.id == snapshot.id
        beyond = {version for version in folder.versions if version > snapshot.id}
        if beyond and not is_head:
            return  # others went on from there already
        existing = folder.metadata(snapshot.id)
        if existing is not None and is_of(existing, snapshot):
            if is_head:
                folder.delete_versions(beyond)
                self._show(existing, None, folder, schema)
            return
        work = _Work(self, folder, snapshot, self._table(schema, folder.options))
        base = None if changes is None else self._base(work)
        if base is not None and changes is not None:
            metadata = work.after(base, changes)
        elif is_head:
            metadata = work.anew(floor=existing or self._newest(folder))
        else:
            return  # whoever committed after us makes it anew
        folder.publish(metadata)
        if self.snapshots.latest_id() == snapshot.id:
            before = None if base is None else base.current_snapshot_id
            self._show(metadata, before, folder, schema)
            if base is not None and existing is None and not beyond:
                work.expire(base, metadata)
            else:
                work.clean(base, existing, metadata)
        logger.info("%s: wrote Iceberg metadata of snapshot %d", self.name, snapshot.id)

    def _show(
        self,
        metadata: TableMetadata,
        before: int | None,
        folder: MetadataFolder,
        schema: TableSchema,
    ) -> None:
        """Tell readers which metadata is the newest, before any that they know is deleted."""
        version = metadata.current_snapshot_id
        folder.point_to(version)
        if self.catalog is not None:
            newest = NewestMetadata(
                metadata=metadata,
                path=folder.path_of(version),
                before=None if before is None else folder.path_of(before),
                fields=schema.fields,
                is_newest=lambda: self.snapshots.latest_id() == version,
                write=folder.write,
            )
            self.catalog.show(newest)

    def _schema(self) -> TableSchema:
        schema = self.schemas.latest()
        assert schema is not None  # the table has a snapshot
        return schema

    def _folder(self, schema: TableSchema) -> MetadataFolder:
        options = self.options.slice(IcebergOptions)
        path = self.options.slice(IcebergPlace).folder(self.layout.table_path)
        assert path is not None  # only tables with metadata are followed
        fields = [schema.field(name) for name in schema.partition_keys]
        return MetadataFolder(file_io=self.file_io, path=path, fields=fields, options=options)

    def _table(self, schema: TableSchema, options: IcebergOptions) -> TableNow:
        described = []
        for one in self.schemas.upto(schema.id):
            try:
                described.append(iceberg_schema(one.id, one.fields, options.format_version))
            except UnsupportedError:
                if one.id == schema.id:
                    raise
                # It is older than the option; no snapshot that Iceberg has is of it.
        return TableNow(
            location=self.layout.table_path,
            uuid=str(uuid.uuid4()),
            schemas=described,
            partition_keys=schema.partition_keys,
            has_key=bool(schema.primary_keys),
            tags={name: tag.id for name, tag in self.tags.list()},
        )

    def _base(self, work: _Work) -> TableMetadata | None:
        """Return the metadata of the snapshot before if it can be gone on with."""
        before = self.snapshots.find(work.snapshot.id - 1)
        base = work.folder.metadata(work.snapshot.id - 1)
        if before is None or base is None or not is_of(base, before):
            return None
        is_fit = succession.can_follow(base, work.table, work.options)
        return base if is_fit else None

    def _newest(self, folder: MetadataFolder) -> TableMetadata | None:
        for version in sorted(folder.versions, reverse=True):
            metadata = folder.metadata(version)
            if metadata is not None:
                return metadata
        return None


@dataclass(frozen=True)
class _Work:
    """One snapshot's metadata."""

    upkeep: IcebergUpkeep
    folder: MetadataFolder
    snapshot: Snapshot
    table: TableNow

    @property
    def options(self) -> IcebergOptions:
        return self.folder.options

    @property
    def describer(self) -> FileDescriber:
        options = self.upkeep.options
        return FileDescriber(
            layout=self.upkeep.layout,
            schemas=self.upkeep.schemas,
            fields=self.folder.fields,
            options=options.slice(PartitionOptions),
            vectors_beside_data=options.slice(_VectorPlaces).is_beside_data,
        )

    def anew(self, *, floor: TableMetadata | None) -> TableMetadata:
        """Make metadata of all that is alive."""
        entries = in_real_buckets(live_entries(self.snapshot, self.upkeep.manifests))
        entries = self._visible(entries)
        describer = self.describer
        files = describer.data_files(entries, describer.paths(entries))
        totals = Totals(partitions=len({file.partition for file in files}))
        new = succession.added(files, self.snapshot.id)
        for entry in new:
            totals.note(entry.file, entry.status)
        data = self._write(new, Content.DATA)
        is_same_table = floor is not None and self._is_same_table(floor)
        return self._finished(
            None, floor if is_same_table else None, data, self._vectors(totals), totals
        )

    def _is_same_table(self, floor: TableMetadata) -> bool:
        return same_place(floor.location) == same_place(self.table.location)

    def after(self, base: TableMetadata, changes: pa.Table) -> TableMetadata:
        """Go on from the metadata of the snapshot before."""
        current = base.current_snapshot
        assert current is not None  # `is_of` looked
        known = self.folder.manifests(current.manifest_list)
        before = [one for one in known if one.content is Content.DATA]
        totals = Totals(before=current.summary)
        found = self._changes(changes)
        totals.partitions = len(found.partitions)
        data = before if found.is_add_only else self._rewritten(before, found, totals)
        new = succession.added(list(found.added.values()), self.snapshot.id)
        for entry in new:
            totals.note(entry.file, entry.status)
        data = [*data, *self._write(new, Content.DATA)]
        vectors = self._vectors_after(known, totals)
        return self._finished(base, None, self._merged(data), vectors, totals)

    def expire(self, base: TableMetadata, metadata: TableMetadata) -> None:
        """Delete what is old, after metadata was gone on with."""
        folder = self.folder
        former = succession.former_versions(folder.versions, self.snapshot.id, self.options)
        folder.delete_versions(former)
        count = len(base.snapshots) + 1 - len(metadata.snapshots)
        lists = [snapshot.manifest_list for snapshot in base.snapshots]
        after = [*lists[1:], metadata.snapshots[-1].manifest_list]
        for number in range(count):
            self._expire(lists[number], after[number])

    def clean(
        self, base: TableMetadata | None, replaced: TableMetadata | None, metadata: TableMetadata
    ) -> None:
        """Delete what nothing refers to any more, where a rollback or a crash left something.

        Parameters
        ----------
        base
            What was gone on with; None: the metadata was made anew.
        replaced
            What was at the place of the metadata.
        metadata
            The new one.
        """
        folder = self.folder
        others = folder.versions - {self.snapshot.id}
        former = others if base is None else {one for one in others if one > self.snapshot.id}
        known = [folder.metadata(version) for version in former]
        gone = set[str]().union(
            *(folder.files_of(one) for one in (*known, replaced) if one is not None)
        )
        kept = [folder.metadata(version) for version in others - former]
        in_use = set[str]().union(
            *(folder.files_of(one) for one in (*kept, metadata) if one is not None)
        )
        folder.delete(sorted(gone - in_use))
        folder.delete_versions(former)

    def _expire(self, gone: str, after: str) -> None:
        """Delete a manifest list, and the manifests that the one after it has not."""
        try:
            in_use = {one.name for one in self.folder.manifests(after)}
            manifests = [one.path for one in self.folder.manifests(gone) if one.name not in in_use]
        except (FileNotFoundError, CorruptMetadataError):
            return  # others are at work
        self.folder.delete([*manifests, gone])

    def _finished(
        self,
        base: TableMetadata | None,
        floor: TableMetadata | None,
        data: Sequence[IcebergManifest],
        vectors: Sequence[IcebergManifest],
        totals: Totals,
    ) -> TableMetadata:
        manifests, row_ids = [*data, *vectors], None
        if self.options.format_version >= 3:
            first = (base or floor).next_row_id if base or floor else 0  # type: ignore[union-attr]
            manifests, following = succession.with_first_row_ids(manifests, first or 0)
            row_ids = (first or 0, following)
        return succession.following(
            base,
            self.snapshot,
            self.table,
            summary=totals.summary(self.snapshot, data),
            manifest_list=self.folder.write_list(manifests),
            options=self.options,
            row_ids=row_ids,
            now_millis=self.upkeep.now_millis(),
            floor=floor,
        )

    def _visible(self, entries: pa.Table) -> pa.Table:
        """Leave out what Iceberg may not see."""
        if not self.table.has_key:
            return entries
        levels = pc.unique(one_array(entries["level"])).to_pylist()
        shown = [level for level in levels if self.options.shows_level(level, has_key=True)]
        return entries.filter(pc.is_in(entries["level"], arrow_array(shown, pa.int32())))

    def _changes(self, changes: pa.Table) -> FileChanges:
        entries = in_real_buckets(changes)
        describer = self.describer
        paths = describer.paths(entries)
        partitions = describer.partitions(one_array(entries["partition"]))
        kinds, levels = entries["kind"].to_pylist(), entries["level"].to_pylist()
        has_key = self.table.has_key
        shown = [
            number
            for number, (kind, level) in enumerate(zip(kinds, levels, strict=True))
            if kind == FileKind.ADD and self.options.shows_level(level, has_key=has_key)
        ]
        files = dict(
            zip(
                shown,
                describer.data_files(
                    entries.take(arrow_array(shown, pa.int64())), [paths[one] for one in shown]
                ),
                strict=True,
            )
        )
        found = FileChanges()
        for number, (kind, path) in enumerate(zip(kinds, paths, strict=True)):
            if kind == FileKind.DELETE:
                found.remove(path, partitions[number])
            elif number in files:
                found.add(files[number])
        return found

    def _rewritten(
        self, before: Sequence[IcebergManifest], found: FileChanges, totals: Totals
    ) -> list[IcebergManifest]:
        partitions, types = found.partitions, self.folder.types
        data = list[IcebergManifest]()
        for manifest in before:
            rewritten = None
            if may_have(manifest, partitions, types):
                entries = succession.with_row_ids(self.folder.entries(manifest), manifest)
                rewritten = succession.rewritten(
                    entries, found, totals, self.snapshot, has_key=self.table.has_key
                )
            if rewritten is None:
                data.append(manifest)
            else:
                data += self._write(rewritten, Content.DATA)
        return data

    def _merged(self, data: Sequence[IcebergManifest]) -> list[IcebergManifest]:
        kept, merging = succession.to_merge(data, self.options)
        if not merging:
            return kept
        entries = []
        for manifest in merging:
            known = succession.with_row_ids(self.folder.entries(manifest), manifest)
            entries += succession.carried_over(known, self.snapshot.id)
        merged = self._write(entries, Content.DATA)
        # No metadata has those that were written a moment ago.
        self.folder.delete([one.path for one in merging if one.sequence_number == self.snapshot.id])
        return [*kept, *merged]

    def _vectors(self, totals: Totals) -> list[IcebergManifest]:
        """Write manifests of all deletion vectors of the snapshot."""
        if not self.options.shows_vectors:
            return []
        indexes = [
            index
            for index in index_files_of(self.snapshot, self.upkeep.manifests)
            if index.index_type == DELETION_VECTORS
        ]
        files = self.describer.vectors(indexes)
        totals.vectors = len(files)
        totals.vector_rows = sum(file.record_count for file in files)
        return self._write(succession.added(files, self.snapshot.id), Content.DELETES)

    def _vectors_after(
        self, known: Sequence[IcebergManifest], totals: Totals
    ) -> list[IcebergManifest]:
        """Return the manifests of deletion vectors, those of before if no vector changed."""
        before = self.upkeep.snapshots.find(self.snapshot.id - 1)
        if before is None or before.index_manifest != self.snapshot.index_manifest:
            if self.options.shows_vectors and totals.operation == "append":
                totals.operation = "overwrite"
            return self._vectors(totals)
        kept = [one for one in known if one.content is Content.DELETES]
        kept = kept if self.options.shows_vectors else []
        totals.vectors = sum(one.added_files + one.existing_files for one in kept)
        totals.vector_rows = sum(one.added_rows + one.existing_rows for one in kept)
        return kept

    def _write(self, entries: Sequence[IcebergEntry], content: Content) -> list[IcebergManifest]:
        return self.folder.write_manifests(entries, content, self.snapshot.id, self.table)
