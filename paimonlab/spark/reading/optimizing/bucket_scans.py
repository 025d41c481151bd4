"""The classes that read a scan as one task per bucket, in Java: parts of `grouping`.

Executors get Spark's own classes only: what is compiled here replaces itself when it is sent.

Source: apache/spark@v4.2.0 and v4.3.0, ``EnsureRequirements``, ``ShuffleSpec``,
``FileSourceScanExec``, ``FileScanRDD``, ``PartitioningPreservingUnaryExecNode``.
"""

from __future__ import annotations

IMPORTS = """\
import java.lang.reflect.Field;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Ascending$;
import org.apache.spark.sql.catalyst.expressions.DirectShufflePartitionID;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext;
import org.apache.spark.sql.catalyst.expressions.codegen.ExprCode;
import org.apache.spark.sql.catalyst.plans.physical.AllTuples$;
import org.apache.spark.sql.catalyst.plans.physical.ClusteredDistribution;
import org.apache.spark.sql.catalyst.plans.physical.Distribution;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.catalyst.plans.physical.ShufflePartitionIdPassThrough;
import org.apache.spark.sql.catalyst.plans.physical.ShufflePartitionIdPassThroughSpec;
import org.apache.spark.sql.catalyst.plans.physical.ShuffleSpec;
import org.apache.spark.sql.catalyst.plans.physical.ShuffleSpecCollection;
import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning;
import org.apache.spark.sql.catalyst.plans.physical.UnspecifiedDistribution$;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.FileScanRDD;
import org.apache.spark.sql.execution.datasources.FileSourceStrategy$;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import scala.collection.immutable.IndexedSeq;
import scala.jdk.javaapi.CollectionConverters;
"""
CLASSES = """\
  /** Plans marked scans. */
  public static final class Planning extends SparkStrategy {
    private final String buckets;
    private final String grouped;
    private final Function1 formula;

    public Planning(String buckets, String grouped, Function1 formula) {
      this.buckets = buckets;
      this.grouped = grouped;
      this.formula = formula;
    }

    public Seq apply(LogicalPlan plan) {
      LogicalPlan leaf = plan;
      while (leaf instanceof Project || leaf instanceof Filter) {
        leaf = (LogicalPlan) leaf.children().head();
      }
      ArrayList none = new ArrayList();
      if (!(leaf instanceof LogicalRelation) || layout(leaf, this.grouped) == null) {
        return CollectionConverters.asScala(none).toSeq();
      }
      Seq planned = FileSourceStrategy$.MODULE$.apply(plan);
      ArrayList grouped = new ArrayList();
      for (int i = 0; i < planned.size(); i++) {
        grouped.add(this.grouped((SparkPlan) planned.apply(i)));
      }
      return CollectionConverters.asScala(grouped).toSeq();
    }

    private SparkPlan grouped(SparkPlan plan) {
      if (plan instanceof FileSourceScanExec) {
        FileSourceScanExec scan = (FileSourceScanExec) plan;
        if (!scan.supportsColumnar() || isOneTask(scan)) return scan;
        return new ByBucket(scan, this.buckets, this.formula);
      }
      Seq children = plan.children();
      ArrayList others = new ArrayList();
      for (int i = 0; i < children.size(); i++) {
        others.add(this.grouped((SparkPlan) children.apply(i)));
      }
      return (SparkPlan) plan.withNewChildren(CollectionConverters.asScala(others).toSeq());
    }

    /** Since 4.3 Spark reads little in one task, and says so. */
    private static boolean isOneTask(FileSourceScanExec scan) {
      try {
        Object marked = scan.getClass().getMethod("markedForSingleTaskExecution").invoke(scan);
        return ((Boolean) marked).booleanValue();
      } catch (NoSuchMethodException older) {
        return false;
      } catch (ReflectiveOperationException error) {
        throw new IllegalStateException(error);
      }
    }
  }

  /** Reads a scan with one task per bucket; stays in the driver. */
  public static final class ByBucket extends SparkPlan {
    private static final String SORTED = "paimonlab.sorted";
    private static final Pattern FOLDER = Pattern.compile("/bucket-(\\\\d+)/[^/]*$");

    private final FileSourceScanExec scan;
    private final String buckets;
    private final Function1 formula;

    public ByBucket(FileSourceScanExec scan, String buckets, Function1 formula) {
      this.scan = scan;
      this.buckets = buckets;
      this.formula = formula;
    }

    public Seq output() { return this.scan.output(); }

    public Seq children() {
      ArrayList one = new ArrayList();
      one.add(this.scan);
      return CollectionConverters.asScala(one).toSeq();
    }

    public TreeNode withNewChildrenInternal(IndexedSeq children) {
      return new ByBucket((FileSourceScanExec) children.head(), this.buckets, this.formula);
    }

    public int productArity() { return 1; }

    public Object productElement(int place) { return this.scan; }

    public Seq otherCopyArgs() {
      ArrayList one = new ArrayList();
      one.add(this.buckets);
      one.add(this.formula);
      return CollectionConverters.asScala(one).toSeq();
    }

    public boolean canEqual(Object other) { return other instanceof ByBucket; }

    public boolean equals(Object other) {
      return other instanceof ByBucket && ((ByBucket) other).scan.equals(this.scan);
    }

    public int hashCode() { return this.scan.hashCode(); }

    public boolean supportsColumnar() { return this.scan.supportsColumnar(); }

    public boolean supportsRowBased() { return !this.scan.supportsColumnar(); }

    public Option vectorTypes() { return this.scan.vectorTypes(); }

    /** Executors know Spark's own classes. */
    public Object writeReplace() { return this.scan; }

    private String layout() { return (String) this.scan.relation().options().apply(this.buckets); }

    public Partitioning outputPartitioning() {
      String layout = this.layout();
      ArrayList keys = keys(this.output(), layout);
      if (keys == null) return super.outputPartitioning();
      return new Buckets(CollectionConverters.asScala(keys).toSeq(), layout, this.formula);
    }

    /** By the key that each file is sorted by, where no bucket has two files. */
    public Seq outputOrdering() {
      ArrayList order = new ArrayList();
      Option names = this.scan.relation().options().get(SORTED);
      String[] columns = names.isDefined() ? ((String) names.get()).split("\\0") : new String[0];
      for (int k = 0; k < columns.length; k++) {
        Attribute column = named(this.output(), columns[k]);
        if (column == null) break;
        order.add(new SortOrder(column, Ascending$.MODULE$,
            Ascending$.MODULE$.defaultNullOrdering(),
            CollectionConverters.asScala(new ArrayList()).toSeq()));
      }
      return CollectionConverters.asScala(order).toSeq();
    }

    public RDD doExecute() { throw new IllegalStateException("columns are read"); }

    public RDD doExecuteColumnar() {
      // Reading waits for filters of other scans first, and then knows its files.
      RDD columns = this.scan.executeColumnar();
      regroup((FileScanRDD) this.scan.inputRDD(), count(this.layout()));
      return columns;
    }

    private static void regroup(FileScanRDD files, int count) {
      ArrayList[] groups = new ArrayList[count];
      for (int i = 0; i < count; i++) groups[i] = new ArrayList();
      Seq before = files.filePartitions();
      for (int i = 0; i < before.size(); i++) {
        PartitionedFile[] some = ((FilePartition) before.apply(i)).files();
        for (int k = 0; k < some.length; k++) {
          Matcher folder = FOLDER.matcher(some[k].filePath().urlEncoded());
          if (!folder.find()) throw new IllegalStateException("no bucket: " + some[k]);
          ArrayList group = groups[Integer.parseInt(folder.group(1))];
          int at = group.size();  // pieces of a file in their order
          while (at > 0 && ((PartitionedFile) group.get(at - 1)).start() > some[k].start()) at--;
          group.add(at, some[k]);
        }
      }
      ArrayList partitions = new ArrayList();
      for (int i = 0; i < count; i++) {
        PartitionedFile[] own = new PartitionedFile[groups[i].size()];
        for (int k = 0; k < own.length; k++) own[k] = (PartitionedFile) groups[i].get(k);
        partitions.add(new FilePartition(i, own));
      }
      try {
        Field field = FileScanRDD.class.getDeclaredField("filePartitions");
        field.setAccessible(true);
        field.set(files, CollectionConverters.asScala(partitions).toSeq());
      } catch (ReflectiveOperationException error) {
        throw new IllegalStateException(error);
      }
    }
  }

  /** Rows with one bucket key are in one task, by Paimon's hash: an expression, to be renamed. */
  public static final class Buckets extends Expression implements Partitioning {
    final Seq keys;
    final String layout;
    final Function1 formula;

    public Buckets(Seq keys, String layout, Function1 formula) {
      this.keys = keys;
      this.layout = layout;
      this.formula = formula;
    }

    public int numPartitions() { return count(this.layout); }

    /** Executors know Spark's own classes. */
    public Object writeReplace() { return new UnknownPartitioning(this.numPartitions()); }

    String signature() { return Grouping.signature(this.layout); }

    public boolean satisfies(Distribution required) {
      Option wanted = required.requiredNumPartitions();
      boolean fits = wanted.isEmpty() || wanted.get().equals(Integer.valueOf(this.numPartitions()));
      return fits && this.satisfies0(required);
    }

    public boolean satisfies0(Distribution required) {
      if (required == UnspecifiedDistribution$.MODULE$) return true;
      if (required == AllTuples$.MODULE$) return this.numPartitions() == 1;
      if (!(required instanceof ClusteredDistribution)) return false;
      ClusteredDistribution clustered = (ClusteredDistribution) required;
      if (clustered.requireAllClusterKeys()
          && clustered.clustering().size() != this.keys.size()) return false;
      for (int i = 0; i < this.keys.size(); i++) {
        if (places((Expression) this.keys.apply(i), clustered).isEmpty()) return false;
      }
      return true;
    }

    public ShuffleSpec createShuffleSpec(ClusteredDistribution distribution) {
      return new Spec(this, distribution);
    }

    static HashSet places(Expression key, ClusteredDistribution distribution) {
      HashSet places = new HashSet();
      Seq clustering = distribution.clustering();
      for (int i = 0; i < clustering.size(); i++) {
        if (key.semanticEquals((Expression) clustering.apply(i))) places.add(Integer.valueOf(i));
      }
      return places;
    }

    public Seq children() { return this.keys; }

    public TreeNode withNewChildrenInternal(IndexedSeq children) {
      return new Buckets(children, this.layout, this.formula);
    }

    public boolean nullable() { return false; }

    public DataType dataType() { return DataTypes.IntegerType; }

    public Object eval(InternalRow row) { throw new IllegalStateException("not evaluated"); }

    public ExprCode doGenCode(CodegenContext context, ExprCode code) {
      throw new IllegalStateException("not evaluated");
    }

    public int productArity() { return 3; }

    public Object productElement(int place) {
      if (place == 0) return this.keys;
      return place == 1 ? (Object) this.layout : (Object) this.formula;
    }

    public boolean canEqual(Object other) { return other instanceof Buckets; }

    public boolean equals(Object other) {
      return other instanceof Buckets && ((Buckets) other).keys.equals(this.keys)
          && ((Buckets) other).layout.equals(this.layout);
    }

    public int hashCode() { return this.keys.hashCode() + this.layout.hashCode(); }

    public String toString() { return "buckets(" + this.signature() + ", " + this.keys + ")"; }
  }

  /** Tells which two sides of a join are bucketed alike. */
  public static final class Spec implements ShuffleSpec {
    final Buckets buckets;
    final ClusteredDistribution distribution;

    public Spec(Buckets buckets, ClusteredDistribution distribution) {
      this.buckets = buckets;
      this.distribution = distribution;
    }

    public int numPartitions() { return this.buckets.numPartitions(); }

    public boolean isCompatibleWith(ShuffleSpec other) {
      if (this.numPartitions() == 1 && other.numPartitions() == 1) return true;
      if (other instanceof ShuffleSpecCollection) {
        Seq all = ((ShuffleSpecCollection) other).specs();
        for (int i = 0; i < all.size(); i++) {
          if (this.isCompatibleWith((ShuffleSpec) all.apply(i))) return true;
        }
        return false;
      }
      if (other instanceof ShufflePartitionIdPassThroughSpec) {
        return this.meets((ShufflePartitionIdPassThroughSpec) other);
      }
      if (!(other instanceof Spec)) return false;
      Spec others = (Spec) other;
      if (!this.buckets.signature().equals(others.buckets.signature())) return false;
      for (int i = 0; i < this.buckets.keys.size(); i++) {
        HashSet places =
            Buckets.places((Expression) this.buckets.keys.apply(i), this.distribution);
        places.retainAll(
            Buckets.places((Expression) others.buckets.keys.apply(i), others.distribution));
        if (places.isEmpty()) return false;
      }
      return true;
    }

    private boolean meets(ShufflePartitionIdPassThroughSpec other) {
      ShufflePartitionIdPassThrough brought = other.partitioning();
      Expression own = this.bucketOf(other.distribution().clustering());
      return brought.numPartitions() == this.numPartitions()
          && brought.expr().child().semanticEquals(own);
    }

    public boolean canCreatePartitioning() { return true; }

    /** Brings other rows to the buckets. */
    public Partitioning createPartitioning(Seq clustering) {
      return new ShufflePartitionIdPassThrough(
          new DirectShufflePartitionID(this.bucketOf(clustering)), this.numPartitions());
    }

    /** The bucket of rows that have the values of the key in expressions of a distribution. */
    private Expression bucketOf(Seq clustering) {
      Seq found = (Seq) this.buckets.formula.apply(this.buckets.layout);
      HashMap values = new HashMap();
      for (int i = 0; i < this.buckets.keys.size(); i++) {
        HashSet places = Buckets.places((Expression) this.buckets.keys.apply(i), this.distribution);
        int place = ((Integer) places.iterator().next()).intValue();
        values.put(((Attribute) found.apply(i + 1)).exprId(), clustering.apply(place));
      }
      return (Expression) ((Expression) found.head()).transform(new Filling(values));
    }
  }

  /** Puts values in the place of columns. */
  public static final class Filling extends AbstractPartialFunction {
    private final HashMap values;

    public Filling(HashMap values) { this.values = values; }

    public boolean isDefinedAt(Object one) {
      return one instanceof Attribute && this.values.containsKey(((Attribute) one).exprId());
    }

    public Object applyOrElse(Object one, Function1 otherwise) {
      if (!this.isDefinedAt(one)) return otherwise.apply(one);
      return this.values.get(((Attribute) one).exprId());
    }
  }
"""
