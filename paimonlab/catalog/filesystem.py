"""The filesystem catalog: a database is a folder, a table is a folder in it.

A table exists when it has a schema file.

Source: apache/paimon@1.3.1 ``org.apache.paimon.catalog.FileSystemCatalog``.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from paimonlab.catalog.catalog import FoundTable
from paimonlab.catalog.names import DATABASE_SUFFIX, check_name
from paimonlab.catalog.schema_files import SchemaFileCatalog
from paimonlab.errors import AlreadyExistsError, UnsupportedError
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.schema.definition import TableSchema


class FileSystemCatalog(SchemaFileCatalog):
    """Databases and tables that are the folders of a warehouse."""

    keeps_database_options = False

    def databases(self) -> list[str]:
        """Names of the databases, sorted."""
        names = self.file_io.list_names(self.path)
        return sorted(
            name.removesuffix(DATABASE_SUFFIX) for name in names if name.endswith(DATABASE_SUFFIX)
        )

    def has_database(self, database: str) -> bool:
        """Whether a database exists."""
        return self.file_io.exists(self._database_path(check_name("database", database)))

    def repair(self, name: str | None = None) -> NoReturn:
        """Refuse to make a metastore agree with the files: there is none.

        Parameters
        ----------
        name
            A database or a table; None: all.

        Raises
        ------
        UnsupportedError
            Always, as Java Paimon's catalog of files does (``Catalog.repairTable`` of 1.3.1):
            what is in the files is what the catalog shows.
        """
        raise UnsupportedError(
            f"repairing {name or self.path} in its metastore",
            "a catalog of files has none: tables are what is in their folders. table.fsck() finds "
            "damage, table.maintenance.remove_unexisting_files() gives up data files that are lost",
        )

    def _create_database(self, database: str, options: dict[str, str]) -> bool:
        for key, value in options.items():
            raise UnsupportedError(
                f"a database with {key} = {value!r}",
                "a filesystem catalog keeps no options of databases",
            )
        if self.has_database(database):
            return False
        self.file_io.make_directory(self._database_path(database))
        return True

    def _drop_database(self, database: str) -> None:
        self.file_io.delete_directory(self._database_path(database))

    def _table_names(self, database: str) -> list[str]:
        self._check_database(database)
        folder = self._database_path(database)
        folders = [Path(status.path).name for status in self.file_io.list(folder)]
        return sorted(name for name in folders if self._is_there(Identifier(database, name)))

    def _is_there(self, identifier: Identifier) -> bool:
        return self._has_schemas(identifier)

    def _create(self, identifier: Identifier, schema: TableSchema) -> FoundTable | None:
        self._check_database(identifier.database)
        schemas = self._schema_files(identifier)
        if schemas.ids() or not schemas.publish(schema):
            return None
        return self._found_with(identifier, schema)

    def _rename(self, old: Identifier, new: Identifier) -> None:
        if not self._is_there(old):
            raise self._not_found(old)
        self._check_database(new.database)
        try:
            self.file_io.rename(self._table_path(old), self._table_path(new))
        except FileExistsError:
            raise AlreadyExistsError("table", new.full_name) from None

    def _drop(self, identifier: Identifier) -> bool:
        is_there = self._is_there(identifier)
        if is_there:
            self.file_io.delete_directory(self._table_path(identifier))
        return is_there
