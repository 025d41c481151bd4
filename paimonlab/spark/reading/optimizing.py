"""What Spark's optimizer learns of a table: sizes of partitions, files for a limit, counts of rows.

A rule looks at what is left of a query before Spark orders its joins. Where a filter is on
partition columns, the scan gets the files of those partitions, so that their size decides what is
broadcast; a limit without other conditions leaves as few files as have enough rows; and a count
of rows is a value. The rule is a Java class (`paimonlab.spark.jvm.compiled`), which asks Python
only where there is something to win.

Source: apache/spark@v4.2.0 and v4.3.0, ``Optimizer.preCBORules``, ``PruneFileSourcePartitions``.
"""

from __future__ import annotations

from typing import Any

from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.reading.file_index import SnapshotFileIndex
from paimonlab.spark.reading.masks import MASK_COLUMN
from paimonlab.spark.reading.pinned import read_of

_RULE = "Choosing"
_SOURCE = """
package org.paimonlab.spark;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.DataTypes;
import scala.Function1;
import scala.Function4;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

public final class Choosing extends Rule {
  private final Function4 ask;
  private final String mask;

  public Choosing(Function4 ask, String mask) {
    this.ask = ask;
    this.mask = mask;
  }

  public TreeNode apply(TreeNode plan) {
    Seq leaves = ((LogicalPlan) plan).collectLeaves();
    for (int i = 0; i < leaves.size(); i++) {
      if (index(leaves.apply(i)) != null) {
        return plan.transformDown(new Step(this.ask, this.mask));
      }
    }
    return plan;
  }

  static FileIndex index(Object plan) {
    if (!(plan instanceof LogicalRelation)) return null;
    Object relation = ((LogicalRelation) plan).relation();
    if (!(relation instanceof HadoopFsRelation)) return null;
    FileIndex index = ((HadoopFsRelation) relation).location();
    return Proxy.isProxyClass(index.getClass()) ? index : null;
  }

  static Seq seq(List items) { return CollectionConverters.asScala(items).toSeq(); }

  /** A scan of a table, and the conditions above it that are on its partitions. */
  static final class Scan {
    final LogicalRelation relation;
    final ArrayList filters = new ArrayList();
    boolean hasOthers = false;

    Scan(LogicalRelation relation, List conditions, String mask) {
      this.relation = relation;
      HadoopFsRelation files = (HadoopFsRelation) relation.relation();
      HashSet keys = new HashSet(Arrays.asList(files.partitionSchema().fieldNames()));
      keys.remove(mask);
      HashSet ids = new HashSet();
      Object masked = null;
      for (int i = 0; i < relation.output().size(); i++) {
        Attribute column = (Attribute) relation.output().apply(i);
        if (keys.contains(column.name())) ids.add(column.exprId());
        if (mask.equals(column.name())) masked = column.exprId();
      }
      for (int i = 0; i < conditions.size(); i++) {
        Expression condition = (Expression) conditions.get(i);
        Seq columns = condition.references().toSeq();
        boolean onKeys = columns.size() > 0;
        boolean onMask = false;
        for (int k = 0; k < columns.size(); k++) {
          Object id = ((Attribute) columns.apply(k)).exprId();
          onKeys = onKeys && ids.contains(id);
          onMask = onMask || id.equals(masked);
        }
        boolean plain = condition.deterministic() && !SubqueryExpression.hasSubquery(condition);
        if (onKeys && plain) {
          this.filters.add(condition);
        } else if (!onMask) {
          this.hasOthers = true;
        }
      }
    }

    Object answer(Function4 ask, String what, long limit) {
      Object index = ((HadoopFsRelation) this.relation.relation()).location();
      Integer code = Integer.valueOf(index.hashCode());
      return ask.apply(what, code, seq(this.filters), Long.valueOf(limit));
    }

    LogicalPlan with(Object index) {
      HadoopFsRelation old = (HadoopFsRelation) this.relation.relation();
      HadoopFsRelation files = old.copy((FileIndex) index, old.partitionSchema(),
          old.dataSchema(), old.bucketSpec(), old.fileFormat(), old.options(),
          old.sparkSession());
      return this.relation.copy(files, this.relation.output(), this.relation.catalogTable(),
          this.relation.isStreaming(), this.relation.stream());
    }
  }

  static void conjuncts(Expression condition, List into) {
    if (condition instanceof And) {
      conjuncts(((And) condition).left(), into);
      conjuncts(((And) condition).right(), into);
    } else {
      into.add(condition);
    }
  }

  /** Finds the scans whose rows are those of a plan; says whether there is nothing else. */
  static boolean scans(LogicalPlan plan, List conditions, String mask, List into) {
    if (plan instanceof Project) {
      return scans(((Project) plan).child(), conditions, mask, into);
    }
    if (plan instanceof Filter) {
      ArrayList all = new ArrayList(conditions);
      conjuncts(((Filter) plan).condition(), all);
      return scans(((Filter) plan).child(), all, mask, into);
    }
    if (plan instanceof Union && conditions.isEmpty()) {
      Seq children = ((Union) plan).children();
      for (int i = 0; i < children.size(); i++) {
        if (!scans((LogicalPlan) children.apply(i), conditions, mask, into)) return false;
      }
      return true;
    }
    if (index(plan) == null) return false;
    Scan scan = new Scan((LogicalRelation) plan, conditions, mask);
    into.add(scan);
    return !scan.hasOthers;
  }

  static void aggregates(Expression expression, List into) {
    if (expression instanceof AggregateExpression) {
      into.add(expression);
      return;
    }
    Seq children = expression.children();
    for (int i = 0; i < children.size(); i++) {
      aggregates((Expression) children.apply(i), into);
    }
  }

  static boolean countsRows(AggregateExpression aggregate) {
    if (!(aggregate.aggregateFunction() instanceof Count)) return false;
    if (aggregate.isDistinct() || aggregate.filter().isDefined()) return false;
    Seq counted = ((Count) aggregate.aggregateFunction()).children();
    for (int i = 0; i < counted.size(); i++) {
      Object one = counted.apply(i);
      if (!(one instanceof Literal) || ((Literal) one).value() == null) return false;
    }
    return true;
  }

  public static final class Step extends AbstractPartialFunction {
    private final Function4 ask;
    private final String mask;

    public Step(Function4 ask, String mask) {
      this.ask = ask;
      this.mask = mask;
    }

    public boolean isDefinedAt(Object plan) {
      return plan instanceof Aggregate || plan instanceof LocalLimit || plan instanceof Filter;
    }

    public Object applyOrElse(Object plan, Function1 otherwise) {
      Object found = null;
      if (plan instanceof Aggregate) found = this.counted((Aggregate) plan);
      if (plan instanceof LocalLimit) found = this.limited((LocalLimit) plan);
      if (plan instanceof Filter) found = this.narrowed((Filter) plan);
      return found == null ? otherwise.apply(plan) : found;
    }

    private Object counted(Aggregate plan) {
      if (!plan.groupingExpressions().isEmpty()) return null;
      ArrayList found = new ArrayList();
      Seq results = plan.aggregateExpressions();
      for (int i = 0; i < results.size(); i++) aggregates((Expression) results.apply(i), found);
      for (int i = 0; i < found.size(); i++) {
        if (!countsRows((AggregateExpression) found.get(i))) return null;
      }
      ArrayList scans = new ArrayList();
      if (found.isEmpty() || !scans(plan.child(), new ArrayList(), this.mask, scans)) return null;
      long rows = 0;
      for (int i = 0; i < scans.size(); i++) {
        Object answer = ((Scan) scans.get(i)).answer(this.ask, "count", -1L);
        rows += ((Number) answer).longValue();
      }
      ArrayList values = new ArrayList();
      for (int i = 0; i < results.size(); i++) {
        values.add(((Expression) results.apply(i)).transform(new Known(rows)));
      }
      return new Project(seq(values), new OneRowRelation());
    }

    private Object limited(LocalLimit plan) {
      if (!(plan.limitExpr() instanceof Literal)) return null;
      long limit = ((Number) ((Literal) plan.limitExpr()).value()).longValue();
      ArrayList scans = new ArrayList();
      boolean alone = scans(plan.child(), new ArrayList(), this.mask, scans);
      if (!alone || scans.size() != 1) return null;
      Scan scan = (Scan) scans.get(0);
      Object index = scan.answer(this.ask, "files", limit);
      if (index == null) return null;
      Replacing replacing = new Replacing(scan.relation, scan.with(index));
      return new LocalLimit(plan.limitExpr(), (LogicalPlan) plan.child().transformDown(replacing));
    }

    private Object narrowed(Filter plan) {
      if (index(plan.child()) == null) return null;
      ArrayList conditions = new ArrayList();
      conjuncts(plan.condition(), conditions);
      Scan scan = new Scan((LogicalRelation) plan.child(), conditions, this.mask);
      if (scan.filters.isEmpty()) return null;
      Object index = scan.answer(this.ask, "files", -1L);
      return index == null ? null : new Filter(plan.condition(), scan.with(index));
    }
  }

  /** Puts one plan in the place of another. */
  public static final class Replacing extends AbstractPartialFunction {
    private final Object old;
    private final Object other;

    public Replacing(Object old, Object other) {
      this.old = old;
      this.other = other;
    }

    public boolean isDefinedAt(Object plan) { return plan == this.old; }

    public Object applyOrElse(Object plan, Function1 otherwise) {
      return plan == this.old ? this.other : otherwise.apply(plan);
    }
  }

  /** Puts the number of rows in the place of aggregates that count them. */
  public static final class Known extends AbstractPartialFunction {
    private final long rows;

    public Known(long rows) { this.rows = rows; }

    public boolean isDefinedAt(Object one) { return one instanceof AggregateExpression; }

    public Object applyOrElse(Object one, Function1 otherwise) {
      if (!this.isDefinedAt(one)) return otherwise.apply(one);
      return new Literal(Long.valueOf(this.rows), DataTypes.LongType);
    }
  }
}
"""


def optimize_reads(bridge: Bridge) -> None:
    """Let the optimizer of the session, its clones and those beside it ask about tables of ours."""
    extensions = bridge.session.extensions()
    present = extensions.buildPreCBORules(bridge.session)
    if any(_RULE in present.apply(place).ruleName() for place in range(present.size())):
        return
    rule = new(bridge, _SOURCE, _RULE, _Answers(bridge), MASK_COLUMN)
    extensions.injectPreCBORule(SameRule(bridge, rule))


class SameRule(Proxy):
    """Gives a rule to each session that asks for it."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, rule: Any) -> None:
        super().__init__(bridge)
        self._rule = rule

    def apply(self, session: Any) -> Any:
        """Return the rule."""
        del session
        return self._rule


class _Answers(Proxy):
    """Answers the rule about one scan."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function4"]  # noqa: RUF012

    def apply(self, what: str, code: int, filters: Any, limit: int) -> Any:
        """Return the rows of a scan, or an index of the files that are enough; None: of all."""
        index = read_of(code)
        assert isinstance(index, SnapshotFileIndex), "the rule asks about scans of files"
        if what == "count":
            return index._row_count(filters)
        return index._narrowed(filters, None if limit < 0 else limit)
