"""The user's object: one table, opened at one schema.

A verb loads what it takes when it is called first: opening a table to read it loads no writer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

from msgspec.structs import replace

from paimonlab import on_use, table
from paimonlab.errors import TableNotFoundError, habits
from paimonlab.metadata.schemas import gone_hint
from paimonlab.spec.external_paths import ExternalPathOptions
from paimonlab.spec.iceberg.options import folder_outside
from paimonlab.table import upkeep
from paimonlab.table.definition import TableDefinition
from paimonlab.table.opened import OpenedTable
from paimonlab.table.verbs import committing, keeping, reading, writing

if TYPE_CHECKING:
    from paimonlab.commit.callbacks import CommitCallback
    from paimonlab.table.maintenance import Maintenance
    from paimonlab.table.upkeep.branches import Branches
    from paimonlab.table.upkeep.consumers import Consumers
    from paimonlab.table.upkeep.tags import Tags


class Table(
    OpenedTable,
    habits.NotSequence,
    called="a table",
    length="scan().count()",
    rows="scan().to_batches()",
    part="scan([{!r}])",
):
    """A table of a catalog: `Catalog.table` opens it.

    The object keeps the schema it was opened with until `refresh`. Snapshots are always looked
    up anew.
    """

    _accessors: ClassVar[dict[str, Callable[[Table], Any]]] = {}

    scan = reading.scan
    changes = reading.changes
    follow = reading.follow
    lookup = reading.lookup
    history = reading.history
    write = writing.write
    write_columns = writing.write_columns
    overwrite = writing.overwrite
    delete = writing.delete
    update = writing.update
    merge = writing.merge
    truncate = writing.truncate
    drop_partitions = writing.drop_partitions
    new_writer = committing.new_writer
    commit = committing.commit
    sequence_numbers = committing.sequence_numbers
    compact = keeping.compact
    compact_manifests = keeping.compact_manifests
    mark_partitions_done = keeping.mark_partitions_done
    fsck = keeping.fsck

    def __repr__(self) -> str:
        return f"<paimonlab.Table {self.name}>"

    def __getattr__(self, name: str) -> Any:
        if name in Table._accessors or on_use.load_from_above(name):
            return Table._accessors[name](self)
        instead = habits.TABLE
        if name in habits.WITHOUT_KEY and not self.primary_keys:
            instead = habits.WITHOUT_KEY
        elif not name.startswith("_") and name not in instead:
            if hasattr(table.maintenance.Maintenance, name):
                instead = {name: f"maintenance.{name}(…)"}
            elif hasattr(table.reading.scan.Scan, name):
                instead = {name: f"scan().{name}(…)"}
            elif name in self.schema.field_names:
                instead = {name: f"a column, read by scan([{name!r}])"}
        raise AttributeError(habits.no_attribute("a table", name, instead, dir(self)))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Stream all rows to anything that speaks Arrow: ``polars.DataFrame(table)``."""
        return self.scan().__arrow_c_stream__(requested_schema)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *{*Table._accessors, *on_use.names_from_above()}]

    @classmethod
    def register_accessor(cls, name: str, accessor: Callable[[Table], Any]) -> None:
        """Let upper layers offer ``table.<name>``: ``accessor`` is called with the table."""
        cls._accessors[name] = accessor

    @property
    def tags(self) -> Tags:
        """Named snapshots: ``.list()``, ``.get(name)``, ``.create(name)``, ``.delete(name)``."""
        return upkeep.tags.Tags(self._definition, self._store)

    @property
    def branches(self) -> Branches[Table]:
        """Branches: ``.list()``, ``.create(name)``, ``.merge(name)``."""
        return upkeep.branches.Branches(self._definition, self._store, self.on_branch)

    @property
    def consumers(self) -> Consumers:
        """How far readers have read: ``.list()``, ``.get(name)``, ``.reset(name, id)``."""
        return upkeep.consumers.Consumers(self._store)

    @property
    def maintenance(self) -> Maintenance:
        """Keeping the table in order: ``.rollback_to(snapshot=…)``, ``.analyze()``."""
        return table.maintenance.Maintenance(self._definition, self._store)

    def refresh(self) -> Self:
        """Take the latest schema of the table, which others may have changed; return the table.

        Where it was dropped or renamed and another table has its name, this is the other one then.

        Raises
        ------
        TableNotFoundError
            If the table is gone.
        """
        if self._store.schemas.is_replaced():
            self._store = replace(self._store)  # what is remembered is of a table that is gone
        schema = self._store.schemas.latest()
        if schema is None:
            raise TableNotFoundError(self.name, hint=gone_hint(self.name))
        self._store.schemas.begin_at(schema, is_from_file=self._store.kept is None)
        self._definition = TableDefinition.of_schema(self._definition.name, schema)
        known = self._store.layout.external_roots
        folders = self._definition.options.slice(ExternalPathOptions).readable_folders
        if more := [folder for folder in folders if folder not in known]:
            layout = replace(self._store.layout, external_roots=(*known, *more))
            file_io = self._store.file_io.within(*more)
            self._store = replace(self._store, layout=layout, file_io=file_io)
        outside = folder_outside(self._store.layout.table_path, self._definition.options)
        if outside is not None:
            self._store = replace(self._store, file_io=self._store.file_io.within(outside))
        return self

    def on_branch(self, name: str) -> Table:
        """Open another branch of the table; ``main`` is the one without a name.

        Raises
        ------
        BranchNotFoundError
            If there is no such branch.
        """
        definition, store = self._store.on_branch(name)
        return Table(replace(self._identifier, branch=store.layout.branch), definition, store)

    def with_commit_callbacks(self, *callbacks: CommitCallback) -> Table:
        """Return this table, calling these after every commit through it.

        Parameters
        ----------
        *callbacks
            See `paimonlab.commit.callbacks.CommitCallback`.
        """
        store = self._store.with_callbacks(callbacks)
        return Table(self._identifier, self._definition, store)
