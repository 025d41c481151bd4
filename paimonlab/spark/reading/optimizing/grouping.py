"""The rule that finds scans whose buckets a query can use, in Java.

Source: apache/spark@v4.2.0 and v4.3.0, ``Optimizer.preCBORules``.
"""

from __future__ import annotations

from paimonlab.spark.reading.optimizing.bucket_scans import CLASSES, IMPORTS

RULE = "Grouping"
SEPARATOR = "\0"
"""Between the parts of a layout: number of buckets, types of the key, each of its columns."""
SOURCE = """
package org.paimonlab.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.internal.SQLConf;
import scala.Function1;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.math.BigInt;
import scala.runtime.AbstractPartialFunction;
// Imports of the scans.

public final class Grouping extends Rule {
  private final String buckets;
  private final String grouped;

  public Grouping(String buckets, String grouped) {
    this.buckets = buckets;
    this.grouped = grouped;
  }

  public TreeNode apply(TreeNode plan) {
    if (!SQLConf.get().v2BucketingEnabled()) return plan;
    ArrayList found = new ArrayList();
    this.bucketed((LogicalPlan) plan, true, found);
    if (found.isEmpty()) return plan;
    HashMap roots = new HashMap();
    aliases((LogicalPlan) plan, roots);
    IdentityHashMap wanted = new IdentityHashMap();
    this.look((LogicalPlan) plan, roots, wanted);
    return wanted.isEmpty() ? plan : plan.transformUp(new Marking(wanted, this.grouped));
  }

  /** Finds bucketed scans below a plan; only through steps that keep rows as they are, or all. */
  private void bucketed(LogicalPlan plan, boolean everywhere, List into) {
    if (plan instanceof LogicalRelation) {
      if (layout(plan, this.buckets) != null) into.add(plan);
      return;
    }
    if (!everywhere && !(plan instanceof Project) && !(plan instanceof Filter)) return;
    Seq children = plan.children();
    for (int i = 0; i < children.size(); i++) {
      this.bucketed((LogicalPlan) children.apply(i), everywhere, into);
    }
  }

  static String layout(LogicalPlan plan, String key) {
    Object relation = ((LogicalRelation) plan).relation();
    if (!(relation instanceof HadoopFsRelation)) return null;
    Option value = ((HadoopFsRelation) relation).options().get(key);
    return value.isDefined() ? (String) value.get() : null;
  }

  /** The attributes of the bucket key; null: some are not read. */
  static ArrayList keys(Seq output, String layout) {
    String[] parts = layout.split("\\0");
    ArrayList keys = new ArrayList();
    for (int k = 2; k < parts.length; k++) {
      Attribute key = named(output, parts[k]);
      if (key == null) return null;
      keys.add(key);
    }
    return keys;
  }

  static Attribute named(Seq output, String name) {
    for (int i = 0; i < output.size(); i++) {
      Attribute one = (Attribute) output.apply(i);
      if (one.name().equals(name)) return one;
    }
    return null;
  }

  /** What has to be the same for two tables to be bucketed alike: buckets, function, types. */
  static String signature(String layout) {
    String[] parts = layout.split("\\0");
    return parts[0] + " " + parts[1];
  }

  static int count(String layout) { return Integer.parseInt(layout.split("\\0")[0]); }

  /** Notes down which column each other name of it stands for. */
  private static void aliases(LogicalPlan plan, HashMap into) {
    Seq columns = plan.expressions();
    for (int i = 0; i < columns.size(); i++) {
      if (!(columns.apply(i) instanceof Alias)) continue;
      Alias alias = (Alias) columns.apply(i);
      if (alias.child() instanceof Attribute) {
        into.put(alias.exprId(), ((Attribute) alias.child()).exprId());
      }
    }
    Seq children = plan.children();
    for (int i = 0; i < children.size(); i++) aliases((LogicalPlan) children.apply(i), into);
  }

  private static Object root(Object column, HashMap roots) {
    Object id = ((Attribute) column).exprId();
    for (int i = 0; i < 100 && roots.containsKey(id); i++) id = roots.get(id);
    return id;
  }

  private void look(LogicalPlan plan, HashMap roots, IdentityHashMap wanted) {
    if (plan instanceof Join) this.joined((Join) plan, roots, wanted);
    if (plan instanceof Aggregate) {
      this.clustered(plan, ((Aggregate) plan).groupingExpressions(), roots, wanted);
    }
    if (plan instanceof Window) {
      this.clustered(plan, ((Window) plan).partitionSpec(), roots, wanted);
    }
    Seq children = plan.children();
    for (int i = 0; i < children.size(); i++) {
      this.look((LogicalPlan) children.apply(i), roots, wanted);
    }
  }

  private void joined(Join join, HashMap roots, IdentityHashMap wanted) {
    if (join.condition().isEmpty()) return;
    HashSet pairs = new HashSet();
    pairs((Expression) join.condition().get(), roots, pairs);
    long small = SQLConf.get().autoBroadcastJoinThreshold();
    if (pairs.isEmpty() || isSmall(join.left(), small) || isSmall(join.right(), small)) return;
    ArrayList left = new ArrayList();
    ArrayList right = new ArrayList();
    this.bucketed(join.left(), true, left);
    this.bucketed(join.right(), true, right);
    for (int i = 0; i < left.size(); i++) {
      for (int k = 0; k < right.size(); k++) {
        if (this.alike((LogicalPlan) left.get(i), (LogicalPlan) right.get(k), pairs)) {
          wanted.put(left.get(i), "");
          wanted.put(right.get(k), "");
        }
      }
    }
  }

  private static boolean isSmall(LogicalPlan plan, long bytes) {
    return plan.stats().sizeInBytes().$less$eq(BigInt.apply(bytes));
  }

  private static void pairs(Expression condition, HashMap roots, HashSet into) {
    if (condition instanceof And) {
      pairs(((And) condition).left(), roots, into);
      pairs(((And) condition).right(), roots, into);
    } else if (condition instanceof EqualTo) {
      Object left = condition.children().head();
      Object right = condition.children().apply(1);
      if (left instanceof Attribute && right instanceof Attribute) {
        into.add(root(left, roots) + "=" + root(right, roots));
        into.add(root(right, roots) + "=" + root(left, roots));
      }
    }
  }

  private boolean alike(LogicalPlan left, LogicalPlan right, HashSet pairs) {
    String one = layout(left, this.buckets);
    String other = layout(right, this.buckets);
    ArrayList keys = keys(left.output(), one);
    ArrayList others = keys(right.output(), other);
    if (keys == null || others == null || !signature(one).equals(signature(other))) return false;
    for (int i = 0; i < keys.size(); i++) {
      String pair = ((Attribute) keys.get(i)).exprId() + "=" + ((Attribute) others.get(i)).exprId();
      if (!pairs.contains(pair)) return false;
    }
    return true;
  }

  private void clustered(LogicalPlan plan, Seq columns, HashMap roots, IdentityHashMap wanted) {
    HashSet ids = new HashSet();
    for (int i = 0; i < columns.size(); i++) {
      if (columns.apply(i) instanceof Attribute) ids.add(root(columns.apply(i), roots));
    }
    ArrayList found = new ArrayList();
    this.bucketed((LogicalPlan) plan.children().head(), false, found);
    for (int i = 0; i < found.size(); i++) {
      LogicalPlan scan = (LogicalPlan) found.get(i);
      String layout = layout(scan, this.buckets);
      ArrayList keys = keys(scan.output(), layout);
      boolean covered = keys != null;
      for (int k = 0; covered && k < keys.size(); k++) {
        covered = ids.contains(((Attribute) keys.get(k)).exprId());
      }
      // One task per bucket must not be fewer than there are cores.
      int cores = ((HadoopFsRelation) ((LogicalRelation) scan).relation())
          .sparkSession().sparkContext().defaultParallelism();
      if (covered && count(layout) >= cores) wanted.put(scan, "");
    }
  }

  /** Marks scans that are to be planned as one task per bucket. */
  public static final class Marking extends AbstractPartialFunction {
    private final IdentityHashMap wanted;
    private final String grouped;

    public Marking(IdentityHashMap wanted, String grouped) {
      this.wanted = wanted;
      this.grouped = grouped;
    }

    public boolean isDefinedAt(Object plan) { return this.wanted.containsKey(plan); }

    public Object applyOrElse(Object plan, Function1 otherwise) {
      if (!this.isDefinedAt(plan)) return otherwise.apply(plan);
      LogicalRelation scan = (LogicalRelation) plan;
      HadoopFsRelation old = (HadoopFsRelation) scan.relation();
      Map options = (Map) old.options().$plus(new Tuple2(this.grouped, "true"));
      HadoopFsRelation files = old.copy(old.location(), old.partitionSchema(), old.dataSchema(),
          old.bucketSpec(), old.fileFormat(), options, old.sparkSession());
      return scan.copy(files, scan.output(), scan.catalogTable(), scan.isStreaming(),
          scan.stream());
    }
  }

  // The scans.
}
""".replace("// Imports of the scans.\n", IMPORTS).replace("  // The scans.\n", CLASSES)
