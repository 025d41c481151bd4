"""The rule of Spark's optimizer, in Java: what it sees of a query, and what it puts in its place.

Source: apache/spark@v4.2.0 and v4.3.0, ``Optimizer.preCBORules``, ``PruneFileSourcePartitions``.
"""

from __future__ import annotations

from paimonlab.spark.reading.optimizing.chosen_scans import SCAN
from paimonlab.spark.reading.optimizing.known_columns import KNOWING
from paimonlab.spark.reading.optimizing.small_sides import IMPORTS, SMALL_SIDES

RULE = "Choosing"
SOURCE = (
    """
package org.paimonlab.spark;

import java.lang.reflect.Constructor;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogColumnStat;
import org.apache.spark.sql.catalyst.catalog.CatalogStatistics;
import org.apache.spark.sql.catalyst.catalog.CatalogStorageFormat;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType;
import org.apache.spark.sql.catalyst.expressions.Add;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Function4;
import scala.Option;
import scala.Product;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.math.BigInt;
import scala.runtime.AbstractPartialFunction;
"""
    + IMPORTS
    + """
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
      if (index(leaves.apply(i)) != null || SmallSides.isOurs(leaves.apply(i))) {
        TreeNode fewer = plan.transformDown(new Step(this.ask, this.mask));
        if (SQLConf.get().dynamicPartitionPruningEnabled()) {
          fewer = fewer.transformUp(new SmallSides());
        }
        return Knowing.isAsked() ? fewer.transformUp(new Knowing(this.ask)) : fewer;
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

  static AttributeReference number() {
    return new AttributeReference("rows", DataTypes.LongType, false, Metadata.empty(),
        NamedExpression.newExprId(), seq(new ArrayList()));
  }

  static Seq seq(List items) { return CollectionConverters.asScala(items).toSeq(); }

"""
    + SCAN
    + KNOWING
    + SMALL_SIDES
    + """
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

  /** Finds the column of a scan that a column above it is. */
  static Object source(Object column, LogicalPlan plan) {
    while (column instanceof Attribute && (plan instanceof Project || plan instanceof Filter)) {
      Seq results = plan instanceof Project ? ((Project) plan).projectList() : plan.output();
      Object id = ((Attribute) column).exprId();
      for (int i = 0; i < results.size(); i++) {
        if (!(results.apply(i) instanceof Alias)) continue;
        Alias alias = (Alias) results.apply(i);
        if (alias.exprId().equals(id)) column = alias.child();
      }
      plan = (LogicalPlan) plan.children().head();
    }
    return column;
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

  /** Says whether an aggregate is the same however often a row comes. */
  static boolean onceIsEnough(AggregateExpression aggregate) {
    Object function = aggregate.aggregateFunction();
    boolean once = function instanceof Min || function instanceof Max || aggregate.isDistinct();
    return once && aggregate.deterministic() && !SubqueryExpression.hasSubquery(aggregate);
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
      ArrayList found = new ArrayList();
      Seq results = plan.aggregateExpressions();
      for (int i = 0; i < results.size(); i++) aggregates((Expression) results.apply(i), found);
      Object grouped = this.grouped(plan, found);
      if (grouped != null || !plan.groupingExpressions().isEmpty()) return grouped;
      for (int i = 0; i < found.size(); i++) {
        if (!countsRows((AggregateExpression) found.get(i))) return this.extremes(plan, found);
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
        Literal known = new Literal(Long.valueOf(rows), DataTypes.LongType);
        values.add(((Expression) results.apply(i)).transform(new Known(known)));
      }
      return new Project(seq(values), new OneRowRelation());
    }

    /** Answers by the partitions what only asks for their values, and counts rows by them. */
    private Object grouped(Aggregate plan, List found) {
      Seq columns = plan.references().toSeq();
      boolean counts = !plan.groupingExpressions().isEmpty();
      boolean values = true;
      for (int i = 0; i < found.size(); i++) {
        AggregateExpression one = (AggregateExpression) found.get(i);
        counts = counts && countsRows(one);
        values = values && onceIsEnough(one);
      }
      if (columns.isEmpty() || !(counts || values)) return null;
      ArrayList scans = new ArrayList();
      if (!scans(plan.child(), new ArrayList(), this.mask, scans) || scans.size() != 1) return null;
      Scan scan = (Scan) scans.get(0);
      StringBuilder places = new StringBuilder("groups");
      for (int i = 0; i < columns.size(); i++) {
        Attribute column = (Attribute) columns.apply(i);
        int place = scan.place(column, this.mask);
        boolean fraction = column.dataType().equals(DataTypes.FloatType)
            || column.dataType().equals(DataTypes.DoubleType);
        if (place < 0 || (counts && !values && fraction)) return null;
        places.append(' ').append(place);
      }
      Seq grouping = plan.groupingExpressions();
      for (int i = 0; i < grouping.size(); i++) {
        if (!(grouping.apply(i) instanceof Attribute)) return null;
      }
      Object rows = scan.answer(this.ask, places.toString(), -1L);
      if (rows == null) return null;
      AttributeReference count = number();
      ArrayList output = new ArrayList(CollectionConverters.asJava(columns));
      output.add(count);
      LogicalPlan local = new LocalRelation(seq(output), (Seq) rows, false, Option.empty());
      if (values) return plan.withNewChildren(seq(Arrays.asList(local)));
      ArrayList results = new ArrayList();
      for (int i = 0; i < plan.aggregateExpressions().size(); i++) {
        Expression result = (Expression) plan.aggregateExpressions().apply(i);
        results.add(result.transform(new Known(count)));
      }
      return new Project(seq(results), local);
    }

    /** Answers by statistics of files what asks for least and greatest values, and counts rows. */
    private Object extremes(Aggregate plan, List found) {
      ArrayList scans = new ArrayList();
      if (!scans(plan.child(), new ArrayList(), this.mask, scans) || scans.size() != 1) return null;
      Scan scan = (Scan) scans.get(0);
      ArrayList output = new ArrayList();
      StringBuilder names = new StringBuilder("extremes");
      boolean counts = false;
      for (int i = 0; i < found.size(); i++) {
        AggregateExpression one = (AggregateExpression) found.get(i);
        Object function = one.aggregateFunction();
        counts |= countsRows(one);
        if (countsRows(one)) continue;
        if (!(function instanceof Min || function instanceof Max) || one.filter().isDefined()) {
          return null;
        }
        Object column = one.aggregateFunction().children().head();
        if (!scan.has(column)) return null;
        if (output.contains(column)) continue;
        output.add(column);
        names.append('\\0').append(((Attribute) column).name());
      }
      Object rows = scan.answer(this.ask, names.toString(), -1L);
      if (rows == null) return null;
      output.add(number());
      LogicalPlan local = new LocalRelation(seq(output), (Seq) rows, false, Option.empty());
      LogicalPlan known = (LogicalPlan) plan.withNewChildren(seq(Arrays.asList(local)));
      if (!counts) return known;
      Object count = scan.answer(this.ask, "count", -1L);
      Literal literal = new Literal(Long.valueOf(((Number) count).longValue()), DataTypes.LongType);
      return known.transformExpressions(new Known(literal));
    }

    private Object limited(LocalLimit plan) {
      if (!(plan.limitExpr() instanceof Literal)) return null;
      long limit = ((Number) ((Literal) plan.limitExpr()).value()).longValue();
      ArrayList scans = new ArrayList();
      boolean alone = scans(plan.child(), new ArrayList(), this.mask, scans);
      if (!alone || scans.size() != 1) return this.topmost(plan, limit);
      Scan scan = (Scan) scans.get(0);
      return with(scan, scan.answer(this.ask, "files", limit), plan);
    }

    /** Leaves out files that have none of the first rows of an order. */
    private Object topmost(LocalLimit plan, long limit) {
      LogicalPlan below = plan.child();
      while (below instanceof Project) below = ((Project) below).child();
      if (!(below instanceof Sort) || !((Sort) below).global()) return null;
      LogicalPlan rows = ((Sort) below).child();
      ArrayList scans = new ArrayList();
      if (!scans(rows, new ArrayList(), this.mask, scans) || scans.size() != 1) return null;
      Scan scan = (Scan) scans.get(0);
      SortOrder first = (SortOrder) ((Sort) below).order().head();
      Object column = source(first.child(), rows);
      if (!scan.has(column)) return null;
      String what = "top\\0" + ((Attribute) column).name() + "\\0" + first.direction().sql()
          + "\\0" + first.nullOrdering().sql();
      return with(scan, scan.answer(this.ask, what, limit), plan);
    }

    private static Object with(Scan scan, Object index, LocalLimit plan) {
      if (index == null) return null;
      Replacing replacing = new Replacing(scan.relation, scan.with(index));
      return new LocalLimit(plan.limitExpr(), (LogicalPlan) plan.child().transformDown(replacing));
    }

    private Object narrowed(Filter plan) {
      if (index(plan.child()) == null) return null;
      ArrayList conditions = new ArrayList();
      conjuncts(plan.condition(), conditions);
      Scan scan = new Scan((LogicalRelation) plan.child(), conditions, this.mask);
      Object index = scan.files(this.ask);
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

  /** Puts the number of rows in the place of those aggregates that count them. */
  public static final class Known extends AbstractPartialFunction {
    private final Expression rows;

    public Known(Expression rows) { this.rows = rows; }

    public boolean isDefinedAt(Object one) {
      return one instanceof AggregateExpression && countsRows((AggregateExpression) one);
    }

    public Object applyOrElse(Object one, Function1 otherwise) {
      return this.isDefinedAt(one) ? this.rows : otherwise.apply(one);
    }
  }
}
"""
)
