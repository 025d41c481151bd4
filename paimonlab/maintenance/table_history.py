"""The parts of a table that maintenance works on."""

from __future__ import annotations

from dataclasses import dataclass

from paimonlab.commit import iceberg
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

    def show_tag(self, name: str, snapshot_id: int | None) -> None:
        """Let the Iceberg metadata, if there is some, have a tag; None: no longer."""
        if self.options.slice(IcebergPlace).is_enabled and self.layout.branch is None:
            tags = iceberg.IcebergTags(
                options=self.options,
                layout=self.layout,
                file_io=self.file_io,
                snapshots=self.snapshots,
            )
            tags.set(name, snapshot_id)
