"""Views of a catalog, as the protocol has them.

A catalog that keeps none has none to list, and refuses to create one.
"""

from __future__ import annotations

from functools import partial

from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.rest.changes import view_changes_from_json
from paimonlab.catalog.rest.kept_objects import view_document, view_of
from paimonlab.catalog.rest.wire import (
    AllViewsPage,
    Alter,
    CreateView,
    Rename,
    ViewAnswer,
    ViewDetailsPage,
    ViewsPage,
)
from paimonlab.catalog.rest_server.databases import seen
from paimonlab.catalog.rest_server.exchange import NotUnderstoodError, Request
from paimonlab.catalog.rest_server.listing import page_of_all, page_of_names
from paimonlab.catalog.views import ViewCatalog
from paimonlab.errors import UnsupportedError, ViewNotFoundError

_PATTERN = "viewNamePattern"


def listed(catalog: Catalog, request: Request, database: str) -> ViewsPage:
    """List names of views."""
    page, token = page_of_names(_views(catalog, database), request.query, _PATTERN)
    return ViewsPage(views=page, next_page_token=token)


def described(catalog: Catalog, request: Request, database: str) -> ViewDetailsPage:
    """List views."""
    page, token = page_of_names(_views(catalog, database), request.query, _PATTERN)
    views = [found(catalog, request, database, name) for name in page]
    return ViewDetailsPage(view_details=views, next_page_token=token)


def listed_everywhere(catalog: Catalog, request: Request) -> AllViewsPage:
    """List names of views in all databases."""
    databases = seen(catalog, request)
    page, token = page_of_all(databases, partial(_views, catalog), request.query, _PATTERN)
    return AllViewsPage(views=page, next_page_token=token)


def created(catalog: Catalog, request: Request, database: str) -> None:
    """Create a view."""
    asked = request.document(CreateView)
    name = asked.identifier.name
    if asked.identifier.database != database:
        raise NotUnderstoodError(f"{name} is not in the database {database}")
    _keeper(catalog, name).create_view(name, view_of(asked.schema, name))


def found(catalog: Catalog, request: Request, database: str, name: str) -> ViewAnswer:
    """Describe a view."""
    del request
    full_name = f"{database}.{name}"
    if not isinstance(catalog, ViewCatalog):
        raise ViewNotFoundError(full_name)
    return ViewAnswer(id=full_name, name=name, schema=view_document(catalog.view(full_name)))


def altered(catalog: Catalog, request: Request, database: str, name: str) -> None:
    """Change a view."""
    full_name = f"{database}.{name}"
    changes = view_changes_from_json(request.document(Alter).changes)
    _keeper(catalog, full_name).alter_view(full_name, *changes)


def dropped(catalog: Catalog, request: Request, database: str, name: str) -> None:
    """Delete a view."""
    del request
    _keeper(catalog, f"{database}.{name}").drop_view(f"{database}.{name}")


def renamed(catalog: Catalog, request: Request) -> None:
    """Give a view another name."""
    asked = request.document(Rename)
    _keeper(catalog, asked.source.name).rename_view(asked.source.name, asked.destination.name)


def _views(catalog: Catalog, database: str) -> list[str]:
    if isinstance(catalog, ViewCatalog):
        return catalog.views(database)
    catalog.tables(database)  # raises if there is no such database
    return []


def _keeper(catalog: Catalog, name: str) -> ViewCatalog:
    if not isinstance(catalog, ViewCatalog):
        raise UnsupportedError(f"the view {name}", f"{catalog.path} keeps no views")
    return catalog
