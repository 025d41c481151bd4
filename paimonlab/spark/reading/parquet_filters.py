"""Spark's Parquet format without the filters that lose rows with NaN.

In SQL NaN is above all other numbers and equals itself. Writers leave it out of the least and
greatest values that they store (Parquet's format says so), and parquet-java goes by these: where
a row group has 1.0 and NaN it is skipped for ``d > 100``, ``d = NaN`` and ``d <> 1.0``, also by
Spark for files that others wrote. Such filters of FLOAT and DOUBLE columns are for Spark alone, who
looks at all rows again in any case.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.compiled import new

_SOURCE = """
package org.paimonlab.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.sources.*;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;

public class NanParquetFormat extends ParquetFileFormat {
  private final transient java.util.Map settings;

  public NanParquetFormat(java.util.Map settings) { this.settings = settings; }

  public Function1 buildReaderWithPartitionValues(
      SparkSession session, StructType data, StructType partition, StructType required,
      Seq filters, Map options, Configuration conf) {
    List kept = new ArrayList();
    for (int i = 0; i < filters.size(); i++) add((Filter) filters.apply(i), data, kept);
    java.util.Iterator more = this.settings.entrySet().iterator();
    while (more.hasNext()) {
      java.util.Map.Entry one = (java.util.Map.Entry) more.next();
      conf.set((String) one.getKey(), (String) one.getValue());
    }
    Seq safe = scala.jdk.javaapi.CollectionConverters.asScala(kept).toSeq();
    return new ParquetFileFormat().buildReaderWithPartitionValues(
        session, data, partition, required, safe, options, conf);
  }

  private static void add(Filter filter, StructType data, List kept) {
    if (filter instanceof And) {
      add(((And) filter).left(), data, kept);
      add(((And) filter).right(), data, kept);
    } else if (isSafe(filter, data)) {
      kept.add(filter);
    }
  }

  private static boolean isSafe(Filter filter, StructType data) {
    if (filter instanceof And) {
      return isSafe(((And) filter).left(), data) && isSafe(((And) filter).right(), data);
    }
    if (filter instanceof Or) {
      return isSafe(((Or) filter).left(), data) && isSafe(((Or) filter).right(), data);
    }
    if (filter instanceof EqualTo) {
      return !isNan(((EqualTo) filter).value());
    }
    if (filter instanceof EqualNullSafe) {
      return !isNan(((EqualNullSafe) filter).value());
    }
    if (filter instanceof In) {
      Object[] values = ((In) filter).values();
      for (int i = 0; i < values.length; i++) if (isNan(values[i])) return false;
      return true;
    }
    if (filter instanceof GreaterThan || filter instanceof GreaterThanOrEqual
        || filter instanceof Not) {
      String[] names = filter.references();
      for (int i = 0; i < names.length; i++) if (mayBeNan(names[i], data)) return false;
    }
    return true;
  }

  private static boolean isNan(Object value) {
    return value instanceof Double && ((Double) value).isNaN()
        || value instanceof Float && ((Float) value).isNaN();
  }

  private static boolean mayBeNan(String name, StructType data) {
    StructField[] fields = data.fields();
    for (int i = 0; i < fields.length; i++) {
      String field = fields[i].name();
      if (field.equalsIgnoreCase(name) || name.indexOf('.') >= 0) {
        String type = fields[i].dataType().catalogString();
        if (type.indexOf("float") >= 0 || type.indexOf("double") >= 0) return true;
      }
    }
    return false;
  }
}
"""


def parquet_format(bridge: Bridge, settings: Iterable[tuple[str, str]] = ()) -> Any:
    """Make a ``FileFormat`` of Parquet for a scan.

    Parameters
    ----------
    bridge
        The session.
    settings
        For Hadoop, beside those of the session. They are in no plan.
    """
    return new(bridge, _SOURCE, "NanParquetFormat", bridge.map(dict(settings)))
