"""Options of a writer of data frames that makes a table: they define it.

``df.write.option("primary-key", "id").saveAsTable(…)`` names options for the rows and the table in
one breath, and Spark hands them on with the rows alone. A rule of its analyzer, which runs before
names are looked up, makes those that a table can have its properties.

Source: apache/paimon@1.4.2 ``PaimonStrategy``, ``PaimonCreateTableAsSelectExec``;
apache/spark@v4.2.0 and v4.3.0 ``DataFrameWriter.saveAsTableCommand``, ``DataFrameWriterV2``.
"""

from __future__ import annotations

from typing import Any

from paimonlab.spark.catalogs.places import named_place
from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.case_classes import copied
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.jvm.rules import add_analyzer_rule
from paimonlab.spark.rows.statements import as_list
from paimonlab.spark.session_options import OF_WRITES
from paimonlab.spec.options.table_options import find_option

_RULE = "WriterOptions$Defining"
_SOURCE = """
package org.paimonlab.spark;

import org.apache.spark.sql.catalyst.analysis.UnresolvedIdentifier;
import org.apache.spark.sql.catalyst.plans.logical.CreateTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedTableSpec;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import scala.Function1;

public final class WriterOptions {
  /** Asks Python about new tables whose rows have options. */
  public static final class Defining extends Rule {
    private final Function1 define;

    public Defining(Function1 define) { this.define = define; }

    private static boolean isAsked(Object name, Object spec, boolean hasNone) {
      return !hasNone && name instanceof UnresolvedIdentifier
          && spec instanceof UnresolvedTableSpec;
    }

    public TreeNode apply(TreeNode plan) {
      boolean isAsked = false;
      if (plan instanceof CreateTableAsSelect) {
        CreateTableAsSelect made = (CreateTableAsSelect) plan;
        isAsked = isAsked(made.name(), made.tableSpec(), made.writeOptions().isEmpty());
      } else if (plan instanceof ReplaceTableAsSelect) {
        ReplaceTableAsSelect made = (ReplaceTableAsSelect) plan;
        isAsked = isAsked(made.name(), made.tableSpec(), made.writeOptions().isEmpty());
      }
      return isAsked ? (TreeNode) this.define.apply(plan) : plan;
    }
  }
}
"""


def let_writers_define_tables(bridge: Bridge) -> None:
    """Let options of writers of the session, its clones and sessions beside it define tables."""
    add_analyzer_rule(
        bridge, _RULE, lambda: new(bridge, _SOURCE, _RULE, _Defining(bridge)), is_first=True
    )


class _Defining(Proxy):
    """Makes options properties."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def apply(self, plan: Any) -> Any:
        """Return the same plan, of a table of ours with the options of its writer."""
        bridge, spec = self._bridge, plan.tableSpec()
        parts = [str(part) for part in as_list(bridge, plan.name().nameParts())]
        if named_place(bridge, parts) is None:
            return plan
        as_java = bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava
        given = bridge.texts_of_map(as_java(plan.writeOptions()))
        said = bridge.texts_of_map(as_java(spec.properties()))
        of_table = {
            key: value
            for key, value in given.items()
            if key not in said and key not in OF_WRITES and find_option(key) is not None
        }
        if not of_table:
            return plan
        properties = bridge.scala_map({**said, **of_table})
        return copied(bridge, plan, tableSpec=copied(bridge, spec, properties=properties))
