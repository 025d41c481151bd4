"""Names in the body of an SQL function.

Spark puts the body of a function in the place of a call and looks the names in it up where the
caller is. A function that a catalog keeps must mean the same wherever it is called, so names of
tables are written in full before Spark sees the body.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.errors import UnsupportedError
from paimonlab.spark.catalogs.places import active_state
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.names_in_plans import NamedRelation, NamesInPlan
from paimonlab.spark.values.quoting import quoted

_BEFORE, _AFTER = "SELECT (\n", "\n)"


def with_full_names(bridge: Bridge, body: str, within: Sequence[str], *, what: str) -> str:
    """Return a body whose tables are named with catalog and database.

    Parameters
    ----------
    bridge
        The session.
    body
        An expression, or a query without brackets.
    within
        Catalog and database where short names are looked up.
    what
        The function, for messages.

    Raises
    ------
    UnsupportedError
        If the body calls functions that are not Spark's own, or reads a table as of a version.
    """
    state = active_state(bridge)
    text = f"{_BEFORE}{body}{_AFTER}"
    found = NamesInPlan(bridge, state.sqlParser().parsePlan(text))
    for called in found.functions:
        if len(called) > 1 or not state.catalog().isBuiltinFunction(called[0]):
            raise UnsupportedError(
                f"{what} with a call of {'.'.join(called)}",
                "its body can call Spark's own functions; write the other's text instead",
            )
    for read in found.at_versions:
        raise UnsupportedError(
            f"{what} with {'.'.join(read)} AS OF a version, or with options",
            "name a tag's or branch's table, or create a view",
        )
    manager = state.catalogManager()
    for relation in sorted(set(found.relations()), key=lambda one: one.start or 0, reverse=True):
        parts = relation.parts
        if "/" in parts[-1] or (len(parts) > 1 and manager.isCatalogRegistered(parts[0])):
            continue
        full = (*within[: len(within) + 1 - len(parts)], *parts)
        text = _replaced(text, relation, ".".join(map(quoted, full)), what)
    return text[len(_BEFORE) : -len(_AFTER)]


def _replaced(text: str, relation: NamedRelation, name: str, what: str) -> str:
    if relation.start is not None and relation.stop is not None:
        present = text[relation.start : relation.stop + 1]
        if "".join(present.replace("`", "").split()) == "".join(".".join(relation.parts).split()):
            return text[: relation.start] + name + text[relation.stop + 1 :]
    raise UnsupportedError(
        f"{what} with the name {'.'.join(relation.parts)}", "write catalog.database.table"
    )
