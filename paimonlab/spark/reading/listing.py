"""Thousands of files, their partitions and masks as Spark's objects, in a handful of calls.

A call to the JVM costs a tenth of a millisecond, a file of its own would take eight. So the parts
go over as JSON, and a small class puts them together there. It also tests filters on partition
columns, which Spark never tests again on rows: with Spark's own expressions, so that whatever
Spark hands over means what it means in Spark.

Source: apache/spark@v4.3.0 ``FileIndex``, ``PartitioningAwareFileIndex.prunePartitions``.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paimonlab.spark.jvm.compiled import new

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from paimonlab.spark.jvm.bridge import Bridge

_TEXTS = "[[Ljava.lang.String;"
_SOURCE = """
package org.paimonlab.spark;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.Predicate;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Function1;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

public final class Listing {
  private static final long BLOCK_BYTES = 128L << 20;

  private final StructType schema;
  private final Object[][] rows;

  public Listing(String[][] texts, StructType schema) {
    this.schema = schema;
    this.rows = new Object[texts.length][];
    for (int i = 0; i < texts.length; i++) {
      Object[] row = new Object[texts[i].length];
      for (int k = 0; k < row.length; k++) {
        String text = texts[i][k];
        row[k] = text == null ? null : value(text, schema.apply(k).dataType());
      }
      this.rows[i] = row;
    }
  }

  private static Object value(String text, DataType type) {
    if (type instanceof StringType) return UTF8String.fromString(text);
    if (type instanceof BooleanType) return Boolean.valueOf(text);
    if (type instanceof ByteType) return Byte.valueOf(text);
    if (type instanceof ShortType) return Short.valueOf(text);
    if (type instanceof IntegerType || type instanceof DateType) return Integer.valueOf(text);
    if (type instanceof FloatType) return Float.valueOf(text);
    if (type instanceof DoubleType) return Double.valueOf(text);
    if (type instanceof BinaryType) return Base64.getDecoder().decode(text);
    if (type instanceof DecimalType) {
      DecimalType decimal = (DecimalType) type;
      return Decimal.apply(new BigDecimal(text), decimal.precision(), decimal.scale());
    }
    return Long.valueOf(text);
  }

  /** Says which rows filters keep, as text of ones and zeros. */
  public String matching(Seq filters) {
    Expression all = null;
    for (int i = 0; i < filters.size(); i++) {
      Expression filter = (Expression) filters.apply(i);
      all = all == null ? filter : new And(all, filter);
    }
    Expression bound = (Expression) all.transform(new Binding(this.schema));
    BasePredicate predicate = Predicate.createInterpreted(bound);
    predicate.initialize(0);
    StringBuilder kept = new StringBuilder();
    for (int i = 0; i < this.rows.length; i++) {
      kept.append(predicate.eval(new GenericInternalRow(this.rows[i])) ? '1' : '0');
    }
    return kept.toString();
  }

  /** Makes a directory of files each: the number of its row, its files, its mask or null. */
  public Seq directories(int[] numbers, String[][] paths, long[][] sizes, long[][] times,
      byte[][] masks, boolean masked) {
    ArrayList made = new ArrayList();
    for (int i = 0; i < numbers.length; i++) {
      Object[] values = this.rows[numbers[i]];
      if (masked) {
        values = Arrays.copyOf(values, values.length + 1);
        values[values.length - 1] = masks[i];
      }
      FileStatus[] files = new FileStatus[paths[i].length];
      for (int k = 0; k < files.length; k++) {
        files[k] = new FileStatus(
            sizes[i][k], false, 1, BLOCK_BYTES, times[i][k], new Path(paths[i][k]));
      }
      made.add(PartitionDirectory.apply(new GenericInternalRow(values), files));
    }
    return CollectionConverters.asScala(made).toSeq();
  }

  /** Makes a row each of some columns of a row, and a count. */
  public Seq counted(int[] numbers, long[] counts, int[] columns) {
    ArrayList made = new ArrayList();
    for (int i = 0; i < numbers.length; i++) {
      Object[] values = new Object[columns.length + 1];
      for (int k = 0; k < columns.length; k++) values[k] = this.rows[numbers[i]][columns[k]];
      values[columns.length] = Long.valueOf(counts[i]);
      made.add(new GenericInternalRow(values));
    }
    return CollectionConverters.asScala(made).toSeq();
  }

  public static final class Binding extends AbstractPartialFunction {
    private final StructType schema;

    public Binding(StructType schema) { this.schema = schema; }

    public boolean isDefinedAt(Object one) { return one instanceof AttributeReference; }

    public Object applyOrElse(Object one, Function1 otherwise) {
      if (!this.isDefinedAt(one)) return otherwise.apply(one);
      AttributeReference column = (AttributeReference) one;
      return new BoundReference(this.schema.fieldIndex(column.name()), column.dataType(), true);
    }
  }
}
"""


@dataclass(frozen=True, slots=True)
class ListedFile:
    """What Spark has to know of a file."""

    uri: str
    size_bytes: int
    modified_millis: int


@dataclass(frozen=True, slots=True)
class Directory:
    """Files that have the same values of partition columns."""

    row: int
    """Number of their `Listing` row."""
    files: Sequence[ListedFile]
    mask: bytes | None = None
    """None: all rows of all files count."""


class Listing:
    """The values of partition columns that a scan has, in the JVM.

    Parameters
    ----------
    bridge
        The session.
    schema
        The partition columns, without that of the mask.
    rows
        Their values, as `java_texts` writes them.
    """

    def __init__(
        self, bridge: Bridge, schema: StructType, rows: Sequence[Sequence[str | None]]
    ) -> None:
        self._bridge = bridge
        texts = bridge.from_json(_TEXTS, json.dumps(rows))
        self._java = new(bridge, _SOURCE, "Listing", texts, bridge.java_schema(schema))

    def matching(self, filters: Any) -> frozenset[int]:
        """Return the numbers of the rows that a Scala ``Seq`` of Catalyst expressions keeps."""
        kept = self._java.matching(filters)
        return frozenset(number for number, is_kept in enumerate(kept) if is_kept == "1")

    def counted(self, counts: Mapping[int, int], columns: Sequence[int]) -> Any:
        """Make a ``Seq[InternalRow]`` of columns of rows, each with a count after them.

        Parameters
        ----------
        counts
            By number of the row.
        columns
            Places of the columns.
        """
        bridge = self._bridge
        numbers = bridge.from_json("[I", json.dumps(list(counts)))
        rows = bridge.from_json("[J", json.dumps(list(counts.values())))
        return self._java.counted(numbers, rows, bridge.from_json("[I", json.dumps([*columns])))

    def directories(self, directories: Sequence[Directory], *, has_mask_column: bool) -> Any:
        """Make a ``Seq[PartitionDirectory]``."""
        bridge = self._bridge
        numbers = bridge.from_json("[I", json.dumps([one.row for one in directories]))
        files = [one.files for one in directories]
        uris = bridge.from_json(_TEXTS, json.dumps([[file.uri for file in some] for some in files]))
        sizes, times = (
            bridge.from_json("[[J", json.dumps(numbers_of_files))
            for numbers_of_files in (
                [[file.size_bytes for file in some] for some in files],
                [[file.modified_millis for file in some] for some in files],
            )
        )
        encoded = [
            None if one.mask is None else base64.b64encode(one.mask).decode() for one in directories
        ]
        masks = bridge.from_json("[[B", json.dumps(encoded if has_mask_column else []))
        return self._java.directories(numbers, uris, sizes, times, masks, has_mask_column)
