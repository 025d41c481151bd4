"""Databases, tables, views and functions of a REST server.

Source: apache/paimon@1.4.2 ``org.apache.paimon.rest.RESTCatalog``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

from msgspec import structs

from paimonlab.catalog.altering import altered_schema
from paimonlab.catalog.catalog import FoundTable
from paimonlab.catalog.format_tables import FormatTableCatalog
from paimonlab.catalog.functions import FunctionCatalog
from paimonlab.catalog.names import parse
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
from paimonlab.catalog.replacing import Replacement, replaced_table
from paimonlab.catalog.rest.answers import RefusalError, meant_for
from paimonlab.catalog.rest.changes import (
    changes_to_json,
    function_changes_to_json,
    view_changes_to_json,
)
from paimonlab.catalog.rest.client import RestClient
from paimonlab.catalog.rest.history import RestHistory
from paimonlab.catalog.rest.kept_objects import (
    function_document,
    function_of,
    view_document,
    view_of,
)
from paimonlab.catalog.rest.replacing import ServedReplacement, with_highest_id
from paimonlab.catalog.rest.stores import TableStores
from paimonlab.catalog.rest.wire import (
    Alter,
    AlterDatabase,
    CreateDatabase,
    CreateTable,
    CreateView,
    DatabaseAnswer,
    DatabasesPage,
    Document,
    FunctionAnswer,
    FunctionsPage,
    IdentifierDocument,
    PartitionDocument,
    PartitionsPage,
    Register,
    Rename,
    Replace,
    SchemaDocument,
    TableAnswer,
    TableDetailsPage,
    TablesPage,
    ViewAnswer,
    ViewsPage,
    object_name,
)
from paimonlab.catalog.views import ViewCatalog
from paimonlab.commit.publisher import RenamelessPublisher, TablePublisher
from paimonlab.errors import (
    AlreadyExistsError,
    CatalogServerError,
    DatabaseNotFoundError,
    FunctionNotFoundError,
    PaimonError,
    ReadOnlyError,
    TableNotFoundError,
    UnsupportedError,
    ViewNotFoundError,
)
from paimonlab.metadata.layout import TableLayout
from paimonlab.spec.format_table import FILE_FORMAT, FORMAT_TABLE, TYPE, is_format_table
from paimonlab.spec.function import (
    AddDefinition,
    DropDefinition,
    Function,
    FunctionChange,
    UpdateDefinition,
    changed_function,
)
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.given import text_options
from paimonlab.spec.schema.definition import Schema
from paimonlab.spec.schema.schema_changes import (
    RemoveOption,
    SchemaChange,
    SetOption,
    UpdateColumnComment,
    UpdateComment,
)
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.view import (
    AddDialect,
    DropDialect,
    UpdateDialect,
    View,
    ViewChange,
    changed_view,
)
from paimonlab.storage import FileIO
from paimonlab.table import format_tables
from paimonlab.table.table import Table

T = TypeVar("T")

_DEFAULTS = "table-default."
_OF_CATALOG = frozenset({"path", "branch"})
"""Options that say where a table is; no table keeps them."""


class ServedTable(FoundTable, frozen=True, kw_only=True):
    """A table as a server describes it."""

    table_id: str
    is_external: bool
    """Whether its files are its own: the server knows nothing of its snapshots."""


class RestCatalog(ViewCatalog, FunctionCatalog, FormatTableCatalog, PlacedTableCatalog):
    """Databases and tables that a server names; `paimonlab.connect` opens it.

    Parameters
    ----------
    client
        Talks to the server.
    stores
        Where files of tables are.
    is_read_only
        Whether nothing may be changed through this catalog.
    **settings
        As of `Catalog`.
    """

    _reads_schema_files = False

    def __init__(
        self,
        client: RestClient,
        stores: TableStores,
        *,
        is_read_only: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(f"{client.address}/{client.warehouse}", stores.local, **settings)
        self._client = client
        self._stores = stores
        self._is_read_only = is_read_only

    @property
    def is_read_only(self) -> bool:
        """Whether nothing can be changed through this catalog."""
        return self._is_read_only

    @property
    def has_folder(self) -> bool:
        """False: the server says of each table where it is."""
        return False

    @property
    def merged_options(self) -> Mapping[str, str]:
        """The catalog options with those that the server configures."""
        return self._client.options

    # Databases

    def databases(self) -> list[str]:
        """Names of the databases, sorted."""
        return sorted(self._client.pages(DatabasesPage, "databases"))

    def has_database(self, database: str) -> bool:
        """Whether a database exists."""
        return self._get(DatabaseAnswer, "databases", database) is not None

    def _create_database(self, database: str, options: dict[str, str]) -> bool:
        try:
            self._change(
                "POST",
                CreateDatabase(name=database, options=options),
                "databases",
                name=database,
                missing="DATABASE",
                is_done=lambda: self.has_database(database),
            )
        except AlreadyExistsError:
            return False
        return True

    def _database_options(self, database: str) -> dict[str, str]:
        answer = self._described(database)
        located = {} if answer.location is None else {"location": answer.location}
        return {**(answer.options or {}), **located}

    def _described(self, database: str) -> DatabaseAnswer:
        found = self._get(DatabaseAnswer, "databases", database)
        if found is None:
            raise DatabaseNotFoundError(database, self.databases())
        return found

    def _alter_database(
        self, database: str, set_to: dict[str, str], removed: frozenset[str]
    ) -> None:
        def is_done() -> bool:
            options = self._described(database).options or {}
            is_set = all(options.get(key) == value for key, value in set_to.items())
            return is_set and not removed & options.keys()

        body = AlterDatabase(removals=sorted(removed), updates=set_to)
        self._change(
            "POST", body, "databases", database, name=database, missing="DATABASE", is_done=is_done
        )

    def _drop_database(self, database: str) -> None:
        self._change(
            "DELETE",
            None,
            *("databases", database),
            name=database,
            missing="DATABASE",
            is_done=lambda: not self.has_database(database),
        )

    def _contents(self, database: str) -> list[str]:
        return sorted([*self._names(TablesPage, database, "tables"), *self.views(database)])

    # Tables

    def _table_names(self, database: str) -> list[str]:
        names = self._names(TablesPage, database, "tables")
        formats = set(self.format_tables(database)) if names else set()
        return [name for name in names if name not in formats]

    def format_tables(self, database: str) -> list[str]:
        """Names of the format tables of a database, sorted."""
        query = (("tableType", FORMAT_TABLE),)
        named = self._names(TablesPage, database, "tables", query=query)
        if not named:
            return []
        # A server that does not know the parameter names all tables; what it says of each is sure.
        details = self._client.pages(
            TableDetailsPage, "databases", database, "table-details", query=query
        )
        return sorted(one.name for one in details if is_format_table(one.schema.options or {}))

    def _names(
        self,
        kind: type[TablesPage | ViewsPage | FunctionsPage],
        *parts: str,
        query: Sequence[tuple[str, str]] = (),
    ) -> list[str]:
        try:
            return sorted(self._client.pages(kind, "databases", *parts, query=query))
        except RefusalError as error:
            if error.code == 404:
                raise DatabaseNotFoundError(parts[0], self.databases()) from None
            raise error.public() from None

    def _found(self, identifier: Identifier) -> ServedTable | None:
        answer = self._get(TableAnswer, *_path(identifier))
        return None if answer is None else self._served(identifier, answer)

    def _served(self, identifier: Identifier, answer: TableAnswer) -> ServedTable:
        schema = answer.schema.schema(answer.schema_id, name=str(identifier))
        kept = {key: value for key, value in schema.options.items() if key not in _OF_CATALOG}
        if answer.is_external and not is_format_table(kept):
            kept[PATH] = answer.path
        path, file_io = self._stores.of(identifier, answer, read_only=self._is_read_only)
        return ServedTable(
            identifier=identifier,
            schema=replace(schema, options=kept),
            path=path,
            file_io=file_io,
            table_id=answer.id,
            is_external=answer.is_external,
        )

    def _is_there(self, identifier: Identifier) -> bool:
        return self._get(TableAnswer, *_path(identifier)) is not None

    def _store_at(self, place: str) -> tuple[str, FileIO]:
        return self._stores.at(place)

    def _create(self, identifier: Identifier, schema: TableSchema) -> ServedTable | None:
        if not schema.options.keys().isdisjoint(OF_PLACE):
            return self._create_at(identifier, schema)
        wanted = replace(schema, options={**self._table_defaults(), **schema.options})
        return self._posted(identifier, wanted, wanted)

    def _create_at(self, identifier: Identifier, schema: TableSchema) -> ServedTable | None:
        """Create a table whose files are its maker's; one that is in the folder is taken as it is.

        The first schema is written here: of such tables a server keeps no files.
        """
        if PATH not in schema.options:
            raise UnsupportedError(
                f"creating {identifier.full_name} as an external table without a place",
                "say where it is: LOCATION, or the option path",
            )
        self._check_writable(f"creating {identifier.full_name}")
        if self._is_there(identifier):
            return None
        if not self.has_database(identifier.database):
            raise DatabaseNotFoundError(identifier.database, self.databases())
        path, store = self._store_at(given_place(PATH, schema.options[PATH]))
        own = {key: value for key, value in schema.options.items() if key not in OF_PLACE}
        new = replace(schema, options={**self._table_defaults(), **own})
        files = schema_files(path, store, identifier)
        is_new = files.latest() is None and files.publish(new)
        there = files.latest() or new
        if not is_new:
            check_same(identifier, path, there, replace(schema, options=own))
        sent = replace(there, options={**there.options, PATH: uri_of(path)})
        try:
            made = self._posted(identifier, sent, there)
        except CatalogServerError:  # it may be there
            raise
        except PaimonError:
            if is_new:
                unmake(path, store)
            raise
        if made is None and is_new:
            unmake(path, store)
        return made

    def _posted(
        self, identifier: Identifier, sent: TableSchema, wanted: TableSchema
    ) -> ServedTable | None:
        """Ask the server for a table, which is then as wanted; None: the name is taken."""
        body = CreateTable(
            identifier=IdentifierDocument.of(identifier), schema=SchemaDocument.of(sent)
        )

        def is_done() -> bool:
            made = self._found(identifier)
            return made is not None and _is_like(made.schema, wanted)

        try:
            self._change(
                "POST",
                body,
                *("databases", identifier.database, "tables"),
                name=identifier.full_name,
                missing="DATABASE",
                taken="TABLE",
                is_done=is_done,
            )
        except AlreadyExistsError as error:
            if error.what != "table":
                raise
            return None
        return self._surely_found(identifier)

    def _create_format(self, identifier: Identifier, schema: TableSchema) -> ServedTable | None:
        if self._is_there(identifier):  # not every server looks, for tables without snapshots
            return None
        options = {key: value for key, value in schema.options.items() if key not in _OF_CATALOG}
        found = self._posted(identifier, schema, replace(schema, options=options))
        if found is None:
            return None
        found.file_io.make_directory(found.path)
        return found

    def _table_defaults(self) -> dict[str, str]:
        return {
            key.removeprefix(_DEFAULTS): value
            for key, value in self._client.options.items()
            if key.startswith(_DEFAULTS)
        }

    def _surely_found(self, identifier: Identifier) -> ServedTable:
        found = self._found(identifier)
        if found is None:  # others dropped it meanwhile
            raise TableNotFoundError(str(identifier))
        return found

    def _alter(self, identifier: Identifier, changes: Sequence[SchemaChange]) -> ServedTable:
        found = self._found(identifier)
        if found is None:
            raise self._not_found(identifier)
        if is_format_table(found.schema.options):
            return self._alter_format(identifier, found, changes)
        altered = altered_schema(
            found.schema,
            changes,
            table=identifier.full_name,
            has_snapshots=self._has_snapshots(found),
            max_columns=self.max_columns,
        )
        body = Alter(changes=changes_to_json(changes, found.schema.fields))

        def is_done() -> bool:
            now = self._surely_found(identifier).schema
            return now.id > found.schema.id and _is_like(now, altered)

        self._change("POST", body, *_path(identifier), name=str(identifier), is_done=is_done)
        return self._surely_found(identifier)

    def _alter_format(
        self, identifier: Identifier, found: ServedTable, changes: Sequence[SchemaChange]
    ) -> ServedTable:
        """Change options and comments: files stay as they are, and nothing says how they were."""
        name = identifier.full_name
        options = dict(found.schema.options)
        for change in changes:
            if isinstance(change, SetOption):
                options.update(text_options({change.key: change.value}))
            elif isinstance(change, RemoveOption):
                options.pop(change.key, None)
            elif not isinstance(change, UpdateComment | UpdateColumnComment):
                raise UnsupportedError(
                    f"{type(change).__name__} of the format table {name}",
                    "its files stay as they are, and nothing says what they were written as",
                )
        wanted = replace(found.schema, options=options)
        before, after = found.schema.options.get(FILE_FORMAT), options.get(FILE_FORMAT)
        if before != after or not is_format_table(options):
            raise UnsupportedError(
                f"changing {FILE_FORMAT} or {TYPE} of the format table {name}",
                "its files stay what they are",
            )
        format_tables.options.check_new(name, wanted)
        body = Alter(changes=changes_to_json(changes, found.schema.fields))

        def is_done() -> bool:
            return _is_like(self._surely_found(identifier).schema, wanted)

        self._change("POST", body, *_path(identifier), name=str(identifier), is_done=is_done)
        return self._surely_found(identifier)

    def _has_snapshots(self, found: ServedTable) -> bool:
        if found.is_external:
            return self._open(found).snapshot is not None
        layout = TableLayout(found.path)
        return self._history(found, found.file_io, layout).latest() is not None

    def _replacement(self, before: Table, definition: Schema) -> Replacement:
        options = {**self._table_defaults(), **definition.options}
        table = replaced_table(with_highest_id(before), replace(definition, options=options))
        return ServedReplacement(
            before, table, lambda body: self._replaced(before.identifier, table.schema, body)
        )

    def _replaced(self, identifier: Identifier, wanted: TableSchema, body: Replace) -> Table:
        def is_done() -> bool:
            now = self._surely_found(identifier).schema
            return now.id >= wanted.id and _is_like(now, wanted)

        parts = (*_path(identifier), "replace")
        self._check_writable(f"replacing {identifier}")
        try:
            self._client.change("POST", body, *parts, is_done=is_done)
        except RefusalError as error:
            is_known = error.code != 405 and (error.code != 404 or not self._is_there(identifier))
            if is_known:
                with meant_for(str(identifier)):
                    raise
            raise UnsupportedError(
                f"replacing the definition of {identifier}",
                f"{self._client.address} changes tables step by step: use ALTER TABLE, or drop "
                "the table and create it anew",
            ) from None
        return self._open(self._surely_found(identifier))

    def _rename(self, old: Identifier, new: Identifier) -> None:
        body = Rename(source=IdentifierDocument.of(old), destination=IdentifierDocument.of(new))
        self._check_writable(f"renaming {old}")
        try:
            self._client.change(
                "POST",
                body,
                *("tables", "rename"),
                is_done=lambda: not self._is_there(old) and self._is_there(new),
            )
        except RefusalError as error:
            if error.code == 409:
                raise AlreadyExistsError("table", new.full_name) from None
            if error.code == 404 and self._is_there(old):
                raise DatabaseNotFoundError(new.database, self.databases()) from None
            if error.code == 404:
                raise self._not_found(old) from None
            raise error.public() from None

    def _drop(self, identifier: Identifier) -> bool:
        try:
            self._change(
                "DELETE",
                None,
                *_path(identifier),
                name=str(identifier),
                is_done=lambda: not self._is_there(identifier),
            )
        except (TableNotFoundError, DatabaseNotFoundError):
            return False
        return True

    def _register(self, identifier: Identifier, path: str) -> FoundTable | None:
        self._change(
            "POST",
            Register(identifier=IdentifierDocument.of(identifier), path=path),
            *("databases", identifier.database, "register"),
            name=identifier.full_name,
            missing="DATABASE",
            taken="TABLE",
            is_done=lambda: self._is_there(identifier),
        )
        return self._surely_found(identifier)

    def partitions(self, name: str) -> list[PartitionDocument]:
        """Return the partitions of a table as the server keeps them.

        Raises
        ------
        TableNotFoundError
            If there is no such table.
        UnsupportedError
            If the server keeps no partitions of it: ``metastore.partitioned-table``.
        """
        identifier = parse(name)
        with meant_for(str(identifier)):
            return list(self._client.pages(PartitionsPage, *_path(identifier), "partitions"))

    def repair(self, name: str | None = None) -> NoReturn:
        """Refuse to make the server agree with files: it wrote them.

        Raises
        ------
        UnsupportedError
            Always.
        """
        raise UnsupportedError(
            f"repairing {name or self.path}", "the server alone says which tables there are"
        )

    def _publisher(self, found: FoundTable, file_io: FileIO, layout: TableLayout) -> TablePublisher:
        assert isinstance(found, ServedTable), "all tables here are the server's"
        if found.is_external:
            return RenamelessPublisher(file_io, layout)
        return self._history(found, file_io, layout)

    def _history(self, found: ServedTable, file_io: FileIO, layout: TableLayout) -> RestHistory:
        return RestHistory(
            client=self._client,
            identifier=found.identifier,
            table_id=found.table_id,
            schema=found.schema,
            file_io=file_io,
            layout=layout,
        )

    # Views

    def views(self, database: str) -> list[str]:
        """Names of the views of a database, sorted."""
        return self._names(ViewsPage, database, "views")

    def view(self, name: str) -> View:
        """Return a view."""
        answer = self._get(ViewAnswer, *_inside(name, "views"))
        if answer is None:
            raise ViewNotFoundError(name)
        return view_of(answer.schema, name)

    def create_view(self, name: str, view: View, *, exist_ok: bool = False) -> None:
        """Create a view."""
        identifier = self._plain(name)
        body = CreateView(identifier=IdentifierDocument.of(identifier), schema=view_document(view))
        try:
            self._change(
                "POST",
                body,
                *("databases", identifier.database, "views"),
                name=name,
                missing="DATABASE",
                taken="VIEW",
                is_done=lambda: self.has_view(name) and self.view(name) == view,
            )
        except AlreadyExistsError as error:
            if not exist_ok or error.what != "view":
                raise

    def replace_view(self, name: str, view: View) -> None:
        """Give a view another definition: in one step if columns and query are the same."""
        before = self.view(name)
        if (before.fields, before.query) == (view.fields, view.query):
            self._replace_parts(name, before, view)
            return
        self.drop_view(name)  # the protocol has no change of a query; Java does the same
        try:
            self.create_view(name, view)
        except Exception:
            self.create_view(name, before, exist_ok=True)
            raise

    def alter_view(self, name: str, *changes: ViewChange) -> None:
        """Change a view: options, its comment, dialects; all or nothing."""
        before = self.view(name)
        wanted = changed_view(before, changes, name=name)
        self._replace_parts(name, before, wanted)

    def _replace_parts(self, name: str, before: View, wanted: View) -> None:
        """Send what two definitions of a view with the same columns and query differ in."""
        changes = _view_changes(before, wanted)
        if changes:
            self._change(
                "POST",
                Alter(changes=view_changes_to_json(changes)),
                *_inside(name, "views"),
                name=name,
                missing="VIEW",
                is_done=lambda: self.view(name) == wanted,
            )

    def rename_view(self, source: str, target: str) -> None:
        """Give a view another name, in the same or another database."""
        old, new = self._plain(source), self._plain(target)
        body = Rename(source=IdentifierDocument.of(old), destination=IdentifierDocument.of(new))
        self._check_writable(f"renaming the view {source}")
        try:
            self._client.change(
                "POST",
                body,
                *("views", "rename"),
                is_done=lambda: not self.has_view(source) and self.has_view(target),
            )
        except RefusalError as error:
            if error.code == 409:
                kind = "table" if error.resource == "TABLE" else "view"
                raise AlreadyExistsError(kind, target) from None
            if error.code == 404 and self.has_view(source):
                raise DatabaseNotFoundError(new.database, self.databases()) from None
            if error.code == 404:
                raise ViewNotFoundError(source) from None
            raise error.public() from None

    def drop_view(self, name: str, *, missing_ok: bool = False) -> None:
        """Delete a view."""
        try:
            self._change(
                "DELETE",
                None,
                *_inside(name, "views"),
                name=name,
                missing="VIEW",
                is_done=lambda: not self.has_view(name),
            )
        except (ViewNotFoundError, DatabaseNotFoundError):
            if not missing_ok:
                raise ViewNotFoundError(name) from None

    # Functions

    def functions(self, database: str) -> list[str]:
        """Names of the functions of a database, sorted."""
        return self._names(FunctionsPage, database, "functions")

    def function(self, name: str) -> Function:
        """Return a function."""
        answer = self._get(FunctionAnswer, *_inside(name, "functions"))
        if answer is None:
            raise FunctionNotFoundError(name)
        return function_of(answer, name)

    def create_function(self, name: str, function: Function, *, exist_ok: bool = False) -> None:
        """Create a function."""
        identifier = self._plain(name)
        try:
            self._change(
                "POST",
                function_document(function, identifier.table),
                *("databases", identifier.database, "functions"),
                name=name,
                missing="DATABASE",
                taken="FUNCTION",
                is_done=lambda: self.has_function(name) and self.function(name) == function,
            )
        except AlreadyExistsError:
            if not exist_ok:
                raise AlreadyExistsError("function", name) from None

    def replace_function(self, name: str, function: Function) -> None:
        """Give a function another definition: in one step if it takes and gives the same."""
        before = self.function(name)
        if _signature(before) == _signature(function):
            self._replace_definitions(name, before, function)
            return
        self.drop_function(name)  # the protocol has no change of parameters
        try:
            self.create_function(name, function)
        except Exception:
            self.create_function(name, before, exist_ok=True)
            raise

    def alter_function(self, name: str, *changes: FunctionChange) -> None:
        """Change a function: options, its comment, definitions; all or nothing."""
        before = self.function(name)
        self._replace_definitions(name, before, changed_function(before, changes, name=name))

    def _replace_definitions(self, name: str, before: Function, wanted: Function) -> None:
        changes = _function_changes(before, wanted)
        if changes:
            self._change(
                "POST",
                Alter(changes=function_changes_to_json(changes)),
                *_inside(name, "functions"),
                name=name,
                missing="FUNCTION",
                is_done=lambda: self.function(name) == wanted,
            )

    def drop_function(self, name: str, *, missing_ok: bool = False) -> None:
        """Delete a function."""
        try:
            self._change(
                "DELETE",
                None,
                *_inside(name, "functions"),
                name=name,
                missing="FUNCTION",
                is_done=lambda: not self.has_function(name),
            )
        except (FunctionNotFoundError, DatabaseNotFoundError):
            if not missing_ok:
                raise FunctionNotFoundError(name) from None

    # The server

    def _get(self, kind: type[T], *parts: str) -> T | None:
        """Ask for something that may not be there."""
        try:
            return self._client.get(kind, *parts)
        except RefusalError as error:
            if error.code == 404:
                return None
            raise error.public() from None

    def _change(
        self,
        method: str,
        body: Document | None,
        *parts: str,
        name: str,
        is_done: Callable[[], bool],
        missing: str = "TABLE",
        taken: str | None = None,
    ) -> None:
        self._check_writable(f"{method} {'/'.join(parts)}")
        with meant_for(name, missing=missing, taken=taken):
            self._client.change(method, body, *parts, is_done=is_done)

    def _check_writable(self, what: str) -> None:
        if self._is_read_only:
            raise ReadOnlyError(what)


def _path(identifier: Identifier) -> tuple[str, ...]:
    plain = structs.replace(identifier, system_table=None)
    return ("databases", identifier.database, "tables", object_name(plain))


def _inside(name: str, kind: str) -> tuple[str, ...]:
    identifier = parse(name)
    return ("databases", identifier.database, kind, identifier.table)


Described = SetOption | RemoveOption | UpdateComment


def _described(
    before: Mapping[str, str], after: Mapping[str, str], comments: tuple[str | None, str | None]
) -> list[Described]:
    changes: list[Described] = [
        SetOption(key, value) for key, value in after.items() if before.get(key) != value
    ]
    changes += [RemoveOption(key) for key in before if key not in after]
    if comments[0] != comments[1]:
        changes.append(UpdateComment(comments[1]))
    return changes


def _view_changes(before: View, after: View) -> list[ViewChange]:
    comments = (before.comment, after.comment)
    changes: list[ViewChange] = [*_described(before.options, after.options, comments)]
    changes += [DropDialect(name) for name in before.dialects if name not in after.dialects]
    for name, query in after.dialects.items():
        if name not in before.dialects:
            changes.append(AddDialect(name, query))
        elif before.dialects[name] != query:
            changes.append(UpdateDialect(name, query))
    return changes


def _function_changes(before: Function, after: Function) -> list[FunctionChange]:
    comments = (before.comment, after.comment)
    changes: list[FunctionChange] = [*_described(before.options, after.options, comments)]
    gone = [name for name in before.definitions if name not in after.definitions]
    changes += [DropDefinition(name) for name in gone]
    for name, definition in after.definitions.items():
        if name not in before.definitions:
            changes.append(AddDefinition(name, definition))
        elif before.definitions[name] != definition:
            changes.append(UpdateDefinition(name, definition))
    return changes


def _signature(function: Function) -> tuple[Any, ...]:
    return (function.input_params, function.return_params, function.is_deterministic)


def _is_like(schema: TableSchema, other: TableSchema) -> bool:
    """Whether two schemas define the same, whatever ids and times they have."""
    kept = {key: value for key, value in schema.options.items() if key not in _OF_CATALOG}
    return (
        [(field.name, field.type) for field in schema.fields]
        == [(field.name, field.type) for field in other.fields]
        and schema.comment == other.comment
        and other.options.items() <= kept.items()
        and (schema.primary_keys, schema.partition_keys)
        == (other.primary_keys, other.partition_keys)
    )
