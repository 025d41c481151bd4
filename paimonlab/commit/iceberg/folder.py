"""The folder of Iceberg's metadata: what is read there, written and deleted."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from paimonlab.errors import CorruptMetadataError
from paimonlab.formats.iceberg import (
    read_manifest,
    read_manifest_list,
    write_manifest,
    write_manifest_list,
)
from paimonlab.spec.iceberg.manifests import Content, IcebergEntry, IcebergManifest, describe
from paimonlab.spec.iceberg.options import IcebergOptions
from paimonlab.spec.iceberg.succession import TableNow
from paimonlab.spec.iceberg.table_metadata import (
    VERSION_HINT,
    TableMetadata,
    version_name,
    version_of,
)
from paimonlab.spec.types.data_types import AtomicType, DataField
from paimonlab.storage import FileIO, join, safe_join


@dataclass(kw_only=True)
class MetadataFolder:
    """Files of Iceberg's metadata of one table, as one commit sees them."""

    file_io: FileIO
    path: str
    fields: Sequence[DataField]
    """The partition columns."""
    options: IcebergOptions
    versions: set[int] = field(default_factory=set)
    """Of which snapshots there is metadata."""
    _id: str = field(default_factory=lambda: str(uuid.uuid4()))
    _manifests: int = 0
    _lists: int = 0

    def look(self) -> None:
        """Find out what is there."""
        names = self.file_io.list_names(self.path)
        self.versions = {number for name in names if (number := version_of(name)) is not None}

    @property
    def types(self) -> list[AtomicType]:
        """Types of the partition columns."""
        return [one.type for one in self.fields if isinstance(one.type, AtomicType)]

    def path_of(self, version: int) -> str:
        """Return where the metadata of a snapshot is."""
        return join(self.path, version_name(version))

    def metadata(self, version: int) -> TableMetadata | None:
        """Return the metadata of a snapshot; None if there is none, or it is damaged."""
        if version not in self.versions:
            return None
        path = self.path_of(version)
        try:
            return TableMetadata.from_json(self.file_io.read(path), path=path)
        except (FileNotFoundError, CorruptMetadataError):
            return None

    def manifests(self, list_path: str) -> list[IcebergManifest]:
        """Read a manifest list, which is looked for in the folder."""
        path = self._here(list_path)
        return read_manifest_list(self.file_io.read(path), path=path)

    def entries(self, manifest: IcebergManifest) -> list[IcebergEntry]:
        """Read a manifest, which is looked for in the folder."""
        path = self._here(manifest.path)
        data = self.file_io.read(path, limit_bytes=1 << 30)
        return read_manifest(data, self.fields, manifest, path=path)

    def write_manifests(
        self, entries: Sequence[IcebergEntry], content: Content, snapshot_id: int, table: TableNow
    ) -> list[IcebergManifest]:
        """Write manifests of about the size that the options say; [] if there are no entries."""
        if not entries:
            return []
        data = self._encoded(entries, content, table)
        pieces = -(-len(data) // self.options.manifest_bytes)
        if pieces == 1 or len(entries) == 1:
            return [self._written(data, entries, content, snapshot_id)]
        count = -(-len(entries) // min(pieces, len(entries)))
        parts = [entries[start : start + count] for start in range(0, len(entries), count)]
        return [
            self._written(self._encoded(part, content, table), part, content, snapshot_id)
            for part in parts
        ]

    def _encoded(self, entries: Sequence[IcebergEntry], content: Content, table: TableNow) -> bytes:
        return write_manifest(
            entries,
            self.fields,
            content=content,
            schema=table.current_schema,
            partition_fields=table.partition_fields,
            version=self.options.format_version,
            compression=self.options.compression.lower(),
        )

    def _written(
        self, data: bytes, entries: Sequence[IcebergEntry], content: Content, snapshot_id: int
    ) -> IcebergManifest:
        self._manifests += 1
        path = join(self.path, f"{self._id}-m{self._manifests}.avro")
        self.file_io.write(path, data)
        return describe(
            entries,
            path=path,
            length_bytes=len(data),
            content=content,
            sequence_number=snapshot_id,
            types=self.types,
        )

    def write_list(self, manifests: Sequence[IcebergManifest]) -> str:
        """Write a manifest list; return its path."""
        self._lists += 1
        path = join(self.path, f"snap-{self._lists}-{self._id}.avro")
        data = write_manifest_list(
            manifests,
            version=self.options.format_version,
            has_former_names=self.options.has_former_names,
            compression=self.options.compression.lower(),
        )
        self.file_io.write(path, data)
        return path

    def write(self, name: str, data: bytes) -> str:
        """Write a new file; return its path."""
        path = join(self.path, name)
        self.file_io.write(path, data)
        return path

    def publish(self, metadata: TableMetadata) -> None:
        """Make the metadata of a snapshot visible, in place of what may be there."""
        path = self.path_of(metadata.current_snapshot_id)
        data = metadata.to_json()
        if not self.file_io.publish(path, data):
            self.file_io.replace(path, data)
        self.versions.add(metadata.current_snapshot_id)

    def replace(self, metadata: TableMetadata) -> None:
        """Write the metadata of a snapshot once more, with other tags."""
        path = self.path_of(metadata.current_snapshot_id)
        self.file_io.replace(path, metadata.to_json())

    def point_to(self, version: int) -> None:
        """Tell readers which metadata is the newest."""
        path, text = join(self.path, VERSION_HINT), str(version).encode()
        try:
            if self.file_io.read(path) == text:
                return
        except FileNotFoundError:
            pass
        self.file_io.replace(path, text, durable=False)

    def delete_versions(self, versions: Collection[int]) -> None:
        """Delete metadata files; others may have done so."""
        paths = [self.path_of(version) for version in sorted(versions)]
        self.delete(paths)
        self.versions -= {*versions}

    def delete(self, paths: Collection[str]) -> None:
        """Delete files of the folder; what cannot be deleted is left."""
        if paths:
            self.file_io.delete_files([self._here(path) for path in paths])

    def files_of(self, metadata: TableMetadata) -> set[str]:
        """Return the names of manifests and lists that metadata refers to, as far as they exist."""
        names = set[str]()
        for snapshot in metadata.snapshots:
            names.add(snapshot.manifest_list.rpartition("/")[2])
            try:
                manifests = self.manifests(snapshot.manifest_list)
            except (FileNotFoundError, CorruptMetadataError):
                continue
            names |= {manifest.name for manifest in manifests}
        return names

    def _here(self, path: str) -> str:
        return safe_join(self.path, path.rpartition("/")[2], referrer=self.path)
