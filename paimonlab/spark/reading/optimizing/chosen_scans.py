"""One scan of a table, as the rule of the optimizer sees it, in Java: a part of `choosing`."""

from __future__ import annotations

SCAN = """\
  /** A scan of a table, and the conditions above it that are on its partitions. */
  static final class Scan {
    final LogicalRelation relation;
    final ArrayList filters = new ArrayList();
    final ArrayList ids = new ArrayList();
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
          Expression ofIds = plain ? RowIds.only(condition) : null;
          if (ofIds != null) this.ids.add(ofIds);
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

    /** Finds the files that conditions on partitions and on ids of rows leave; null: all. */
    Object files(Function4 ask) {
      Object found = this.filters.isEmpty() ? null : this.answer(ask, "files", -1L);
      if (this.ids.isEmpty()) return found;
      Object index = ((HadoopFsRelation) this.relation.relation()).location();
      Integer code = Integer.valueOf((found == null ? index : found).hashCode());
      Object fewer = ask.apply("row ids", code, seq(this.ids), Long.valueOf(-1L));
      return fewer == null ? found : fewer;
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

  /** Puts one column in the place of what makes the ids of rows, as `places` has it. */
  public static final class RowIds extends AbstractPartialFunction {
    static final AttributeReference ID = new AttributeReference("_ROW_ID", DataTypes.LongType,
        true, Metadata.empty(), NamedExpression.newExprId(), seq(new ArrayList()));

    public boolean isDefinedAt(Object one) {
      if (!(one instanceof Coalesce) || ((Coalesce) one).children().size() != 2) return false;
      Object stored = ((Coalesce) one).children().apply(0);
      Object made = ((Coalesce) one).children().apply(1);
      return named(stored, "_ROW_ID")
          && made instanceof Add
          && named(((Add) made).left(), "__paimonlab_first_row_id");
    }

    public Object applyOrElse(Object one, Function1 otherwise) {
      return this.isDefinedAt(one) ? ID : otherwise.apply(one);
    }

    private static boolean named(Object one, String name) {
      return one instanceof AttributeReference && ((AttributeReference) one).name().equals(name);
    }

    /** Says a condition over that column; null: it is about others as well. */
    static Expression only(Expression condition) {
      Expression changed = (Expression) condition.transform(new RowIds());
      Seq columns = changed.references().toSeq();
      boolean isOnly = columns.size() == 1
          && ((Attribute) columns.apply(0)).exprId().equals(ID.exprId());
      return isOnly ? changed : null;
    }
  }
"""
