"""``INSERT INTO t REPLACE USING (columns) query``: new rows in the place of those like them.

Spark 4.3 reads the statement where ``spark.sql.insertIntoReplaceUsing.enabled`` says so, and knows
no table that can do it. Rows that have the values of a new row are deleted, all new rows inserted.
As in ``JOIN … USING`` NULL equals nothing, and a query without rows replaces none. It is run as a
``MERGE INTO`` whose source has each new row twice: once to delete what it matches, once to be
inserted; so the query is read once, and there is one commit. Where the columns are the partition's
and are never NULL, whole partitions are overwritten instead.

Source: apache/spark@v4.3.0 ``InsertReplaceUsing``, ``AstBuilder``; apache/spark#54722, #56705.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spark.catalogs.places import Place, active_state, place_of
from paimonlab.spark.rows.statements import as_list
from paimonlab.spark.statements.partitions import table_at
from paimonlab.spec.sql_text.call_text import quoted
from paimonlab.spec.types.data_types import AtomicType, TypeRoot

if TYPE_CHECKING:
    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.table.table import Table

_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
_NEW_ROWS = "paimonlab new rows"
_DELETES = "paimonlab deletes"
_PRIVILEGES = "__required_write_privileges__"
"""Where Spark notes what a statement may do to a relation."""
READ_BY_SPARK = (
    "spark.sql.insertIntoReplaceUsing.enabled",
    "spark.sql.insertIntoReplaceUsingByName.enabled",
    "spark.sql.insertIntoReplaceOn.enabled",
    "spark.sql.insertIntoReplaceOnByName.enabled",
    "spark.sql.insertIntoReplaceWhereColumnList.enabled",
)
"""Settings that let Spark's parser read forms of INSERT; tables of others refuse what they lack."""


def let_spark_read_replacing_inserts(bridge: Bridge) -> None:
    """Switch the forms on in the session and those that are built later; what is set is kept."""
    conf = bridge.session.sessionState().conf()
    of_all = bridge.session.sparkContext().conf()
    for key in READ_BY_SPARK:
        if not conf.contains(key):
            conf.setConfString(key, "true")
        of_all.setIfMissing(key, "true")


def replacing_insert(bridge: Bridge, plan: Any) -> Any:
    """Return the plan of an INSERT that replaces rows, or None: of a table that is not ours.

    Parameters
    ----------
    bridge
        The session.
    plan
        An ``InsertIntoStatement`` with ``REPLACE USING`` or ``REPLACE ON``, or an
        ``UnresolvedWith`` around one, as the parser made it.

    Raises
    ------
    UnsupportedError
        For REPLACE ON, options of the statement, primary-key tables (but for their partition
        columns), CHAR columns, and WITH SCHEMA EVOLUTION.
    SchemaError
        If the table has no such column.
    """
    is_with = str(plan.getClass().getSimpleName()) == "UnresolvedWith"
    insert = plan.child() if is_with else plan
    parts = [str(part) for part in as_list(bridge, insert.table().multipartIdentifier())]
    criteria = insert.replaceCriteriaOpt().get()
    statement = f"INSERT INTO {'.'.join(parts)} " + (
        "REPLACE USING" if _is_by_columns(criteria) else "REPLACE ON"
    )
    place = place_of(bridge, parts, statement)
    table = None if place is None else table_at(place)
    if place is None or table is None:
        return None
    _check(bridge, insert, table, statement)
    columns = _columns(table, [str(one) for one in as_list(bridge, criteria.cols())], statement)
    if _are_partitions(table, columns):
        made = _overwriting(bridge, insert)
        return plan.copy(made, plan.cteRelations(), plan.allowRecursion()) if is_with else made
    if table.primary_keys:
        raise UnsupportedError(
            f"{statement} ({', '.join(columns)}) of a table with the primary key "
            f"({', '.join(table.primary_keys)})",
            "rows of one key replace each other: use INSERT INTO or MERGE INTO; or name all "
            "partition columns",
        )
    before = as_list(bridge, plan.cteRelations()) if is_with else []
    return _merging(bridge, place, table, insert, columns, before)


def _is_by_columns(criteria: Any) -> bool:
    """Return whether rows are replaced by columns, not by a condition."""
    return str(criteria.getClass().getSimpleName()) == "InsertReplaceUsing"


