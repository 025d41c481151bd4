"""The parts of a table that maintenance works on."""

from __future__ import annotations

from dataclasses import dataclass

from paimonlab.maintenance.references import ReferenceReader
from paimonlab.metadata.changelogs import ChangelogManager
from paimonlab.metadata.consumers import ConsumerManager
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.storage import FileIO


@dataclass(frozen=True, slots=True, kw_only=True)
class TableHistory:
    """The snapshots, tags and changelogs of one branch, and what they name."""

    name: str
    layout: TableLayout
    file_io: FileIO
    snapshots: SnapshotManager
    tags: TagManager
    changelogs: ChangelogManager
    consumers: ConsumerManager
    reader: ReferenceReader
