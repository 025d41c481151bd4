"""The catalogs of a session in the clones that Spark makes of it.

A streaming query runs in a clone of the session that started it, and ``foreachBatch`` gets
DataFrames of that clone. Spark clones settings and temporary views, but no catalogs: those of
classes it makes anew from the settings, ours are objects.

Source: apache/spark@v4.2.0 and v4.3.0, ``SparkSession.cloneSession``,
``BaseSessionStateBuilder``, ``SparkSessionExtensions.injectResolutionRule``.
"""

from __future__ import annotations

import weakref
from threading import Lock
from typing import Any

from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.session_catalog_class import is_session_catalog

HARMLESS_RULE = "org.apache.spark.sql.catalyst.analysis.ResolveTimeZone"
"""A rule that Spark applies anyway."""

_lock = Lock()
_shared: weakref.WeakKeyDictionary[Any, set[int]] = weakref.WeakKeyDictionary()
"""The extensions that know of clones, of each Spark application."""


def share_with_clones(bridge: Bridge) -> None:
    """Give clones of the session, and of sessions beside it, the catalogs of the original."""
    extensions = bridge.session.extensions()
    number = int(bridge.jvm.java.lang.System.identityHashCode(extensions))
    with _lock:
        known = _shared.setdefault(bridge.spark.sparkContext, set())
        if number in known:
            return
        known.add(number)
    extensions.injectResolutionRule(CatalogsOfClones(bridge))


def original_of(session: Any) -> Any:
    """Return the (Java) state of the session that a session was cloned from, or None."""
    field = session.getClass().getDeclaredField("parentSessionState")
    field.setAccessible(True)
    original = field.get(session)
    return original.get() if original.isDefined() else None


def catalogs_of(state: Any) -> Any:
    """Return the catalogs of a session: a Scala map from names.

    Spark builds catalogs from class names only; ours is an object, so it goes where Spark keeps
    those it has built (4.2 and 4.3 alike).
    """
    manager = state.catalogManager()
    field = manager.getClass().getDeclaredField("catalogs")
    field.setAccessible(True)
    return field.get(manager)


def session_catalog_of(state: Any) -> Any:
    """Return the catalog ``spark_catalog`` of a session, unless a setting names another class."""
    return _session_catalog_field(state).get(state.catalogManager())


def set_session_catalog(state: Any, java_catalog: Any) -> None:
    """Give a session another ``spark_catalog``.

    A setting would not do: Spark looks at those of the session that is active in a thread, also
    while it plans for another one.
    """
    _session_catalog_field(state).set(state.catalogManager(), java_catalog)


def _session_catalog_field(state: Any) -> Any:
    field = state.catalogManager().getClass().getDeclaredField("defaultSessionCatalog")
    field.setAccessible(True)
    return field


class CatalogsOfClones(Proxy):
    """Puts our catalogs into each clone of a session before its first statement is looked at.

    Spark calls `apply` for a rule when it builds the analyzer of a session. The clone gets the
    very objects of the original, so nothing has to be taken out of it again.
    """

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(bridge)
        self._busy: set[str] = set()
        self._lock = Lock()

    def apply(self, session: Any) -> Any:
        """Give a clone the catalogs of its original; return a rule that changes nothing."""
        original = original_of(session)
        if original is not None:
            self._share(original, session)
        return self._bridge.module(HARMLESS_RULE)

    def _share(self, original: Any, clone: Any) -> None:
        key = str(clone.sessionUUID())
        with self._lock:
            if key in self._busy:
                return
            self._busy.add(key)
        try:
            # Asking for the catalogs of a session builds its analyzer, and so comes here again.
            own = catalogs_of(clone.sessionState())
            is_proxy = self._bridge.jvm.java.lang.reflect.Proxy.isProxyClass
            every = self._bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(
                catalogs_of(original)
            )
            for name in list(every):
                if is_session_catalog(every[name]):
                    set_session_catalog(clone.sessionState(), every[name])
                elif not is_proxy(every[name].getClass()):
                    continue
                own.put(name, every[name])
        finally:
            with self._lock:
                self._busy.remove(key)