def _check(bridge: Bridge, insert: Any, table: Table, statement: str) -> None:
    if statement.endswith("REPLACE ON"):
        raise UnsupportedError(
            statement, "use REPLACE USING (columns), MERGE INTO, or DELETE and INSERT"
        )
    if insert.withSchemaEvolution():
        raise UnsupportedError(
            f"{statement} WITH SCHEMA EVOLUTION", "add the columns first: ALTER TABLE"
        )
    given = bridge.texts_of_map(insert.table().options().asCaseSensitiveMap())
    if given.keys() - {_PRIVILEGES}:
        raise UnsupportedError(
            f"{statement} with options", f"set them on {table.name}, or in the session"
        )


def _columns(table: Table, given: Sequence[str], statement: str) -> list[str]:
    """Return the columns to match, as the table spells them."""
    types = {field.name.lower(): field for field in table.schema.fields}
    for name in given:
        if name.lower() not in types:
            raise SchemaError(
                f"{statement}: {table.name} has no column {name!r}; it has "
                + ", ".join(field.name for field in table.schema.fields)
            )
    found = [types[name.lower()] for name in given]
    for field in found:
        if isinstance(field.type, AtomicType) and field.type.root is TypeRoot.CHAR:
            raise UnsupportedError(
                f"{statement} ({field.name}), which is CHAR",
                "padded and other values would differ: use MERGE INTO",
            )
    return [field.name for field in found]


def _are_partitions(table: Table, columns: Sequence[str]) -> bool:
    """Return whether whole partitions are replaced: one for each set of values, none of NULL."""
    keys = table.partition_keys
    by_name = {field.name: field.type for field in table.schema.fields}
    return (
        bool(keys)
        and set(columns) == set(keys)
        and all(not by_name[name].nullable for name in keys)
    )


def _overwriting(bridge: Bridge, insert: Any) -> Any:
    overwrite = bridge.module(f"{_LOGICAL}OverwritePartitionsDynamic")
    made = overwrite.byName if insert.byName() else overwrite.byPosition
    return made(insert.table(), insert.query(), bridge.scala_map(), False)  # noqa: FBT003 - py4j


def _merging(
    bridge: Bridge,
    place: Place,
    table: Table,
    insert: Any,
    columns: Sequence[str],
    before: Sequence[Any],
) -> Any:
    """Return the MERGE, with the query in its WITH clause, after those that the statement has."""
    names = [field.name for field in table.schema.fields]
    text = merge_text([place.catalog_name, place.database, place.table], columns, names)
    parsed = active_state(bridge).sqlParser().parsePlan(text)
    query = insert.query()
    if not insert.byName():
        renamed = "org.apache.spark.sql.catalyst.analysis.UnresolvedSubqueryColumnAliases"
        query = bridge.module(renamed).apply(bridge.seq(names), query)
    alias = bridge.module(f"{_LOGICAL}SubqueryAlias").apply(_NEW_ROWS, query)
    named = bridge.jvm.scala.Tuple3(_NEW_ROWS, alias, bridge.none())
    return parsed.copy(parsed.child(), bridge.seq([*before, named]), parsed.allowRecursion())


def merge_text(target: Sequence[str], columns: Sequence[str], inserted: Sequence[str]) -> str:
    """Return the MERGE that replaces rows of a table by those of a WITH clause.

    Parameters
    ----------
    target
        Parts of the table's name.
    columns
        What has to be equal in a row and the one that replaces it.
    inserted
        All columns of the table.
    """
    rows, deletes = quoted(_NEW_ROWS), quoted(_DELETES)
    equal = "".join(f" AND old.{quoted(name)} = new.{quoted(name)}" for name in columns)
    values = ", ".join(f"new.{quoted(name)}" for name in inserted)
    return (
        f"WITH {rows} AS (SELECT 1) MERGE INTO {'.'.join(map(quoted, target))} AS old "  # noqa: S608
        f"USING (SELECT *, explode(array(true, false)) AS {deletes} FROM {rows}) AS new "
        f"ON new.{deletes}{equal} WHEN MATCHED THEN DELETE "
        f"WHEN NOT MATCHED AND NOT new.{deletes} "
        f"THEN INSERT ({', '.join(map(quoted, inserted))}) VALUES ({values})"
    )
