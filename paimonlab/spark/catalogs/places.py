"""Which table a name in a statement means, before Spark has looked it up.

Source: apache/spark@v4.3.0 ``LookupCatalog.CatalogAndIdentifier``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from paimonlab.errors import UnsupportedError
from paimonlab.spark.catalogs.namespaces import DEFAULT_DATABASE, SESSION_CATALOG, catalog_behind
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.session_options import chosen_branch, session_options
from paimonlab.spec.identifier import Identifier

if TYPE_CHECKING:
    from paimonlab.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Place:
    """A name of a table in a catalog of ours."""

    catalog: Catalog
    catalog_name: str
    """In the session."""
    database: str
    table: str
    """With its branch, also if the session chose it."""

    @property
    def name(self) -> str:
        """The name within the catalog."""
        return f"{self.database}.{self.table}"


def place_of(bridge: Bridge, parts: Sequence[str], statement: str) -> Place | None:
    """Say where a name of a table points to.

    Parameters
    ----------
    bridge
        A session of the application; names are those of the one that is active in this thread.
    parts
        Of the name: table; database and table; or catalog, database and table.
    statement
        What messages call the statement.

    Returns
    -------
    Place or None
        None: into a catalog that is not ours. Whether there is such a table is looked up in
        ``spark_catalog`` alone, where other names are Spark's.

    Raises
    ------
    UnsupportedError
        If the name has another number of parts in a catalog of ours.
    """
    place = named_place(bridge, parts, statement=statement)
    if place is None or (place.catalog_name == SESSION_CATALOG and not _has_table(place)):
        return None
    given = session_options(bridge, (place.catalog_name, place.database, place.table))
    branch = chosen_branch(place.table, given)
    return place if branch is None else replace(place, table=_on_branch(place.table, branch))


def named_place(
    bridge: Bridge, parts: Sequence[str], within: Sequence[str] = (), *, statement: str = ""
) -> Place | None:
    """Say where a name points to, whatever it is a name of.

    Parameters
    ----------
    bridge
        A session of the application; names are those of the one that is active in this thread.
    parts
        Of the name.
    within
        Catalog and database where short names are looked up; none: what is current.
    statement
        What messages call the statement; none: a name of another number of parts is nobody's.

    Returns
    -------
    Place or None
        None: into a catalog that is not ours.
    """
    manager = active_state(bridge).catalogManager()
    first, *rest = parts
    is_of_catalog = bool(rest) and manager.isCatalogRegistered(first)
    if is_of_catalog:
        found = manager.catalog(first)
    else:
        found = manager.catalog(within[0]) if within else manager.currentCatalog()
    *before, name = rest if is_of_catalog else parts
    if not before and not is_of_catalog:
        namespace = within[1:] if within else bridge.texts(manager.currentNamespace())
        before = [*namespace] or [DEFAULT_DATABASE]
    catalog = catalog_behind(found)
    if catalog is None:
        return None
    if len(before) == 1:
        return Place(catalog._catalog, str(found.name()), before[0], name)
    if not statement:
        return None
    raise UnsupportedError(
        f"{statement} {'.'.join(parts)}", "write database.table, or catalog.database.table"
    )


def _has_table(place: Place) -> bool:
    name = Identifier.parse(place.name)
    return place.catalog.has_table(f"{name.database}.{name.table}")


def _on_branch(table: str, branch: str) -> str:
    return table if branch == "main" else f"{table}$branch_{branch}"


def active_state(bridge: Bridge) -> Any:
    """Return the (Java) state of the session that is active in this thread."""
    return bridge.java_class("org.apache.spark.sql.classic.SparkSession").active().sessionState()
