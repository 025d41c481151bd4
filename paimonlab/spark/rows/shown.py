"""What ``EXPLAIN`` shows of a statement that changes rows: its conditions, its source, its clauses.

Spark asks for the text of each plan that it runs, so it is put together in the JVM, and not before
it is asked for. Subqueries are shown as the statement has them, as far as their parts know where in
its text they stand.

Source: apache/spark@v4.2.0 and v4.3.0 ``DeleteFromTable``, ``UpdateTable``, ``MergeIntoTable``,
``SubqueryAlias``, ``SubqueryExpression``, ``Origin``.
"""

from __future__ import annotations

from typing import Any

from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.compiled import new

_SOURCE = """
package org.paimonlab.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Exists;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.InSubquery;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.objects.AssertNotNull;
import org.apache.spark.sql.catalyst.plans.logical.Assignment;
import org.apache.spark.sql.catalyst.plans.logical.DeleteAction;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.InsertAction;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeAction;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UpdateAction;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.catalyst.trees.Origin;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function1;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;

/** A statement as it is written in SQL, as far as it has a short form. */
public final class Shown {
  private static final int MOST = 2000;
  private static final Pattern QUERY =
      Pattern.compile("(?i)((SELECT|FROM|WITH|VALUES|TABLE)\\\\b|[(]).*");
  private final String begin;
  private final LogicalPlan plan;
  private String text = null;

  public Shown(String begin, LogicalPlan plan) {
    this.begin = begin;
    this.plan = plan;
  }

  public String toString() {
    if (this.text == null) {
      String all = this.begin;
      try {
        all = all + rest(this.plan);
      } catch (Exception error) {
        all = this.begin;
      }
      this.text = all.length() <= MOST ? all : all.substring(0, MOST) + "...";
    }
    return this.text;
  }

  private static String rest(LogicalPlan plan) {
    if (plan instanceof DeleteFromTable) {
      DeleteFromTable delete = (DeleteFromTable) plan;
      String condition = sql(delete.condition());
      return alias(delete.table()) + (condition.equals("true") ? "" : " WHERE " + condition);
    }
    if (plan instanceof UpdateTable) {
      UpdateTable update = (UpdateTable) plan;
      String set = alias(update.table()) + " SET " + assigned(update.assignments());
      return set + conditionOf(" WHERE ", update.condition());
    }
    MergeIntoTable merge = (MergeIntoTable) plan;
    return alias(merge.targetTable())
        + " USING " + source(merge.sourceTable())
        + " ON " + sql(merge.mergeCondition())
        + clauses(" WHEN MATCHED", merge.matchedActions())
        + clauses(" WHEN NOT MATCHED", merge.notMatchedActions())
        + clauses(" WHEN NOT MATCHED BY SOURCE", merge.notMatchedBySourceActions());
  }

  private static String conditionOf(String word, Option condition) {
    return condition.isDefined() ? word + sql((Expression) condition.get()) : "";
  }

  private static String clauses(String when, Seq actions) {
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < actions.size(); i++) {
      MergeAction action = (MergeAction) actions.apply(i);
      all.append(when).append(conditionOf(" AND ", action.condition())).append(" THEN ");
      if (action instanceof DeleteAction) {
        all.append("DELETE");
      } else if (action instanceof UpdateAction) {
        all.append("UPDATE SET ").append(assigned(((UpdateAction) action).assignments()));
      } else if (action instanceof InsertAction) {
        all.append("INSERT ").append(inserted(((InsertAction) action).assignments()));
      } else {
        all.append(action.sql());
      }
    }
    return all.toString();
  }

  private static String assigned(Seq assignments) {
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < assignments.size(); i++) {
      Assignment one = (Assignment) assignments.apply(i);
      all.append(i == 0 ? "" : ", ").append(column(one)).append(" = ").append(value(one));
    }
    return all.toString();
  }

  private static String inserted(Seq assignments) {
    StringBuilder columns = new StringBuilder();
    StringBuilder values = new StringBuilder();
    for (int i = 0; i < assignments.size(); i++) {
      Assignment one = (Assignment) assignments.apply(i);
      columns.append(i == 0 ? "" : ", ").append(column(one));
      values.append(i == 0 ? "" : ", ").append(value(one));
    }
    return "(" + columns.toString() + ") VALUES (" + values.toString() + ")";
  }

  private static String column(Assignment assignment) {
    Expression key = assignment.key();
    return key instanceof AttributeReference ? ((AttributeReference) key).name() : key.sql();
  }

  private static String value(Assignment assignment) {
    Expression value = assignment.value();
    while (value instanceof AssertNotNull) value = (Expression) ((AssertNotNull) value).child();
    return sql(value);
  }

  /** Writes an expression as SQL, its subqueries as they were written. */
  private static String sql(Expression expression) {
    ArrayList queries = new ArrayList();
    String all = ((Expression) expression.transform(new Queries(queries))).sql();
    for (int i = 0; i < queries.size(); i++) {
      all = all.replace("'" + Queries.mark(i) + "'", (String) queries.get(i));
    }
    return all;
  }

  /** Puts texts in the place of subqueries, which have no SQL of their own. */
  public static final class Queries extends AbstractPartialFunction {
    private final List texts;

    public Queries(List texts) { this.texts = texts; }

    static String mark(int number) { return (char) 1 + "query " + number + (char) 1; }

    public boolean isDefinedAt(Object one) {
      return one instanceof InSubquery || one instanceof SubqueryExpression;
    }

    public Object applyOrElse(Object one, Function1 otherwise) {
      if (!this.isDefinedAt(one)) return otherwise.apply(one);
      String mark = mark(this.texts.size());
      this.texts.add(text(one));
      return new Literal(UTF8String.fromString(mark), DataTypes.StringType);
    }

    private static String text(Object one) {
      if (!(one instanceof InSubquery)) {
        String query = subquery((LogicalPlan) ((SubqueryExpression) one).plan());
        return one instanceof Exists ? "EXISTS " + query : query;
      }
      Seq values = ((InSubquery) one).values();
      StringBuilder all = new StringBuilder();
      for (int i = 0; i < values.size(); i++) {
        all.append(i == 0 ? "" : ", ").append(sql((Expression) values.apply(i)));
      }
      String tuple = values.size() == 1 ? all.toString() : "(" + all.toString() + ")";
      return "(" + tuple + " IN " + subquery((LogicalPlan) ((InSubquery) one).query().plan()) + ")";
    }
  }

  private static String subquery(LogicalPlan plan) {
    String written = written(plan);
    if (written == null) return query(plan);
    String inner = written.substring(1, written.length() - 1);
    return written.charAt(0) == '(' && isWhole(inner) ? written : "(" + written + ")";
  }

  /** The text of a query as it was written; null: its parts do not know, or not all of it. */
  private static String written(LogicalPlan plan) {
    Option text = plan.origin().sqlText();
    if (!text.isDefined()) return null;
    int[] range = {Integer.MAX_VALUE, -1};
    widen(plan, text.get(), range);
    String all = (String) text.get();
    if (range[0] > range[1] || range[1] >= all.length()) return null;
    String query = all.substring(range[0], range[1] + 1).replaceAll("\\\\s+", " ");
    // Some parts have the parentheses around the query for their own, others do not.
    if (!isWhole(query)) {
      if (query.startsWith("(")) query = query.substring(1);
      else if (query.endsWith(")")) query = query.substring(0, query.length() - 1);
    }
    return isWhole(query) && QUERY.matcher(query).matches() ? query : null;
  }

  /** Whether each parenthesis and each quote has its other one. */
  private static boolean isWhole(String text) {
    int open = 0;
    char quote = 0;
    for (int i = 0; i < text.length(); i++) {
      char one = text.charAt(i);
      if (quote != 0) {
        if (one == '\\\\' && quote != '`') i++;
        if (one == quote) quote = 0;
      } else if (one == '\\'' || one == '"' || one == '`') {
        quote = one;
      } else if (one == '(') {
        open++;
      } else if (one == ')' && --open < 0) {
        return false;
      }
    }
    return open == 0 && quote == 0;
  }

  private static void widen(LogicalPlan plan, Object text, int[] range) {
    Origin origin = plan.origin();
    boolean isThere = origin.sqlText().isDefined() && origin.sqlText().get().equals(text)
        && origin.startIndex().isDefined() && origin.stopIndex().isDefined();
    if (isThere) {
      range[0] = Math.min(range[0], ((Integer) origin.startIndex().get()).intValue());
      range[1] = Math.max(range[1], ((Integer) origin.stopIndex().get()).intValue());
    }
    Seq children = plan.children();
    for (int i = 0; i < children.size(); i++) {
      widen((LogicalPlan) children.apply(i), text, range);
    }
  }

  /** The name that a statement gives to its target; a catalog gives it the one inside. */
  private static String alias(LogicalPlan target) {
    if (!(target instanceof SubqueryAlias)) return "";
    SubqueryAlias outer = (SubqueryAlias) target;
    return outer.child() instanceof SubqueryAlias ? " AS " + outer.alias() : "";
  }

  private static String source(LogicalPlan plan) {
    if (isNamed(plan)) return ((SubqueryAlias) plan).identifier().toString();
    if (!(plan instanceof SubqueryAlias)) return query(plan);
    SubqueryAlias outer = (SubqueryAlias) plan;
    LogicalPlan inner = (LogicalPlan) outer.child();
    return (isNamed(inner) ? source(inner) : query(inner)) + " AS " + outer.alias();
  }

  private static String query(LogicalPlan plan) {
    StringBuilder names = new StringBuilder();
    collect(plan, names);
    return names.length() == 0 ? "(SELECT ...)" : "(SELECT ... FROM " + names.toString() + ")";
  }

  private static void collect(LogicalPlan plan, StringBuilder names) {
    if (isNamed(plan)) {
      names.append(names.length() == 0 ? "" : ", ");
      names.append(((SubqueryAlias) plan).identifier().toString());
      return;
    }
    Seq children = plan.children();
    for (int i = 0; i < children.size(); i++) collect((LogicalPlan) children.apply(i), names);
  }

  /** Whether it is a table or a view under its name. */
  private static boolean isNamed(LogicalPlan plan) {
    if (!(plan instanceof SubqueryAlias)) return false;
    LogicalPlan child = (LogicalPlan) ((SubqueryAlias) plan).child();
    return child instanceof View || child.children().size() == 0;
  }
}
"""


def shown(bridge: Bridge, begin: str, plan: Any) -> Any:
    """Make a Java object whose text is a statement that changes rows.

    Parameters
    ----------
    bridge
        The session.
    begin
        What it does to which table; alone where Spark has no text for the rest.
    plan
        A resolved ``DeleteFromTable``, ``UpdateTable`` or ``MergeIntoTable``.
    """
    return new(bridge, _SOURCE, "Shown", begin, plan)
