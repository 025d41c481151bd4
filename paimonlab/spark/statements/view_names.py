"""Which tables and functions the query of a view names.

A catalog keeps the text of a view and nothing of the session that created it. So a name in it must
mean the same in every session that reads it: no temporary view or function, and short names only
where they are looked up in the database of the view itself.

Source: apache/paimon@5dacde5 ``PaimonViewResolver``.
"""

from __future__ import annotations

from typing import Any

from paimonlab.errors import UnsupportedError
from paimonlab.spark.catalogs.places import Place, active_state, place_of
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.names_in_plans import NamesInPlan

_OF_TABLE_TEXT = ("paimon_incremental_", "max_pt", "vector_search", "full_text_search")
"""What functions begin with that look a table up by a text, in the session's database."""


def check_names(bridge: Bridge, query: Any, place: Place, statement: str) -> None:
    """Refuse a query that would mean something else in another session.

    Parameters
    ----------
    bridge
        The session.
    query
        What Spark's parser made of it.
    place
        Where the view is to be.
    statement
        For messages: ``CREATE VIEW``.

    Raises
    ------
    UnsupportedError
        If the query names a temporary view or function, the view itself, a table by a name that is
        looked up in the session's current database while the view is in another, a function that
        looks tables up by a text, or a table as of a version.
    """
    found = NamesInPlan(bridge, query)
    state = active_state(bridge)
    what = f"{statement} {place.name}"
    for parts in found.at_versions:
        raise UnsupportedError(
            f"{what} with {'.'.join(parts)} AS OF a version, or with options",
            "Spark does not find such a table where it reads a view that a catalog keeps",
        )
    for parts in found.functions:
        if parts[-1].lower().startswith(_OF_TABLE_TEXT):
            raise UnsupportedError(
                f"{what} with {'.'.join(parts)}",
                "it looks a table up from where a session is; CREATE TEMPORARY VIEW works",
            )
        if len(parts) == 1 and _is_temporary_function(bridge, state, parts[0]):
            raise UnsupportedError(f"{what} with the temporary function {parts[0]}", _TEMPORARY)
    manager = state.catalogManager()
    current = (str(manager.currentCatalog().name()), *map(str, manager.currentNamespace()))
    for parts in found.tables():
        name = ".".join(parts)
        if state.catalog().isTempView(bridge.seq(parts)):
            raise UnsupportedError(f"{what} with the temporary view {name}", _TEMPORARY)
        meant = place_of(bridge, parts, statement)
        if meant is not None and (meant.catalog_name, meant.name) == (
            place.catalog_name,
            place.name,
        ):
            raise UnsupportedError(f"{what} with a query of itself", "name another table or view")
        if _is_short(parts, current, place, manager):
            raise UnsupportedError(
                f"{what} with the name {name}",
                f"a view looks names up in its own database: USE {place.catalog_name}."
                f"{place.database} first, or write catalog.database.table",
            )


_TEMPORARY = "other sessions do not have it; CREATE TEMPORARY VIEW works"


def _is_short(parts: list[str], current: tuple[str, ...], place: Place, manager: Any) -> bool:
    """Say whether a name means another table in the database of the view."""
    if current == (place.catalog_name, place.database):
        return False
    if len(parts) == 1:
        return True
    return current[0] != place.catalog_name and not manager.isCatalogRegistered(parts[0])


def _is_temporary_function(bridge: Bridge, state: Any, name: str) -> bool:
    identifier = bridge.java_class("org.apache.spark.sql.catalyst.FunctionIdentifier")
    return bool(state.catalog().isTemporaryFunction(identifier(name, bridge.none())))
