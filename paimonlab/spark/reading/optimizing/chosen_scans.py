"""One scan of a table, as the rule of the optimizer sees it, in Java: a part of `choosing`."""

from __future__ import annotations

SCAN = """\
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

    boolean has(Object column) {
      return column instanceof Attribute
          && this.relation.outputSet().contains((NamedExpression) column);
    }

    /** Says which column of the partition a column is; -1: none. */
    int place(Attribute column, String mask) {
      StructType keys = ((HadoopFsRelation) this.relation.relation()).partitionSchema();
      for (int i = 0; i < this.relation.output().size(); i++) {
        Attribute one = (Attribute) this.relation.output().apply(i);
        if (!one.exprId().equals(column.exprId()) || one.name().equals(mask)) continue;
        return Arrays.asList(keys.fieldNames()).indexOf(one.name());
      }
      return -1;
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
"""
