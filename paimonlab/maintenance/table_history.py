"""The parts of a table that maintenance works on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paimonlab.commit import iceberg
from paimonlab.commit.callbacks import TagCallback
from paimonlab.commit.iceberg.catalogs import IcebergCatalog
from paimonlab.maintenance.references import ReferenceReader
from paimonlab.metadata.changelogs import ChangelogManager
from paimonlab.metadata.consumers import ConsumerManager
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.spec.iceberg.options import IcebergPlace
from paimonlab.spec.options.table_options import Options
from paimonlab.storage import FileIO


@dataclass(frozen=True, slots=True, kw_only=True)
class TableHistory:
    """The snapshots, tags and changelogs of one branch, what they refer to, and the options.

    Every verb of maintenance takes one, and a request.
    """

    name: str
    """``database.table``, for messages."""
    options: Options
    """The options of the table that count; each verb takes its slice of them."""
    layout: TableLayout
    file_io: FileIO
    snapshots: SnapshotManager
    tags: TagManager
    changelogs: ChangelogManager
    consumers: ConsumerManager
    reader: ReferenceReader
    tag_callbacks: tuple[TagCallback, ...] = ()
    """Called when tags of the main branch come and go."""
    iceberg_catalog: Callable[[Options], IcebergCatalog | None] = lambda _: None
    """Opens the catalog of Iceberg's that the options of the table name; None: they name none."""

    def show_tag(self, name: str, snapshot_id: int | None) -> None:
        """Let who shows tags have one, such as Iceberg metadata; None: no longer."""
        self.tell_tag(name, snapshot_id)
        if self.options.slice(IcebergPlace).is_enabled and self.layout.branch is None:
            tags = iceberg.IcebergTags(
                options=self.options,
                layout=self.layout,
                file_io=self.file_io,
                snapshots=self.snapshots,
                catalog=self.iceberg_catalog,
            )
            tags.set(name, snapshot_id)

    def tell_tag(self, name: str, snapshot_id: int | None) -> None:
        """Call the callbacks of tags."""
        if self.layout.branch is None:
            for callback in self.tag_callbacks:
                callback(name, snapshot_id)
