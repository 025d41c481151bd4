"""Databases of a catalog, as the protocol has them."""

from __future__ import annotations

from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.rest.wire import (
    AlterDatabase,
    AlteredDatabase,
    CreateDatabase,
    DatabaseAnswer,
    DatabasesPage,
)
from paimonlab.catalog.rest_server.exchange import Request
from paimonlab.catalog.rest_server.listing import matching, page_of
from paimonlab.errors import UnsupportedError

_LOCATION = "location"
_OF_ENGINES = frozenset({"owner"})
"""Spark says it of every database, whoever keeps it."""


def seen(catalog: Catalog, request: Request) -> list[str]:
    """Return the names of the databases that match, and that who asks may know of."""
    names = matching(catalog.databases(), request.query.get("databaseNamePattern"))
    return [name for name in names if request.sees(name)]


def listed(catalog: Catalog, request: Request) -> DatabasesPage:
    """List names."""
    names = seen(catalog, request)
    page, token = page_of(names, request.query, str)
    return DatabasesPage(databases=page, next_page_token=token)


def created(catalog: Catalog, request: Request) -> None:
    """Create a database."""
    asked = request.document(CreateDatabase)
    options = asked.options or {}
    if _LOCATION in options and not request.may_change("*"):
        raise UnsupportedError(
            f"location of the database {asked.name}",
            "only who may change all databases names a folder, since it may be that of another",
        )
    try:
        catalog.create_database(asked.name, options=options)
    except UnsupportedError:
        if not options or options.keys() - _OF_ENGINES:
            raise
        catalog.create_database(asked.name)


def found(catalog: Catalog, request: Request, database: str) -> DatabaseAnswer:
    """Describe a database."""
    del request
    options = catalog.database_options(database)
    location = options.pop(_LOCATION, None)
    return DatabaseAnswer(name=database, id=database, location=location, options=options)


def altered(catalog: Catalog, request: Request, database: str) -> AlteredDatabase:
    """Change options of a database."""
    asked = request.document(AlterDatabase)
    updates, removals = asked.updates or {}, asked.removals or []
    before = catalog.database_options(database)
    catalog.alter_database(database, set=updates, remove=removals)
    return AlteredDatabase(
        removed=[key for key in removals if key in before],
        updated=list(updates),
        missing=[key for key in removals if key not in before],
    )


def dropped(catalog: Catalog, request: Request, database: str) -> None:
    """Delete a database with all in it: clients look before whether it is empty."""
    del request
    catalog.drop_database(database, cascade=True)
