"""INSERT OVERWRITE of just those partitions that the rows have: ``partitionOverwriteMode=dynamic``.

Spark would give such a write no DataFrame, only tasks; so it is a command of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.commit.scope import OverwriteScope
from paimonlab.spark.values.spellings import scope_of
from paimonlab.spark.writing.access import check_partition_overwrite
from paimonlab.spark.writing.commits import commit_scope, rows_read_of
from paimonlab.spark.writing.stream_batches import statement_commit, statement_done
from paimonlab.spark.writing.write import written
from paimonlab.spec.options.table_options import check_supported
from paimonlab.table.committing.users import new_user
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.write import write_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.table.table import Table


def overwrite_partitions(bridge: Bridge, rows: DataFrame, table: Table) -> None:
    """Replace just those partitions that rows have.

    Parameters
    ----------
    bridge
        The session.
    rows
        The table's columns.
    table
        Where they go to, with the options of the session.

    Raises
    ------
    FilesConflictError
        If the rows were made of rows of the table, and others have changed those.
    """
    batch = statement_commit(bridge, table, "INSERT OVERWRITE of its partitions")
    if batch is None or batch.earlier(table) is None:
        user = batch.user if batch else new_user(definition_of(table).options)
        seen = store_of(table).snapshots.latest()
        messages = written(bridge, rows, table, seen, replaces=True, user=user)
        scope = scope_of({message.partition for message in messages})
        if not table.partition_keys:
            scope = OverwriteScope.whole_table()
        if messages or not table.partition_keys:
            reads = rows_read_of(bridge, rows, table)
            commit_scope(bridge, table, messages, scope, user=user, batch=batch, reads=reads)
    if batch is not None:
        statement_done(bridge, table)


def check_overwrites_partitions(table: Table) -> None:
    """Check that partitions of a table can be replaced by rows.

    Raises
    ------
    UnsupportedError
        If its keys move between partitions, or it cannot be written.
    """
    if table.partition_keys:
        check_partition_overwrite(table)
    ours = definition_of(table)
    check_supported(ours.options, ours.schema, "write")
    write_plan(ours, store_of(table).layout)  # whether files can hold all columns
