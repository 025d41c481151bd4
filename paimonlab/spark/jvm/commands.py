"""Commands of Spark that Python runs.

A command is an abstract class of Spark, which a dynamic proxy cannot extend. It is compiled
(`paimonlab.spark.jvm.compiled`) and holds nothing but a call of Python.

Source: apache/spark@v4.2.0 and v4.3.0, ``RunnableCommand``, ``TreeNode.otherCopyArgs``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.compiled import new

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_COMMAND = """
package org.paimonlab.spark;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.execution.command.SetCommand;
import org.apache.spark.sql.types.LongType;
import scala.Function1;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** A command that Python runs; SetCommand is a class that can be extended. */
public final class Command extends SetCommand {
  private final Function1 work;
  private final Object text;
  private final Seq columns;

  public Command(Function1 work, Object text, Seq columns) {
    super(scala.Option.empty());
    this.work = work;
    this.text = text;
    this.columns = columns;
  }

  public Seq output() { return this.columns; }
  public Seq run(SparkSession session) {
    Object[] found = ((List) this.work.apply(session)).toArray();
    Object[] rows = new Object[found.length];
    for (int i = 0; i < found.length; i++) {
      Object[] values = ((List) found[i]).toArray();
      for (int k = 0; k < values.length; k++) {
        boolean isLong = ((Attribute) this.columns.apply(k)).dataType() instanceof LongType;
        if (isLong && values[k] instanceof Integer) {
          values[k] = Long.valueOf(((Integer) values[k]).longValue());
        }
      }
      rows[i] = RowFactory.create(values);
    }
    return CollectionConverters.asScala(Arrays.asList(rows)).toSeq();
  }
  public String nodeName() { return "Paimon"; }
  public String simpleString(int maxFields) { return this.text.toString(); }
  public String verboseStringWithOperatorId() {
    return this.formattedNodeName() + "\\n" + this.text.toString() + "\\n";
  }
  public int productArity() { return 0; }
  public Seq otherCopyArgs() {
    Object[] copied = new Object[] {this.work, this.text, this.columns};
    return CollectionConverters.asScala(Arrays.asList(copied)).toSeq();
  }
  public boolean equals(Object other) { return this == other; }
  public int hashCode() { return System.identityHashCode(this); }
}
"""

Row = Sequence[str | int | bool | None]
"""One row of what a command answers; whole numbers are BIGINT or INT."""


def command(
    bridge: Bridge, run: Callable[[Any], Sequence[Row]], text: Any, columns: StructType
) -> Any:
    """Make a plan of Spark that calls Python when it is run.

    Parameters
    ----------
    bridge
        The session.
    run
        Takes the (Java) session that runs it and returns the rows of the answer.
    text
        What EXPLAIN shows; a Java object may put it together when it is asked for.
    columns
        Of the answer.
    """
    utilities = bridge.java_class("org.apache.spark.sql.catalyst.types.DataTypeUtils")
    attributes = utilities.toAttributes(bridge.java_schema(columns))
    return new(bridge, _COMMAND, "Command", _Work(bridge, run), text, attributes)


class _Work(Proxy):
    """What a command runs."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, run: Callable[[Any], Sequence[Row]]) -> None:
        super().__init__(bridge)
        self._run = run

    def apply(self, session: Any) -> Any:
        """Run it; returns a list of lists."""
        return self._bridge.list(self._bridge.list(row) for row in self._run(session))
