"""Making a Hive metastore know what is in the warehouse."""

from __future__ import annotations

import contextlib
import logging
import time
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from paimonlab.catalog.catalog import FoundTable
from paimonlab.catalog.hive import objects
from paimonlab.catalog.hive.checks import check_lower
from paimonlab.catalog.hive.client import (
    Struct,
    TakenNameError,
)
from paimonlab.catalog.hive.databases import HiveDatabases
from paimonlab.catalog.hive.folders import has_schemas
from paimonlab.catalog.names import DATABASE_SUFFIX, check_name, is_name
from paimonlab.catalog.placed_tables import EXTERNAL, schema_files, uri_of
from paimonlab.errors import (
    DatabaseNotFoundError,
    TableNotFoundError,
)
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.spec.identifier import Identifier
from paimonlab.storage import join

logger = logging.getLogger(__name__)


class HiveRepair(HiveDatabases):
    """The part of a Hive catalog that repairs it."""

    if TYPE_CHECKING:

        def _create_object(self, identifier: Identifier, made: Struct) -> None: ...
        def _mirror(self, identifier: Identifier, files: SchemaManager) -> None: ...
        def _found_at(self, identifier: Identifier, table: Struct) -> FoundTable: ...
        def _add_partitions(self, found: FoundTable) -> None: ...

    def repair(self, name: str | None = None) -> None:
        """Add databases, tables and partitions that are in the warehouse and not in the metastore.

        Columns and options of tables are given to the metastore again. Nothing is removed.

        Parameters
        ----------
        name
            A database or a table; None: all.

        Raises
        ------
        DatabaseNotFoundError, TableNotFoundError
            If there is no such folder.
        """
        self._check_writable(f"repairing {name or self.path}")
        if name is None:
            for folder in self.file_io.list_names(self.path):
                database = folder.removesuffix(DATABASE_SUFFIX)
                if folder != database and is_name(f"{database}.t"):
                    self._repair_database(database)
        elif "." in name:
            identifier = self._plain(name)
            check_lower("table", identifier.full_name)
            if not self._repair_table(identifier):
                raise TableNotFoundError(identifier.full_name, ())
        else:
            self._repair_database(check_name("database", name))

    def _repair_database(self, database: str) -> None:
        if database != database.lower():
            logger.warning("%s is not repaired: names in a metastore are lower case", database)
            return
        known = self._database(database)
        if known is None:
            if not self.file_io.exists(self._database_path(database)):
                raise DatabaseNotFoundError(database, self.databases())
            self._create_database(database, {})
            known = self._known_database(database)
        folder, store = self._store_of(known, database)
        for status in store.list(folder):
            table = PurePosixPath(status.path).name
            if table != table.lower() or not is_name(f"{database}.{table}"):
                continue
            if has_schemas(join(folder, table), store):
                self._repair_table(Identifier(database, table))

    def _repair_table(self, identifier: Identifier) -> bool:
        """Make what the metastore knows of a table what its files say; False: there are none."""
        if self._database(identifier.database) is None:
            if not self.file_io.exists(self._table_path(identifier)):
                raise DatabaseNotFoundError(identifier.database, self.databases())
            self._create_database(identifier.database, {})
        known = self._table_object(identifier)
        if known is None:
            folder, store = self._store_of(
                self._known_database(identifier.database), identifier.database
            )
            path = join(folder, identifier.table)
        else:
            path, store = self._store_of(known, identifier.full_name)
        files = schema_files(path, store, identifier)
        schema = files.latest()
        if schema is None:
            return False
        with self._locks(identifier):
            if known is None:
                made = objects.new_table(
                    self._metastore,
                    identifier,
                    schema,
                    location=uri_of(path),
                    is_external=self._hive.makes_external
                    or any(schema.options.get(key, "").lower() == "true" for key in EXTERNAL),
                    now_seconds=int(time.time()),
                    options=self._hive.objects,
                )
                with contextlib.suppress(TakenNameError):
                    self._create_object(identifier, made)
            else:
                self._mirror(identifier, files)
        found = self._table_object(identifier)
        if found is not None:
            self._add_partitions(self._found_at(identifier, found))
        return True
