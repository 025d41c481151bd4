"""Which table of which catalog a name in a query means, before Spark has looked it up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.session_catalog_class import is_session_catalog

_SESSION = "org.apache.spark.sql.classic.SparkSession"


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A name, taken apart; whether there is such a table is not known."""

    java_catalog: Any
    namespace: Sequence[str]
    name: str


def named_table(bridge: Bridge, unresolved: Any) -> NamedTable | None:
    """Return what an ``UnresolvedRelation`` means.

    Returns
    -------
    NamedTable or None
        None: a temporary view, or a table of a catalog that is no Python object.
    """
    parts = [
        str(part)
        for part in bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(
            unresolved.multipartIdentifier()
        )
    ]
    state = bridge.java_class(_SESSION).active().sessionState()
    if state.catalog().getRawLocalOrGlobalTempView(bridge.seq(parts)).isDefined():
        return None
    manager = state.catalogManager()
    if len(parts) > 1 and manager.isCatalogRegistered(parts[0]):
        java_catalog, names = manager.catalog(parts[0]), parts[1:]
    else:
        java_catalog, names = manager.currentCatalog(), parts
    is_proxy = bridge.jvm.java.lang.reflect.Proxy.isProxyClass
    if not is_proxy(java_catalog.getClass()) and not is_session_catalog(java_catalog):
        return None
    return NamedTable(java_catalog, names[:-1] or list(manager.currentNamespace()), names[-1])
