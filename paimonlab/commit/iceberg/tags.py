"""Tags of Iceberg's metadata follow Paimon's.

Source: apache/paimon@1.4.2 ``IcebergCommitCallback.notifyCreation``, ``notifyDeletion``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paimonlab.commit.iceberg.catalogs import IcebergCatalog, NewestMetadata
from paimonlab.commit.iceberg.folder import MetadataFolder
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.spec.iceberg.options import IcebergOptions, IcebergPlace
from paimonlab.spec.iceberg.table_metadata import is_of, with_tag
from paimonlab.spec.options.table_options import Options
from paimonlab.storage import FileIO


@dataclass(frozen=True, kw_only=True)
class IcebergTags:
    """The tags that the newest Iceberg metadata of a table's main branch has."""

    options: Options
    layout: TableLayout
    file_io: FileIO
    snapshots: SnapshotManager
    catalog: Callable[[Options], IcebergCatalog | None] = lambda _: None
    """Returns what else is told of the newest metadata; None: nothing."""

    def set(self, name: str, snapshot_id: int | None) -> None:
        """Let the newest metadata have a tag, or no longer; nothing happens without metadata.

        Parameters
        ----------
        name
            Of the tag.
        snapshot_id
            Of which snapshot it is; None: it was deleted. A snapshot that Iceberg no longer has
            cannot have a tag there.

        Raises
        ------
        CatalogServerError
            If a catalog of Iceberg's cannot be told. The tag stands, and the next commit tells it.
        """
        path = self.options.slice(IcebergPlace).folder(self.layout.table_path)
        latest = self.snapshots.latest()
        if latest is None or path is None:
            return
        options = self.options.slice(IcebergOptions)
        folder = MetadataFolder(file_io=self.file_io, path=path, fields=(), options=options)
        folder.versions = {latest.id}
        metadata = folder.metadata(latest.id)
        if metadata is None or not is_of(metadata, latest):
            return
        changed = with_tag(metadata, name, snapshot_id)
        if changed is None:
            return
        folder.replace(changed)
        catalog = self.catalog(self.options)
        if catalog is not None:
            newest = NewestMetadata(
                metadata=changed,
                path=folder.path_of(latest.id),
                before=None,
                fields=(),
                is_newest=lambda: self.snapshots.latest_id() == latest.id,
                write=folder.write,
            )
            catalog.show_tags(newest)
