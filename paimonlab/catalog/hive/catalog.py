"""A catalog whose databases, tables and views are objects of a Hive metastore.

The object of a table says where it is; its schema is in a file there. What is made is made as Java
makes it. A metastore has no transactions with files, so each change has an order: a new table is
first a schema in its folder, which decides between several who want it, then an object; a changed
one is first an object, which the metastore may refuse, then a schema; a dropped one is first no
object any more.

Source: apache/paimon@1.4.2 and @5dacde5 ``org.apache.paimon.hive.HiveCatalog``.
"""

from __future__ import annotations

import contextlib
import copy
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from paimonlab.catalog.catalog import FoundTable
from paimonlab.catalog.hive import objects
from paimonlab.catalog.hive.client import (
    BrokenConnectionError,
    Metastore,
    MissingObjectError,
    Struct,
    TakenNameError,
    UnknownCallError,
)
from paimonlab.catalog.hive.lock import HiveLock
from paimonlab.catalog.hive.objects import ObjectOptions
from paimonlab.catalog.hive.partitions import PartitionSync
from paimonlab.catalog.hive.views import HiveViews
from paimonlab.catalog.kinds import StoreOpener
from paimonlab.catalog.locks import LockingPublisher
from paimonlab.catalog.names import DATABASE_SUFFIX, check_name, is_name
from paimonlab.catalog.new_schemas import check_width, checked_schema, schema_from
from paimonlab.catalog.replacing import Schemas
from paimonlab.catalog.schema_files import SchemaFileCatalog
from paimonlab.commit.publisher import TablePublisher
from paimonlab.errors import (
    AlreadyExistsError,
    CatalogServerError,
    CorruptMetadataError,
    DatabaseNotFoundError,
    ReadOnlyError,
    SchemaError,
    TableNotFoundError,
    UnsupportedError,
)
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.secrets import without_credentials
from paimonlab.spec.external_paths import folder_of, scheme_of
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.given import OptionValue
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.schema.schema_changes import SchemaChange
from paimonlab.storage import FileIO, join
from paimonlab.storage.guards import lock_held
from paimonlab.table.table import Table

logger = logging.getLogger(__name__)

_LOCATION = "location"
_COMMENT = "comment"
_PATH = "path"
_EXTERNAL = ("external", "EXTERNAL")
_OF_PLACE = (_PATH, *_EXTERNAL)
"""Options of tables that say where they are, and whose their files are; they are set once."""
_SECONDS_FOR_OTHERS = 3.0
"""How long a table is waited for whose schema others have just written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HiveTable(FoundTable):
    """A table that a metastore knows."""

    object: Struct
    """As the metastore has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HiveOptions:
    """How a catalog uses its metastore."""

    objects: ObjectOptions
    batch_size: int
    """How many objects are asked for at once."""
    makes_external: bool
    """``table.type = external``: files of tables are never deleted."""
    cascades: bool
    """``alter-table-cascade``: whether partitions get the columns of their table."""
    skips_statistics: bool
    """``hive.skip-update-stats``"""


