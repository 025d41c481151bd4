"""What `connect` takes for a JDBC catalog."""

from __future__ import annotations

from paimonlab.catalog import option_values
from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.jdbc.addresses import PREFIX, address_of
from paimonlab.catalog.jdbc.catalog import JdbcCatalog
from paimonlab.catalog.jdbc.database import Database
from paimonlab.catalog.jdbc.lock import JdbcLock, LockOptions
from paimonlab.catalog.jdbc.rows import LONGEST_NAME
from paimonlab.catalog.kinds import CatalogKind, CatalogRequest, takes_lock
from paimonlab.errors import UnsupportedError

_DEFAULTS = {
    "catalog-key": "jdbc",
    "client-pool-size": "2",
    "lock-acquire-timeout": "8 min",
    "lock-check-max-sleep": "8 s",
    "lock-key-max-length": "255",
    "lock.type": "jdbc",
    "sync-all-properties": "true",
}
"""Those of Java Paimon's ``CatalogOptions`` and ``JdbcCatalogOptions``."""


def _opened(request: CatalogRequest) -> Catalog:
    """Open a catalog; nothing is asked of its database before it is used."""
    given = {**_DEFAULTS, **request.options}
    if "uri" not in given:
        raise ValueError("the catalog option 'uri' is missing: jdbc:sqlite:…, jdbc:mysql:…")
    if given["lock.type"] != "jdbc":
        raise UnsupportedError(f"lock.type = '{given['lock.type']}'", "a JDBC catalog has jdbc")
    key = given["catalog-key"]
    if not key or len(key) > LONGEST_NAME:
        raise ValueError(f"catalog-key = {key!r} has no, or more than {LONGEST_NAME} characters")
    database = Database(
        address_of(given["uri"], request.options),
        pool_size=option_values.positive(given, "client-pool-size"),
    )
    options = LockOptions(
        acquire_timeout_millis=option_values.millis(given, "lock-acquire-timeout"),
        check_max_sleep_millis=option_values.millis(given, "lock-check-max-sleep"),
        key_max_length=option_values.positive(given, "lock-key-max-length"),
    )
    is_locked = takes_lock(given)
    path, store = request.open_store(has_lock=is_locked)
    return JdbcCatalog(
        path,
        store,
        database,
        key=key,
        lock=JdbcLock(database, key, options) if is_locked else None,
        mirrors_options=option_values.boolean(given, "sync-all-properties"),
        external_roots=request.external_roots,
        lookup_folder=request.lookup_folder,
        options=request.options,
        max_columns=request.max_columns,
    )


KIND = CatalogKind(
    open=_opened,
    options=frozenset({"uri", "lock.enabled", *_DEFAULTS}),
    prefixes=(PREFIX,),
)
