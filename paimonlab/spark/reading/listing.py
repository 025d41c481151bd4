"""Thousands of files, their partitions and masks as Spark's objects, in a handful of calls.

A call to the JVM costs a tenth of a millisecond, a file of its own would take eight. So all of them
go over as bytes, and a small class takes those apart there. It also tests filters on partition
columns, which Spark never tests again on rows: with Spark's own expressions, so that whatever
Spark hands over means what it means in Spark.

Source: apache/spark@v4.3.0 ``FileIndex``, ``PartitioningAwareFileIndex.prunePartitions``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.reading.executor_places import uri_of
from paimonlab.spark.reading.s3_scan import OwnScheme, in_scheme

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from paimonlab.spark.jvm.bridge import Bridge

_PLAIN_NAME = re.compile(r"[A-Za-z0-9_=-][A-Za-z0-9_=.-]*", re.ASCII)
_PLAIN_NAMES = re.compile(r"[A-Za-z0-9_=.\n-]*", re.ASCII)
"""Plain names, each after a line break, if none of them begins with a dot or is empty."""
_PLAIN_FOLDER = re.compile(rf"file:(?:/{_PLAIN_NAME.pattern})+/", re.ASCII)
"""Folders whose URI has nothing to be quoted or left out."""
_TEXTS = "[[Ljava.lang.String;"
_SOURCE = """
package org.paimonlab.spark;

import java.math.BigDecimal;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.charset.StandardCharsets;
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

  /** Makes directories of what `Listing.directories` packed. */
  public Seq directories(byte[] packed, boolean masked, boolean plain) {
    ByteBuffer in = ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN);
    String[] folders = new String[in.getInt()];
    FileStatus[] files = new FileStatus[in.getInt()];
    int count = in.getInt();
    int[] lengths = ints(in, folders.length);
    int[] folder = ints(in, files.length);
    int[] nameLengths = ints(in, files.length);
    int[] numbers = ints(in, count);
    int[] counts = ints(in, count);
    int[] maskLengths = ints(in, masked ? count : 0);
    LongBuffer sizes = longs(in, files.length);
    LongBuffer times = longs(in, files.length);
    for (int i = 0; i < folders.length; i++) folders[i] = text(in, lengths[i]);
    for (int i = 0; i < files.length; i++) {
      String uri = folders[folder[i]] + text(in, nameLengths[i]);
      Path path = plain ? new Path(URI.create(uri)) : new Path(uri);
      files[i] = new FileStatus(sizes.get(i), false, 1, BLOCK_BYTES, times.get(i), path);
    }
    ArrayList made = new ArrayList(count);
    int first = 0;
    for (int i = 0; i < count; i++) {
      Object[] values = this.rows[numbers[i]];
      if (masked) {
        values = Arrays.copyOf(values, values.length + 1);
        if (maskLengths[i] >= 0) {
          byte[] mask = new byte[maskLengths[i]];
          in.get(mask);
          values[values.length - 1] = mask;
        }
      }
      FileStatus[] some = (FileStatus[]) Arrays.copyOfRange(files, first, first + counts[i]);
      first += counts[i];
      made.add(PartitionDirectory.apply(new GenericInternalRow(values), some));
    }
    return CollectionConverters.asScala(made).toSeq();
  }

  private static int[] ints(ByteBuffer in, int count) {
    int[] found = new int[count];
    in.asIntBuffer().get(found);
    in.position(in.position() + 4 * count);
    return found;
  }

  private static LongBuffer longs(ByteBuffer in, int count) {
    LongBuffer found = in.asLongBuffer();
    in.position(in.position() + 8 * count);
    return found;
  }

  private static String text(ByteBuffer in, int length) {
    String found = new String(in.array(), in.position(), length, StandardCharsets.UTF_8);
    in.position(in.position() + length);
    return found;
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


class ListedFiles(NamedTuple):
    """What Spark has to know of files in a folder; a value for each."""

    folder: str
    names: Sequence[str]
    size_bytes: Sequence[int]
    modified_millis: Sequence[int]


@dataclass(frozen=True, slots=True)
class Directory:
    """Files that have the same values of partition columns."""

    row: int
    """Number of their `Listing` row."""
    files: Sequence[ListedFiles]
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

    def directories(
        self,
        directories: Sequence[Directory],
        *,
        has_mask_column: bool,
        scheme: OwnScheme | None = None,
    ) -> Any:
        """Make a ``Seq[PartitionDirectory]``, its files opened under a name of a scheme."""
        packed, is_plain = _packed(directories, has_mask_column=has_mask_column, scheme=scheme)
        return self._java.directories(packed, has_mask_column, is_plain)


def _packed(
    directories: Sequence[Directory], *, has_mask_column: bool, scheme: OwnScheme | None
) -> tuple[bytes, bool]:
    """Write directories down as the class of the JVM reads them.

    Returns
    -------
    packed
        Three counts, the numbers of each (4 bytes), sizes and times (8 bytes), texts, masks.
    is_plain
        Whether all paths are URIs as they are, and need no second look.
    """
    groups = [group for one in directories for group in one.files]
    in_order = dict.fromkeys(group.folder for group in groups)
    folders = {folder: at for at, folder in enumerate(in_order)}
    uris = [f"{in_scheme(uri_of(folder), scheme)}/" for folder in folders]
    texts = [uri.encode() for uri in uris]
    names = [name for group in groups for name in group.names]
    in_folders = np.array([folders[group.folder] for group in groups], "<i4")
    encoded = [name.encode() for name in names]
    masks = [one.mask for one in directories] if has_mask_column else []
    small = (
        (len(folders), len(names), len(directories)),
        map(len, texts),
        np.repeat(in_folders, np.fromiter((len(group.names) for group in groups), np.int64)),
        map(len, encoded),
        (one.row for one in directories),
        (sum(len(group.names) for group in one.files) for one in directories),
        (-1 if mask is None else len(mask) for mask in masks),
    )
    large = (
        [size for group in groups for size in group.size_bytes],
        [time for group in groups for time in group.modified_millis],
    )
    parts = [np.fromiter(numbers, "<i4").tobytes() for numbers in small]
    parts += [np.array(numbers, "<i8").tobytes() for numbers in large]
    parts += [*texts, *encoded, *(mask for mask in masks if mask is not None)]
    return b"".join(parts), all(map(_PLAIN_FOLDER.fullmatch, uris)) and are_plain(names)


def are_plain(names: Sequence[str]) -> bool:
    """Whether all names are such that they are the same in a URI, and stay in their folder.

    Examples
    --------
    >>> are_plain(["data-1.parquet", "b"]), are_plain(["a", ".."]), are_plain(["a b"])
    (True, False, False)
    """
    text = "\n".join(("", *names, "-"))
    is_whole = text.count("\n") == len(names) + 1
    return bool(is_whole and _PLAIN_NAMES.fullmatch(text)) and not ("\n." in text or "\n\n" in text)
