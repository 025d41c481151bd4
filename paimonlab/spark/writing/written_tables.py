"""Inserts that read the table that they write to, on Spark 4.2.0.

A table that is read is a view to Spark, and one that is written is not
(`paimonlab.spark.catalogs.table_relation`). Within a statement Spark keeps what it found by a name.
From 4.2.1 on it asks again for the table that is written; 4.2.0 takes what it found for the query,
and says that it expects a table. So there the table that is written is looked up before the query,
without Spark keeping what was found.

Source: apache/spark@v4.2.0 ``RelationResolution``, ``AnalysisContext.withNewAnalysisContext``.
"""

from __future__ import annotations

import pyspark

from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.jvm.rules import add_analyzer_rule

_RELEASE = "4.2.0"
_RULE = "WrittenTables$Resolving"
_SOURCE = """
package org.paimonlab.spark;

import java.lang.reflect.Proxy;
import org.apache.spark.sql.catalyst.analysis.AnalysisContext;
import org.apache.spark.sql.catalyst.analysis.EliminateSubqueryAliases;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Function1;
import scala.Option;
import scala.runtime.AbstractFunction0;
import scala.runtime.AbstractPartialFunction;

public final class WrittenTables {
  public static final class Resolving extends Rule {
    public TreeNode apply(TreeNode plan) {
      return ((LogicalPlan) plan).transformUp(new Replacing());
    }
  }

  public static final class Replacing extends AbstractPartialFunction {
    /** The table that a plan writes to; REPLACE WHERE is a command from the beginning. */
    private static Object written(Object plan) {
      if (plan instanceof InsertIntoStatement) return ((InsertIntoStatement) plan).table();
      return plan instanceof V2WriteCommand ? ((V2WriteCommand) plan).table() : null;
    }

    public boolean isDefinedAt(Object plan) {
      return written(plan) instanceof UnresolvedRelation;
    }

    public Object applyOrElse(Object plan, Function1 otherwise) {
      if (!this.isDefinedAt(plan)) return otherwise.apply(plan);
      Object found = AnalysisContext.withNewAnalysisContext(
          new Search((UnresolvedRelation) written(plan)));
      if (((Option) found).isEmpty()) return plan;
      LogicalPlan bare = EliminateSubqueryAliases.apply((LogicalPlan) ((Option) found).get());
      boolean isOurs = bare instanceof DataSourceV2Relation
          && Proxy.isProxyClass(((DataSourceV2Relation) bare).table().getClass());
      if (!isOurs) return plan;
      if (plan instanceof V2WriteCommand) {
        return ((V2WriteCommand) plan).withNewTable((DataSourceV2Relation) bare);
      }
      InsertIntoStatement insert = (InsertIntoStatement) plan;
      return insert.copy(
          bare, insert.partitionSpec(), insert.userSpecifiedCols(), insert.query(),
          insert.overwrite(), insert.ifPartitionNotExists(), insert.byName(),
          insert.replaceCriteriaOpt(), insert.withSchemaEvolution());
    }
  }

  public static final class Search extends AbstractFunction0 {
    private final UnresolvedRelation named;

    public Search(UnresolvedRelation named) { this.named = named; }

    public Object apply() {
      return SparkSession.active().sessionState().analyzer().getRelationResolution()
          .resolveRelation(this.named, Option.empty());
    }
  }
}
"""


def resolve_written_tables(bridge: Bridge) -> None:
    """Let inserts of the session, its clones and sessions beside it read what they write to."""
    if pyspark.__version__ == _RELEASE:
        add_analyzer_rule(bridge, _RULE, lambda: new(bridge, _SOURCE, _RULE), is_first=True)
