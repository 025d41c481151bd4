"""UPDATE, DELETE and MERGE INTO that are refused by their text: no table is asked to do them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimonlab.spark.catalogs.places import place_of
from paimonlab.spark.rows.statements import VERBS, as_list
from paimonlab.spark.statements.partitions import table_at
from paimonlab.spark.statements.replace_using import replacing_insert
from paimonlab.spec.sql_text.joined_changes import name_refusal

if TYPE_CHECKING:
    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.spec.sql_text.joined_changes import JoinedChange


def refuse_joined_change(bridge: Bridge, change: JoinedChange) -> None:
    """Say which MERGE INTO does what a statement wants that Spark's grammar lacks.

    Raises
    ------
    UnsupportedError
        If its table is one of ours.
    """
    place = place_of(bridge, change.table, change.verb)
    table = None if place is None else table_at(place)
    if table is not None:
        raise change.refusal(table.primary_keys)


def command_of_with(bridge: Bridge, plan: Any) -> Any:
    """Return the plan of a statement with WITH that replaces rows; None: Spark's own is right.

    Parameters
    ----------
    bridge
        The session.
    plan
        An ``UnresolvedWith`` around an INSERT, UPDATE, DELETE or MERGE, as the parser made it.

    Raises
    ------
    UnsupportedError
        If it changes the rows of a name of its WITH clause.
    """
    kind = str(plan.child().getClass().getSimpleName())
    if kind not in VERBS:
        return replacing_insert(bridge, plan)
    child = plan.child()
    (target,) = as_list(
        bridge, (child.targetTable() if kind == "MergeIntoTable" else child.table()).collectLeaves()
    )
    parts = [str(part) for part in as_list(bridge, target.multipartIdentifier())]
    known = {str(one._1()).lower() for one in as_list(bridge, plan.cteRelations())}
    if len(parts) == 1 and parts[0].lower() in known:
        raise name_refusal(f"{VERBS[kind]} {parts[0]}")
    return None
