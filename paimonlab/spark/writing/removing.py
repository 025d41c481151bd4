"""Statements that remove all rows of a table or of partitions, without reading them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.spark.writing.commits import commit_scope
from paimonlab.spark.writing.stream_batches import statement_commit, statement_done

if TYPE_CHECKING:
    from paimonlab.commit.scope import OverwriteScope
    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.table.table import Table


def remove_scope(bridge: Bridge, table: Table, scope: OverwriteScope, statement: str) -> None:
    """Remove rows in one commit; in ``foreachBatch`` once for each batch.

    Parameters
    ----------
    bridge
        The session.
    table
        The table.
    scope
        Which of its rows.
    statement
        What the statement does, in a few words.
    """
    batch = statement_commit(bridge, table, statement)
    if batch is None or batch.earlier(table) is None:
        commit_scope(bridge, table, [], scope, batch=batch)
    if batch is not None:
        statement_done(bridge, table)
