"""Which table a name in a statement means, before Spark has looked it up.

Source: apache/spark@v4.3.0 ``LookupCatalog.CatalogAndIdentifier``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paimonlab.errors import UnsupportedError
from paimonlab.spark.catalogs.namespaces import DEFAULT_DATABASE, catalog_behind
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.session_options import chosen_branch, session_options

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
        None: into a catalog that is not ours. Whether there is such a table is not looked up.

    Raises
    ------
    UnsupportedError
        If the name has another number of parts in a catalog of ours.
    """
    state = active_state(bridge)
    manager = state.catalogManager()
    first, *rest = parts
    is_of_catalog = bool(rest) and manager.isCatalogRegistered(first)
    found = manager.catalog(first) if is_of_catalog else manager.currentCatalog()
    *before, table = rest if is_of_catalog else parts
    if not before and not is_of_catalog:
        before = [str(part) for part in manager.currentNamespace()] or [DEFAULT_DATABASE]
    catalog = catalog_behind(found)
    if catalog is None:
        return None
    if len(before) != 1:
        raise UnsupportedError(
            f"{statement} {'.'.join(parts)}", "write database.table, or catalog.database.table"
        )
    catalog_name = str(found.name())
    given = session_options(bridge, (catalog_name, before[0], table))
    branch = chosen_branch(table, given)
    return Place(
        catalog._catalog,
        catalog_name,
        before[0],
        table if branch is None else _on_branch(table, branch),
    )


def _on_branch(table: str, branch: str) -> str:
    return table if branch == "main" else f"{table}$branch_{branch}"


def active_state(bridge: Bridge) -> Any:
    """Return the (Java) state of the session that is active in this thread."""
    return bridge.java_class("org.apache.spark.sql.classic.SparkSession").active().sessionState()
