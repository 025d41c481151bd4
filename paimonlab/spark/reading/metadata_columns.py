"""Columns that say where a row is: ``__paimon_file_path``, ``__paimon_bucket``, ``_ROW_ID``.

What the catalog answers a SELECT with is a view, and Spark finds no metadata columns in views. So
where a query names one of them, a rule of the analyzer puts a relation with metadata columns in
the place of the view: from there on names, scopes and stars are Spark's work. At the end of the
analysis the relation becomes the scans of the files, with the columns that were asked for.

Source: apache/spark@v4.3.0 ``AddMetadataColumns``, ``DataSourceV2Relation.withMetadataColumns``;
https://paimon.apache.org/docs/1.3/spark/sql-query/ (names and types).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as st

from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.jvm.rules import same_rule
from paimonlab.spark.reading.frames import read_frame
from paimonlab.spark.reading.pinned import PinnedRead, reads_in
from paimonlab.spark.reading.places import PLACES, place_types
from paimonlab.spark.reading.plain_table import PlainTable
from paimonlab.spark.reading.relation import VIEW_PROPERTY
from paimonlab.spark.reading.relation_schema import relation_schema
from paimonlab.table.reading.scan_kinds import OfFallback

if TYPE_CHECKING:
    from paimonlab.spark.reading.scan import SnapshotScan

_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
_PROJECT = "org.apache.spark.sql.catalyst.plans.logical.Project"
_RELATION = "org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation"
_OFFERING = "MetadataColumns$Offering"
_READING = "MetadataColumns$Reading"
_SOURCE = """
package org.paimonlab.spark;

import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.connector.catalog.SupportsMetadataColumns;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Function1;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

public final class MetadataColumns {
  /** Puts relations that have metadata columns in the place of views. */
  public static final class Offering extends Rule {
    private final Function1 relation;
    private final Set names;
    private final String property;

    public Offering(Function1 relation, Set names, String property) {
      this.relation = relation;
      this.names = names;
      this.property = property;
    }

    public TreeNode apply(TreeNode plan) {
      LogicalPlan whole = (LogicalPlan) plan;
      if (whole.resolved() || !this.isNamed(whole)) return plan;
      return whole.transformUp(new Replacing(this.relation, this.property));
    }

    private boolean isNamed(LogicalPlan plan) {
      if (plan.resolved()) return false;
      Seq expressions = plan.expressions();
      for (int i = 0; i < expressions.size(); i++) {
        if (this.isNamedIn((Expression) expressions.apply(i))) return true;
      }
      Seq children = plan.children();
      for (int i = 0; i < children.size(); i++) {
        if (this.isNamed((LogicalPlan) children.apply(i))) return true;
      }
      return false;
    }

    private boolean isNamedIn(Expression expression) {
      if (expression instanceof UnresolvedAttribute) {
        Seq parts = ((UnresolvedAttribute) expression).nameParts();
        for (int i = 0; i < parts.size(); i++) {
          if (this.names.contains(((String) parts.apply(i)).toLowerCase())) return true;
        }
      }
      Seq children = expression.children();
      for (int i = 0; i < children.size(); i++) {
        if (this.isNamedIn((Expression) children.apply(i))) return true;
      }
      return false;
    }
  }

  /** Puts scans in the place of those relations. */
  public static final class Reading extends Rule {
    private final Function1 read;

    public Reading(Function1 read) { this.read = read; }

    public TreeNode apply(TreeNode plan) {
      Seq leaves = ((LogicalPlan) plan).collectLeaves();
      for (int i = 0; i < leaves.size(); i++) {
        if (isOurs(leaves.apply(i))) return plan.transformUp(new Replacing(this.read, null));
      }
      return plan;
    }
  }

  static boolean isOurs(Object plan) {
    return plan instanceof DataSourceV2Relation
        && ((DataSourceV2Relation) plan).table() instanceof SupportsMetadataColumns
        && ((DataSourceV2Relation) plan).table() instanceof SupportsRead
        && java.lang.reflect.Proxy.isProxyClass(((DataSourceV2Relation) plan).table().getClass());
  }

  /** Replaces views with a property; without one, our relations. */
  public static final class Replacing extends AbstractPartialFunction {
    private final Function1 other;
    private final String property;

    public Replacing(Function1 other, String property) {
      this.other = other;
      this.property = property;
    }

    public boolean isDefinedAt(Object plan) {
      if (this.property == null) return isOurs(plan);
      return plan instanceof View
          && ((View) plan).resolved()
          && ((View) plan).desc().properties().contains(this.property);
    }

