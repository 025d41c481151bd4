"""Which tables and functions a query names, before Spark has looked them up.

Source: apache/spark@v4.2.0 and v4.3.0 ``UnresolvedRelation``, ``UnresolvedFunction``,
``UnresolvedWith``, ``RelationTimeTravel``, ``Origin``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paimonlab.spark.jvm.bridge import Bridge, Proxy


@dataclass(frozen=True, slots=True)
class NamedRelation:
    """A name of a table or view, and where it stands in the text."""

    parts: tuple[str, ...]
    start: int | None
    """Its first character; None: it does not stand in a text."""
    stop: int | None
    """Its last one."""


class NamesInPlan:
    """What a plan names that is not resolved."""

    def __init__(self, bridge: Bridge, plan: Any) -> None:
        self._bridge = bridge
        self._relations: list[NamedRelation] = []
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
        self._read(plan)

    def relations(self) -> list[NamedRelation]:
        """Return the names of tables that are not of a WITH clause."""
        return [
            relation
            for relation in self._relations
            if len(relation.parts) > 1 or relation.parts[0].lower() not in self._with_clauses
        ]

    def tables(self) -> list[list[str]]:
        """Return the parts of these names."""
        return [list(relation.parts) for relation in self.relations()]

    def _read(self, query: Any) -> None:
        query.foreachWithSubqueries(_Visitor(self._bridge, self._node))

    def _node(self, plan: Any) -> None:
        look = self._looks.get(str(plan.getClass().getSimpleName()))
        if look is not None:
            look(plan)
        for expression in self._items(plan.expressions()):
            expression.foreach(_Visitor(self._bridge, self._expression))

    def _expression(self, found: Any) -> None:
        if str(found.getClass().getSimpleName()) == "UnresolvedFunction":
            self.functions.append(self._texts(found.nameParts()))

    def _relation(self, plan: Any) -> None:
        parts = self._texts(plan.multipartIdentifier())
        origin = plan.origin()
        self._relations.append(
            NamedRelation(tuple(parts), _number(origin.startIndex()), _number(origin.stopIndex()))
        )
        if not plan.options().isEmpty():
            self.at_versions.append(parts)

    def _as_of(self, plan: Any) -> None:
        self.at_versions.append(self._texts(plan.relation().multipartIdentifier()))

    def _function(self, plan: Any) -> None:
        self.functions.append(self._texts(plan.name()))

    def _with_clause(self, plan: Any) -> None:
        for named in self._items(plan.cteRelations()):
            self._with_clauses.add(str(named._1()).lower())
            self._read(named._2())

    def _items(self, items: Any) -> list[Any]:
        return list(self._bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(items))

    def _texts(self, parts: Any) -> list[str]:
        return [str(part) for part in self._items(parts)]


def _number(found: Any) -> int | None:
    return int(found.get()) if found.isDefined() else None


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
