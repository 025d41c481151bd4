"""INSERT INTO an append table with ``upsert-key``: rows of the same keys are replaced.

Java Paimon's connector makes a MERGE of such an INSERT, and so is it here: rows of the table that
have the key of a new row take its values, the other new rows are inserted. NULL is a value of a
key. With ``sequence.field`` only the newest of the new rows with one key counts, and a row of the
table stays where one of its sequence fields is greater, or NULL.

Source: apache/paimon@1.4.2 ``RewriteUpsertTable``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, Window, functions

from paimonlab.spark.session_options import exact_name
from paimonlab.spec.merge_engine import MergeOptions
from paimonlab.spec.schema.upsert_keys import UpsertOptions
from paimonlab.spec.sql_text.call_text import quoted
from paimonlab.table.inside import definition_of

if TYPE_CHECKING:
    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.table.table import Table

_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
_NEW_ROWS = "paimonlab new rows"
_RANK = "__paimon_rank"


def upsert_keys(table: Table) -> tuple[str, ...]:
    """Return the columns by which new rows replace others; (): they are appended."""
    return definition_of(table).options.slice(UpsertOptions).keys


def newest_of_keys(rows: DataFrame, table: Table) -> DataFrame:
    """Leave the newest row of each key, if the table has an ``upsert-key`` and sequence fields."""
    keys, sequence = upsert_keys(table), _sequence_fields(table)
    if not keys or not sequence:
        return rows
    keyed = Window.partitionBy(*map(quoted, keys))
    newest = keyed.orderBy(*(functions.desc(quoted(name)) for name in sequence))
    ranked = rows.withColumn(_RANK, functions.row_number().over(newest))
    return ranked.where(functions.col(_RANK) == 1).drop(_RANK)


def upsert_rows(bridge: Bridge, rows: DataFrame, table: Table, catalog: str) -> None:
    """Replace rows of a table by new ones with their keys, and insert the others, in one commit.

    Parameters
    ----------
    bridge
        The session.
    rows
        The table's columns.
    table
        It has an ``upsert-key``.
    catalog
        The name of its catalog in the session that is active.

    Raises
    ------
    DataError
        If several new rows have the key of one row of the table.
    FilesConflictError
        If others changed the same rows again and again.
    """
    columns = [field.name for field in table.schema.fields]
    target = exact_name(bridge, catalog, table)
    text = merge_text(target, upsert_keys(table), _sequence_fields(table), columns)
    session = bridge.java_class("org.apache.spark.sql.classic.SparkSession").active()
    parsed = session.sessionState().sqlParser().parsePlan(text)
    plan = newest_of_keys(rows, table)._jdf.queryExecution().analyzed()
    alias = bridge.module(f"{_LOGICAL}SubqueryAlias").apply(_NEW_ROWS, plan)
    named = bridge.jvm.scala.Tuple3(_NEW_ROWS, alias, bridge.none())
    merge = parsed.copy(parsed.child(), bridge.seq([named]), parsed.allowRecursion())
    bridge.module("org.apache.spark.sql.classic.Dataset").ofRows(session, merge)  # which runs it


def merge_text(
    target: Sequence[str], keys: Sequence[str], sequence: Sequence[str], columns: Sequence[str]
) -> str:
    """Return the MERGE that an INSERT is.

    Parameters
    ----------
    target
        Parts of the table's name.
    keys
        Its ``upsert-key``.
    sequence
        Its ``sequence.field``.
    columns
        All of its columns.
    """
    rows = quoted(_NEW_ROWS)
    same = " AND ".join(f"old.{quoted(name)} <=> new.{quoted(name)}" for name in keys)
    newer = "".join(f" AND old.{quoted(name)} <= new.{quoted(name)}" for name in sequence)
    assigned = ", ".join(f"{quoted(name)} = new.{quoted(name)}" for name in columns)
    values = ", ".join(f"new.{quoted(name)}" for name in columns)
    return (
        f"WITH {rows} AS (SELECT 1) MERGE INTO {'.'.join(map(quoted, target))} AS old "  # noqa: S608
        f"USING {rows} AS new ON {same} WHEN MATCHED{newer} THEN UPDATE SET {assigned} "
        f"WHEN NOT MATCHED THEN INSERT ({', '.join(map(quoted, columns))}) VALUES ({values})"
    )


def _sequence_fields(table: Table) -> tuple[str, ...]:
    return definition_of(table).options.slice(MergeOptions).sequence_fields
