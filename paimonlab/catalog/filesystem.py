"""The filesystem catalog: a database is a folder, a table is a folder in it.

Layout: ``<warehouse>/<database>.db/<table>``. A table exists when it has a schema file.

Source: apache/paimon@1.3.1 ``org.apache.paimon.catalog.FileSystemCatalog``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from paimonlab import catalog
from paimonlab.catalog import copying, filled_tables, opening
from paimonlab.catalog.names import DATABASE_SUFFIX, SYSTEM_DATABASE, check_name, parse
from paimonlab.catalog.new_schemas import check_width, checked_schema, schema_from
from paimonlab.clock import now_millis
from paimonlab.commit.publisher import RenamelessPublisher
from paimonlab.errors import (
    AlreadyExistsError,
    DatabaseNotFoundError,
    SchemaError,
    TableNotFoundError,
    UnsupportedError,
    habits,
)
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.spec.external_paths import ExternalPathOptions
from paimonlab.spec.identifier import MAIN_BRANCH, Identifier
from paimonlab.spec.options.given import OptionValue
from paimonlab.spec.options.table_options import Options, check_known, check_supported
from paimonlab.spec.schema.definition import Schema, TableSchema
from paimonlab.spec.schema.schema_changes import SchemaChange, apply_changes
from paimonlab.storage import FileIO, ReadOnlyFileIO, join
from paimonlab.table import system
from paimonlab.table.branch_options import BranchOptions
from paimonlab.table.definition import TableDefinition
from paimonlab.table.inside import definition_of
from paimonlab.table.store import TableStore
from paimonlab.table.table import Table

if TYPE_CHECKING:
    from paimonlab.catalog.replacing import Replacement
    from paimonlab.table.system import SystemTable

MAX_COLUMNS = 20_000
"""How many columns a table may have, unless more are asked for."""
_ALTER_ATTEMPTS = 100


class Catalog(habits.FamiliarNames, what="a catalog", instead=habits.CATALOG):
    """Databases and tables below one warehouse folder; `paimonlab.connect` opens it."""

    def __init__(
        self,
        path: str,
        file_io: FileIO,
        *,
        external_roots: tuple[str, ...] = (),
        lookup_folder: str = "",
        options: Mapping[str, str] | None = None,
        max_columns: int = MAX_COLUMNS,
    ) -> None:
        self.path = path
        """The warehouse folder."""
        self.file_io = file_io
        """Its store."""
        self.external_roots = external_roots
        """Folders outside of it that data files of any table may be in."""
        self.lookup_folder = lookup_folder
        """Where lookup stores are kept; empty: where the system has temporary files."""
        self.options = dict(options or {"warehouse": path})
        """The catalog options, by Paimon's keys."""
        self.max_columns = max_columns
        """How many columns a table may have."""

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be changed."""
        return isinstance(self.file_io, ReadOnlyFileIO)

    def __repr__(self) -> str:
        return f"<paimonlab.Catalog {self.path}>"

    def databases(self) -> list[str]:
        """Names of the databases, sorted."""
        names = self.file_io.list_names(self.path)
        return sorted(
            name.removesuffix(DATABASE_SUFFIX) for name in names if name.endswith(DATABASE_SUFFIX)
        )

    def has_database(self, database: str) -> bool:
        """Whether a database exists."""
        return self.file_io.exists(self._database_path(check_name("database", database)))

    def create_database(self, database: str, *, exist_ok: bool = False) -> None:
        """Create a database.

        Raises
        ------
        AlreadyExistsError
            If it already exists, unless ``exist_ok``.
        """
        if self.has_database(database):
            if exist_ok:
                return
            raise AlreadyExistsError("database", database)
        self.file_io.make_directory(self._database_path(database))

    def drop_database(
        self, database: str, *, cascade: bool = False, missing_ok: bool = False
    ) -> None:
        """Delete a database.

        Parameters
        ----------
        cascade
            Also delete its tables.
        missing_ok
            Do nothing if it does not exist.

        Raises
        ------
        SchemaError
            If it has tables and ``cascade`` is not given.
        """
        if not self.has_database(database):
            if missing_ok:
                return
            raise DatabaseNotFoundError(database, self.databases())
        tables = self.tables(database)
        if tables and not cascade:
            raise SchemaError(
                f"database {database} has tables ({', '.join(tables[:5])}); drop them first, or "
                "pass cascade=True to delete them with all their data"
            )
        self.file_io.delete_directory(self._database_path(database))

    def tables(self, database: str) -> list[str]:
        """Names of the tables of a database, sorted."""
        if database == SYSTEM_DATABASE:
            return catalog.global_tables.global_table_names()
        if not self.has_database(database):
            raise DatabaseNotFoundError(database, self.databases())
        folder = self._database_path(database)
        folders = [Path(status.path).name for status in self.file_io.list(folder)]
        return sorted(name for name in folders if self._is_there(Identifier(database, name)))

    def has_table(self, name: str) -> bool:
        """Whether a table exists."""
        return self._is_there(parse(name))

    table = opening.table
    system_table = opening.system_table

    def relation(self, name: str) -> Table | SystemTable:
        """Open whatever has a name: a table, or a system table as ``db.t$snapshots``.

        ``$branch_x`` opens the branch x, ``$branch_x$snapshots`` a system table of it. The
        database ``sys`` has tables about all others: ``sys.all_table_options``.

        Raises
        ------
        TableNotFoundError
            If it does not exist.
        BranchNotFoundError
            If the table exists and the branch does not.
        """
        if Identifier.parse(name).database == SYSTEM_DATABASE:
            return catalog.global_tables.global_table(self, Identifier.parse(name))
        identifier = parse(name)
        schema = self._schemas(Identifier(identifier.database, identifier.table)).latest()
        if schema is None:
            raise self._not_found(identifier)
        table = self._open(Identifier(identifier.database, identifier.table), schema)
        branch = identifier.branch or definition_of(table).options.slice(BranchOptions).branch
        if branch != MAIN_BRANCH:
            table = table.on_branch(branch)
        if identifier.system_table is None:
            return table
        return system.open_system_table(table, identifier.system_table)

    def create_table(
        self,
        name: str,
        schema: Any,
        *,
        primary_keys: Sequence[str] = (),
        partition_keys: Sequence[str] = (),
        options: Mapping[str, OptionValue] | None = None,
        comment: str | None = None,
        exist_ok: bool = False,
    ) -> Table:
        """Create a table.

        Parameters
        ----------
        name
            ``database.table``; the database must be there.
        schema
            Names with Paimon's type text
            (``{"id": "BIGINT NOT NULL", "amount": "DECIMAL(12, 2)"}``), an Arrow schema, or a
            `Schema` that says everything. Of an Arrow table, a pandas or polars frame or
            anything else that speaks Arrow the columns are taken and no row is written
            (`Table.write` does that); levels of a pandas index that have names come first.
        primary_keys, partition_keys, options, comment
            What a `Schema` would say; ``options`` by Paimon's keys.
        exist_ok
            Return the existing table, whatever its definition.

        Raises
        ------
        AlreadyExistsError
            If the table exists, unless ``exist_ok``.
        SchemaError
            If the definition is not allowed, or an option is unknown.
        DataError
            If a pandas frame has columns without names, or two of one name.
        TypeError
            If ``schema`` is none of these.
        UnsupportedError
            If an option has a value that is not implemented, or values of a column's type
            cannot be written.
        """
        identifier = self._plain(name)
        definition = schema_from(name, schema, primary_keys, partition_keys, options, comment)
        table_schema = checked_schema(definition)
        check_width(identifier.full_name, table_schema, self.max_columns)
        if not self.has_database(identifier.database):
            raise DatabaseNotFoundError(identifier.database, self.databases())
        schemas = self._schemas(identifier)
        if schemas.ids() or not schemas.publish(table_schema):
            if not exist_ok:
                raise AlreadyExistsError("table", identifier.full_name)
            existing = schemas.latest()
            assert existing is not None, "a table that exists has a schema"
            return self._open(identifier, existing)
        return self._open(identifier, table_schema)

    copy_table = copying.copy_table
    write_table = filled_tables.write_table

    def alter_table(self, name: str, *changes: SchemaChange) -> Table:
        """Change the definition of a table; data files stay as they are.

        Parameters
        ----------
        *changes
            `AddColumn`, `RenameColumn`, `SetOption` …, applied in order, all or nothing.

        Returns
        -------
        Table
            Opened with the new schema.
        """
        identifier = parse(name)
        if identifier.system_table is not None:
            raise SchemaError(f"{name} is read-only; name the table: {identifier.full_name}")
        schemas = self._schemas(identifier)
        layout = self._layout(identifier)
        snapshots = SnapshotManager(self.file_io.within(layout.table_path), layout)
        for _ in range(_ALTER_ATTEMPTS):
            current = schemas.latest()
            if current is None:
                raise self._not_found(identifier)
            altered = apply_changes(
                current,
                changes,
                has_snapshots=snapshots.latest_id() is not None,
                time_millis=now_millis(),
            )
            if altered.options != current.options:
                check_known({k: v for k, v in altered.options.items() if k not in current.options})
            check_supported(Options(altered.options), altered, "create")
            known = {(field.id, field.type) for field in current.fields}
            catalog.column_types.check_types(
                field for field in altered.fields if (field.id, field.type) not in known
            )
            catalog.column_types.check_files(altered, before=current)
            check_width(identifier.full_name, altered, self.max_columns)
            if schemas.publish(altered):
                if identifier.branch is not None:
                    return self.table(str(identifier))
                return self._open(identifier, altered)
        raise SchemaError(f"{identifier}: other writers changed the schema each time; try again")

    def replacement(self, name: str, schema: Schema) -> Replacement:
        """Prepare another definition of a table, which keeps its snapshots and tags.

        `Replacement.publish` gives it to the table, and removes all rows.

        Raises
        ------
        SchemaError
            If the definition is not allowed, or an option is unknown.
        UnsupportedError
            If a table with snapshots would get other keys or such a value of an option.
        """
        identifier = self._plain(name)
        before = self.table(name)
        made = catalog.replacing.replacement_of(before, schema, self._schemas(identifier))
        check_width(identifier.full_name, made.table.schema, self.max_columns)
        return made

    def rename_table(self, source: str, target: str) -> None:
        """Give a table another name, in the same or another database.

        Raises
        ------
        AlreadyExistsError
            If the name is taken.
        """
        old, new = self._plain(source), self._plain(target)
        if not self._is_there(old):
            raise self._not_found(old)
        if not self.has_database(new.database):
            raise DatabaseNotFoundError(new.database, self.databases())
        try:
            self.file_io.rename(self._table_path(old), self._table_path(new))
        except FileExistsError:
            raise AlreadyExistsError("table", new.full_name) from None

    def drop_table(self, name: str, *, missing_ok: bool = False) -> None:
        """Delete a table with all its data and history."""
        identifier = self._plain(name)
        if not self._is_there(identifier):
            if missing_ok:
                return
            raise self._not_found(identifier)
        self.file_io.delete_directory(self._table_path(identifier))

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

    def _open(self, identifier: Identifier, schema: TableSchema) -> Table:
        check_width(identifier.full_name, schema, self.max_columns)
        options = Options(schema.options)
        roots = (*options.slice(ExternalPathOptions).readable_folders, *self.external_roots)
        layout = replace(self._layout(identifier), external_roots=roots)
        file_io = self.file_io.within(layout.table_path, *roots)
        store = TableStore(
            name=identifier.full_name,
            file_io=file_io,
            layout=layout,
            publisher=RenamelessPublisher(file_io, layout),
            lookup_folder=self.lookup_folder,
        )
        definition = TableDefinition(name=store.name, schema=schema, options=options)
        return Table(identifier, definition, store)

    def _plain(self, name: str) -> Identifier:
        identifier = parse(name)
        if identifier.system_table is not None or identifier.branch is not None:
            raise SchemaError(f"{name} is read-only; name the table itself: {identifier.full_name}")
        return identifier

    def _not_found(self, identifier: Identifier) -> DatabaseNotFoundError | TableNotFoundError:
        if not self.has_database(identifier.database):
            return DatabaseNotFoundError(identifier.database, self.databases())
        known = [f"{identifier.database}.{name}" for name in self.tables(identifier.database)]
        return TableNotFoundError(identifier.full_name, known)

    def _is_there(self, identifier: Identifier) -> bool:
        """Whether a table has schemas, wherever links lead: one that cannot be read can go."""
        return bool(SchemaManager(self.file_io, self._layout(identifier)).ids())

    def _schemas(self, identifier: Identifier) -> SchemaManager:
        layout = self._layout(identifier)
        file_io = self.file_io.within(layout.table_path)
        return SchemaManager(file_io, layout, table_name=identifier.full_name)

    def _layout(self, identifier: Identifier) -> TableLayout:
        return TableLayout(self._table_path(identifier), branch=identifier.branch)

    def _database_path(self, database: str) -> str:
        return join(self.path, database + DATABASE_SUFFIX)

    def _table_path(self, identifier: Identifier) -> str:
        return join(self._database_path(identifier.database), identifier.table)
