"""Statements that Spark runs on its own catalog alone, where that is one of ours as well.

Spark creates, renames and lists tables of other formats in ``spark_catalog`` without asking whether
there are tables of Paimon.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql.types import StructType

from paimonlab.errors import AlreadyExistsError, UnsupportedError
from paimonlab.spark.catalogs.namespaces import SESSION_CATALOG
from paimonlab.spark.catalogs.places import Place, active_state, named_place, place_of
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.commands import command
from paimonlab.spark.jvm.names_in_plans import NamesInPlan
from paimonlab.spark.rows.statements import as_list
from paimonlab.spark.values.quoting import quoted
from paimonlab.spec.sql_text.call_text import literal

_OF_PAIMON = "paimon"
NEW_TABLES = frozenset({"CreateTable", "CreateTableAsSelect"})
"""The simple names of Spark's plans."""
TABLES_LIKE = frozenset({"CreateTableLike", "CreateTableLikeCommand"})
"""Likewise; the second one is Spark 4.2's."""


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
    parts = _parts(bridge, plan.name(), "nameParts")
    if parts is None:
        return None
    if _is_of_paimon(plan.tableSpec().provider()):
        if plan.getClass().getSimpleName() == "CreateTable":
            _check_is_ours(bridge, parts)
        return None
    return _none_if_free(bridge, parts, skips=bool(plan.ignoreIfExists()))


def table_like_command(bridge: Bridge, plan: Any) -> Any:
    """Return what is done instead of CREATE TABLE … LIKE, or None: Spark's own way is right.

    Spark copies its own tables and views by itself, whatever the format of the new table: one of
    Paimon would be noted down where nobody can read or write it. So the columns are written out.

    Parameters
    ----------
    bridge
        The session.
    plan
        One of `TABLES_LIKE` as the parser made it.

    Raises
    ------
    AlreadyExistsError
        If a table of Paimon in ``spark_catalog`` has the name and the new one is of another format.
    UnsupportedError
        For ``USING paimon`` in a catalog that is not ours.

    Notes
    -----
    Source: apache/spark@v4.3.0 ``ResolveSessionCatalog`` (``CreateTableLike``) and
    ``CreateTableLikeCommand``.
    """
    if plan.getClass().getSimpleName() == "CreateTableLike":
        parts = _parts(bridge, plan.name(), "nameParts")
        source = _parts(bridge, plan.source(), "multipartIdentifier")
        location = plan.location()
    else:
        parts = _parts(bridge, plan.targetTable(), "nameParts")
        source = _parts(bridge, plan.sourceTable(), "nameParts")
        location = plan.fileFormat().locationUri()
    is_of_paimon = _is_of_paimon(plan.provider())
    if parts is None or source is None:
        if is_of_paimon and named_place(bridge, [SESSION_CATALOG, "", ""]) is not None:
            raise UnsupportedError(
                "IDENTIFIER(…) of an expression in CREATE TABLE … LIKE … USING paimon",
                "write the names of both tables",
            )
        return None
    if is_of_paimon:
        _check_is_ours(bridge, parts)
    place = named_place(bridge, parts)
    if place is None or place.catalog_name != SESSION_CATALOG:
        return None
    is_view = bool(active_state(bridge).catalog().isTempView(bridge.seq(source)))
    if not is_view and place_of(bridge, source, "CREATE TABLE … LIKE") is not None:
        return None  # then Spark asks our catalog
    if not is_of_paimon:
        return _none_if_free(bridge, parts, skips=bool(plan.ifNotExists()))
    copied = named_place(bridge, source)
    if is_view:
        database = source[-2] if len(source) > 1 else None  # of those of all sessions
    elif copied is not None and copied.catalog_name == SESSION_CATALOG:
        database = copied.database
    else:
        return None  # likewise: the source is in a catalog that is not Spark's own
    identifier = bridge.java_class("org.apache.spark.sql.catalyst.TableIdentifier")
    of_source = identifier(source[-1], bridge.module("scala.Option").apply(database))
    clauses = {"LOCATION": str(location.get())} if location.isDefined() else {}
    return (
        active_state(bridge)
        .sqlParser()
        .parsePlan(_definition_like(bridge, place, of_source, plan, clauses))
    )


def _definition_like(
    bridge: Bridge, place: Place, of_source: Any, plan: Any, clauses: Mapping[str, str]
) -> str:
    """Write CREATE TABLE with the columns, partition columns and comment of a source of Spark's."""
    table = active_state(bridge).catalog().getTempViewOrPermanentTableMetadata(of_source)
    texts = bridge.module("org.apache.spark.sql.catalyst.util.CharVarcharUtils")
    columns = texts.getRawSchema(table.schema()).toDDL()
    name = ".".join(map(quoted, (SESSION_CATALOG, place.database, place.table)))
    words = ["CREATE TABLE", *(["IF NOT EXISTS"] if plan.ifNotExists() else [])]
    words += [name, f"({columns})", f"USING {_OF_PAIMON}"]
    if keys := bridge.texts_of_seq(table.partitionColumnNames()):
        words.append(f"PARTITIONED BY ({', '.join(map(quoted, keys))})")
    if table.comment().isDefined():
        clauses = {**clauses, "COMMENT": str(table.comment().get())}
    words += [f"{clause} {literal(value)}" for clause, value in clauses.items()]
    properties = bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(plan.properties())
    if given := bridge.texts_of_map(properties):
        pairs = [f"{literal(key)} = {literal(value)}" for key, value in given.items()]
        words.append(f"TBLPROPERTIES ({', '.join(pairs)})")
    return " ".join(words)


def _parts(bridge: Bridge, named: Any, method: str) -> list[str] | None:
    """Return the parts of a name; None if it is an expression that Spark has yet to compute."""
    try:
        found = getattr(named, method)()
    except Py4JError as error:
        # To ask for its class first is two more calls in each CREATE TABLE.
        if type(error) is Py4JError and "does not exist" in str(error):
            return None
        raise
    return [*bridge.texts_of_seq(found)]


def _is_of_paimon(provider: Any) -> bool:
    return bool(provider.isDefined()) and str(provider.get()).lower() == _OF_PAIMON


def _check_is_ours(bridge: Bridge, parts: list[str]) -> None:
    if named_place(bridge, parts, statement="CREATE TABLE") is None:
        raise UnsupportedError(
            f"CREATE TABLE {'.'.join(parts)} USING paimon in a catalog of another kind",
            "name the catalog of Paimon: catalog.database.table",
        )


def _none_if_free(bridge: Bridge, parts: list[str], *, skips: bool) -> Any:
    """Return what does nothing if a table of Paimon has the name and that is no error; else None.

    Raises
    ------
    AlreadyExistsError
        If it is one.
    """
    place = named_place(bridge, parts)
    if place is None or place.catalog_name != SESSION_CATALOG:
        return None
    taken = place_of(bridge, parts, "CREATE TABLE")
    if taken is None:
        return None
    if not skips:
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
