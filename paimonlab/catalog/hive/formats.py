"""Format tables of a Hive metastore.

Source: apache/paimon@1.4.2 ``HiveCatalog.createFormatTable``, ``dropTableImpl``.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from paimonlab.catalog.catalog import FoundTable
from paimonlab.catalog.format_tables import FormatTableCatalog
from paimonlab.catalog.hive import format_objects, objects
from paimonlab.catalog.hive.checks import check_lower
from paimonlab.catalog.hive.client import MissingObjectError, Struct, TakenNameError
from paimonlab.catalog.hive.folders import remove_folder
from paimonlab.catalog.hive.known import HiveObjects
from paimonlab.catalog.placed_tables import uri_of
from paimonlab.errors import UnsupportedError
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.schema.definition import TableSchema


class HiveFormatTables(FormatTableCatalog, HiveObjects):
    """The part of a Hive catalog that keeps format tables."""

    if TYPE_CHECKING:

        def _create_object(self, identifier: Identifier, made: Struct) -> None: ...
        def _drop_object(self, identifier: Identifier, table: Struct) -> None: ...
        def _is_taken(self, identifier: Identifier) -> bool: ...
        def _is_certainly_unknown(self, identifier: Identifier, error: BaseException) -> bool: ...

    def format_tables(self, database: str) -> list[str]:
        """Names of the format tables of a database, sorted; also of those that Hive made."""
        self._known_database(database)
        if not self._hive.has_format_tables:
            return []
        return sorted(
            one.tableName
            for one in self._objects(database)
            if format_objects.format_of(one) is not None
        )

    def _is_format(self, found: Struct | None) -> bool:
        """Whether what the metastore has of a name is a format table."""
        is_kept = self._hive.has_format_tables and found is not None
        return is_kept and format_objects.format_of(found) is not None

    def _found_format(self, identifier: Identifier, table: Struct) -> FoundTable:
        path, store = self._store_of(table, identifier.full_name)
        schema = format_objects.schema_of(table, identifier, path)
        return FoundTable(
            identifier=Identifier(identifier.database, identifier.table),
            schema=schema,
            path=path,
            file_io=store,
        )

    def _create_format(self, identifier: Identifier, schema: TableSchema) -> FoundTable | None:
        name = identifier.full_name
        self._check_writable(f"creating {name}")
        if not self._hive.has_format_tables:
            raise UnsupportedError(
                f"the format table {name}", "the catalog has format-table.enabled = 'false'"
            )
        database = self._known_database(identifier.database)
        check_lower("table", identifier.table)
        schema = format_objects.check_kept(name, schema)
        if self._is_taken(identifier):
            return None
        path, store, is_external = self._new_place(identifier, database, schema.options)
        with self._locks(identifier):
            store.make_directory(path)
            made = format_objects.new_format_table(
                self._metastore,
                identifier,
                schema,
                location=uri_of(path),
                is_external=is_external,
                now_seconds=int(time.time()),
                options=self._hive.objects,
            )
            try:
                self._create_object(identifier, made)
            except BaseException as error:
                if self._is_certainly_unknown(identifier, error):
                    store.delete_empty_directory(path)
                if isinstance(error, TakenNameError) and self._is_taken(identifier):
                    return None
                raise
        return self._found_format(identifier, made)

    def _drop_format(self, identifier: Identifier, table: Struct) -> bool:
        if not format_objects.is_paimons(table):
            raise UnsupportedError(
                f"dropping {identifier.full_name}, a table of {objects.kind_of(table)}",
                "Paimon did not make it: drop it with what did",
            )
        keeps = self._hive.makes_external or objects.is_external(table)
        path, store = self._store_of(table, identifier.full_name)
        with self._locks(identifier):
            try:
                self._drop_object(identifier, table)
            except MissingObjectError:
                return False
            if not keeps:
                remove_folder(path, store)
        return True
