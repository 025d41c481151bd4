"""``write.merge-schema``: rows that are written by name bring their columns and wider types.

Spark can do that (``INSERT WITH SCHEMA EVOLUTION``, ``MERGE WITH SCHEMA EVOLUTION``); a rule of
its analyzer, which runs before tables are looked up, turns the option into that. Which columns
take the type of the rows the table says: Spark alone would make them narrower as well. What a write
itself says of that the rule keeps for the thread that analyses it: Spark asks a table about a
change, not about the write.

Source: apache/paimon@1.4.2 ``PaimonAnalysis``, ``SchemaHelper``; apache/spark@v4.2.0 and v4.3.0
``ResolveSchemaEvolution``, ``SupportsSchemaEvolution``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.case_classes import copied
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.jvm.named_tables import named_table
from paimonlab.spark.jvm.rules import add_analyzer_rule
from paimonlab.spark.session_options import (
    EXPLICIT_CAST,
    MERGE_SCHEMA,
    OF_WRITES,
    TYPE_WIDENING,
    session_options,
)
from paimonlab.spark.values.types import from_spark
from paimonlab.spark.writing.new_tables import is_new
from paimonlab.spec.options.table_options import find_option
from paimonlab.spec.schema.taken_types import takes_type

if TYPE_CHECKING:
    from paimonlab.spec.types.data_types import DataType
    from paimonlab.table.table import Table

_FLAG = "withSchemaEvolution"
_OF_TYPES = (EXPLICIT_CAST, TYPE_WIDENING)
_OWN = "Evolution$Own"
_RULE = "Evolution$Merging"
_SOURCE = """
package org.paimonlab.spark;

import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.AppendData;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.OverwriteByExpression;
import org.apache.spark.sql.catalyst.plans.logical.OverwritePartitionsDynamic;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.internal.SQLConf;
import scala.Function1;
import scala.runtime.AbstractPartialFunction;

public final class Evolution {
  private static final String KEY = "write.merge-schema";
  static final ThreadLocal OWN = new ThreadLocal();

  /** What the write that this thread analyses says itself of how columns change; null: nothing. */
  public static final class Own {
    public Own() {}

    public void set(String text) { OWN.set(text); }

    public String get() { return (String) OWN.get(); }
  }

  static boolean isWrite(Object plan) {
    return plan instanceof InsertIntoStatement
        || plan instanceof V2WriteCommand
        || plan instanceof MergeIntoTable;
  }

  static boolean hasOption(LogicalPlan plan) {
    if (plan instanceof AppendData) {
      if (((AppendData) plan).writeOptions().contains(KEY)) return true;
    } else if (plan instanceof OverwriteByExpression) {
      if (((OverwriteByExpression) plan).writeOptions().contains(KEY)) return true;
    } else if (plan instanceof OverwritePartitionsDynamic) {
      if (((OverwritePartitionsDynamic) plan).writeOptions().contains(KEY)) return true;
    }
    Object target = plan instanceof MergeIntoTable
        ? ((MergeIntoTable) plan).targetTable()
        : plan instanceof InsertIntoStatement
            ? ((InsertIntoStatement) plan).table()
            : (LogicalPlan) ((V2WriteCommand) plan).table();
    Object leaf = ((LogicalPlan) target).collectLeaves().head();
    return leaf instanceof UnresolvedRelation
        && ((UnresolvedRelation) leaf).options().containsKey(KEY);
  }

  /** Asks Python about writes, where the option occurs at all. */
  public static final class Merging extends Rule {
    private final Function1 merge;

    public Merging(Function1 merge) { this.merge = merge; }

    public TreeNode apply(TreeNode plan) {
      Object inner = plan;
      while (!isWrite(inner)) {
        if (((LogicalPlan) inner).children().size() != 1) return plan;
        inner = ((LogicalPlan) inner).children().head();
      }
      OWN.remove();
      boolean isMentioned = hasOption((LogicalPlan) inner)
          || SQLConf.get().getAllConfs().keysIterator().mkString("\\n").contains(KEY);
      return isMentioned ? ((LogicalPlan) plan).transformUp(new Replacing(this.merge)) : plan;
    }
  }

  public static final class Replacing extends AbstractPartialFunction {
    private final Function1 merge;

    public Replacing(Function1 merge) { this.merge = merge; }

    public boolean isDefinedAt(Object plan) { return isWrite(plan); }

