"""From a statement that Spark resolved to the command that runs it."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import LongType, StructType

from paimonlab.errors import ReadOnlyError, UnsupportedError
from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.commands import command
from paimonlab.spark.jvm.predicates import condition_text
from paimonlab.spark.reading.pinned import snapshots_read
from paimonlab.spark.rows.changes import read_as
from paimonlab.spark.rows.counts import result_columns, result_values
from paimonlab.spark.rows.java_classes import install_rule, readings
from paimonlab.spark.rows.joining import frame_of
from paimonlab.spark.rows.replacing import chooses_partitions, replacing_statement
from paimonlab.spark.rows.running import RunningStatement
from paimonlab.spark.rows.shown import shown
from paimonlab.spark.rows.statements import VERBS, check_functions, read_statement, target_of
from paimonlab.spark.session_options import options_of, session_options
from paimonlab.spark.writing.partition_overwrite import (
    check_overwrites_partitions,
    overwrite_partitions,
)
from paimonlab.spark.writing.write import with_session_options, with_write_options
from paimonlab.storage import ReadOnlyFileIO
from paimonlab.table.inside import store_of

if TYPE_CHECKING:
    from paimonlab.table.table import Table

_REPLACE_WHERE = "OverwriteByExpression"
_file_targets: weakref.WeakValueDictionary[int, FileTarget] = weakref.WeakValueDictionary()
"""Tables without snapshots, by their hash codes."""
_targets: weakref.WeakValueDictionary[int, Target] = weakref.WeakValueDictionary()
"""Tables that Spark has opened to write to, by their hash codes."""


class Target(Proxy):
    """Base of the relations that statements change rows of."""

    def __init__(self, bridge: Bridge, catalog: str, table: Table) -> None:
        super().__init__(bridge)
        self._catalog = catalog
        self._table = table
        _targets[self.hashCode()] = self

    def _writable(self, what: str) -> Table:
        """Return the table, if its catalog allows changes; ``what`` is for the message."""
        if isinstance(store_of(self._table).file_io, ReadOnlyFileIO):
            raise ReadOnlyError(f"{what} {self._table.name}")
        return self._table

    def _running(self, plan: Any, relation: Any) -> RunningStatement:
        """Read a statement on this table, which it knows as ``relation``."""
        function = readings(self._bridge, relation, _Readings(self._bridge))
        readable = plan.transformUpWithSubqueries(function)
        if plan.getClass().getSimpleName() == _REPLACE_WHERE:
            statement = replacing_statement(self._bridge, readable, self._table)
        else:
            statement = read_statement(self._bridge, readable)
        check_functions(self._bridge, statement)
        writable = self._writable(statement.name)
        table = with_session_options(self._bridge, writable, self._catalog)
        own = snapshots_read(self._bridge, readable, store_of(table).layout.branch_path)
        running = RunningStatement(self._bridge, table, statement, own)
        running.check()
        return running

    def _replacing(self, plan: Any, relation: Any) -> Any:
        """Return the command that replaces rows that a condition is true of; the plan: Spark can.

        Spark overwrites whole partitions, which the condition names.
        """
        bridge = self._bridge
        if chooses_partitions(bridge, plan.deleteExpr(), self._table):
            return plan
        self._check_options(plan, relation)
        running = self._running(plan, relation)

        def run(session: Any) -> list[list[int]]:
            del session
            running.run()
            return []

        text = f"INSERT OVERWRITE rows of {relation.name()} where " + condition_text(
            bridge, plan.deleteExpr()
        )
        return command(bridge, run, text, StructType())

    def _check_options(self, plan: Any, relation: Any) -> Table:
        """Return the table as it is written; refuse options of the statement."""
        bridge = self._bridge
        given = bridge.texts_of_map(relation.options().asCaseSensitiveMap())
        given |= dict(bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(plan.writeOptions()))
        return with_write_options(bridge, self._writable("writing to"), given, self._catalog)

    def _overwriting(self, plan: Any, relation: Any) -> Any:
        """Return the command that replaces those partitions of this table that a query has."""
        bridge = self._bridge
        table = self._check_options(plan, relation)
        check_overwrites_partitions(table)

        def run(session: Any) -> list[list[int]]:
            del session
            overwrite_partitions(bridge, frame_of(bridge, plan.query()), table)
            return []

        text = f"INSERT OVERWRITE the partitions of {relation.name()} that the rows have"
        return command(bridge, run, text, StructType())


class FileTarget(Proxy, ABC):
    """Base of the relations whose rows are replaced by partitions, and not changed one by one."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__(bridge)
        _file_targets[self.hashCode()] = self

    @abstractmethod
    def _overwriting(self, plan: Any, relation: Any) -> Any:
        """Return the command that replaces those partitions that a query has rows of."""


def rewrite_statements(bridge: Bridge) -> None:
    """Let the session run DELETE, UPDATE and MERGE INTO on tables of ours."""
    install_rule(bridge, _Rewrite(bridge))


class _Rewrite(Proxy):
    """Turns statements into commands."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def apply(self, plan: Any) -> Any:
        """Return the command; nothing is run yet."""
        relation = target_of(self._bridge, plan)
        of_files = _file_targets.get(int(relation.table().hashCode()))
        kind = str(plan.getClass().getSimpleName())
        if of_files is not None:
            if kind == _REPLACE_WHERE:
                return plan  # which says itself what it can do
            if plan.getClass().getSimpleName() == "OverwritePartitionsDynamic":
                return of_files._overwriting(plan, relation)
            raise UnsupportedError(
                f"{VERBS[plan.getClass().getSimpleName()]} {relation.name()}",
                "the rows of a format table are not changed one by one: INSERT OVERWRITE it",
            )
        target = _targets.get(int(relation.table().hashCode()))
        if kind == _REPLACE_WHERE:
            return plan if target is None else target._replacing(plan, relation)
        if target is None:
            raise UnsupportedError(
                f"{VERBS[plan.getClass().getSimpleName()]} {relation.name()}",
                "only rows of tables can be changed",
            )
        if plan.getClass().getSimpleName() == "OverwritePartitionsDynamic":
            return target._overwriting(plan, relation)
        return _command(self._bridge, target._running(plan, relation), plan)


class _Readings(Proxy):
    """Says how a table is read that a statement names besides its target.

    The analyzer gives all mentions of a table the object that it loaded first, so they may be
    relations that can only be written.
    """

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def apply(self, relation: Any) -> Any:
        """Return a plan with the columns of a relation."""
        found = _targets.get(int(relation.table().hashCode()))
        if found is None:  # files that our reader reads, system tables, changes
            return relation
        table = found._table
        identifier = table.identifier
        name = (found._catalog, identifier.database, identifier.table)
        scan = table.scan(options=options_of(session_options(self._bridge, name), table))
        return read_as(self._bridge, relation, scan)._jdf.queryExecution().analyzed()


def _command(bridge: Bridge, running: RunningStatement, plan: Any) -> Any:
    schema = StructType()
    for name in result_columns(running.statement):
        schema = schema.add(name, LongType(), nullable=False)

    def run(session: Any) -> list[list[int]]:
        del session
        return [result_values(running.statement, running.run())]

    return command(bridge, run, shown(bridge, running.statement.text, plan), schema)
