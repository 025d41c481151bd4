"""Commands of Spark that Python runs.

A command is an abstract class of Spark, which a dynamic proxy cannot extend. It is compiled in
the JVM by Janino, the compiler that Spark itself has for generated code, and holds nothing but a
call of Python.

Source: apache/spark@v4.2.0 and v4.3.0, ``RunnableCommand``, ``TreeNode.otherCopyArgs``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from paimonlab.spark.jvm.bridge import Bridge, Proxy

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

PACKAGE = "org.paimonlab.spark"
"""Of the classes that are compiled."""
_COMMAND = """
package org.paimonlab.spark;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.execution.command.SetCommand;
import scala.Function1;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** A command that Python runs; SetCommand is a class that can be extended. */
public final class Command extends SetCommand {
  private final Function1 work;
  private final String text;
  private final Seq columns;

  public Command(Function1 work, String text, Seq columns) {
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
        if (values[k] instanceof Integer) {
          values[k] = Long.valueOf(((Integer) values[k]).longValue());
        }
      }
      rows[i] = RowFactory.create(values);
    }
    return CollectionConverters.asScala(Arrays.asList(rows)).toSeq();
  }
  public String nodeName() { return "Paimon"; }
  public String simpleString(int maxFields) { return this.text; }
  public int productArity() { return 0; }
  public Seq otherCopyArgs() {
    Object[] copied = new Object[] {this.work, this.text, this.columns};
    return CollectionConverters.asScala(Arrays.asList(copied)).toSeq();
  }
  public boolean equals(Object other) { return this == other; }
  public int hashCode() { return System.identityHashCode(this); }
}
"""

_lock = Lock()
_compiled: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()
"""Class loaders of each Spark application, by the source that they were compiled of."""

Row = Sequence[str | int | bool | None]
"""One row of what a command answers; whole numbers are BIGINT."""


def constructor(bridge: Bridge, source: str, name: str) -> Any:
    """Compile Java source, once for each Spark application, and return a class's constructor.

    Parameters
    ----------
    bridge
        The session.
    source
        Of a file in `PACKAGE`.
    name
        Of the class, as ``Outer$Inner`` if it is inside of another one.

    Returns
    -------
    Java object
        A ``java.lang.reflect.Constructor``.
    """
    context = bridge.spark.sparkContext
    with _lock:
        loaders = _compiled.setdefault(context, {})
        if source not in loaders:
            compiler = bridge.java_class("org.codehaus.janino.SimpleCompiler")()
            thread = bridge.jvm.java.lang.Thread.currentThread()
            compiler.setParentClassLoader(thread.getContextClassLoader())
            compiler.cook(source)
            loaders[source] = compiler.getClassLoader()
        (first, *_) = loaders[source].loadClass(f"{PACKAGE}.{name}").getConstructors()
        return first


def command(
    bridge: Bridge, run: Callable[[Any], Sequence[Row]], text: str, columns: StructType
) -> Any:
    """Make a plan of Spark that calls Python when it is run.

    Parameters
    ----------
    bridge
        The session.
    run
        Takes the (Java) session that runs it and returns the rows of the answer.
    text
        What EXPLAIN shows.
    columns
        Of the answer.
    """
    utilities = bridge.java_class("org.apache.spark.sql.catalyst.types.DataTypeUtils")
    attributes = utilities.toAttributes(bridge.java_schema(columns))
    arguments = bridge.list([_Work(bridge, run), text, attributes])
    return constructor(bridge, _COMMAND, "Command").newInstance(arguments.toArray())


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
