"""A catalog whose databases, tables and views are rows of a database.

Tables lie in ``<warehouse>/<database>.db/<table>``, with their schemas in files. What changes rows
and files does so in one transaction of the database: of several who want a name one gets it, and
who is killed leaves neither a row nor a lock, at most files that `repair` finds.

Source: apache/paimon@1.4.2 and @5dacde5 ``org.apache.paimon.jdbc.JdbcCatalog``.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from paimonlab.catalog.catalog import FoundTable
from paimonlab.catalog.jdbc.database import Database, DoubtfulError, DuplicateError, Statements
from paimonlab.catalog.jdbc.lock import JdbcLock
from paimonlab.catalog.jdbc.rows import (
    EXISTS,
    LONGEST_NAME,
    LONGEST_VALUE,
    CatalogRows,
    create_tables,
)
from paimonlab.catalog.locks import LockingPublisher
from paimonlab.catalog.names import DATABASE_SUFFIX, check_name, parse
from paimonlab.catalog.replacing import Schemas
from paimonlab.catalog.schema_files import SchemaFileCatalog
from paimonlab.catalog.views import ViewCatalog
from paimonlab.commit.publisher import TablePublisher
from paimonlab.errors import (
    AlreadyExistsError,
    CatalogDatabaseError,
    CorruptMetadataError,
    DatabaseNotFoundError,
    ReadOnlyError,
    SchemaError,
    TableNotFoundError,
    UnsupportedError,
    ViewNotFoundError,
)
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.secrets import without_credentials
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.view import View, ViewChange, changed_view
from paimonlab.storage import FileIO
from paimonlab.storage.guards import lock_held

logger = logging.getLogger(__name__)

_LOCATION = "location"


class JdbcCatalog(ViewCatalog, SchemaFileCatalog):
    """Databases, tables and views that a database knows."""

    def __init__(
        self,
        path: str,
        file_io: FileIO,
        database: Database,
        *,
        key: str,
        lock: JdbcLock | None,
        mirrors_options: bool,
        **settings: Any,
    ) -> None:
        super().__init__(path, file_io, **settings)
        self._unprepared = database
        self._rows = CatalogRows(key)
        self._lock = lock
        self._mirrors_options = mirrors_options
        self._is_prepared = False

    def __repr__(self) -> str:
        shown = without_credentials(self.path)
        return f"<paimonlab.Catalog {shown} in {self._unprepared.address.shown}>"

    # Databases

    def databases(self) -> list[str]:
        """Names of the databases, sorted."""
        return self._rows.databases(self._database())

    def has_database(self, database: str) -> bool:
        """Whether a database exists."""
        return self._rows.has_database(self._database(), check_name("database", database))

    def _database_options(self, database: str) -> dict[str, str]:
        self._check_database(database)
        kept = self._rows.properties(self._database(), database)
        kept.pop(EXISTS, None)
        return {_LOCATION: self._database_path(database), **kept}

    def _create_database(self, database: str, options: dict[str, str]) -> bool:
        self._check_writable(f"creating database {database}")
        place = self._database_path(database)
        if options.get(_LOCATION, place) != place:
            raise UnsupportedError(
                f"a database with {_LOCATION} = '{options[_LOCATION]}'",
                f"tables of {database} lie in {place}, whatever it says",
            )
        kept = {EXISTS: "true", **options, _LOCATION: place}
        _check_values(f"database {database}", kept)
        self._check_lengths(database)

        def create() -> bool:
            with self._database().transaction() as rows:
                if self._rows.has_database(rows, database):
                    return False
                self._rows.add_properties(rows, database, kept)
                return True

        try:
            return self._database().retried(create)
        except DuplicateError:  # others were faster
            return False

    def _alter_database(
        self, database: str, set_to: dict[str, str], removed: frozenset[str]
    ) -> None:
        self._check_writable(f"altering database {database}")
        for key in {EXISTS, _LOCATION} & {*set_to, *removed}:
            raise UnsupportedError(
                f"altering {key} of database {database}", "the catalog says where its tables lie"
            )
        _check_values(f"database {database}", set_to)

        def alter() -> None:
            with self._database().transaction() as rows:
                if not self._rows.has_database(rows, database):
                    raise DatabaseNotFoundError(database, self._rows.databases(rows))
                kept = self._rows.properties(rows, database)
                added = {key: value for key, value in set_to.items() if key not in kept}
                self._rows.add_properties(rows, database, added)
                for key in set_to.keys() & kept.keys():
                    self._rows.set_property(rows, database, key, set_to[key])
                for key in removed & kept.keys():
                    self._rows.set_property(rows, database, key, None)

        self._database().retried(alter)

    def _drop_database(self, database: str) -> None:
        self._check_writable(f"dropping database {database}")
        for table in self._table_names(database):
            self._drop(Identifier(database, table))

        def drop() -> None:
            with self._database().transaction() as rows:
                self._rows.drop_database(rows, database)

        self._database().retried(drop)
        self.file_io.delete_empty_directory(self._database_path(database))

    def _contents(self, database: str) -> list[str]:
        return sorted([*self._table_names(database), *self.views(database)])

    # Tables

    def _table_names(self, database: str) -> list[str]:
        found = self._rows.tables(self._database(), database)
        if not found:
            self._check_database(database)
        return found

    def _found(self, identifier: Identifier) -> FoundTable | None:
        if not self._rows.has_table(self._database(), identifier):
            return None
        schema = self._schema_files(identifier).latest()
        if schema is None:
            raise CorruptMetadataError(
                self._table_path(identifier),
                f"the catalog has a table {identifier.full_name}, and there is no schema in its "
                "folder; restore it, or drop the table",
            )
        return self._found_with(identifier, schema)

    def _is_there(self, identifier: Identifier) -> bool:
        if not self._rows.has_table(self._database(), identifier):
            return False
        return identifier.branch is None or self._has_schemas(identifier)

    def _create(self, identifier: Identifier, schema: TableSchema) -> FoundTable | None:
        self._check_writable(f"creating {identifier.full_name}")
        self._check_database(identifier.database)
        self._check_names(identifier)
        mirrored = self._mirrored(identifier, schema)
        files = self._schema_files(identifier)
        made_files = False

        def create() -> bool:
            nonlocal made_files
            with self._database().transaction() as rows:
                self._rows.add_table(rows, identifier)
                self._check_no_view(rows, identifier)
                if mirrored is not None:
                    self._rows.set_table_properties(rows, identifier, mirrored)
                if files.ids() or not files.publish(schema):
                    raise SchemaError(
                        f"{identifier.full_name}: its folder has schemas, and the catalog has no "
                        f"such table; catalog.repair({identifier.full_name!r}) adds it, or delete "
                        f"{self._table_path(identifier)}"
                    )
                made_files = True
            return True

        with self._locks(identifier):
            try:
                self._settled(create, lambda: self._rows.has_table(self._database(), identifier))
            except DuplicateError:
                if not self._rows.has_table(self._database(), identifier):
                    self._check_spelling(identifier)
                return None
            except Exception:
                if made_files and not self._is_known(identifier):
                    self.file_io.delete_directory(self._table_path(identifier))
                raise
        return self._found_with(identifier, schema)

    def _schemas(self, identifier: Identifier) -> Schemas:
        files = self._schema_files(identifier)
        main = Identifier(identifier.database, identifier.table)
        return _LockedSchemas(
            latest=lambda: files.latest() if self._is_there(main) else None,
            publish=lambda schema: self._publish_schema(identifier, files, schema),
        )

    def _publish_schema(
        self, identifier: Identifier, files: SchemaManager, schema: TableSchema
    ) -> bool:
        """Make a schema the current one, and mirror its options."""
        self._check_writable(f"altering {identifier.full_name}")
        main = Identifier(identifier.database, identifier.table)
        mirrored = None if identifier.branch else self._mirrored(main, schema)
        with self._locks(main):
            if not files.publish(schema):
                return False
            if mirrored is not None:
                self._mirror(main, mirrored)
        return True

    def _mirror(self, identifier: Identifier, mirrored: Mapping[str, str]) -> None:
        def mirror() -> None:
            with self._database().transaction() as rows:
                if self._rows.has_table(rows, identifier):
                    self._rows.set_table_properties(rows, identifier, mirrored)

        try:
            self._database().retried(mirror)
        except CatalogDatabaseError as error:  # the schema counts, and is there
            logger.warning(
                "%s: its options were changed, and are not mirrored in the database of the "
                "catalog; repair(%r) does it: %s",
                identifier.full_name,
                identifier.full_name,
                error,
            )

    def _rename(self, old: Identifier, new: Identifier) -> None:
        self._check_writable(f"renaming {old.full_name}")
        self._check_names(new)
        moved = False

        def rename() -> bool:
            nonlocal moved
            with self._database().transaction() as rows:
                if not self._rows.has_table(rows, old):
                    return False
                if not self._rows.has_database(rows, new.database):
                    raise DatabaseNotFoundError(new.database, self._rows.databases(rows))
                if old == new or not self._rows.rename_table(rows, old, new):
                    raise AlreadyExistsError("table", new.full_name)
                self._check_no_view(rows, new)
                if self._has_schemas(old):
                    self.file_io.rename(self._table_path(old), self._table_path(new))
                    moved = True
            return True

        with self._locks(old, new):
            try:
                is_renamed = self._settled(
                    rename, lambda: self._rows.has_table(self._database(), new)
                )
            except (DuplicateError, FileExistsError):
                raise AlreadyExistsError("table", new.full_name) from None
            except Exception:
                if moved and not self._is_known(new):
                    self.file_io.rename(self._table_path(new), self._table_path(old))
                raise
        if not is_renamed:
            raise self._not_found(old)

    def _drop(self, identifier: Identifier) -> bool:
        self._check_writable(f"dropping {identifier.full_name}")

        def drop() -> bool:
            with self._database().transaction() as rows:
                if not self._rows.drop_table(rows, identifier):
                    return False
                # Others who want the name wait: their files would be deleted as well.
                self.file_io.delete_directory(self._table_path(identifier))
            return True

        with self._locks(identifier):
            return self._settled(
                drop, lambda: not self._rows.has_table(self._database(), identifier)
            )

    def repair(self, name: str | None = None) -> None:
        """Add databases and tables that are in the warehouse and not in the database.

        Options of tables are mirrored again. Nothing is removed.

        Parameters
        ----------
        name
            A database or a table; None: all.

        Raises
        ------
        DatabaseNotFoundError, TableNotFoundError
            If the warehouse has no such folder.
        """
        self._check_writable(f"repairing {name or self.path}")
        if name is None:
            for folder in self.file_io.list_names(self.path):
                if folder.endswith(DATABASE_SUFFIX):
                    self._repair_database(folder.removesuffix(DATABASE_SUFFIX))
        elif "." in name:
            identifier = self._plain(name)
            if not self._has_schemas(identifier):
                raise TableNotFoundError(identifier.full_name, self._folders(identifier.database))
            self._repair_table(identifier)
        else:
            self._repair_database(check_name("database", name))

    def _repair_database(self, database: str) -> None:
        if not self.file_io.exists(self._database_path(database)):
            raise DatabaseNotFoundError(database, self.databases())
        if not self.has_database(database):
            self._create_database(database, {})
        for table in self._folders(database):
            self._repair_table(Identifier(database, table))

    def _repair_table(self, identifier: Identifier) -> None:
        if not self.has_database(identifier.database):
            self._create_database(identifier.database, {})
        schema = self._schema_files(identifier).latest()
        if schema is None:
            return
        mirrored = self._mirrored(identifier, schema)

        def add() -> None:
            with self._database().transaction() as rows:
                if not self._rows.has_table(rows, identifier):
                    self._check_no_view(rows, identifier)
                    self._rows.add_table(rows, identifier)
                if mirrored is not None:
                    self._rows.set_table_properties(rows, identifier, mirrored)

        with self._locks(identifier), contextlib.suppress(DuplicateError):
            self._database().retried(add)

    def _folders(self, database: str) -> list[str]:
        """Return the names of folders with schemas."""
        folder = self._database_path(database)
        names = [PurePosixPath(status.path).name for status in self.file_io.list(folder)]
        return sorted(name for name in names if self._has_schemas(Identifier(database, name)))

    # Views

    def views(self, database: str) -> list[str]:
        """Names of the views of a database, sorted."""
        found = self._rows.views(self._database(), check_name("database", database))
        if not found:
            self._check_database(database)
        return found

    def view(self, name: str) -> View:
        """Return a view."""
        identifier = self._plain(name)
        document = self._rows.view(self._database(), identifier)
        if document is None:
            raise self._no_view(identifier)
        return View.from_json(document, name=identifier.full_name)

    def create_view(self, name: str, view: View, *, exist_ok: bool = False) -> None:
        """Create a view."""
        identifier = self._plain(name)
        self._check_writable(f"creating view {name}")
        self._check_database(identifier.database)
        self._check_names(identifier)

        def create() -> None:
            with self._database().transaction() as rows:
                self._reserve(rows, identifier)
                self._rows.add_view(rows, identifier, view.to_json())

        with self._locks(identifier):
            try:
                self._database().retried(create)
            except DuplicateError:
                if not exist_ok or self._rows.view(self._database(), identifier) is None:
                    raise AlreadyExistsError("view", identifier.full_name) from None

    def replace_view(self, name: str, view: View) -> None:
        """Give a view another definition."""
        self._change_view(parse(name), lambda _: view)

    def alter_view(self, name: str, *changes: ViewChange) -> None:
        """Change a view: options, its comment, dialects; all or nothing."""
        self._change_view(parse(name), lambda view: changed_view(view, changes, name=name))

    def rename_view(self, source: str, target: str) -> None:
        """Give a view another name, in the same or another database."""
        old, new = self._plain(source), self._plain(target)
        self._check_writable(f"renaming view {source}")
        self._check_names(new)

        def rename() -> None:
            with self._database().transaction() as rows:
                if self._rows.view(rows, old) is None:
                    raise self._no_view(old)
                if not self._rows.has_database(rows, new.database):
                    raise DatabaseNotFoundError(new.database, self._rows.databases(rows))
                self._reserve(rows, new)
                if old == new:
                    raise AlreadyExistsError("view", new.full_name)
                self._rows.rename_view(rows, old, new)

        with self._locks(old, new):
            try:
                self._database().retried(rename)
            except DuplicateError:
                raise AlreadyExistsError("view", new.full_name) from None

    def drop_view(self, name: str, *, missing_ok: bool = False) -> None:
        """Delete a view."""
        identifier = self._plain(name)
        self._check_writable(f"dropping view {name}")

        def drop() -> bool:
            with self._database().transaction() as rows:
                return self._rows.drop_view(rows, identifier)

        with self._locks(identifier):
            is_dropped = self._database().retried(drop)
        if not is_dropped and not missing_ok:
            raise self._no_view(identifier)

    def _change_view(self, identifier: Identifier, changed: Callable[[View], View]) -> None:
        self._check_writable(f"altering view {identifier.full_name}")

        def change() -> None:
            with self._database().transaction() as rows:
                document = self._rows.view(rows, identifier)
                if document is None:
                    raise self._no_view(identifier)
                view = changed(View.from_json(document, name=identifier.full_name))
                self._rows.replace_view(rows, identifier, view.to_json())

        with self._locks(identifier):
            self._database().retried(change)

    def _no_view(self, identifier: Identifier) -> ViewNotFoundError:
        known = self._rows.views(self._database(), identifier.database)
        return ViewNotFoundError(
            identifier.full_name, [f"{identifier.database}.{name}" for name in known]
        )

    # Names and locks

    def _reserve(self, rows: Statements, identifier: Identifier) -> None:
        """Check that no table has a name, and keep others from making one before the commit."""
        try:
            self._rows.add_table(rows, identifier)
        except DuplicateError:
            raise AlreadyExistsError("table", identifier.full_name) from None
        self._rows.drop_table(rows, identifier)

    def _check_no_view(self, rows: Statements, identifier: Identifier) -> None:
        if self._rows.view(rows, identifier) is not None:
            raise AlreadyExistsError("view", identifier.full_name)

    def _check_spelling(self, identifier: Identifier) -> None:
        """Name the table that the database takes for another one."""
        for name in self._rows.tables(self._database(), identifier.database):
            if name.lower() == identifier.table.lower():
                raise AlreadyExistsError("table", f"{identifier.database}.{name}")

    def _check_names(self, identifier: Identifier) -> None:
        self._check_lengths(identifier.table)
        if self._lock is not None:
            self._lock.key(identifier)

    def _check_lengths(self, name: str) -> None:
        if len(name) > LONGEST_NAME:
            raise SchemaError(
                f"{name[:20]}… has {len(name)} characters; names in the database of the catalog "
                f"have at most {LONGEST_NAME}"
            )

    def _mirrored(self, identifier: Identifier, schema: TableSchema) -> dict[str, str] | None:
        """Return what is mirrored of a table; None: nothing."""
        if not self._mirrors_options:
            return None
        lists = {
            "primary-key": schema.primary_keys,
            "partition": schema.partition_keys,
            "bucket-key": schema.bucket_keys,
        }
        mirrored = {**schema.options, **{key: ",".join(of) for key, of in lists.items() if of}}
        if self._unprepared.address.dialect != "sqlite":
            _check_values(identifier.full_name, mirrored, can_be_off=True)
        return mirrored

    @contextlib.contextmanager
    def _locks(self, *identifiers: Identifier) -> Iterator[None]:
        """Hold the locks of tables or views, if the catalog has locks; in order of their keys."""
        with contextlib.ExitStack() as stack:
            if self._lock is not None:
                self._database()
                for identifier in sorted(set(identifiers), key=self._lock.key):
                    stack.enter_context(self._lock.held(identifier))
                stack.enter_context(lock_held())
            yield

    def _publisher(self, found: FoundTable, file_io: FileIO, layout: TableLayout) -> TablePublisher:
        publisher = super()._publisher(found, file_io, layout)
        if self._lock is None:
            return publisher
        return LockingPublisher(publisher, self._lock, found.identifier)

    # The database

    def _database(self) -> Database:
        """Return the database, with the tables of catalogs."""
        if not self._is_prepared:
            if not self.is_read_only:
                create_tables(self._unprepared)
                if self._lock is not None:
                    self._lock.create_table()
            self._is_prepared = True
        return self._unprepared

    def _settled(self, work: Callable[[], bool], is_done: Callable[[], bool]) -> bool:
        """Run a transaction; where the answer to its end is lost, look whether it happened."""
        try:
            return self._database().retried(work)
        except DoubtfulError:
            if is_done():
                return True
            raise

    def _is_known(self, identifier: Identifier) -> bool:
        """Whether the database has a table, or does not say so."""
        try:
            return self._rows.has_table(self._database(), identifier)
        except CatalogDatabaseError:
            return True

    def _check_writable(self, what: str) -> None:
        if self.is_read_only:
            raise ReadOnlyError(what)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LockedSchemas:
    """The schemas of a table, published under its lock."""

    latest: Callable[[], TableSchema | None]
    publish: Callable[[TableSchema], bool]


def _check_values(what: str, values: Mapping[str, str], *, can_be_off: bool = False) -> None:
    """Refuse what the columns of the database have no room for.

    Raises
    ------
    SchemaError
        Names the option.
    """
    advice = "; sync-all-properties = false keeps options of tables out of it" * can_be_off
    for key, value in values.items():
        if len(value) > LONGEST_VALUE:
            raise SchemaError(
                f"{what}: {key} has {len(value):,} characters; in the database of the catalog "
                f"values have at most {LONGEST_VALUE:,}{advice}"
            )
        if len(key) > LONGEST_NAME:
            raise SchemaError(
                f"{what}: the option {key[:20]}… has {len(key)} characters; in the database of "
                f"the catalog they have at most {LONGEST_NAME}{advice}"
            )
