"""The Java classes of statements that change rows, where a Python object will not do.

`RowLevel.Rewriting` hands DELETE, UPDATE, MERGE INTO, INSERT OVERWRITE of just those partitions
that the rows have, and INSERT … REPLACE WHERE to Python.

A rule of Spark's analyzer is an abstract class, which a dynamic proxy cannot extend; it holds
nothing but a call of Python.

Source: apache/spark@v4.2.0 and v4.3.0, ``Rule``, ``Analyzer.postHocResolutionRules``.
"""

from __future__ import annotations

from typing import Any

from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.compiled import constructor, new
from paimonlab.spark.jvm.rules import add_analyzer_rule

_SOURCE = """
package org.paimonlab.spark;

import java.lang.reflect.Proxy;
import org.apache.spark.sql.catalyst.analysis.EliminateSubqueryAliases;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.OverwriteByExpression;
import org.apache.spark.sql.catalyst.plans.logical.OverwritePartitionsDynamic;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Function1;
import scala.runtime.AbstractPartialFunction;

public final class RowLevel {
  /** Replaces relations that are Python objects, but for the target of a statement. */
  public static final class Reading extends AbstractPartialFunction {
    private final Object target;
    private final Function1 read;

    public Reading(Object target, Function1 read) {
      this.target = target;
      this.read = read;
    }

    public boolean isDefinedAt(Object plan) {
      return plan instanceof DataSourceV2Relation
          && Proxy.isProxyClass(((DataSourceV2Relation) plan).table().getClass())
          && !((DataSourceV2Relation) plan).output().equals(
              ((DataSourceV2Relation) this.target).output());
    }

    public Object applyOrElse(Object plan, Function1 otherwise) {
      return this.isDefinedAt(plan) ? this.read.apply(plan) : otherwise.apply(plan);
    }
  }

  /** Hands statements on tables that are Python objects, and on views, to Python. */
  public static final class Rewriting extends Rule {
    private final Function1 rewrite;

    public Rewriting(Function1 rewrite) { this.rewrite = rewrite; }

    public TreeNode apply(TreeNode plan) {
      LogicalPlan target = null;
      if (plan instanceof MergeIntoTable) {
        target = ((MergeIntoTable) plan).targetTable();
      } else if (plan instanceof UpdateTable) {
        target = ((UpdateTable) plan).table();
      } else if (plan instanceof DeleteFromTable) {
        target = ((DeleteFromTable) plan).table();
      } else if (plan instanceof OverwritePartitionsDynamic) {
        target = (LogicalPlan) ((V2WriteCommand) plan).table();
      } else if (plan instanceof OverwriteByExpression
          && !(((OverwriteByExpression) plan).deleteExpr() instanceof Literal)) {
        target = (LogicalPlan) ((V2WriteCommand) plan).table();
      }
      if (target == null || !((LogicalPlan) plan).resolved()) {
        return plan;
      }
      LogicalPlan bare = EliminateSubqueryAliases.apply(target);
      if (bare instanceof View) {
        return (TreeNode) this.rewrite.apply(plan);
      }
      Object leaf = bare.collectLeaves().head();
      if (!(leaf instanceof DataSourceV2Relation)) {
        return plan;
      }
      Object table = ((DataSourceV2Relation) leaf).table();
      return Proxy.isProxyClass(table.getClass()) ? (TreeNode) this.rewrite.apply(plan) : plan;
    }
  }
}
"""


def readings(bridge: Bridge, target: Any, read: Proxy) -> Any:
    """Make a partial function that replaces relations but the target; ``read`` says by what."""
    made = constructor(bridge, _SOURCE, "RowLevel$Reading")
    return made.newInstance(bridge.list([target, read]).toArray())


def install_rule(bridge: Bridge, rewrite: Proxy) -> None:
    """Let the session, its clones and sessions beside it ask ``rewrite`` about statements.

    Parameters
    ----------
    bridge
        The session.
    rewrite
        A ``scala.Function1`` from a resolved statement to the plan that runs it.
    """
    name = "RowLevel$Rewriting"
    add_analyzer_rule(bridge, name, lambda: new(bridge, _SOURCE, name, rewrite))
