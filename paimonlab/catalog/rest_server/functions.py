"""Functions of a catalog, as the protocol has them.

A catalog that keeps none has none to list, and refuses to create one.
"""

from __future__ import annotations

from functools import partial

from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.functions import FunctionCatalog
from paimonlab.catalog.rest.changes import function_changes_from_json
from paimonlab.catalog.rest.kept_objects import function_document, function_of
from paimonlab.catalog.rest.wire import (
    AllFunctionsPage,
    Alter,
    FunctionAnswer,
    FunctionDetailsPage,
    FunctionsPage,
)
from paimonlab.catalog.rest_server.databases import seen
from paimonlab.catalog.rest_server.exchange import Request
from paimonlab.catalog.rest_server.listing import page_of_all, page_of_names
from paimonlab.errors import FunctionNotFoundError, UnsupportedError

_PATTERN = "functionNamePattern"


def listed(catalog: Catalog, request: Request, database: str) -> FunctionsPage:
    """List names of functions."""
    page, token = page_of_names(_functions(catalog, database), request.query, _PATTERN)
    return FunctionsPage(functions=page, next_page_token=token)


def described(catalog: Catalog, request: Request, database: str) -> FunctionDetailsPage:
    """List functions."""
    page, token = page_of_names(_functions(catalog, database), request.query, _PATTERN)
    functions = [found(catalog, request, database, name) for name in page]
    return FunctionDetailsPage(function_details=functions, next_page_token=token)


def listed_everywhere(catalog: Catalog, request: Request) -> AllFunctionsPage:
    """List names of functions in all databases."""
    databases = seen(catalog, request)
    page, token = page_of_all(databases, partial(_functions, catalog), request.query, _PATTERN)
    return AllFunctionsPage(functions=page, next_page_token=token)


def created(catalog: Catalog, request: Request, database: str) -> None:
    """Create a function."""
    asked = request.document(FunctionAnswer)
    name = f"{database}.{asked.name}"
    _keeper(catalog, name).create_function(name, function_of(asked, name))


def found(catalog: Catalog, request: Request, database: str, name: str) -> FunctionAnswer:
    """Describe a function."""
    del request
    full_name = f"{database}.{name}"
    if not isinstance(catalog, FunctionCatalog):
        raise FunctionNotFoundError(full_name)
    return function_document(catalog.function(full_name), name, uuid=full_name)


def altered(catalog: Catalog, request: Request, database: str, name: str) -> None:
    """Change a function."""
    full_name = f"{database}.{name}"
    changes = function_changes_from_json(request.document(Alter).changes)
    _keeper(catalog, full_name).alter_function(full_name, *changes)


def dropped(catalog: Catalog, request: Request, database: str, name: str) -> None:
    """Delete a function."""
    del request
    _keeper(catalog, f"{database}.{name}").drop_function(f"{database}.{name}")


def _functions(catalog: Catalog, database: str) -> list[str]:
    if isinstance(catalog, FunctionCatalog):
        return catalog.functions(database)
    catalog.tables(database)  # raises if there is no such database
    return []


def _keeper(catalog: Catalog, name: str) -> FunctionCatalog:
    if not isinstance(catalog, FunctionCatalog):
        raise UnsupportedError(f"the function {name}", f"{catalog.path} keeps no functions")
    return catalog
