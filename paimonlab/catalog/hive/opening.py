"""What `connect` takes for a Hive catalog."""

from __future__ import annotations

from paimonlab.catalog import option_values
from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.hive.catalog import HiveCatalog
from paimonlab.catalog.hive.client import Metastore, addresses_of
from paimonlab.catalog.hive.hive_site import CONF_DIR, PREFIX, settings_of
from paimonlab.catalog.hive.known import HiveOptions
from paimonlab.catalog.hive.lock import HiveLock, LockOptions
from paimonlab.catalog.hive.objects import ObjectOptions
from paimonlab.catalog.kinds import CatalogKind, CatalogRequest, takes_lock
from paimonlab.errors import UnsupportedError

_DEFAULTS = {
    "alter-table-cascade": "true",
    "client-pool-size": "2",
    "format-table.enabled": "true",
    "hive.skip-update-stats": "false",
    "location-in-properties": "false",
    "lock-acquire-timeout": "8 min",
    "lock-check-max-sleep": "8 s",
    "lock.type": "hive",
    "metastore.client.class": "org.apache.hadoop.hive.metastore.HiveMetaStoreClient",
    "sync-all-properties": "true",
    "table.type": "managed",
}
"""Those of Java Paimon's ``CatalogOptions`` and ``HiveCatalogOptions``."""
_ONLY = {
    "lock.type": "a Hive catalog has hive",
    "metastore.client.class": "the metastore is reached over Thrift",
}
"""Options that have no other value than the default."""
_NO_EFFECT = ("client-pool-cache.eviction-interval-ms", "client-pool-cache.keys")


def _opened(request: CatalogRequest) -> Catalog:
    """Open a catalog; nothing is asked of its metastore before it is used."""
    given = {**_DEFAULTS, **request.options}
    for key, reason in _ONLY.items():
        if given[key] != _DEFAULTS[key]:
            raise UnsupportedError(f"{key} = '{given[key]}'", reason)
    if given["table.type"] not in ("managed", "external"):
        raise UnsupportedError(f"table.type = '{given['table.type']}'", "managed or external")
    options = LockOptions(
        acquire_timeout_millis=option_values.millis(given, "lock-acquire-timeout"),
        check_max_sleep_millis=option_values.millis(given, "lock-check-max-sleep"),
    )
    of_hive = {
        key: value for key, value in request.options.items() if key != "hive.skip-update-stats"
    }
    settings = settings_of(of_hive)
    if not settings.uris:
        raise ValueError(
            "the catalog option 'uri' is missing: thrift://host:9083, or hive-conf-dir with a "
            "hive-site.xml that has hive.metastore.uris"
        )
    hive = HiveOptions(
        objects=ObjectOptions(
            syncs_all=option_values.boolean(given, "sync-all-properties"),
            hides_locations=option_values.boolean(given, "location-in-properties"),
        ),
        batch_size=settings.batch_size,
        makes_external=given["table.type"] == "external",
        cascades=option_values.boolean(given, "alter-table-cascade"),
        skips_statistics=option_values.boolean(given, "hive.skip-update-stats"),
        has_format_tables=option_values.boolean(given, "format-table.enabled"),
    )
    metastore = Metastore(
        addresses_of(settings.uris),
        pool_size=option_values.positive(given, "client-pool-size"),
        timeout_seconds=settings.timeout_seconds,
        sends_user=settings.sends_user,
        security=settings.security,
    )
    is_locked = takes_lock(given)
    path, store = request.open_store(has_lock=is_locked)
    return HiveCatalog(
        path,
        store,
        metastore,
        lock=HiveLock(metastore, options) if is_locked else None,
        hive=hive,
        open_store=request.open_store,
        external_roots=request.external_roots,
        lookup_folder=request.lookup_folder,
        options=request.options,
        max_columns=request.max_columns,
    )


KIND = CatalogKind(
    open=_opened,
    options=frozenset({"uri", "lock.enabled", CONF_DIR, *_DEFAULTS, *_NO_EFFECT}),
    prefixes=(PREFIX,),
)