class HiveCatalog(HiveViews, SchemaFileCatalog):
    """Databases, tables and views that a Hive metastore knows."""

    def __init__(
        self,
        path: str,
        file_io: FileIO,
        metastore: Metastore,
        *,
        lock: HiveLock | None,
        hive: HiveOptions,
        open_store: StoreOpener,
        **settings: Any,
    ) -> None:
        super().__init__(path, file_io, **settings)
        self._metastore = metastore
        self._lock = lock
        self._hive = hive
        self._open_store = open_store

    def __repr__(self) -> str:
        return f"<paimonlab.Catalog {without_credentials(self.path)} in {self._metastore.shown}>"

    # Databases

    def databases(self) -> list[str]:
        """Names of the databases, sorted."""
        return sorted(self._metastore.ask("get_all_databases"))

    def has_database(self, database: str) -> bool:
        """Whether a database exists."""
        return self._database(check_name("database", database)) is not None

    def _database(self, name: str) -> Struct | None:
        if name != name.lower():
            return None
        try:
            return self._metastore.ask("get_database", name)
        except MissingObjectError:
            return None

    def _known_database(self, name: str) -> Struct:
        found = self._database(name)
        if found is None:
            raise DatabaseNotFoundError(name, self.databases())
        return found

    def _check_database(self, database: str) -> None:
        self._known_database(database)

    def _database_options(self, database: str) -> dict[str, str]:
        return objects.options_of(self._known_database(database))

    def _create_database(self, database: str, options: dict[str, str]) -> bool:
        self._check_writable(f"creating database {database}")
        _check_lower("database", database)
        if self._database(database) is not None:
            return False
        place = options.get(_LOCATION)
        path, store = self._store_at(
            _given_place(_LOCATION, place) if place else self._database_path(database)
        )
        made = objects.database_of(self._metastore, database, {**options, _LOCATION: _uri(path)})
        if self._hive.objects.hides_locations:
            store.make_directory(path)
            made.locationUri = None
            objects.place(made, _uri(path), replace(self._hive.objects, hides_locations=True))
        try:
            self._metastore.change(
                "create_database", made, is_done=lambda: self._database(database) is not None
            )
        except TakenNameError:  # others were faster
            return False
        return True

    def _alter_database(
        self, database: str, set_to: dict[str, str], removed: frozenset[str]
    ) -> None:
        self._check_writable(f"altering database {database}")
        for key in {_LOCATION, objects.LOCATION} & {*set_to, *removed}:
            raise UnsupportedError(
                f"altering {key} of database {database}",
                "the tables in it would stay where they are",
            )
        before = self._known_database(database)
        if _COMMENT in set_to or (_COMMENT in removed and before.description is not None):
            self._alter_comment(before, set_to.get(_COMMENT))
        changed = copy.deepcopy(self._known_database(database))
        options = {**objects.options_of(changed), **set_to}
        for key in removed:
            options.pop(key, None)
        after = objects.database_of(self._metastore, database, options)
        changed.parameters, changed.ownerName = after.parameters, after.ownerName
        changed.description = after.description
        self._write_database(changed)

    def _alter_comment(self, before: Struct, comment: str | None) -> None:
        """Change the comment first, and alone: not every metastore does it, and none says so."""
        changed = copy.deepcopy(before)
        changed.description = comment
        self._write_database(changed)
        if self._known_database(before.name).description != comment:
            raise UnsupportedError(
                f"altering {_COMMENT} of database {before.name}",
                "this metastore keeps it as it was when the database was created, as those of "
                "Hive 2 do",
            )

    def _write_database(self, changed: Struct) -> None:
        # Writing the same twice changes nothing, so it may be asked again.
        self._metastore.ask("alter_database", changed.name, changed)

    def _drop_database(self, database: str) -> None:
        self._check_writable(f"dropping database {database}")
        path, store = self._store_of(self._known_database(database), database)
        inside = self._objects(database)
        foreign = [one.tableName for one in inside if _is_foreign(one)]
        if foreign:
            raise SchemaError(
                f"database {database} has tables that are not Paimon's ({', '.join(foreign[:5])}); "
                "drop them with what made them"
            )
        for one in inside:
            identifier = Identifier(database, one.tableName)
            if objects.is_view(one):
                self.drop_view(identifier.full_name, missing_ok=True)
            else:
                self._drop(identifier)
        with contextlib.suppress(MissingObjectError):
            # Neither with its files nor with tables that others have made meanwhile.
            deletes_data, cascades = False, False
            self._metastore.change(
                "drop_database",
                *(database, deletes_data, cascades),
                is_done=lambda: self._database(database) is None,
            )
        store.delete_empty_directory(path)

    def _contents(self, database: str) -> list[str]:
        return sorted(self._metastore.ask("get_all_tables", database))

    # Tables

    def _table_names(self, database: str) -> list[str]:
        if database != database.lower():
            self._check_database(database)
        found = self._objects(database)
        if not found:
            self._check_database(database)
        return sorted(one.tableName for one in found if objects.is_paimon(one))

    def _objects(self, database: str) -> list[Struct]:
        """Return all tables and views of a database."""
        names = self._metastore.ask("get_all_tables", database)
        size = self._hive.batch_size
        found: list[Struct] = []
        for first in range(0, len(names), size):
            some = names[first : first + size]
            try:
                found += self._metastore.ask("get_table_objects_by_name", database, some)
            except UnknownCallError:  # Hive 4
                request = self._metastore.new("GetTablesRequest", dbName=database, tblNames=some)
                found += self._metastore.ask("get_table_objects_by_name_req", request).tables
        return found

    def _object(self, identifier: Identifier) -> Struct | None:
        """Return a table or a view as the metastore has it; None if it has none of that name."""
        if not _is_lower(identifier):
            return None
        return self._metastore.table(identifier.database, identifier.table)

    def _table_object(self, identifier: Identifier) -> Struct | None:
        """Return a table of Paimon's; None if there is none, or a view.

        Raises
        ------
        UnsupportedError
            If it is a table of something else.
        """
        found = self._object(identifier)
        if found is None or objects.is_view(found):
            return None
        if _is_foreign(found):
            raise UnsupportedError(
                f"{identifier.full_name}, a table of {objects.kind_of(found)},",
                "the metastore has it, and it is no table of Paimon's",
            )
        return found

    def _found(self, identifier: Identifier) -> FoundTable | None:
        found = self._table_object(identifier)
        return None if found is None else self._found_at(identifier, found)

    def _found_at(self, identifier: Identifier, table: Struct) -> HiveTable:
        path, store = self._store_of(table, identifier.full_name)
        schema = _schema_files(path, store, identifier).latest()
        if schema is None:
            raise CorruptMetadataError(
                path,
                f"the metastore has a table {identifier.full_name}, and there is no schema in its "
                "folder; restore it, or drop the table",
            )
        return self._found_of(identifier, table, schema)

    def _found_of(self, identifier: Identifier, table: Struct, schema: TableSchema) -> HiveTable:
        path, store = self._store_of(table, identifier.full_name)
        main = Identifier(identifier.database, identifier.table)
        return HiveTable(identifier=main, schema=schema, path=path, file_io=store, object=table)

    def _open(self, found: FoundTable) -> Table:
        table = super()._open(found)
        if objects.TAG_TO_PARTITION in found.schema.options:
            raise UnsupportedError(
                f"{found.identifier.full_name} with {objects.TAG_TO_PARTITION} = "
                f"'{found.schema.options[objects.TAG_TO_PARTITION]}'",
                "tags would not become partitions of the metastore",
            )
        if not objects.has_partitions(found.schema):
            return table
        return table.with_commit_callbacks(self._partitions(table))

    def _partitions(self, table: Table) -> PartitionSync:
        return PartitionSync(self._metastore, table, self._hive.objects)

    def _is_there(self, identifier: Identifier) -> bool:
        found = self._object(identifier)
        if found is None or not objects.is_paimon(found):
            return False
        if identifier.branch is None:
            return True
        path, store = self._store_of(found, identifier.full_name)
        return bool(_schema_files(path, store, identifier).ids())

    def create_table(
        self,
        name: str,
        schema: Any,
        *,
        primary_keys: Sequence[str] = (),
        partition_keys: Sequence[str] = (),
        options: Any = None,
        comment: str | None = None,
        exist_ok: bool = False,
    ) -> Table:
        """Create a table; see `Catalog.create_table`.

        Parameters
        ----------
        options
            Besides those of all catalogs ``path``: where the table is to be, also if it is there;
            and ``external`` = ``true``: its files stay when it is dropped, which they do with
            ``path``, too.
        """
        identifier = self._plain(name)
        definition = schema_from(name, schema, primary_keys, partition_keys, options, comment)
        of_place = {
            key: _text(definition.options[key]) for key in _OF_PLACE if key in definition.options
        }
        others = {key: value for key, value in definition.options.items() if key not in of_place}
        made_of = checked_schema(replace(definition, options=others))
        if of_place:
            made_of = replace(made_of, options={**made_of.options, **of_place})
        check_width(identifier.full_name, made_of, self.max_columns)
        made = self._create(identifier, made_of)
        if made is not None:
            return self._open(made)
        if not exist_ok:
            raise AlreadyExistsError("table", identifier.full_name)
        return self.table(name)

    def _create(self, identifier: Identifier, schema: TableSchema) -> FoundTable | None:
        self._check_writable(f"creating {identifier.full_name}")
        _check_options(schema)
        database = self._known_database(identifier.database)
        _check_lower("table", identifier.table)
        if self._is_taken(identifier):
            return None
        is_external = self._hive.makes_external or _PATH in schema.options
        is_external |= any(schema.options.get(key, "").lower() == "true" for key in _EXTERNAL)
        if _PATH in schema.options:
            path, store = self._store_at(_given_place(_PATH, schema.options[_PATH]))
        else:
            folder, store = self._store_of(database, identifier.database)
            path = join(folder, identifier.table)
        with self._locks(identifier):
            files = _schema_files(path, store, identifier)
            latest = files.latest() if is_external else None
            if latest is not None:
                _check_same(identifier, path, latest, schema)
                schema = latest
            elif files.ids() or not files.publish(schema):
                self._await(identifier, path)
                return None
            made = objects.new_table(
                self._metastore,
                identifier,
                schema,
                location=_uri(path),
                is_external=is_external,
                now_seconds=int(time.time()),
                options=self._hive.objects,
            )
            try:
                self._create_object(identifier, made)
            except BaseException as error:
                if latest is None and self._is_certainly_unknown(identifier, error):
                    _unmake(path, store)
                if isinstance(error, TakenNameError) and self._is_taken(identifier):
                    return None
                raise
        return self._found_of(identifier, made, schema)

    def _create_object(self, identifier: Identifier, made: Struct) -> None:
        def is_ours() -> bool:
            found = self._object(identifier)
            return (
                found is not None
                and objects.is_paimon(found)
                and found.createTime == made.createTime
                and self._path_of(found) == self._path_of(made)
            )

        try:
            self._metastore.change("create_table", made, is_done=is_ours)
        except TakenNameError:
            if not is_ours():
                raise
        except BrokenConnectionError:
            raise
        except CatalogServerError:  # it may have failed after it was done
            if not is_ours():
                raise

    def _is_taken(self, identifier: Identifier) -> bool:
        """Whether there is a table of this name.

        Raises
        ------
        AlreadyExistsError
            If there is something else.
        """
        found = self._object(identifier)
        if found is None:
            return False
        if objects.is_view(found):
            raise AlreadyExistsError("view", identifier.full_name)
        if _is_foreign(found):
            raise AlreadyExistsError(f"table of {objects.kind_of(found)}", identifier.full_name)
        return True

    def _await(self, identifier: Identifier, path: str) -> None:
        """Wait for the table whose schema others wrote.

        Raises
        ------
        SchemaError
            If it does not come: the folder was left.
        """
        end = time.monotonic() + _SECONDS_FOR_OTHERS
        while not self._is_taken(identifier):
            if time.monotonic() > end:
                raise SchemaError(
                    f"{identifier.full_name}: its folder has schemas, and the metastore has no "
                    f"such table; catalog.repair({identifier.full_name!r}) adds it, or delete "
                    f"{path}"
                )
            time.sleep(0.1)

    def _is_certainly_unknown(self, identifier: Identifier, error: BaseException) -> bool:
        """Whether the metastore says that it has no such table."""
        try:
            found = self._object(identifier)
        except CatalogServerError:
            logger.warning(
                "%s: it is unknown whether the metastore has it (%s); its folder stays",
                identifier.full_name,
                error,
            )
            return False
        return found is None or not objects.is_paimon(found)

    def _alter(self, identifier: Identifier, changes: Sequence[SchemaChange]) -> FoundTable:
        main = Identifier(identifier.database, identifier.table)
        table = self._table_object(main)
        if table is None:
            raise self._not_found(main)
        path, store = self._store_of(table, main.full_name)
        layout = TableLayout(path, branch=identifier.branch)
        snapshots = SnapshotManager(store.within(path), layout)
        schemas = self._schemas(identifier)
        schema = self._altered(identifier, changes, schemas, snapshots)
        return self._found_of(identifier, self._object(main) or table, schema)

    def _schemas(self, identifier: Identifier) -> Schemas:
        main = Identifier(identifier.database, identifier.table)

        def latest() -> TableSchema | None:
            table = self._table_object(main)
            if table is None:
                return None
            path, store = self._store_of(table, main.full_name)
            return _schema_files(path, store, identifier).latest()

        return _HiveSchemas(
            latest=latest, publish=lambda schema: self._publish_schema(identifier, schema)
        )

    def _publish_schema(self, identifier: Identifier, schema: TableSchema) -> bool:
        """Make a schema the current one, after the metastore took its columns."""
        self._check_writable(f"altering {identifier.full_name}")
        _check_options(schema)
        main = Identifier(identifier.database, identifier.table)
        with self._locks(main):
            table = self._table_object(main)
            if table is None:
                raise self._not_found(main)
            path, store = self._store_of(table, main.full_name)
            files = _schema_files(path, store, identifier)
            before = files.latest()
            if before is None or before.id + 1 != schema.id:
                return False
            if identifier.branch is not None:
                return files.publish(schema)
            kept = {key: before.options[key] for key in _OF_PLACE if key in before.options}
            schema = replace(schema, options={**schema.options, **kept})
            self._write_object(main, table, before, schema)
            try:
                is_published = files.publish(schema)
            except BaseException:
                self._write_back(main, files, table, schema)
                raise
            if not is_published:
                self._mirror(main, files)
            return is_published

    def _write_object(
        self, identifier: Identifier, table: Struct, before: TableSchema, after: TableSchema
    ) -> None:
        removed = set(before.options) - set(after.options)
        if after.comment is None:
            removed.add(_COMMENT)
        altered = objects.altered_table(
            self._metastore, table, after, removed=removed, options=self._hive.objects
        )
        if altered == table:
            return
        try:
            self._alter_object(identifier, altered)
        except BrokenConnectionError:
            raise
        except CatalogServerError as error:
            if "incompatible" not in str(error):
                raise
            raise type(error).told(
                self._metastore.shown,
                f"altering {identifier.full_name}",
                f"{error.strerror}. Hive compares columns by their places; the metastore's "
                "hive.metastore.disallow.incompatible.col.type.changes = false lets it be",
            ) from error

    def _write_back(
        self, identifier: Identifier, files: SchemaManager, table: Struct, schema: TableSchema
    ) -> None:
        """Give a table its object back, whose schema could not be written."""
        try:
            latest = files.latest()
            if latest is not None and latest.id < schema.id:
                self._alter_object(identifier, table)
        except Exception as error:  # noqa: BLE001 - the first error is the one to raise
            logger.warning(
                "%s: its schema was not changed, and the metastore may have the new columns; "
                "repair(%r) puts it right: %s",
                identifier.full_name,
                identifier.full_name,
                error,
            )

    def _mirror(self, identifier: Identifier, files: SchemaManager) -> None:
        """Give the object of a table the columns and options of its schema."""
        table, schema = self._table_object(identifier), files.latest()
        if table is None or schema is None:
            return
        wanted = objects.altered_table(self._metastore, table, schema, options=self._hive.objects)
        if wanted != table:
            self._alter_object(identifier, wanted)

    def _alter_object(self, identifier: Identifier, altered: Struct) -> None:
        skips = self._hive.skips_statistics or (
            str((altered.parameters or {}).get("DO_NOT_UPDATE_STATS")).lower() == "true"
        )
        properties = {"DO_NOT_UPDATE_STATS": "true" if skips else "false"}
        if self._hive.cascades:
            properties["CASCADE"] = "true"
        context = self._metastore.new("EnvironmentContext", properties=properties)

        def is_done() -> bool:
            found = self._object(identifier)
            return found is not None and objects.are_alike(found, altered)

        self._metastore.change(
            "alter_table_with_environment_context",
            *(identifier.database, identifier.table, altered, context),
            is_done=is_done,
        )

    def _rename(self, old: Identifier, new: Identifier) -> None:
        self._check_writable(f"renaming {old.full_name}")
        table = self._table_object(old)
        if table is None:
            raise self._not_found(old)
        database = self._known_database(new.database)
        _check_lower("table", new.table)
        if self._is_taken(new):
            raise AlreadyExistsError("table", new.full_name)
        path, store = self._store_of(table, old.full_name)
        target = join(self._store_of(database, new.database)[0], new.table)
        moves = not objects.is_external(table)
        if moves and "://" in path:
            raise UnsupportedError(
                f"renaming {old.full_name} at {path}", "an object store moves no folders"
            )
        if moves and store.exists(target):
            self._await(new, target)
            raise AlreadyExistsError("table", new.full_name)
        with self._locks(old, new):
            self._rename_object(old, new, table, target if moves else None, store)
            if moves:
                self._move(new, table, path, target, store)

    def _rename_object(
        self,
        old: Identifier,
        new: Identifier,
        table: Struct,
        path: str | None = None,
        store: FileIO | None = None,
    ) -> None:
        """Give an object another name, and its folder a path, which the metastore moves."""
        renamed = copy.deepcopy(table)
        renamed.dbName, renamed.tableName = new.database, new.table

        def is_done() -> bool:
            found = self._object(new)
            return found is not None and found.createTime == table.createTime

        context = self._metastore.new("EnvironmentContext", properties={})
        try:
            self._metastore.change(
                "alter_table_with_environment_context",
                *(old.database, old.table, renamed, context),
                is_done=lambda: self._object(old) is None and is_done(),
            )
        except BrokenConnectionError:
            raise
        except CatalogServerError:
            if self._object(old) is None:
                raise self._not_found(old) from None
            if self._object(new) is not None:
                raise AlreadyExistsError("table", new.full_name) from None
            if (
                path is not None and store is not None and store.exists(path)
            ):  # others make it just now
                self._await(new, path)
                raise AlreadyExistsError("table", new.full_name) from None
            raise

    def _move(self, new: Identifier, before: Struct, path: str, target: str, store: FileIO) -> None:
        """Move the folder of a renamed table, unless the metastore did."""
        renamed = self._object(new)
        if renamed is None or self._path_of(renamed) != path or not _has_schemas(path, store):
            return
        try:
            store.rename(path, target)
        except BaseException:
            back = copy.deepcopy(renamed)
            back.dbName, back.tableName = before.dbName, before.tableName
            self._alter_object(new, back)
            raise
        moved = copy.deepcopy(renamed)
        objects.place(moved, _uri(target), self._hive.objects)
        self._alter_object(new, moved)
        if moved.partitionKeys:
            self._partitions(super()._open(self._found_at(new, moved))).replace_all()

    def _drop(self, identifier: Identifier) -> bool:
        self._check_writable(f"dropping {identifier.full_name}")
        table = self._table_object(identifier)
        if table is None:
            return False
        keeps = self._hive.makes_external or objects.is_external(table)
        path, store = self._store_of(table, identifier.full_name)
        with self._locks(identifier):
            try:
                self._drop_object(identifier, table)
            except MissingObjectError:
                return False
            if not keeps and (path.startswith(f"{self.path}/") or _has_schemas(path, store)):
                _remove_folder(path, store)
        return True

    def _drop_object(self, identifier: Identifier, table: Struct) -> None:
        """Drop a table or a view; files are none of the metastore's."""

        def is_gone() -> bool:
            found = self._object(identifier)
            return found is None or found.createTime != table.createTime

        context, deletes_data = self._metastore.new("EnvironmentContext", properties={}), False
        self._metastore.change(
            "drop_table_with_environment_context",
            *(identifier.database, identifier.table, deletes_data, context),
            is_done=is_gone,
        )

    # Repair

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
            _check_lower("table", identifier.full_name)
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
            if _has_schemas(join(folder, table), store):
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
        files = _schema_files(path, store, identifier)
        schema = files.latest()
        if schema is None:
            return False
        with self._locks(identifier):
            if known is None:
                made = objects.new_table(
                    self._metastore,
                    identifier,
                    schema,
                    location=_uri(path),
                    is_external=self._hive.makes_external
                    or any(schema.options.get(key, "").lower() == "true" for key in _EXTERNAL),
                    now_seconds=int(time.time()),
                    options=self._hive.objects,
                )
                with contextlib.suppress(TakenNameError):
                    self._create_object(identifier, made)
            else:
                self._mirror(identifier, files)
        if objects.has_partitions(schema):
            found = self._table_object(identifier)
            if found is not None:
                self._partitions(super()._open(self._found_at(identifier, found))).add_all()
        return True

    # Places

    def _store_of(self, of: Struct, name: str) -> tuple[str, FileIO]:
        """Return the folder of a table or a database, and its store."""
        location = objects.location_of(of)
        if location is None:
            raise UnsupportedError(f"{name} without a location", "the metastore names no folder")
        return self._store_at(location)

    def _store_at(self, location: str) -> tuple[str, FileIO]:
        """Return a folder as a store has it, and the store.

        Raises
        ------
        UnsupportedError
            If there is no such store here.
        """
        location = location.rstrip("/")
        if location == self.path or location.startswith(f"{self.path}/"):
            return location, self.file_io
        if scheme_of(location) not in ("", "file"):
            return self._open_store(location, has_lock=self._lock is not None)
        path = folder_of(location)
        if "://" in self.path:
            return path, self._open_store(path)[1]
        return path, self.file_io

    def _path_of(self, of: Struct) -> str | None:
        location = objects.location_of(of)
        return None if location is None else self._store_at(location)[0]

    def _locks_of(self, *identifiers: Identifier) -> list[Identifier]:
        return sorted(set(identifiers), key=lambda one: one.full_name)

    @contextlib.contextmanager
    def _locks(self, *identifiers: Identifier) -> Iterator[None]:
        """Hold the locks of tables, if the catalog has locks; in order of their names."""
        with contextlib.ExitStack() as stack:
            if self._lock is not None:
                for identifier in self._locks_of(*identifiers):
                    stack.enter_context(self._lock.held(identifier))
                stack.enter_context(lock_held())
            yield

    def _publisher(self, found: FoundTable, file_io: FileIO, layout: TableLayout) -> TablePublisher:
        publisher = super()._publisher(found, file_io, layout)
        if self._lock is None:
            return publisher
        return LockingPublisher(publisher, self._lock, found.identifier)

    def _check_writable(self, what: str) -> None:
        if self.is_read_only:
            raise ReadOnlyError(what)


