"""Views and functions of a catalog, as the protocol has them.

A catalog that keeps none has none to list, and refuses to create one.
"""

from __future__ import annotations

from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.functions import FunctionCatalog
from paimonlab.catalog.rest.changes import function_changes_from_json, view_changes_from_json
from paimonlab.catalog.rest.kept_objects import (
    function_document,
    function_of,
    view_document,
    view_of,
)
from paimonlab.catalog.rest.wire import (
    AllFunctionsPage,
    AllViewsPage,
    Alter,
    CreateView,
    FunctionAnswer,
    FunctionDetailsPage,
    FunctionsPage,
    IdentifierDocument,
    Rename,
    ViewAnswer,
    ViewDetailsPage,
    ViewsPage,
)
from paimonlab.catalog.rest_server.databases import seen
from paimonlab.catalog.rest_server.exchange import NotUnderstoodError, Request
from paimonlab.catalog.rest_server.listing import matching, page_of
from paimonlab.catalog.views import ViewCatalog
from paimonlab.errors import FunctionNotFoundError, UnsupportedError, ViewNotFoundError

_VIEWS = "viewNamePattern"
_FUNCTIONS = "functionNamePattern"


def listed(catalog: Catalog, request: Request, database: str) -> ViewsPage:
    """List names of views."""
    names = matching(_views(catalog, database), request.query.get(_VIEWS))
    page, token = page_of(names, request.query, str)
    return ViewsPage(views=page, next_page_token=token)


def described(catalog: Catalog, request: Request, database: str) -> ViewDetailsPage:
    """List views."""
    names = matching(_views(catalog, database), request.query.get(_VIEWS))
    page, token = page_of(names, request.query, str)
    views = [found(catalog, request, database, name) for name in page]
    return ViewDetailsPage(view_details=views, next_page_token=token)


def listed_everywhere(catalog: Catalog, request: Request) -> AllViewsPage:
    """List names of views in all databases."""
    names = [
        IdentifierDocument(database=database, object=view)
        for database in seen(catalog, request)
        for view in matching(_views(catalog, database), request.query.get(_VIEWS))
    ]
    page, token = page_of(names, request.query, lambda one: one.name)
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


def listed_functions(catalog: Catalog, request: Request, database: str) -> FunctionsPage:
    """List names of functions."""
    names = matching(_functions(catalog, database), request.query.get(_FUNCTIONS))
    page, token = page_of(names, request.query, str)
    return FunctionsPage(functions=page, next_page_token=token)


def described_functions(catalog: Catalog, request: Request, database: str) -> FunctionDetailsPage:
    """List functions."""
    names = matching(_functions(catalog, database), request.query.get(_FUNCTIONS))
    page, token = page_of(names, request.query, str)
    functions = [found_function(catalog, request, database, name) for name in page]
    return FunctionDetailsPage(function_details=functions, next_page_token=token)


def listed_functions_everywhere(catalog: Catalog, request: Request) -> AllFunctionsPage:
    """List names of functions in all databases."""
    names = [
        IdentifierDocument(database=database, object=function)
        for database in seen(catalog, request)
        for function in matching(_functions(catalog, database), request.query.get(_FUNCTIONS))
    ]
    page, token = page_of(names, request.query, lambda one: one.name)
    return AllFunctionsPage(functions=page, next_page_token=token)


def created_function(catalog: Catalog, request: Request, database: str) -> None:
    """Create a function."""
    asked = request.document(FunctionAnswer)
    name = f"{database}.{asked.name}"
    _function_keeper(catalog, name).create_function(name, function_of(asked, name))


def found_function(catalog: Catalog, request: Request, database: str, name: str) -> FunctionAnswer:
    """Describe a function."""
    del request
    full_name = f"{database}.{name}"
    if not isinstance(catalog, FunctionCatalog):
        raise FunctionNotFoundError(full_name)
    return function_document(catalog.function(full_name), name, uuid=full_name)


def altered_function(catalog: Catalog, request: Request, database: str, name: str) -> None:
    """Change a function."""
    full_name = f"{database}.{name}"
    changes = function_changes_from_json(request.document(Alter).changes)
    _function_keeper(catalog, full_name).alter_function(full_name, *changes)


def dropped_function(catalog: Catalog, request: Request, database: str, name: str) -> None:
    """Delete a function."""
    del request
    _function_keeper(catalog, f"{database}.{name}").drop_function(f"{database}.{name}")


def _functions(catalog: Catalog, database: str) -> list[str]:
    if isinstance(catalog, FunctionCatalog):
        return catalog.functions(database)
    catalog.tables(database)  # raises if there is no such database
    return []


def _function_keeper(catalog: Catalog, name: str) -> FunctionCatalog:
    if not isinstance(catalog, FunctionCatalog):
        raise UnsupportedError(f"the function {name}", f"{catalog.path} keeps no functions")
    return catalog
