"""Tables of a catalog, as the protocol has them."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.format_tables import FormatTableCatalog
from paimonlab.catalog.replacing import changed_meanwhile
from paimonlab.catalog.rest.changes import changes_from_json
from paimonlab.catalog.rest.wire import (
    AllTablesPage,
    Alter,
    CreateTable,
    IdentifierDocument,
    Register,
    Rename,
    Replace,
    SchemaDocument,
    TableAnswer,
    TableDetailsPage,
    TablesPage,
)
from paimonlab.catalog.rest_server.databases import seen
from paimonlab.catalog.rest_server.exchange import NotUnderstoodError, Request
from paimonlab.catalog.rest_server.listing import matching, page_of
from paimonlab.errors import (
    BranchNotFoundError,
    NotFoundError,
    SchemaError,
    TableNotFoundError,
    UnsupportedError,
)
from paimonlab.spec.format_table import FORMAT_TABLE
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.schema.change_kinds import SetOption
from paimonlab.table.table import Table

if TYPE_CHECKING:
    from paimonlab.table.format_tables.format_table import FormatTable


_NO_PLACES = (
    "who may write one database would reach tables of others by their folders; do it where the "
    "catalog is served"
)


def listed(catalog: Catalog, request: Request, database: str) -> TablesPage:
    """List names."""
    page, token = page_of(_names(catalog, request, database), request.query, str)
    return TablesPage(tables=page, next_page_token=token)


def described(catalog: Catalog, request: Request, database: str) -> TableDetailsPage:
    """List tables with all there is to know of them."""
    page, token = page_of(_names(catalog, request, database), request.query, str)
    tables = []
    for name in page:
        try:
            tables.append(_answer(catalog, f"{database}.{name}"))
        except TableNotFoundError:
            continue  # dropped meanwhile
    return TableDetailsPage(table_details=tables, next_page_token=token)


def listed_everywhere(catalog: Catalog, request: Request) -> AllTablesPage:
    """List names in all databases."""
    found = [
        IdentifierDocument(database=database, object=name)
        for database in seen(catalog, request)
        for name in _names(catalog, request, database)
    ]
    page, token = page_of(found, request.query, lambda one: one.name)
    return AllTablesPage(tables=page, next_page_token=token)


def _names(catalog: Catalog, request: Request, database: str) -> list[str]:
    formats = catalog.format_tables(database) if isinstance(catalog, FormatTableCatalog) else []
    wanted = request.query.get("tableType")
    pattern = request.query.get("tableNamePattern")
    if wanted == FORMAT_TABLE:
        return matching(formats, pattern)
    tables = catalog.tables(database)
    if not wanted:
        return matching(sorted([*tables, *formats]), pattern)
    names = matching(tables, pattern)
    return [
        name
        for name in names
        if catalog.table(f"{database}.{name}").options.get("type", "table") == wanted
    ]


def created(catalog: Catalog, request: Request, database: str) -> None:
    """Create a table."""
    asked = request.document(CreateTable)
    name = _named(asked.identifier, database)
    definition = asked.schema.definition(name=name)
    if "path" in definition.options:
        raise UnsupportedError(f"creating {name} at {definition.options['path']}", _NO_PLACES)
    catalog.create_table(name, definition)


def found(catalog: Catalog, request: Request, database: str, name: str) -> TableAnswer:
    """Describe a table, or one of its branches."""
    del request
    if _is_format(catalog, f"{database}.{name}"):
        return _answer(catalog, f"{database}.{name}")
    return table_answer(opened(catalog, database, name))


def found_by_id(catalog: Catalog, request: Request, table_id: str) -> TableAnswer:
    """Describe the table that has an id."""
    for database in filter(request.sees, catalog.databases()):
        for name in catalog.tables(database):
            table = catalog.table(f"{database}.{name}")
            if table_id_of(table) == table_id:
                return table_answer(table)
    raise TableNotFoundError(table_id)


def altered(catalog: Catalog, request: Request, database: str, name: str) -> None:
    """Change the definition of a table, or of one of its branches."""
    if _is_format(catalog, f"{database}.{name}"):
        schema = format_table_of(catalog, f"{database}.{name}").schema
    else:
        schema = opened(catalog, database, name).schema
    changes = changes_from_json(request.document(Alter).changes, schema.fields)
    for change in changes:
        if isinstance(change, SetOption) and change.key == "path":
            raise UnsupportedError(f"moving {database}.{name} to {change.value}", _NO_PLACES)
    catalog.alter_table(f"{database}.{name}", *changes)


def replaced(catalog: Catalog, request: Request, database: str, name: str) -> None:
    """Remove all rows of a table, and give it another definition."""
    opened(catalog, database, name)
    asked = request.document(Replace)
    definition = asked.schema.definition(name=f"{database}.{name}")
    made = catalog.replacement(f"{database}.{name}", definition)
    if asked.from_schema_id not in (None, made.before.schema.id):
        raise changed_meanwhile(f"{database}.{name}")
    made.publish()


def dropped(catalog: Catalog, request: Request, database: str, name: str) -> None:
    """Delete a table."""
    del request
    catalog.drop_table(f"{database}.{name}")


def renamed(catalog: Catalog, request: Request) -> None:
    """Give a table another name."""
    asked = request.document(Rename)
    catalog.rename_table(asked.source.name, asked.destination.name)


def registered(catalog: Catalog, request: Request, database: str) -> None:
    """Refuse to take a table from elsewhere into the catalog."""
    del catalog
    asked = request.document(Register)
    raise UnsupportedError(
        f"registering {_named(asked.identifier, database)} at {asked.path}", _NO_PLACES
    )


def _is_format(catalog: Catalog, name: str) -> bool:
    if not isinstance(catalog, FormatTableCatalog):
        return False
    try:
        return catalog.has_format_table(name)
    except (NotFoundError, SchemaError, ValueError):  # a branch; what is opened next says so
        return False


def format_table_of(catalog: Catalog, name: str) -> FormatTable:
    """Open a format table of a catalog that has it."""
    assert isinstance(catalog, FormatTableCatalog), "asked before"
    return catalog.format_table(name)


def _answer(catalog: Catalog, name: str) -> TableAnswer:
    """Describe a table of any kind."""
    if not _is_format(catalog, name):
        return table_answer(catalog.table(name))
    table = format_table_of(catalog, name)
    path = table.path if "://" in table.path else f"file:{table.path}"
    options = {**table.options, "path": path}
    return TableAnswer(
        id=hashlib.sha256(f"{name} {table.schema.time_millis}".encode()).hexdigest()[:32],
        database=table.identifier.database,
        name=table.identifier.table,
        path=path,
        is_external=any(options.get(key, "").lower() == "true" for key in ("external", "EXTERNAL")),
        schema_id=table.schema.id,
        schema=SchemaDocument.of(replace(table.schema, options=options)),
        owner=options.get("owner", ""),
        created_at=table.schema.time_millis,
        updated_at=table.schema.time_millis,
    )


def _named(identifier: IdentifierDocument, database: str) -> str:
    if identifier.database != database:
        raise NotUnderstoodError(f"{identifier.name} is not in the database {database}")
    return identifier.name


def opened(catalog: Catalog, database: str, name: str) -> Table:
    """Open a table, or one of its branches.

    Raises
    ------
    TableNotFoundError
        If there is no such table or branch.
    """
    try:
        identifier = Identifier.parse(f"{database}.{name}")
    except ValueError:
        raise TableNotFoundError(f"{database}.{name}") from None
    if not catalog.has_database(database):
        catalog.tables(database)  # raises what a missing database is
    try:
        return catalog.table(str(identifier))
    except BranchNotFoundError:
        raise TableNotFoundError(str(identifier)) from None


def table_answer(table: Table) -> TableAnswer:
    """Describe an open table."""
    identifier = table.identifier
    schema = SchemaDocument.of(table.schema)
    return TableAnswer(
        id=table_id_of(table),
        database=identifier.database,
        name=str(identifier).removeprefix(f"{identifier.database}."),
        path=table.path if "://" in table.path else f"file:{table.path}",
        is_external=False,
        schema_id=table.schema.id,
        schema=schema,
        owner=table.options.get("owner", ""),
        created_at=_created_at(table),
        updated_at=table.schema.time_millis,
    )


def table_id_of(table: Table) -> str:
    """Return what the protocol calls a table: another name after it was created anew.

    It is that of the table's oldest schema, which stays when the table is renamed; all branches
    have it.
    """
    first = next(iter(table.schemas.ids()), None)
    if first is None:
        raise TableNotFoundError(table.name)
    try:
        document = table.schemas.get(first).to_json()
    except NotFoundError:
        raise TableNotFoundError(table.name) from None
    return hashlib.sha256(document).hexdigest()[:32]


def _created_at(table: Table) -> int:
    return table.schemas.get(table.schemas.ids()[0]).time_millis
