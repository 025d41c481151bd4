"""Tables that statements make or replace together with their rows.

``CREATE TABLE … AS SELECT``, ``CREATE OR REPLACE TABLE``, ``REPLACE TABLE`` and their forms for
data frames: Spark asks for a staged table, writes the rows to it, then commits or aborts.

Source: apache/spark@v4.2.0 and v4.3.0 ``StagingTableCatalog``, ``AtomicReplaceTableAsSelectExec``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import SchemaError
from paimonlab.spark.catalogs.table_relation import TableRelation
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.writing.commits import commit_scope, discard
from paimonlab.spark.writing.deferred import deferred_write
from paimonlab.spark.writing.new_tables import remember_new
from paimonlab.table.committing.users import new_user
from paimonlab.table.inside import definition_of

if TYPE_CHECKING:
    from paimonlab.catalog.replacing import Replacement
    from paimonlab.spec.commit_message import CommitMessage
    from paimonlab.table.table import Table


class _Staged(TableRelation):
    """A table that Spark commits or aborts."""

    class Java:
        """py4j's list of interfaces."""

        implements = [  # noqa: RUF012
            *TableRelation.Java.implements,
            CONNECTOR + "catalog.StagedTable",
        ]

    _is_new = True

    def __init__(self, bridge: Bridge, catalog: str, table: Table) -> None:
        super().__init__(bridge, catalog, table)
        remember_new(self)


class CreatedTable(_Staged):
    """A new table: it is there while its rows are written, and dropped if that fails."""

    def __init__(
        self, bridge: Bridge, catalog: str, table: Table, drop: Callable[[], None]
    ) -> None:
        super().__init__(bridge, catalog, table)
        self._drop = drop

    def commitStagedChanges(self) -> None:
        """Do nothing: the rows are committed."""

    def abortStagedChanges(self) -> None:
        """Drop the table."""
        self._drop()


class ReplacedTable(_Staged):
    """A table whose new definition and rows become visible when Spark commits them."""

    def __init__(self, bridge: Bridge, catalog: str, replacement: Replacement) -> None:
        super().__init__(bridge, catalog, replacement.table)
        self._replacement = replacement
        self._messages: Sequence[CommitMessage] = ()
        self._user = new_user(definition_of(replacement.table).options)

    def newWriteBuilder(self, definition: Any) -> Proxy:
        """Start to write the rows."""
        table = self._writable("replacing")
        return deferred_write(
            self._bridge, table, definition, self._take, catalog=self._catalog, user=self._user
        )

    def _take(self, messages: Sequence[CommitMessage]) -> None:
        self._messages = [*self._messages, *messages]

    def commitStagedChanges(self) -> None:
        """Remove the old rows, publish the definition, then commit the new rows."""
        try:
            table = self._replacement.publish()
            self._check_rows_fit(table)
        except BaseException:
            self._discard()
            raise
        if self._messages:
            scope = OverwriteScope.whole_table()
            commit_scope(self._bridge, table, self._messages, scope, user=self._user)

    def _check_rows_fit(self, published: Table) -> None:
        """Refuse rows that were written for another definition than a server published."""
        wanted = self._replacement.table.schema
        schema = published.schema
        if self._messages and (schema.id, schema.fields) != (wanted.id, wanted.fields):
            raise SchemaError(
                f"{published.name} was replaced and is empty: the server gave its columns other "
                "ids than the rows were written with; INSERT them again"
            )

    def abortStagedChanges(self) -> None:
        """Delete the files that were written; the table is as it was."""
        self._discard()

    def _discard(self) -> None:
        discard(self._table, self._messages)
        self._messages = ()