@dataclass(frozen=True, slots=True, kw_only=True)
class _HiveSchemas:
    """The schemas of a table, which the metastore has a copy of."""

    latest: Callable[[], TableSchema | None]
    publish: Callable[[TableSchema], bool]


def _schema_files(path: str, store: FileIO, identifier: Identifier) -> SchemaManager:
    layout = TableLayout(path, branch=identifier.branch)
    return SchemaManager(store.within(path), layout, table_name=identifier.full_name)


def _has_schemas(path: str, store: FileIO) -> bool:
    return bool(SchemaManager(store, TableLayout(path)).ids())


def _unmake(path: str, store: FileIO) -> None:
    """Delete the first schema of a table that came to nothing, and folders that it left empty."""
    layout = TableLayout(path)
    store.delete(layout.schema(0))
    for folder in (layout.schema(0).rpartition("/")[0], path):
        store.delete_empty_directory(folder)


def _remove_folder(path: str, store: FileIO) -> None:
    """Delete the files of a table, and none of another one that gets its name meanwhile."""
    if "://" not in path:
        parent, _, name = path.rpartition("/")
        gone = f"{parent}/.{name}.dropped-{uuid.uuid4().hex}"
        try:
            store.rename(path, gone)
        except FileNotFoundError:
            return
        except OSError as error:
            logger.info("%s cannot be moved aside, and is deleted where it is: %s", path, error)
        else:
            store.delete_directory(gone)
            return
    schemas = TableLayout(path).schema(0).rpartition("/")[0]
    for status in store.list(path):
        if not status.is_directory:
            store.delete(status.path)
        elif status.path.rstrip("/") != schemas:
            store.delete_directory(status.path)
    store.delete_directory(schemas)  # as long as it is there nobody makes another table here
    store.delete_empty_directory(path)


