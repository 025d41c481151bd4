"""A catalog whose databases, tables and views are objects of a Hive metastore.

The object of a table says where it is; its schema is in a file there. What is made is made as Java
makes it. A metastore has no transactions with files, so each change has an order: a new table is
first a schema in its folder, which decides between several who want it, then an object; a changed
one is first an object, which the metastore may refuse, then a schema; a dropped one is first no
object any more.

Source: apache/paimon@1.4.2 and @5dacde5 ``org.apache.paimon.hive.HiveCatalog``.
"""

from __future__ import annotations

import copy
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from paimonlab.catalog.catalog import FoundTable
from paimonlab.catalog.hive import format_objects, objects
from paimonlab.catalog.hive.checks import COMMENT, check_lower, check_options, is_foreign
from paimonlab.catalog.hive.client import (
    BrokenConnectionError,
    MissingObjectError,
    Struct,
    TakenNameError,
)
from paimonlab.catalog.hive.folders import has_schemas, remove_folder
from paimonlab.catalog.hive.formats import HiveFormatTables
from paimonlab.catalog.hive.migrating import HiveMigrations
from paimonlab.catalog.hive.partitions import PartitionSync, TagSync
from paimonlab.catalog.hive.repairing import HiveRepair
from paimonlab.catalog.hive.views import HiveViews
from paimonlab.catalog.locks import LockingPublisher
from paimonlab.catalog.placed_tables import (
    OF_PLACE,
    PATH,
    PlacedTableCatalog,
    check_same,
    given_place,
    schema_files,
    unmake,
    uri_of,
)
from paimonlab.catalog.replacing import Schemas
from paimonlab.commit.publisher import TablePublisher
from paimonlab.errors import (
    AlreadyExistsError,
    CatalogServerError,
    CorruptMetadataError,
    SchemaError,
    UnsupportedError,
)
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.secrets import without_credentials
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.schema.schema_changes import SchemaChange
from paimonlab.storage import FileIO, join
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table

logger = logging.getLogger(__name__)

_SECONDS_FOR_OTHERS = 3.0
"""How long a table is waited for whose schema others have just written."""


class HiveTable(FoundTable, frozen=True, kw_only=True):
    """A table that a metastore knows."""

    object: Struct
    """As the metastore has it."""


