"""Statements that Spark runs on its own catalog alone, where that is one of ours as well.

Spark creates, renames and lists tables of other formats in ``spark_catalog`` without asking whether
there are tables of Paimon.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql.types import StructType

from paimonlab.errors import AlreadyExistsError, UnsupportedError
from paimonlab.spark.catalogs.namespaces import SESSION_CATALOG
from paimonlab.spark.catalogs.places import named_place, place_of
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.commands import command
from paimonlab.spark.jvm.names_in_plans import NamesInPlan
from paimonlab.spark.rows.statements import as_list

_OF_PAIMON = "paimon"
NEW_TABLES = frozenset({"CreateTable", "CreateTableAsSelect"})
"""The simple names of Spark's plans."""


def new_table_command(bridge: Bridge, plan: Any) -> Any:
    """Return what is done instead of creating a table, or None: Spark's own way is right.

    Parameters
    ----------
    bridge
        The session.
    plan
        One of `NEW_TABLES` as the parser made it.

    Raises
    ------
    AlreadyExistsError
        If a table of Paimon in ``spark_catalog`` has the name and the new one is of another format.
    UnsupportedError
        For ``CREATE TABLE … USING paimon`` in a catalog that is not ours: Spark would note down a
        table that nobody can write to.
    """
    parts = bridge.texts_of_seq(plan.name().nameParts())
    provider = plan.tableSpec().provider()
    if provider.isDefined() and str(provider.get()).lower() == _OF_PAIMON:
        if plan.getClass().getSimpleName() == "CreateTable" and (
            named_place(bridge, parts, statement="CREATE TABLE") is None
        ):
            raise UnsupportedError(
                f"CREATE TABLE {'.'.join(parts)} USING paimon in a catalog of another kind",
                "name the catalog of Paimon: catalog.database.table",
            )
        return None
    place = named_place(bridge, parts)
    if place is None or place.catalog_name != SESSION_CATALOG:
        return None
    taken = place_of(bridge, parts, "CREATE TABLE")
    if taken is None:
        return None
    if not plan.ignoreIfExists():
        raise AlreadyExistsError("table", taken.name)
    return command(bridge, lambda _: [], f"CREATE TABLE IF NOT EXISTS {taken.name}", StructType())


def renamed_table_command(bridge: Bridge, plan: Any) -> None:
    """Refuse to give a table of another format the name of one of Paimon.

    Raises
    ------
    AlreadyExistsError
        If there is such a table.
    """
    source = [str(part) for part in as_list(bridge, plan.child().multipartIdentifier())]
    before = named_place(bridge, source)
    if before is None or before.catalog_name != SESSION_CATALOG:
        return
    parts = [str(part) for part in as_list(bridge, plan.newName())]
    within = [] if len(parts) > 1 else [SESSION_CATALOG, before.database]
    after = named_place(bridge, parts, within)
    if after is not None and after.catalog.has_table(after.name):
        raise AlreadyExistsError("table", after.name)


def shown_tables_command(bridge: Bridge, plan: Any) -> None:
    """Refuse SHOW TABLE EXTENDED where Spark would leave out tables of Paimon.

    Raises
    ------
    UnsupportedError
        If the database has some.
    """
    namespace = plan.namespace()
    is_named = str(namespace.getClass().getSimpleName()) == "UnresolvedNamespace"
    parts = as_list(bridge, namespace.multipartIdentifier()) if is_named else []
    place = named_place(bridge, [*map(str, parts), "t"])
    if place is None or place.catalog_name != SESSION_CATALOG:
        return
    if place.catalog.has_database(place.database) and place.catalog.tables(place.database):
        raise UnsupportedError(
            f"SHOW TABLE EXTENDED in {SESSION_CATALOG}.{place.database}",
            "Spark would leave out the tables of Paimon: use SHOW TABLES and DESCRIBE EXTENDED",
        )


def check_session_view(bridge: Bridge, parts: list[str], query: Any, statement: str) -> None:
    """Refuse a view in ``spark_catalog`` over tables of Paimon, which Spark could not keep.

    Raises
    ------
    UnsupportedError
        Names the table.
    """
    place = named_place(bridge, parts)
    if place is None or place.catalog_name != SESSION_CATALOG:
        return
    for name in NamesInPlan(bridge, query).tables():
        if place_of(bridge, name, statement) is not None:
            raise UnsupportedError(
                f"{statement} {'.'.join(parts)} over {'.'.join(name)}",
                "a view that Spark keeps cannot be over tables of Paimon; "
                "CREATE TEMPORARY VIEW works",
            )
