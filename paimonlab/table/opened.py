"""A table as it was opened: what it is, and the metadata that it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from paimonlab import metadata
from paimonlab.metadata.changelogs import ChangelogManager
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore

if TYPE_CHECKING:
    from paimonlab.spec.statistics.table import Statistics


class OpenedTable:
    """What every verb of a table begins with; see `Table`."""

    def __init__(
        self, identifier: Identifier, definition: TableDefinition, store: TableStore
    ) -> None:
        self._identifier = identifier
        self._definition = definition
        self._store = store

    @property
    def name(self) -> str:
        """The name, ``database.table``."""
        return str(self._identifier)

    @property
    def identifier(self) -> Identifier:
        """The parts of the name."""
        return self._identifier

    @property
    def path(self) -> str:
        """The table's folder."""
        return self._store.layout.table_path

    @property
    def schema(self) -> TableSchema:
        """The schema the table was opened with."""
        return self._definition.schema

    @property
    def arrow_schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self.schema.arrow_schema

    @property
    def primary_keys(self) -> tuple[str, ...]:
        """Columns of the primary key; () in an append table."""
        return self.schema.primary_keys

    @property
    def partition_keys(self) -> tuple[str, ...]:
        """Columns that choose the partition; () if there are no partitions."""
        return self.schema.partition_keys

    @property
    def options(self) -> Mapping[str, str]:
        """The options that were set, by Paimon's keys."""
        return self.schema.options

    @property
    def comment(self) -> str | None:
        """The table's comment."""
        return self.schema.comment

    @property
    def snapshot(self) -> Snapshot | None:
        """The latest snapshot; None when nothing was committed yet."""
        return self._store.snapshots.latest()

    @property
    def snapshots(self) -> SnapshotManager:
        """All snapshots: ``.list()``, ``.get(id)``, ``.latest()``."""
        return self._store.snapshots

    @property
    def schemas(self) -> SchemaManager:
        """All schemas: ``.list()``, ``.get(id)``, ``.latest()``."""
        return self._store.schemas

    @property
    def changelogs(self) -> ChangelogManager:
        """Changes that are kept after their snapshots expired: ``.list()``, ``.get(id)``."""
        return self._store.changelogs

    @property
    def statistics(self) -> Statistics | None:
        """What the last ANALYZE found; None: nothing that still holds for the latest snapshot."""
        snapshot = self.snapshot
        if snapshot is None or snapshot.statistics is None:
            return None
        store = metadata.statistics.StatisticsStore(self._store.file_io, self._store.layout)
        return store.read(snapshot.statistics, referrer=snapshot.file_name)
