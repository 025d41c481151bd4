"""Partitions that a small side of a join has, without a condition on that side: part of `choosing`.

While a join runs Spark prunes the partitions of one side by the keys of the other, if that is
broadcast; but only where the other side has a condition that looks selective, as it fears to read
a large side twice. A small one is read once, for the broadcast. So it gets a condition that every
row satisfies, and Spark does the rest. The same for ``IN (SELECT …)``.

Source: apache/spark@v4.2.0 and v4.3.0, ``PartitionPruning``, ``PlanAdaptiveDynamicPruningFilters``.
"""

from __future__ import annotations

IMPORTS = """\
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.InSubquery;
import org.apache.spark.sql.catalyst.expressions.ListQuery;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.LeftSemi$;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
"""
SMALL_SIDES = """\
  /** Marks small sides of joins on partition columns as selective. */
  public static final class SmallSides extends AbstractPartialFunction {
    public boolean isDefinedAt(Object plan) {
      return plan instanceof Join || plan instanceof Filter;
    }

    public Object applyOrElse(Object plan, Function1 otherwise) {
      if (plan instanceof Join) return joined((Join) plan);
      if (plan instanceof Filter) return filtered((Filter) plan);
      return otherwise.apply(plan);
    }

    private static LogicalPlan joined(Join join) {
      if (join.condition().isEmpty()) return join;
      // Of outer joins Spark never broadcasts the side whose rows are all kept.
      boolean prunesRight = join.joinType() == Inner$.MODULE$;
      if (!prunesRight && join.joinType() != LeftSemi$.MODULE$) return join;
      ArrayList parts = new ArrayList();
      conjuncts((Expression) join.condition().get(), parts);
      LogicalPlan left = join.left();
      LogicalPlan right = join.right();
      for (int i = 0; i < parts.size(); i++) {
        if (!(parts.get(i) instanceof EqualTo)) continue;
        Expression one = ((EqualTo) parts.get(i)).left();
        Expression other = ((EqualTo) parts.get(i)).right();
        if (!one.references().subsetOf(join.left().outputSet())) {
          Expression first = one;
          one = other;
          other = first;
        }
        if (!one.references().subsetOf(join.left().outputSet())
            || !other.references().subsetOf(join.right().outputSet())) continue;
        if (isPartition(one, join.left())) right = marked(other, right);
        if (prunesRight && isPartition(other, join.right())) left = marked(one, left);
      }
      if (left == join.left() && right == join.right()) return join;
      return (LogicalPlan) join.withNewChildren(seq(Arrays.asList(left, right)));
    }

    private static LogicalPlan filtered(Filter plan) {
      ArrayList parts = new ArrayList();
      conjuncts(plan.condition(), parts);
      Expression condition = null;
      boolean changed = false;
      for (int i = 0; i < parts.size(); i++) {
        Expression part = (Expression) parts.get(i);
        if (part instanceof InSubquery) {
          InSubquery in = (InSubquery) part;
          LogicalPlan query = in.query().plan();
          if (in.values().size() == 1 && in.query().joinCond().isEmpty()
              && in.query().outerAttrs().isEmpty()
              && isPartition(in.values().head(), plan.child())) {
            LogicalPlan small = marked((Expression) query.output().head(), query);
            changed |= small != query;
            part = new InSubquery(in.values(), (ListQuery) in.query().withNewPlan(small));
          }
        }
        condition = condition == null ? part : new And(condition, part);
      }
      return changed ? new Filter(condition, plan.child()) : plan;
    }

    /** Gives a small plan a condition that all rows satisfy, and that Spark takes for selective. */
    private static LogicalPlan marked(Expression key, LogicalPlan plan) {
      if (!key.deterministic() || isMarked(plan)) return plan;
      long most = SQLConf.get().autoBroadcastJoinThreshold();
      if (plan.stats().sizeInBytes().compare(BigInt.apply(most)) > 0) return plan;
      return new Filter(new EqualNullSafe(key, key), plan);
    }

    private static boolean isMarked(LogicalPlan plan) {
      if (!(plan instanceof Filter)) return false;
      Expression condition = ((Filter) plan).condition();
      if (!(condition instanceof EqualNullSafe)) return false;
      EqualNullSafe same = (EqualNullSafe) condition;
      return same.left().semanticEquals(same.right());
    }

    /** Says whether a plan is a table that our reader reads. */
    static boolean isOurs(Object plan) {
      return plan instanceof DataSourceV2Relation
          && Proxy.isProxyClass(((DataSourceV2Relation) plan).table().getClass());
    }

    /** Says whether an expression is a partition column of a scan of ours below a plan. */
    private static boolean isPartition(Object column, LogicalPlan plan) {
      if (!(column instanceof Attribute)) return false;
      if (plan instanceof LogicalRelation) {
        if (index(plan) == null || !plan.outputSet().contains((Attribute) column)) return false;
        HadoopFsRelation files = (HadoopFsRelation) ((LogicalRelation) plan).relation();
        return Arrays.asList(files.partitionSchema().fieldNames())
            .contains(((Attribute) column).name());
      }
      if (plan instanceof DataSourceV2Relation) {
        if (!isOurs(plan) || !plan.outputSet().contains((Attribute) column)) return false;
        Transform[] keys = ((DataSourceV2Relation) plan).table().partitioning();
        for (int i = 0; i < keys.length; i++) {
          String key = keys[i].references()[0].fieldNames()[0];
          if (key.equals(((Attribute) column).name())) return true;
        }
        return false;
      }
      if (plan instanceof Project) {
        return isPartition(source(column, plan), ((Project) plan).child());
      }
      Seq children = plan.children();
      for (int i = 0; i < children.size(); i++) {
        LogicalPlan child = (LogicalPlan) children.apply(i);
        if (child.outputSet().contains((Attribute) column)) return isPartition(column, child);
      }
      return false;
    }
  }

"""
