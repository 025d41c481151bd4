"""Catalogs whose tables have schema files in a warehouse, which paimonlab writes.

Layout: ``<warehouse>/<database>.db/<table>``. Who knows the names is left open.

Source: apache/paimon@1.3.1 ``org.apache.paimon.catalog.AbstractCatalog``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paimonlab import catalog
from paimonlab.catalog.catalog import Catalog, FoundTable
from paimonlab.catalog.names import DATABASE_SUFFIX
from paimonlab.catalog.new_schemas import FALLBACK_BRANCH, check_fallback
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.metadata.branches import BranchManager
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.spec.external_paths import folder_of, scheme_of
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.schema.definition import Schema, TableSchema
from paimonlab.storage import FileIO, join

if TYPE_CHECKING:
    from paimonlab.catalog.replacing import Replacement, Schemas
    from paimonlab.spec.schema.change_kinds import SchemaChange
    from paimonlab.table.table import Table

_ALTER_ATTEMPTS = 100


class SchemaFileCatalog(Catalog):
    """A catalog that writes the schemas of its tables into their folders."""

    def _found(self, identifier: Identifier) -> FoundTable | None:
        schema = self._schemas(identifier).latest()
        return None if schema is None else self._found_with(identifier, schema)

    def _found_with(self, identifier: Identifier, schema: TableSchema) -> FoundTable:
        """Return a table with a schema that is known."""
        return FoundTable(
            identifier=identifier,
            schema=schema,
            path=self._table_path(identifier),
            file_io=self.file_io,
        )

    def _register(self, identifier: Identifier, path: str) -> FoundTable | None:
        self._check_database(identifier.database)
        if self._is_there(identifier):
            return None
        own = self._table_path(identifier)
        is_local = scheme_of(path) in ("", "file")
        if own != (folder_of(path) if is_local else path):
            raise UnsupportedError(
                f"registering {identifier.full_name} at {path}",
                f"a table of this name is in {own}: put the folder there, open the warehouse that "
                "it is in and catalog.copy_to this one, or use a Hive or REST catalog",
            )
        if self._schema_files(identifier).latest() is None:
            raise SchemaError(f"{identifier.full_name}: there is no table in {path}")
        return self._registered(identifier)

    def _registered(self, identifier: Identifier) -> FoundTable | None:
        """Know the table that is in the folder of its name; None: another was first."""
        self.repair(identifier.full_name)
        return self._found(identifier)

    def _alter(self, identifier: Identifier, changes: Sequence[SchemaChange]) -> FoundTable:
        layout = self._layout(identifier)
        store = self.file_io.within(layout.table_path)
        schemas = self._schemas(identifier)
        altered = self._altered(identifier, changes, schemas, store=store, layout=layout)
        return self._found_with(identifier, altered)

    def _altered(
        self,
        identifier: Identifier,
        changes: Sequence[SchemaChange],
        schemas: Schemas,
        *,
        store: FileIO,
        layout: TableLayout,
    ) -> TableSchema:
        """Change the definition of a table, and return it."""
        snapshots = SnapshotManager(store, layout)
        for _ in range(_ALTER_ATTEMPTS):
            current = schemas.latest()
            if current is None:
                raise self._not_found(identifier)
            altered = catalog.altering.altered_schema(
                current,
                changes,
                table=identifier.full_name,
                has_snapshots=snapshots.latest_id() is not None,
                max_columns=self.max_columns,
            )
            if altered.options.get(FALLBACK_BRANCH) != current.options.get(FALLBACK_BRANCH):
                check_fallback(altered.options, BranchManager(store, layout).names())
            if schemas.publish(altered):
                return altered
        raise SchemaError(f"{identifier}: other writers changed the schema each time; try again")

    def _replacement(self, before: Table, definition: Schema) -> Replacement:
        table = catalog.replacing.replaced_table(before, definition)
        schemas = self._schemas(before.identifier)
        return catalog.replacing.SchemaReplacement(before, table, schemas)

    def _schemas(self, identifier: Identifier) -> Schemas:
        """Return what gives a table a whole new definition."""
        return self._schema_files(identifier)

    def _schema_files(self, identifier: Identifier) -> SchemaManager:
        layout = self._layout(identifier)
        file_io = self.file_io.within(layout.table_path)
        return SchemaManager(file_io, layout, table_name=identifier.full_name)

    def _has_schemas(self, identifier: Identifier) -> bool:
        """Whether a folder has schemas, wherever links lead: one that cannot be read can go."""
        return bool(SchemaManager(self.file_io, self._layout(identifier)).ids())

    def _layout(self, identifier: Identifier) -> TableLayout:
        return TableLayout(self._table_path(identifier), branch=identifier.branch)

    def _database_path(self, database: str) -> str:
        return join(self.path, database + DATABASE_SUFFIX)

    def _table_path(self, identifier: Identifier) -> str:
        return join(self._database_path(identifier.database), identifier.table)