def _uri(path: str) -> str:
    """Return a folder as a metastore is told it: what has no scheme would be in its own store."""
    return path if "://" in path else f"file:{path}"


def _given_place(key: str, text: str) -> str:
    """Return a folder that was given, if it says where it is.

    Raises
    ------
    SchemaError
        If it is relative.
    """
    if not text.startswith("/") and not scheme_of(text):
        raise SchemaError(f"{key} = {text!r} must be an absolute path, or have a scheme")
    return text


def _is_foreign(table: Struct) -> bool:
    return not objects.is_paimon(table) and not objects.is_view(table)


def _is_lower(identifier: Identifier) -> bool:
    return identifier.full_name == identifier.full_name.lower()


def _check_lower(kind: str, name: str) -> None:
    """Refuse a name that a metastore would change.

    Raises
    ------
    SchemaError
        Says how it must be.
    """
    if name != name.lower():
        raise SchemaError(
            f"{name!r} cannot be the name of a {kind}: a Hive metastore has names in lower case, "
            f"{name.lower()!r}"
        )


def _check_options(schema: TableSchema) -> None:
    """Refuse options that make of a table what is not implemented.

    Raises
    ------
    UnsupportedError
        Names the option.
    """
    value = schema.options.get(objects.TAG_TO_PARTITION)
    if value is not None:
        raise UnsupportedError(
            f"{objects.TAG_TO_PARTITION} = '{value}'",
            "tags do not become partitions of the metastore",
        )


def _check_same(identifier: Identifier, path: str, there: TableSchema, wanted: TableSchema) -> None:
    """Check that the table that is in a folder is the one that is to be made there.

    Raises
    ------
    SchemaError
        Says what differs.
    """
    names = [(one.name, one.type) for one in there.fields]
    differs = ""
    if [(one.name, one.type) for one in wanted.fields] != names:
        differs = "other columns"
    elif wanted.primary_keys and wanted.primary_keys != there.primary_keys:
        differs = "another primary key"
    elif wanted.partition_keys and wanted.partition_keys != there.partition_keys:
        differs = "other partition columns"
    else:
        for key, value in wanted.options.items():
            if key not in (_PATH, "owner") and there.options.get(key) != value:
                differs = f"{key} = {there.options.get(key)!r}"
    if differs:
        raise SchemaError(
            f"{identifier.full_name}: the table in {path} has {differs}; create it as it is there"
        )


def _text(value: OptionValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
