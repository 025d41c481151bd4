"""What every catalog does: names to tables, and the definition of tables.

Kinds of catalogs inherit from `Catalog`, and say who knows the names: a folder, a database, a
server. Those whose tables have schema files that paimonlab writes inherit from
`paimonlab.catalog.schema_files.SchemaFileCatalog`.

Source: apache/paimon@1.3.1 ``org.apache.paimon.catalog.Catalog``, ``AbstractCatalog``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from paimonlab import catalog
from paimonlab.catalog import clones, copying, engines, filled_tables, ingesting, opening
from paimonlab.catalog.names import SYSTEM_DATABASE, check_name, parse
from paimonlab.catalog.new_schemas import check_width, checked_schema, schema_from
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
from paimonlab.spec.external_paths import ExternalPathOptions
from paimonlab.spec.format_table import is_format_table
from paimonlab.spec.iceberg.options import folder_outside
from paimonlab.spec.identifier import MAIN_BRANCH, Identifier
from paimonlab.spec.options.given import OptionValue
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.schema.definition import Schema, TableSchema
from paimonlab.storage import FileIO, ReadOnlyFileIO
from paimonlab.storage.near_folders import near_folders
from paimonlab.table import system
from paimonlab.table.branch_options import BranchOptions
from paimonlab.table.definition import TableDefinition
from paimonlab.table.inside import definition_of
from paimonlab.table.store import TableStore
from paimonlab.table.table import Table

if TYPE_CHECKING:
    from paimonlab.catalog.migrating import FolderMigration
    from paimonlab.catalog.migrating_tables import TableMigration
    from paimonlab.catalog.replacing import Replacement
    from paimonlab.catalog.served import ServedCatalog, StoreRole
    from paimonlab.commit.callbacks import CommitCallback
    from paimonlab.commit.iceberg.catalogs import IcebergCatalog
    from paimonlab.commit.publisher import TablePublisher
    from paimonlab.progress import Progress
    from paimonlab.spec.schema.change_kinds import SchemaChange
    from paimonlab.table.format_tables import FormatTable
    from paimonlab.table.system import SystemTable
    from paimonlab.workers import Workers

MAX_COLUMNS = 20_000
"""How many columns a table may have, unless more are asked for."""


class FoundTable(Struct, frozen=True, kw_only=True):
    """What a catalog knows of a table: enough to open it."""

    identifier: Identifier
    """Without branch and system table."""
    schema: TableSchema
    """The latest one of the main branch."""
    path: str
    """The folder."""
    file_io: FileIO
    """A store in which it can be read and written."""
    callbacks: tuple[CommitCallback, ...] = ()
    """What the catalog does after every commit."""


class Catalog(
    ABC,
    habits.FamiliarNames,
    what="a catalog",
    instead=habits.CATALOG,
    otherwise="a table is opened by catalog['db.t'], and list(catalog) has all their names",
):
    """Databases and tables of one warehouse; `paimonlab.connect` opens it."""

    keeps_database_options = True
    """Whether databases have options, such as ``comment``."""
    takes_places = False
    """Whether who creates a table may say where it is, by the option ``path``."""
    _reads_schema_files = True
    """Whether schemas come from the files of tables, not from what a server says of them."""

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

    @property
    def has_folder(self) -> bool:
        """Whether `path` is the folder of the warehouse; else each table says where it is."""
        return True

    def __repr__(self) -> str:
        return f"<paimonlab.Catalog {self.path}>"

    # Databases

    @abstractmethod
    def databases(self) -> list[str]:
        """Names of the databases, sorted."""

    @abstractmethod
    def has_database(self, database: str) -> bool:
        """Whether a database exists."""

    def database_options(self, database: str) -> dict[str, str]:
        """Return what the catalog keeps of a database beside its name.

        Returns
        -------
        dict[str, str]
            Empty if the catalog keeps nothing.

        Raises
        ------
        DatabaseNotFoundError
            If there is no such database.
        """
        return self._database_options(database)

    @habits.arguments(habits.DATABASE)
    def create_database(
        self,
        database: str,
        *,
        options: Mapping[str, str] | None = None,
        exist_ok: bool = False,
    ) -> None:
        """Create a database.

        Parameters
        ----------
        options
            What the catalog keeps of it, such as ``comment``.
        exist_ok
            Leave a database of this name as it is.

        Raises
        ------
        AlreadyExistsError
            If it already exists, unless ``exist_ok``.
        UnsupportedError
            If there are ``options`` and the catalog keeps none.
        """
        check_name("database", database)
        if not self._create_database(database, dict(options or {})) and not exist_ok:
            raise AlreadyExistsError("database", database)

    def alter_database(
        self,
        database: str,
        *,
        set: Mapping[str, str] | None = None,
        remove: Iterable[str] = (),
    ) -> None:
        """Change what the catalog keeps of a database.

        Parameters
        ----------
        set
            Options that get these values.
        remove
            Options that are removed; those that the database does not have are passed over.

        Raises
        ------
        DatabaseNotFoundError
            If there is no such database.
        UnsupportedError
            If the catalog keeps no options of databases.
        """
        self._alter_database(database, dict(set or {}), frozenset(remove))

    @habits.arguments(habits.DROP)
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
        check_name("database", database)
        if not self.has_database(database):
            if missing_ok:
                return
            raise self._no_database(database)
        inside = [] if cascade else self._contents(database)
        if inside:
            raise SchemaError(
                f"database {database} has tables ({', '.join(inside[:5])}); drop them first, or "
                "pass cascade=True, in SQL CASCADE, to delete them with all their data"
            )
        self._drop_database(database)

    # Tables

    def tables(self, database: str | None = None) -> list[str]:
        """Names of the tables of a database, sorted; without one, of all, as ``db.table``."""
        if database is None:
            return list(self)
        if database == SYSTEM_DATABASE:
            return catalog.global_tables.global_table_names()
        return self._table_names(database)

    def has_table(self, name: str) -> bool:
        """Whether a table exists."""
        return self._is_there(parse(name))

    table = opening.table
    system_table = opening.system_table

    def __getitem__(self, name: str) -> Table:
        return self.table(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and "." in name and self.has_table(name)

    def __iter__(self) -> Iterator[str]:
        for database in self.databases():
            for table in self.tables(database):
                yield f"{database}.{table}"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

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
        return cast("Table | SystemTable", self._relation(name, takes_formats=False))

    def opened(self, name: str) -> Table | SystemTable | FormatTable:
        """Open whatever has a name, format tables too; errors are those of `relation`."""
        return self._relation(name, takes_formats=True)

    def _relation(self, name: str, *, takes_formats: bool) -> Table | SystemTable | FormatTable:
        given = opening.parsed(self, name)
        if given.database == SYSTEM_DATABASE:
            return catalog.global_tables.global_table(self, given)
        identifier = parse(name)
        found = self._found(Identifier(identifier.database, identifier.table))
        if found is None:
            raise self._not_found(identifier)
        if is_format_table(found.schema.options):
            if identifier.branch is not None or identifier.system_table is not None:
                raise SchemaError(
                    f"{name}: {identifier.full_name} is a format table, which has no branches and "
                    "no system tables"
                )
            if not takes_formats:
                raise SchemaError(
                    f"{identifier.full_name} is a format table, files without snapshots; "
                    f"catalog.format_table({identifier.full_name!r}) opens it"
                )
            return self._open_format(found)
        table = self._open(found)
        branch = identifier.branch or definition_of(table).options.slice(BranchOptions).branch
        if branch != MAIN_BRANCH:
            table = table.on_branch(branch)
        if identifier.system_table is None:
            return table
        return system.open_system_table(table, identifier.system_table)

    def register(self, name: str, path: str) -> Table:
        """Make the table that is in a folder one of this catalog; no file is copied or written.

        Parameters
        ----------
        name
            ``database.table``, which is free; the database must be there.
        path
            The folder of a table, absolute or with the scheme of its store: its schemas, snapshots,
            tags and branches are those of the table.

        Returns
        -------
        Table
            Opened.

        Raises
        ------
        AlreadyExistsError
            If the name is taken.
        SchemaError
            If there is no table in the folder.
        UnsupportedError
            If tables of this catalog cannot be there: those of files and of databases (JDBC)
            are in ``<warehouse>/<database>.db/<table>``.

        Notes
        -----
        In a Hive metastore the table is external, so that its files stay when it is dropped, unless
        the folder is where a new table of the name would be.
        """
        identifier = self._plain(name)
        found = self._register(identifier, path.rstrip("/"))
        if found is None:
            raise AlreadyExistsError("table", identifier.full_name)
        return self._open(found)

    @habits.arguments({**habits.CREATE, **habits.EXISTING, "columns": "schema"})
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
            What a `Schema` would say; ``options`` by Paimon's keys. A text is one key.
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
        if is_format_table(definition.options):
            made_format = self._made_format_table(identifier, definition, exist_ok=exist_ok)
            return cast("Table", made_format)
        table_schema = checked_schema(definition)
        check_width(identifier.full_name, table_schema, self.max_columns)
        try:
            made = self._create(identifier, table_schema)
        except DatabaseNotFoundError as error:
            error.hint = error.hint or f"create_database({identifier.database!r}) makes it"
            raise
        if made is not None:
            return self._open(made)
        if not exist_ok:
            hint = (
                f"catalog[{identifier.full_name!r}] opens it, exist_ok=True does so if it is there"
            )
            raise AlreadyExistsError("table", identifier.full_name, hint)
        return self.table(name)

    copy_table = copying.copy_table
    copy_to = copying.copy_to
    clone_to = clones.clone_to
    write_table = filled_tables.write_table
    ingest = ingesting.ingest
    statements_for = engines.statements_for

    def migrate_folder(
        self,
        source: str,
        target: str,
        *,
        moves: bool = False,
        file_format: str | None = None,
        partition_types: Mapping[str, str] | None = None,
        options: Mapping[str, OptionValue] | None = None,
        comment: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> FolderMigration:
        """Make an append table of a folder of Parquet or ORC files.

        The files become those of the table as they are; of files in folders of partitions that are
        not moved the rows are written anew.

        Parameters
        ----------
        source
            The folder, in the same store as the warehouse. Folders below it may be those of
            partitions, ``dt=2026-01-01/h=7``; files and folders whose names begin with ``_`` or
            ``.`` are left alone.
        target
            ``database.table``. Is made if it is not there; else its columns must be those of the
            files.
        moves
            Whether the files are moved, so that the folder no longer has them; else they are
            copied.
        file_format
            What the files must be, ``parquet`` or ``orc``; None: either.
        partition_types
            Types of partition columns by name, as ``{"dt": "DATE"}``. Of others INT, BIGINT or DATE
            where all values are written so, else STRING.
        options, comment
            Of a table that is made.
        dry_run
            Change nothing, only return what would be done.
        progress
            Is called as files are read, then as they are moved or copied.

        Returns
        -------
        FolderMigration
            What was done.

        Raises
        ------
        SchemaError
            If files differ in their columns, or do not fit the table.
        UnsupportedError
            If a type is none of Paimon's, or the table has keys or buckets.
        CorruptDataError
            If a file is damaged, or has other rows after it was moved.

        Notes
        -----
        After it was killed, call it again with the same source and target: it goes on. Orphan files
        are not looked for meanwhile.
        """
        return catalog.migrating.migrate_folder(
            self,
            source,
            target,
            moves=moves,
            file_format=file_format,
            partition_types=partition_types,
            options=options,
            comment=comment,
            dry_run=dry_run,
            progress=progress,
        )

    def migrate_table(
        self,
        source: Any,
        target: str,
        *,
        primary_keys: Sequence[str] = (),
        partition_keys: Sequence[str] | None = None,
        options: Mapping[str, OptionValue] | None = None,
        comment: str | None = None,
        verify: bool = True,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> TableMigration:
        """Make a table of the rows of an Iceberg or Delta table or of text files; compare both.

        Parameters
        ----------
        source
            A table of pyiceberg or a ``deltalake.DeltaTable``, read at its current snapshot or
            version; the local folder of one, of Iceberg with ``metadata/version-hint.text`` or
            its file ``….metadata.json``; or a folder of CSV or JSON files (an object a line),
            local or in the store of the warehouse, which may have folders of partitions,
            ``dt=2026-01-01``.
        target
            ``database.table``. Is made if it is not there; else it must have these columns and
            keys, and no rows but those of an earlier migration of the same source, which are
            replaced.
        primary_keys
            Of the table; none: rows are added as they are.
        partition_keys
            None: the columns that the source is partitioned by as they are, which leaves out
            Iceberg's ``bucket``, ``day`` and other transforms.
        options, comment
            Of a table that is made.
        verify
            Whether the rows are read again and compared: how many, and a sum of their hashes.
        dry_run
            Change nothing; rows are counted.
        progress
            Is called with how many rows are written, of how many.

        Returns
        -------
        TableMigration
            What was done.

        Raises
        ------
        TypeError
            If the source is none of these.
        SchemaError
            If the table that is there has other columns or keys, or other rows.
        UnsupportedError
            If a type is none of Paimon's, or deltalake cannot read the table.
        CorruptDataError
            If the rows differ at the end, as where ``primary_keys`` are not unique.

        Notes
        -----
        One commit has all rows. After it was killed call it again; what is done already is
        compared, and not written once more.
        """
        return catalog.migrating_tables.migrate_table(
            self,
            source,
            target,
            primary_keys=primary_keys,
            partition_keys=partition_keys,
            options=options,
            comment=comment,
            verify=verify,
            dry_run=dry_run,
            progress=progress,
        )

    def migrate_hive_table(
        self,
        source: str,
        target: str,
        *,
        moves: bool = False,
        options: Mapping[str, OptionValue] | None = None,
        comment: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
        workers: Workers | None = None,
    ) -> FolderMigration:
        """Make an append table of a Hive table of Parquet or ORC files, as of a folder of them.

        Parameters
        ----------
        source
            ``database.table`` of a Hive metastore, which this catalog is in. Its partitions are
            those that the metastore knows, wherever they are.
        target
            Another name; or the same, which the new table then takes over.
        moves
            Whether files are moved, and the Hive table dropped; else they stay. They have to be
            moved where the name stays.
        options, comment, dry_run, progress
            As in `migrate_folder`.
        workers
            What moves or copies files, as the executors of an engine; None: threads of this
            process.

        Returns
        -------
        FolderMigration
            What was done.

        Raises
        ------
        TableNotFoundError
            If there is no such table.
        UnsupportedError
            If the catalog is in no Hive metastore, or the table is none of Parquet or ORC files.
        SchemaError, CorruptDataError
            As in `migrate_folder`.
        """
        del target, moves, options, comment, dry_run, progress, workers
        raise UnsupportedError(
            f"migrating the Hive table {source}",
            "the catalog is in no Hive metastore; migrate its folder by catalog.migrate_folder",
        )

    def hive_tables(self, database: str) -> list[str]:
        """Names of the tables of Hive itself in a database, sorted; views are none.

        Raises
        ------
        DatabaseNotFoundError
            If there is no such database.
        UnsupportedError
            If the catalog is in no Hive metastore.
        """
        raise UnsupportedError(
            f"tables of Hive in {database}", f"{self.path} is a catalog in no Hive metastore"
        )

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
        altered = self._alter(identifier, changes)
        if is_format_table(altered.schema.options):
            return cast("Table", self._open_format(altered))
        if identifier.branch is not None:
            return self.table(str(identifier))
        return self._open(altered)

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
        made = self._replacement(before, schema)
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
        self._rename(old, new)

    @habits.arguments(habits.DROP)
    def drop_table(self, name: str, *, missing_ok: bool = False) -> None:
        """Delete a table with all its data and history."""
        identifier = self._plain(name)
        if not self._drop(identifier) and not missing_ok:
            raise self._not_found(identifier)

    def serve(
        self,
        *,
        port: int = 0,
        host: str = "127.0.0.1",
        token: str | None = None,
        users: str | Sequence[Any] | None = None,
        name: str | None = None,
        read_only: bool = False,
        audit_log: str | None = None,
        certificate: tuple[str, str] | None = None,
        role: StoreRole | None = None,
    ) -> ServedCatalog:
        """Serve the catalog to others by Paimon's REST protocol, in threads of this process.

        Clients are paimonlab, Java Paimon with Flink and Spark, and pypaimon. They read and write
        files themselves, so they must reach the warehouse as well.

        Parameters
        ----------
        port
            0: one that is free.
        host
            The address to listen at; ``0.0.0.0`` lets other machines in.
        token
            What clients must send; None: one is made, see ``server.token``.
        users
            Instead of a token: a file of TOML with users who have tokens or access keys and
            rights of their own (``docs/serve.md``), or a list of them
            (`paimonlab.catalog.rest_server.authorising.User`).
        name
            What clients call the warehouse; None: the name of its folder.
        read_only
            Whether requests that change something are refused.
        audit_log
            A file that gets a line of JSON for each request.
        certificate
            Files with a certificate and its key, for TLS; None: plain HTTP.
        role
            A role of the store (`paimonlab.catalog.served.StoreRole`): clients get tokens for the
            files of a table, made by the store's STS; None: they have keys themselves.

        Returns
        -------
        ServedCatalog
            It answers already; ``server.options`` is what `paimonlab.connect` takes, and
            ``server.stop()`` or the end of a ``with`` ends it.

        Raises
        ------
        UnsupportedError
            If tornado is not installed, or there is a role and the store does not speak S3's
            protocol.
        ValueError
            If something is missing to ask for the role.
        OSError
            If the port is taken.
        """
        return catalog.serving.serve(
            self,
            port=port,
            host=host,
            token=token,
            users=users,
            name=name,
            read_only=read_only,
            audit_log=audit_log,
            certificate=certificate,
            role=role,
        )

    @abstractmethod
    def repair(self, name: str | None = None) -> None:
        """Make what the catalog knows agree with the files in the warehouse.

        Parameters
        ----------
        name
            A database or a table; None: all.

        Raises
        ------
        UnsupportedError
            If the catalog knows nothing but what the files say.
        """

    # What kinds of catalogs say. Names were checked; what is missing is an error of `_not_found`.

    def _database_options(self, database: str) -> dict[str, str]:
        """Return what is kept of a database."""
        self._check_database(database)
        return {}

    @abstractmethod
    def _create_database(self, database: str, options: dict[str, str]) -> bool:
        """Create a database; False if it exists."""

    def _alter_database(
        self, database: str, set_to: dict[str, str], removed: frozenset[str]
    ) -> None:
        """Change what is kept of a database."""
        self._check_database(database)
        raise UnsupportedError(
            f"altering {', '.join([*set_to, *sorted(removed)])} of database {database}",
            "the catalog keeps no options of databases",
        )

    @abstractmethod
    def _drop_database(self, database: str) -> None:
        """Delete a database that exists, with all that is in it."""

    def _contents(self, database: str) -> list[str]:
        """Return the names of all that dropping a database would delete, sorted."""
        return self._table_names(database)

    @abstractmethod
    def _table_names(self, database: str) -> list[str]:
        """Return the names of the tables of a database, sorted."""

    @abstractmethod
    def _found(self, identifier: Identifier) -> FoundTable | None:
        """Look a table up; None if there is no such table or database.

        The identifier has neither branch nor system table.
        """

    @abstractmethod
    def _is_there(self, identifier: Identifier) -> bool:
        """Whether there is a table, or its branch; also if it cannot be opened."""

    @abstractmethod
    def _create(self, identifier: Identifier, schema: TableSchema) -> FoundTable | None:
        """Create a table; None if there is a table of that name.

        Raises
        ------
        AlreadyExistsError
            If there is something else of that name.
        """

    def _register(self, identifier: Identifier, path: str) -> FoundTable | None:
        """Make a table of what is in a folder; None if there is a table of that name.

        Raises
        ------
        SchemaError
            If there is no table in it.
        UnsupportedError
            If tables of this catalog cannot be there.
        """
        self._check_database(identifier.database)
        if self._is_there(identifier):
            return None
        raise UnsupportedError(
            f"registering {identifier.full_name} at {path}", "the catalog says where its tables are"
        )

    @abstractmethod
    def _alter(self, identifier: Identifier, changes: Sequence[SchemaChange]) -> FoundTable:
        """Change the definition of a table, or of its branch."""

    @abstractmethod
    def _replacement(self, before: Table, definition: Schema) -> Replacement:
        """Prepare another definition of a table; nothing changes."""

    @abstractmethod
    def _rename(self, old: Identifier, new: Identifier) -> None:
        """Give a table another name.

        Raises
        ------
        AlreadyExistsError
            If the name is taken.
        """

    @abstractmethod
    def _drop(self, identifier: Identifier) -> bool:
        """Delete a table; False if there is no such table."""

    def _made_format_table(
        self, identifier: Identifier, definition: Schema, *, exist_ok: bool
    ) -> FormatTable:
        """Create a format table, if the catalog keeps such."""
        del definition, exist_ok
        raise UnsupportedError(
            f"type = 'format-table' of {identifier.full_name}",
            "catalogs of a Hive metastore and of a REST server keep format tables, this one has "
            "Paimon tables only: in SQL write USING paimon, or leave it out",
        )

    def _open_format(self, found: FoundTable) -> FormatTable:
        """Open a format table, if the catalog keeps such."""
        raise UnsupportedError(f"the format table {found.identifier.full_name}", "see `connect`")

    def _publisher(self, found: FoundTable, file_io: FileIO, layout: TableLayout) -> TablePublisher:
        """Return what makes snapshots of a table visible; the layout is that of its main branch."""
        del found
        return RenamelessPublisher(file_io, layout)

    # What they take from here.

    def _open(self, found: FoundTable) -> Table:
        identifier, schema = found.identifier, found.schema
        check_width(identifier.full_name, schema, self.max_columns)
        options = Options(schema.options)
        roots = (*options.slice(ExternalPathOptions).readable_folders, *self.external_roots)
        layout = TableLayout(found.path, external_roots=roots)
        iceberg = folder_outside(layout.table_path, options)
        others = () if iceberg is None else (iceberg,)
        file_io = found.file_io.within(layout.table_path, *roots, *others)
        store = TableStore(
            name=identifier.full_name,
            file_io=file_io,
            layout=layout,
            publisher=self._publisher(found, file_io, layout),
            callbacks=found.callbacks,
            iceberg_catalog=partial(_iceberg_catalog, identifier),
            lookup_folder=self.lookup_folder,
        )
        is_from_file = self._reads_schema_files and store.kept is None
        store.schemas.begin_at(schema, is_from_file=is_from_file)
        definition = TableDefinition(name=store.name, schema=schema, options=options)
        return Table(identifier, definition, store)

    def _plain(self, name: str) -> Identifier:
        identifier = parse(name)
        if identifier.system_table is not None or identifier.branch is not None:
            raise SchemaError(f"{name} is read-only; name the table itself: {identifier.full_name}")
        return identifier

    def _not_found(self, identifier: Identifier) -> DatabaseNotFoundError | TableNotFoundError:
        if not self.has_database(identifier.database):
            return self._no_database(identifier.database)
        known = [f"{identifier.database}.{name}" for name in self.tables(identifier.database)]
        return TableNotFoundError(identifier.full_name, known)

    def _no_database(self, name: str) -> DatabaseNotFoundError:
        known = self.databases()
        near = near_folders(self.path) if self.has_folder and not known else []
        hint = f"Or is the warehouse {' or '.join(near)}?" if near else ""
        return DatabaseNotFoundError(name, known, hint)

    def _check_database(self, database: str) -> None:
        if not self.has_database(database):
            raise self._no_database(database)


def _iceberg_catalog(identifier: Identifier, options: Options) -> IcebergCatalog:
    return catalog.iceberg_catalogs.iceberg_catalog(identifier, options)