    public Object applyOrElse(Object plan, Function1 otherwise) {
      return this.isDefinedAt(plan) ? this.merge.apply(plan) : otherwise.apply(plan);
    }
  }
}
"""


def merge_schemas(bridge: Bridge) -> None:
    """Let writes of the session, its clones and sessions beside it obey the option."""
    add_analyzer_rule(
        bridge, _RULE, lambda: new(bridge, _SOURCE, _RULE, _Merging(bridge)), is_first=True
    )


def may_change(bridge: Bridge, catalog: str, table: Table, change: Any) -> bool:
    """Return whether rows that are written make a change to the columns of a table.

    Parameters
    ----------
    bridge
        The session.
    catalog, table
        Where rows are written to.
    change
        A ``TableChange.ColumnChange``. Columns are always added.
    """
    if change.getClass().getSimpleName() != "UpdateColumnType":
        return True
    place = (catalog, table.identifier.database, table.identifier.table)
    given = _given(bridge, *place) | _own(bridge, place)
    name = ".".join(change.fieldNames())
    wanted = from_spark(bridge.python_type(change.newDataType()), column=name)
    return takes_type_of_rows(table, name, wanted, given)


def takes_type_of_rows(
    table: Table, name: str, wanted: DataType, options: Mapping[str, str]
) -> bool:
    """Return whether a column changes to the type of the rows that are written to it.

    Parameters
    ----------
    table
        Where they are written to.
    name, wanted
        As of `takes_type`.
    options
        Of the write and the session.
    """
    if TYPE_WIDENING in options and not _is_true(options, TYPE_WIDENING):
        return False
    return takes_type(table.schema, name, wanted, explicitly=_is_true(options, EXPLICIT_CAST))


def merges_schema(bridge: Bridge, catalog: str, table: Table, options: Mapping[str, str]) -> bool:
    """Return whether options of a write, or of the session, let rows bring their columns.

    That they are written by name is not looked at.
    """
    given = _given(bridge, catalog, table.identifier.database, table.identifier.table)
    return _is_true(given | dict(options))


def options_of_columns(
    bridge: Bridge, catalog: str, table: Table, options: Mapping[str, str]
) -> dict[str, str]:
    """Return what a write, on top of the session, says of how columns change."""
    name = table.identifier
    given = _given(bridge, catalog, name.database, name.table) | dict(options)
    return {key: given[key] for key in (MERGE_SCHEMA, *_OF_TYPES) if key in given}


def _given(bridge: Bridge, catalog: str, database: str, table: str) -> dict[str, str]:
    found = session_options(bridge, (catalog, database, table))
    return {key: option.value for key, option in found.items()}


def _own(bridge: Bridge, place: tuple[str, str, str]) -> dict[str, str]:
    """Return what the write that is being analysed says itself of how columns of a table change."""
    text = new(bridge, _SOURCE, _OWN).get()
    if text is None:
        return {}
    key, own = json.loads(text)
    return own if key == _key(*place) else {}


def _key(catalog: str, database: str, table: str) -> str:
    """Name a table, all of whose branches are one."""
    return "\0".join((catalog, database, table.partition("$")[0])).lower()


def _is_true(options: Mapping[str, str], key: str = MERGE_SCHEMA) -> bool:
    spec = find_option(key)
    assert spec is not None, "a documented option"
    return key in options and spec.parse(options[key]) is True


class _Merging(Proxy):
    """Says whether a write changes the columns of its table."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def apply(self, plan: Any) -> Any:
        """Return the same write, or one that does."""
        bridge = self._bridge
        kind = plan.getClass().getSimpleName()
        relation = plan.targetTable() if kind == "MergeIntoTable" else plan.table()
        if kind == "MergeIntoTable":  # an alias may be around it
            relation = relation.collectLeaves().head()
        place = _place(bridge, relation)
        if place is None or _is_made_by(relation):
            return plan
        options = bridge.texts_of_map(relation.options().asCaseSensitiveMap())
        if kind not in ("InsertIntoStatement", "MergeIntoTable"):
            converters = bridge.jvm.scala.jdk.javaapi.CollectionConverters
            options |= bridge.texts_of_map(converters.asJava(plan.writeOptions()))
        if kind != "MergeIntoTable" and not _is_by_name(plan, kind):
            _check_is_of_session(options, ".".join(place))
            return plan
        if not _is_true(_given(bridge, *place) | options):
            return plan
        own = {key: options[key] for key in _OF_TYPES if key in options}
        if own:
            new(bridge, _SOURCE, _OWN).set(json.dumps([_key(*place), own]))
        return copied(bridge, plan, **{_FLAG: True})


def _check_is_of_session(options: Mapping[str, str], table: str) -> None:
    """Check that a write by position does not have the option itself.

    An option of the session is about writes by name: to others it says nothing, as in Java.
    """
    if _is_true(options) or any(key in options for key in _OF_TYPES):
        named = MERGE_SCHEMA if MERGE_SCHEMA in options else next(iter(OF_WRITES & {*options}))
        raise UnsupportedError(
            f"{named} = {options[named]!r} for rows that are written to {table} by position",
            "write them by name: INSERT INTO … BY NAME, writeTo(…).append()",
        )


def _is_by_name(plan: Any, kind: str) -> bool:
    return bool(plan.byName() if kind == "InsertIntoStatement" else plan.isByName())


def _place(bridge: Bridge, relation: Any) -> tuple[str, str, str] | None:
    """Return catalog, database and table; None: the table is not ours."""
    kind = relation.getClass().getSimpleName()
    if kind == "UnresolvedRelation":
        named = named_table(bridge, relation)
        if named is None or len(named.namespace) != 1:
            return None
        return str(named.java_catalog.name()), named.namespace[0], named.name
    if kind != "DataSourceV2Relation" or not relation.identifier().isDefined():
        return None
    if not bridge.jvm.java.lang.reflect.Proxy.isProxyClass(relation.table().getClass()):
        return None
    identifier = relation.identifier().get()
    (database,) = identifier.namespace()
    return str(relation.catalog().get().name()), str(database), str(identifier.name())


def _is_made_by(relation: Any) -> bool:
    """Whether a statement makes the table that it writes to: it has the columns of the rows."""
    return relation.getClass().getSimpleName() == "DataSourceV2Relation" and is_new(
        relation.table()
    )