    public Object applyOrElse(Object plan, Function1 otherwise) {
      return this.isDefinedAt(plan) ? this.other.apply(plan) : otherwise.apply(plan);
    }
  }
}
"""


def offer_metadata_columns(bridge: Bridge) -> None:
    """Let queries of the session, its clones and sessions beside it name metadata columns."""
    analyzer = bridge.session.sessionState().analyzer()
    extensions = bridge.session.extensions()
    names = bridge.set(name.lower() for name in PLACES)
    for field_name, source_name, arguments, inject in (
        (
            "extendedResolutionRules",
            _OFFERING,
            (_Relations(bridge), names, VIEW_PROPERTY),
            extensions.injectResolutionRule,
        ),
        (
            "postHocResolutionRules",
            _READING,
            (_Scans(bridge),),
            extensions.injectPostHocResolutionRule,
        ),
    ):
        field = analyzer.getClass().getDeclaredField(field_name)
        field.setAccessible(True)
        present = field.get(analyzer)
        if any(source_name in present.apply(n).ruleName() for n in range(present.size())):
            continue
        rule = new(bridge, _SOURCE, source_name, *arguments)
        field.set(analyzer, present.appended(rule))
        inject(same_rule(bridge, rule))


class _Relations(Proxy):
    """Makes the relation that stands for a view."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def apply(self, view: Any) -> Any:
        """Return a relation with the columns of the view, by their ids."""
        reads = reads_in(self._bridge, view)
        if not reads:
            return view
        bridge = self._bridge
        scan = reads[0]._snapshot.scan
        if any(isinstance(read._snapshot.scan.kind, OfFallback) for read in reads):
            raise UnsupportedError(
                f"metadata columns of {scan.definition.name}, which has scan.fallback-branch",
                "unset the option, or name its fallback branch: `t$branch_<name>`",
            )
        table = MetadataTable(bridge, reads[0]._snapshot)
        none = bridge.none()
        options = bridge.options()
        return bridge.java_class(_RELATION)(table, view.output(), none, none, options, none)


class _Scans(Proxy):
    """Makes the scans that a relation stands for."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def apply(self, relation: Any) -> Any:
        """Return a plan with the columns of the relation, by their ids."""
        bridge = self._bridge
        (read,) = reads_in(bridge, relation)
        scan = read._snapshot.scan
        output = bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(relation.output())
        attributes = list(output)
        places = [str(one.name()) for one in attributes[len(scan.schema.fields) :]]
        plan = read_frame(bridge, scan, places=places)._jdf.queryExecution().analyzed()
        found = list(bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(plan.output()))
        alias = bridge.java_class(_EXPRESSIONS + "Alias")
        columns = [
            alias(
                one, meant.name(), meant.exprId(), meant.qualifier(), bridge.none(), bridge.seq([])
            )
            for one, meant in zip(found, attributes, strict=True)
        ]
        return bridge.java_class(_PROJECT)(bridge.seq(columns), plan)


class MetadataTable(PinnedRead, PlainTable):
    """A table at a snapshot whose metadata columns Spark may add; it is never read itself."""

    class Java:
        """py4j's list of interfaces."""

        implements = [  # noqa: RUF012
            CONNECTOR + "catalog.SupportsRead",
            CONNECTOR + "catalog.SupportsMetadataColumns",
        ]

    def __init__(self, bridge: Bridge, snapshot: SnapshotScan) -> None:
        super().__init__(bridge, snapshot)
        self._places = place_types(snapshot.scan.definition, snapshot.scan.schema)

    def name(self) -> str:
        """Return the name that messages show."""
        return self._snapshot.scan.definition.name

    def schema(self) -> Any:
        """Return the columns of the table."""
        return self._bridge.java_schema(relation_schema(self._snapshot.scan.schema.fields))

    def columns(self) -> Any:
        """Return the columns of the table."""
        return self._bridge.columns(relation_schema(self._snapshot.scan.schema.fields))

    def capabilities(self) -> Any:
        """Return that it can be read."""
        return self._bridge.capabilities("BATCH_READ")

    def newScanBuilder(self, options: Any) -> Any:
        """Refuse: the analyzer puts scans in its place."""
        del options
        raise UnsupportedError(f"metadata columns of {self.name()} in this statement")

    def metadataColumns(self) -> Any:
        """Return the columns that the files of the table can have."""
        return metadata_columns(self._bridge, self._places)

    def canRenameConflictingMetadataColumns(self) -> bool:
        """Let a column of the table hide a metadata column of its name."""
        return False


def metadata_columns(bridge: Bridge, places: Mapping[str, st.DataType]) -> Any:
    """Make the array of columns that Spark asks a table for."""
    columns = [MetadataColumn(bridge, *place) for place in places.items()]
    # py4j puts no Python object into an array.
    kind = bridge.array(CONNECTOR + "catalog.MetadataColumn", []).getClass()
    made = bridge.list(columns).toArray()
    return bridge.jvm.java.util.Arrays.copyOf(made, len(columns), kind)


class MetadataColumn(Proxy):
    """One metadata column."""

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "catalog.MetadataColumn"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, name: str, data_type: st.DataType) -> None:
        super().__init__(bridge)
        self._name = name
        self._type = data_type

    def name(self) -> str:
        """Return the name."""
        return self._name

    def dataType(self) -> Any:
        """Return the type."""
        return self._bridge.java_type(self._type)

    def isNullable(self) -> bool:
        """Return True: rows of old files have no ids."""
        return True

    def comment(self) -> None:
        """Return none."""

    def transform(self) -> None:
        """Return none."""

    def metadataInJSON(self) -> None:
        """Return none."""