class HiveCatalog(HiveViews, HiveRepair, HiveMigrations, HiveFormatTables, PlacedTableCatalog):
    """Databases, tables, format tables and views that a Hive metastore knows."""

    def __repr__(self) -> str:
        return f"<paimonlab.Catalog {without_credentials(self.path)} in {self._metastore.shown}>"

    def _table_names(self, database: str) -> list[str]:
        if database != database.lower():
            self._check_database(database)
        found = self._objects(database)
        if not found:
            self._check_database(database)
        return sorted(one.tableName for one in found if objects.is_paimon(one))

    def _found(self, identifier: Identifier) -> FoundTable | None:
        found = self._object(identifier)
        if self._is_format(found):
            return self._found_format(identifier, found)
        table = self._as_table(identifier, found)
        return None if table is None else self._found_at(identifier, table)

    def _found_at(self, identifier: Identifier, table: Struct) -> HiveTable:
        path, store = self._store_of(table, identifier.full_name)
        schema = schema_files(path, store, identifier).latest()
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
        partitions = self._partitions(table)
        if partitions is None:
            return table
        if isinstance(partitions, TagSync):
            store = store_of(table).with_tag_callbacks([partitions.tag])
            table = Table(table.identifier, definition_of(table), store)
        return table.with_commit_callbacks(partitions)

    def _partitions(self, table: Table) -> PartitionSync | TagSync | None:
        """Return what keeps the partitions of a table in the metastore; None: it has none there."""
        column = table.schema.options.get(objects.TAG_TO_PARTITION)
        if objects.has_partitions(table.schema):
            return PartitionSync(self._metastore, table, self._hive.objects)
        if column is None or table.partition_keys:
            return None
        return TagSync(self._metastore, table, self._hive.objects, column)

    def _add_partitions(self, found: FoundTable) -> None:
        """Let the metastore know all partitions of a table."""
        partitions = self._partitions(super()._open(found))
        if partitions is not None:
            partitions.add_all()

    def _is_there(self, identifier: Identifier) -> bool:
        found = self._object(identifier)
        if found is None or not objects.is_paimon(found):
            return False
        if identifier.branch is None:
            return True
        path, store = self._store_of(found, identifier.full_name)
        return bool(schema_files(path, store, identifier).ids())

    def _create(self, identifier: Identifier, schema: TableSchema) -> FoundTable | None:
        self._check_writable(f"creating {identifier.full_name}")
        check_options(schema)
        database = self._known_database(identifier.database)
        check_lower("table", identifier.table)
        if self._is_taken(identifier):
            return None
        path, store, is_external = self._new_place(identifier, database, schema.options)
        with self._locks(identifier):
            files = schema_files(path, store, identifier)
            latest = files.latest() if is_external else None
            if latest is not None:
                check_same(identifier, path, latest, schema)
                schema = latest
            elif files.ids() or not files.publish(schema):
                self._await(identifier, path)
                return None
            made = objects.new_table(
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
                if latest is None and self._is_certainly_unknown(identifier, error):
                    unmake(path, store)
                if isinstance(error, TakenNameError) and self._is_taken(identifier):
                    return None
                raise
        found = self._found_of(identifier, made, schema)
        if latest is not None:
            self._add_partitions(found)
        return found

    def _register(self, identifier: Identifier, path: str) -> FoundTable | None:
        self._check_writable(f"registering {identifier.full_name}")
        database = self._known_database(identifier.database)
        check_lower("table", identifier.table)
        if self._is_taken(identifier):
            return None
        folder, store = self._store_at(given_place(PATH, path))
        there = schema_files(folder, store, identifier).latest()
        if there is None:
            raise SchemaError(f"{identifier.full_name}: there is no table in {folder}")
        if folder == join(self._store_of(database, identifier.database)[0], identifier.table):
            return self._registered(identifier)
        return self._create(identifier, replace(there, options={**there.options, PATH: path}))

    def _create_object(self, identifier: Identifier, made: Struct) -> None:
        def is_ours() -> bool:
            found = self._object(identifier)
            return (
                found is not None
                and (objects.is_paimon(found) or format_objects.is_paimons(found))
                and objects.is_made_as(found, made)
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
        if is_foreign(found) and not format_objects.is_paimons(found):
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
        return found is None or (is_foreign(found) and not format_objects.is_paimons(found))

    def _alter(self, identifier: Identifier, changes: Sequence[SchemaChange]) -> FoundTable:
        main = Identifier(identifier.database, identifier.table)
        table = self._table_object(main)
        if table is None:
            raise self._not_found(main)
        path, store = self._store_of(table, main.full_name)
        layout = TableLayout(path, branch=identifier.branch)
        schemas = self._schemas(identifier)
        schema = self._altered(
            identifier, changes, schemas, store=store.within(path), layout=layout
        )
        return self._found_of(identifier, self._object(main) or table, schema)

    def _schemas(self, identifier: Identifier) -> Schemas:
        main = Identifier(identifier.database, identifier.table)

        def latest() -> TableSchema | None:
            table = self._table_object(main)
            if table is None:
                return None
            path, store = self._store_of(table, main.full_name)
            return schema_files(path, store, identifier).latest()

        return _HiveSchemas(
            latest=latest, publish=lambda schema: self._publish_schema(identifier, schema)
        )

    def _publish_schema(self, identifier: Identifier, schema: TableSchema) -> bool:
        """Make a schema the current one, after the metastore took its columns."""
        self._check_writable(f"altering {identifier.full_name}")
        check_options(schema)
        main = Identifier(identifier.database, identifier.table)
        with self._locks(main):
            table = self._table_object(main)
            if table is None:
                raise self._not_found(main)
            path, store = self._store_of(table, main.full_name)
            files = schema_files(path, store, identifier)
            before = files.latest()
            if before is None or before.id + 1 != schema.id:
                return False
            if identifier.branch is not None:
                return files.publish(schema)
            kept = {key: before.options[key] for key in OF_PLACE if key in before.options}
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
            removed.add(COMMENT)
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
        table = self._object(old)
        if table is None or not format_objects.is_paimons(table):
            table = self._table_object(old)
        if table is None:
            raise self._not_found(old)
        database = self._known_database(new.database)
        check_lower("table", new.table)
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
        if renamed is None or self._path_of(renamed) != path or not has_schemas(path, store):
            return
        try:
            store.rename(path, target)
        except BaseException:
            back = copy.deepcopy(renamed)
            back.dbName, back.tableName = before.dbName, before.tableName
            self._alter_object(new, back)
            raise
        moved = copy.deepcopy(renamed)
        objects.place(moved, uri_of(target), self._hive.objects)
        self._alter_object(new, moved)
        partitions = self._partitions(super()._open(self._found_at(new, moved)))
        if partitions is not None:
            partitions.replace_all()

    def _drop(self, identifier: Identifier) -> bool:
        self._check_writable(f"dropping {identifier.full_name}")
        found = self._object(identifier)
        if self._is_format(found):
            return self._drop_format(identifier, found)
        table = self._as_table(identifier, found)
        if table is None:
            return False
        keeps = self._hive.makes_external or objects.is_external(table)
        path, store = self._store_of(table, identifier.full_name)
        with self._locks(identifier):
            try:
                self._drop_object(identifier, table)
            except MissingObjectError:
                return False
            if not keeps and (path.startswith(f"{self.path}/") or has_schemas(path, store)):
                remove_folder(path, store)
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

    def _publisher(self, found: FoundTable, file_io: FileIO, layout: TableLayout) -> TablePublisher:
        publisher = super()._publisher(found, file_io, layout)
        if self._lock is None:
            return publisher
        return LockingPublisher(publisher, self._lock, found.identifier)


@dataclass(frozen=True, slots=True, kw_only=True)
class _HiveSchemas:
    """The schemas of a table, which the metastore has a copy of."""

    latest: Callable[[], TableSchema | None]
    publish: Callable[[TableSchema], bool]
