"""Which tables and functions the query of a view names.

A catalog keeps the text of a view and nothing of the session that created it. So a name in it must
mean the same in every session that reads it: no temporary view or function, and short names only
where they are looked up in the database of the view itself.

Source: apache/spark@v4.2.0 and v4.3.0 ``UnresolvedRelation``, ``UnresolvedFunction``,
``UnresolvedWith``, ``RelationTimeTravel``; apache/paimon@5dacde5 ``PaimonViewResolver``.
"""

from __future__ import annotations

from typing import Any

from paimonlab.errors import UnsupportedError
from paimonlab.spark.catalogs.places import Place, active_state, place_of
from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.rows.statements import as_list

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
    found = _Names(bridge, query)
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


class _Names:
    """What a query names."""

    def __init__(self, bridge: Bridge, query: Any) -> None:
        self._bridge = bridge
        self._relations: list[list[str]] = []
        self._with_clauses: set[str] = set()
        self.functions: list[list[str]] = []
        self.at_versions: list[list[str]] = []
        """Relations with an AS OF clause or options."""
        self._looks = {
            "UnresolvedRelation": self._relation,
            "RelationTimeTravel": self._as_of,
            "UnresolvedTableValuedFunction": self._function,
            "UnresolvedWith": self._with_clause,
        }
        self._read(query)

    def tables(self) -> list[list[str]]:
        """Return the names that are not of a WITH clause."""
        return [
            parts
            for parts in self._relations
            if len(parts) > 1 or parts[0].lower() not in self._with_clauses
        ]

    def _read(self, query: Any) -> None:
        query.foreachWithSubqueries(_Visitor(self._bridge, self._node))

    def _node(self, plan: Any) -> None:
        look = self._looks.get(str(plan.getClass().getSimpleName()))
        if look is not None:
            look(plan)
        for expression in as_list(self._bridge, plan.expressions()):
            expression.foreach(_Visitor(self._bridge, self._expression))

    def _expression(self, found: Any) -> None:
        if str(found.getClass().getSimpleName()) == "UnresolvedFunction":
            self.functions.append(self._texts(found.nameParts()))

    def _relation(self, plan: Any) -> None:
        parts = self._texts(plan.multipartIdentifier())
        self._relations.append(parts)
        if not plan.options().isEmpty():
            self.at_versions.append(parts)

    def _as_of(self, plan: Any) -> None:
        self.at_versions.append(self._texts(plan.relation().multipartIdentifier()))

    def _function(self, plan: Any) -> None:
        self.functions.append(self._texts(plan.name()))

    def _with_clause(self, plan: Any) -> None:
        for named in as_list(self._bridge, plan.cteRelations()):
            self._with_clauses.add(str(named._1()).lower())
            self._read(named._2())

    def _texts(self, parts: Any) -> list[str]:
        return [str(part) for part in as_list(self._bridge, parts)]


class _Visitor(Proxy):
    """Is shown each node of a tree."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, visit: Any) -> None:
        super().__init__(bridge)
        self._visit = visit

    def apply(self, node: Any) -> None:
        """Look at one."""
        self._visit(node)
