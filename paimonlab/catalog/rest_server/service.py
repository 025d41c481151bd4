"""Which path does what: requests of the protocol answered from a catalog."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import msgspec

from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.rest.paths import CONFIG, Paths
from paimonlab.catalog.rest.wire import ConfigAnswer, CreateDatabase, Document
from paimonlab.catalog.rest_server import databases, functions, tables, totals, versions, views
from paimonlab.catalog.rest_server.exchange import NoSuchPathError, Request, Response
from paimonlab.catalog.rest_server.refusing import refused
from paimonlab.catalog.rest_server.tokens import TokenVendor
from paimonlab.catalog.rest_server.totals import Totals
from paimonlab.errors import NotFoundError, ReadOnlyError, UnsupportedError

Handler: TypeAlias = Callable[..., Document | None]
PREFIX = "paimonlab"
_ANY = "*"
_T = ("databases", _ANY, "tables", _ANY)


@dataclass(frozen=True, slots=True)
class Route:
    """A path, and who answers it."""

    method: str
    pattern: tuple[str, ...]
    handler: Handler
    is_question: bool = False
    """Whether it changes nothing, whatever its method."""


def _routes(sums: Totals, vendor: TokenVendor | None) -> tuple[Route, ...]:
    get, post = "GET", "POST"
    latest = partial(versions.latest, totals=sums)
    database, view = ("databases", _ANY), ("databases", _ANY, "views", _ANY)
    function = ("databases", _ANY, "functions", _ANY)
    return (
        Route(get, ("databases",), databases.listed),
        Route(post, ("databases",), databases.created),
        Route(get, database, databases.found),
        Route(post, database, databases.altered),
        Route("DELETE", database, databases.dropped),
        Route(get, (*database, "tables"), tables.listed),
        Route(post, (*database, "tables"), tables.created),
        Route(get, (*database, "table-details"), tables.described),
        Route(post, (*database, "register"), tables.registered),
        Route(get, ("tables",), tables.listed_everywhere),
        Route(get, ("tables", "id", _ANY), tables.found_by_id),
        Route(post, ("tables", "rename"), tables.renamed),
        Route(get, _T, tables.found),
        Route(post, _T, tables.altered),
        Route("DELETE", _T, tables.dropped),
        Route(post, (*_T, "replace"), tables.replaced),
        Route(post, (*_T, "commit"), versions.commit),
        Route(post, (*_T, "rollback"), versions.rolled_back),
        Route(post, (*_T, "rollback-schema"), versions.schema_rolled_back),
        Route(get, (*_T, "snapshot"), latest),
        Route(get, (*_T, "snapshots"), versions.snapshots),
        Route(get, (*_T, "snapshots", _ANY), versions.snapshot),
        Route(get, (*_T, "partitions"), totals.partitions),
        Route(post, (*_T, "partitions", "mark"), totals.partitions_marked),
        Route(
            post,
            (*_T, "partitions", "list-by-names"),
            totals.partitions_by_names,
            is_question=True,
        ),
        Route(get, (*_T, "branches"), versions.branches),
        Route(post, (*_T, "branches"), versions.branch_created),
        Route("DELETE", (*_T, "branches", _ANY), versions.branch_dropped),
        Route(post, (*_T, "branches", _ANY, "rename"), versions.branch_renamed),
        Route(post, (*_T, "branches", _ANY, "forward"), versions.branch_forwarded),
        Route(get, (*_T, "tags"), versions.tags),
        Route(post, (*_T, "tags"), versions.tag_created),
        Route(get, (*_T, "tags", _ANY), versions.tag),
        Route("DELETE", (*_T, "tags", _ANY), versions.tag_dropped),
        Route(get, (*_T, "consumers"), versions.consumers),
        Route(post, (*_T, "consumers", "reset"), versions.consumer_reset),
        Route(get, (*_T, "token"), _no_tokens if vendor is None else vendor.token),
        Route(post, (*_T, "auth"), _no_rules, is_question=True),
        Route(get, (*database, "views"), views.listed),
        Route(post, (*database, "views"), views.created),
        Route(get, (*database, "view-details"), views.described),
        Route(get, ("views",), views.listed_everywhere),
        Route(post, ("views", "rename"), views.renamed),
        Route(get, view, views.found),
        Route(post, view, views.altered),
        Route("DELETE", view, views.dropped),
        Route(get, (*database, "functions"), functions.listed),
        Route(post, (*database, "functions"), functions.created),
        Route(get, (*database, "function-details"), functions.described),
        Route(get, ("functions",), functions.listed_everywhere),
        Route(get, function, functions.found),
        Route(post, function, functions.altered),
        Route("DELETE", function, functions.dropped),
    )


def _no_tokens(catalog: Catalog, request: Request, database: str, name: str) -> None:
    del request
    tables.opened(catalog, database, name)
    raise UnsupportedError(
        f"tokens for the files of {database}.{name}",
        "the server was started without a role; with one it has them for stores of S3's protocol",
    )


def _no_rules(catalog: Catalog, request: Request, database: str, name: str) -> None:
    del request
    tables.opened(catalog, database, name)
    raise UnsupportedError(
        f"rules for reading {database}.{name}", "the server has none: query-auth.enabled"
    )


class CatalogService:
    """Answers the requests of clients that have been let in.

    Parameters
    ----------
    catalog
        What is served.
    warehouse
        What clients call it.
    is_read_only
        Whether requests that change something are refused.
    defaults
        Options that clients get where they do not set them.
    vendor
        What makes tokens for files; None: they are refused.
    """

    def __init__(
        self,
        catalog: Catalog,
        *,
        warehouse: str,
        is_read_only: bool = False,
        defaults: Mapping[str, str] | None = None,
        vendor: TokenVendor | None = None,
    ) -> None:
        self.catalog = catalog
        self.warehouse = warehouse
        self.is_read_only = is_read_only or catalog.is_read_only
        self._defaults = {**(defaults or {}), "prefix": PREFIX}
        self._paths = Paths(PREFIX)
        self._routes = _routes(Totals(), vendor)

    def answer(self, request: Request) -> Response:
        """Answer a request; what goes wrong is an answer as well."""
        try:
            document = self._done(request)
        except Exception as error:  # noqa: BLE001 - whatever it is, the client is told
            return refused(error)
        return Response(200, b"" if document is None else msgspec.json.encode(document))

    def databases_of(self, request: Request) -> tuple[str, ...]:
        """Return the databases that a request is about; () if it is about none or about all.

        Raises
        ------
        NotUnderstoodError
            If the body does not follow the protocol.
        """
        found = self._found(request)
        if found is None or not found[1] or found[0].pattern[0] != "databases":
            return () if found is None else _created(request, found[0]) or _renamed(request)
        return (found[1][0],)

    def changes(self, request: Request) -> bool:
        """Whether a request may change something."""
        found = self._found(request)
        return request.method != "GET" and not (found is not None and found[0].is_question)

    def _done(self, request: Request) -> Document | None:
        if request.path == CONFIG and request.method == "GET":
            return self._config(request)
        found = self._found(request)
        if found is None:
            raise NoSuchPathError(f"there is no {request.method} {request.path} here")
        route, arguments = found
        if self.is_read_only and request.method != "GET" and not route.is_question:
            raise ReadOnlyError(f"{request.method} {request.path}")
        if self.is_read_only:
            request = replace(request, may_change=lambda _: False)
        return route.handler(self.catalog, request, *arguments)

    def _config(self, request: Request) -> ConfigAnswer:
        asked = request.query.get("warehouse")
        if asked not in (None, "", self.warehouse):
            raise NotFoundError(f"there is no warehouse {asked!r}; this one is {self.warehouse!r}")
        return ConfigAnswer(defaults=dict(self._defaults), overrides={})

    def _found(self, request: Request) -> tuple[Route, tuple[str, ...]] | None:
        parts = self._paths.parts(request.path)
        for route in self._routes if parts else ():
            arguments = _matched(route, request.method, parts or ())
            if arguments is not None:
                return route, arguments
        return None


def _matched(route: Route, method: str, parts: tuple[str, ...]) -> tuple[str, ...] | None:
    if route.method != method or len(route.pattern) != len(parts):
        return None
    pairs = tuple(zip(route.pattern, parts, strict=True))
    if any(wanted not in (_ANY, part) for wanted, part in pairs):
        return None
    return tuple(part for wanted, part in pairs if wanted == _ANY)


def _created(request: Request, route: Route) -> tuple[str, ...]:
    """Return the database that a request creates; ()."""
    if request.method != "POST" or tuple(route.pattern) != ("databases",):
        return ()
    return (request.document(CreateDatabase).name,)


def _renamed(request: Request) -> tuple[str, ...]:
    if not request.path.endswith("/rename") or "/databases/" in request.path:
        return ()
    document: Any = msgspec.json.decode(request.body or b"{}")
    return tuple(
        {str(document.get(end, {}).get("database", "")) for end in ("source", "destination")}
    )
