"""Statements about views and functions that a catalog would have to keep.

Spark looks at the query of a view before it asks the catalog, and finds there what our tables are
read by, which it refuses for reasons that nobody understands who has not read this.

Source: apache/spark@v4.2.0 and v4.3.0 ``CreateView``, ``CreateUserDefinedFunction``,
``CreateFunction``.
"""

from __future__ import annotations

from typing import Any

from paimonlab.errors import UnsupportedError
from paimonlab.spark.catalogs.places import place_of
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.rows.statements import as_list

KEPT = {
    "CreateView": ("CREATE VIEW", "CREATE TEMPORARY VIEW works"),
    "CreateUserDefinedFunction": ("CREATE FUNCTION", "CREATE TEMPORARY FUNCTION works"),
    "CreateFunction": ("CREATE FUNCTION", "CREATE TEMPORARY FUNCTION works"),
}
"""What the statements are called, and what to do, by the simple names of Spark's plans."""


def check_kept(bridge: Bridge, plan: Any) -> None:
    """Refuse a statement in a catalog of ours; None lets Spark run those of others.

    Raises
    ------
    UnsupportedError
        If it is about our catalog.
    """
    statement, instead = KEPT[plan.getClass().getSimpleName()]
    parts = [str(part) for part in as_list(bridge, plan.child().nameParts())]
    place = place_of(bridge, parts, statement)
    if place is not None:
        raise UnsupportedError(
            f"{statement} {place.name} in catalog {place.catalog_name}",
            f"a catalog of files keeps no views and no functions; {instead}",
        )
