"""The catalog that ``metastore = 'rest'`` asks for."""

from __future__ import annotations

from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.kinds import CatalogKind, CatalogRequest
from paimonlab.catalog.local_cache import local_cache
from paimonlab.errors import UnsupportedError
from paimonlab.storage import LocalFileIO
from paimonlab.storage.schemes import STORE_PREFIXES

_OPTIONS = frozenset(
    (
        "data-token.enabled",
        "dlf.access-key-id",
        "dlf.access-key-secret",
        "dlf.region",
        "dlf.security-token",
        "dlf.signing-algorithm",
        "dlf.token-ecs-metadata-url",
        "dlf.token-ecs-role-name",
        "dlf.token-loader",
        "dlf.token-path",
        "prefix",
        "rest.client.connection-timeout",
        "rest.client.read-timeout",
        "token",
        "token.provider",
        "uri",
    )
)
_PREFIXES = ("header.", "table-default.", *STORE_PREFIXES)


def open_catalog(request: CatalogRequest) -> Catalog:
    """Open the catalog of a server; nothing is asked before it is used.

    Raises
    ------
    UnsupportedError
        If urllib3 is not installed, or a way to authorise is not implemented.
    ValueError
        If an option is missing.
    """
    try:
        from paimonlab.catalog.rest.catalog import RestCatalog  # noqa: PLC0415 - takes urllib3
        from paimonlab.catalog.rest.client import RestClient  # noqa: PLC0415
        from paimonlab.catalog.rest.stores import TableStores  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "urllib3":
            raise
        raise UnsupportedError(
            "metastore = 'rest' without urllib3", "pip install 'paimonlab[rest]'"
        ) from None
    client = RestClient(request.options)
    local = LocalFileIO(follow_links=request.follows_links)
    return RestCatalog(
        client,
        TableStores(client, local, local_cache(request.options)),
        is_read_only=request.is_read_only,
        external_roots=request.external_roots,
        lookup_folder=request.lookup_folder,
        options=request.options,
        max_columns=request.max_columns,
    )


KIND = CatalogKind(open=open_catalog, options=_OPTIONS, prefixes=_PREFIXES, needs_warehouse=False)
