"""Writes whose files are committed by what asked for them: of tables that are being replaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import DataFrame

from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.writing.upserts import newest_of_keys
from paimonlab.spark.writing.write import RowsWrite, WriteBuilder, written
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.table.table import Table


def deferred_write(
    bridge: Bridge,
    table: Table,
    definition: Any,
    take: Callable[[Sequence[CommitMessage]], None],
    *,
    catalog: str,
    user: str,
) -> WriteBuilder:
    """Start a write whose files somebody else commits.

    Parameters
    ----------
    bridge, table, definition, catalog
        As of `write_builder`.
    take
        Gets the messages of all tasks.
    user
        Who will commit.
    """
    return _Deferred(bridge, table, definition, take, catalog=catalog, user=user)


class _Deferred(WriteBuilder):
    """Makes the write of a table that is not visible yet."""

    def __init__(
        self,
        bridge: Bridge,
        table: Table,
        definition: Any,
        take: Callable[[Sequence[CommitMessage]], None],
        *,
        catalog: str,
        user: str,
    ) -> None:
        super().__init__(bridge, table, definition, catalog=catalog, is_new=True)
        self._take = take
        self._user = user

    def build(self) -> Proxy:
        """Finish."""
        return _DeferredWrite(self._bridge, self._table, self._take, self._user)


class _DeferredWrite(RowsWrite):
    """A write that gets its rows as a DataFrame, and hands on the files."""

    def __init__(
        self,
        bridge: Bridge,
        table: Table,
        take: Callable[[Sequence[CommitMessage]], None],
        user: str,
    ) -> None:
        super().__init__(bridge, table, None, None)
        self._take = take
        self._user = user

    def toInsertableRelation(self) -> Proxy:
        """Return what takes the rows."""
        return _DeferredInsert(self._bridge, self._table, self._take, self._user)


class _DeferredInsert(Proxy):
    """Takes the rows and writes them."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["org.apache.spark.sql.sources.InsertableRelation"]  # noqa: RUF012

    def __init__(
        self,
        bridge: Bridge,
        table: Table,
        take: Callable[[Sequence[CommitMessage]], None],
        user: str,
    ) -> None:
        super().__init__(bridge)
        self._table = table
        self._take = take
        self._user = user

    def insert(self, rows: Any, overwrite: bool) -> None:  # noqa: FBT001 - Spark's signature
        """Write rows to files."""
        del overwrite
        frame = newest_of_keys(DataFrame(rows, self._bridge.spark), self._table)
        bridge, table, user = self._bridge, self._table, self._user
        self._take(written(bridge, frame, table, None, replaces=True, user=user))
