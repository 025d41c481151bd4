"""The two Java classes that Spark needs where a Python object will not do.

A rule of Spark's analyzer and a command are abstract classes, which a dynamic proxy cannot
extend. They are compiled in the JVM by Janino, the compiler that Spark itself has for generated
code, and hold nothing but calls of Python.

Source: apache/spark@v4.2.0 and v4.3.0, ``Rule``, ``Analyzer.postHocResolutionRules``,
``RunnableCommand``, ``TreeNode.otherCopyArgs``.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any

from paimonlab.spark.jvm.bridge import Bridge, Proxy

_PACKAGE = "org.paimonlab.spark"
_SOURCE = """
package org.paimonlab.spark;

import java.lang.reflect.Proxy;
import java.util.Arrays;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.EliminateSubqueryAliases;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.command.SetCommand;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Function0;
import scala.Function1;
import scala.collection.immutable.Seq;
import scala.runtime.AbstractPartialFunction;
import scala.jdk.javaapi.CollectionConverters;

public final class RowLevel {
  /** A command that Python runs; SetCommand is a class that can be extended. */
  public static final class Command extends SetCommand {
    private final Function0 work;
    private final String text;
    private final Seq columns;

    public Command(Function0 work, String text, Seq columns) {
      super(scala.Option.empty());
      this.work = work;
      this.text = text;
      this.columns = columns;
    }

    public Seq output() { return this.columns; }
    public Seq run(SparkSession session) {
      String[] numbers = ((String) this.work.apply()).split(",");
      Object[] values = new Object[numbers.length];
      for (int i = 0; i < numbers.length; i++) {
        values[i] = Long.valueOf(numbers[i]);
      }
      Object[] rows = new Object[] {RowFactory.create(values)};
      return CollectionConverters.asScala(Arrays.asList(rows)).toSeq();
    }
    public String nodeName() { return "PaimonRows"; }
    public String simpleString(int maxFields) { return this.text; }
    public int productArity() { return 0; }
    public Seq otherCopyArgs() {
      Object[] copied = new Object[] {this.work, this.text, this.columns};
      return CollectionConverters.asScala(Arrays.asList(copied)).toSeq();
    }
    public boolean equals(Object other) { return this == other; }
    public int hashCode() { return System.identityHashCode(this); }
  }

  /** Replaces relations that are Python objects, but for the target of a statement. */
  public static final class Reading extends AbstractPartialFunction {
    private final Object target;
    private final Function1 read;

    public Reading(Object target, Function1 read) {
      this.target = target;
      this.read = read;
    }

    public boolean isDefinedAt(Object plan) {
      return plan instanceof DataSourceV2Relation
          && Proxy.isProxyClass(((DataSourceV2Relation) plan).table().getClass())
          && !((DataSourceV2Relation) plan).output().equals(
              ((DataSourceV2Relation) this.target).output());
    }

    public Object applyOrElse(Object plan, Function1 otherwise) {
      return this.isDefinedAt(plan) ? this.read.apply(plan) : otherwise.apply(plan);
    }
  }

  /** Hands statements on tables that are Python objects to Python. */
  public static final class Rewriting extends Rule {
    private final Function1 rewrite;

    public Rewriting(Function1 rewrite) { this.rewrite = rewrite; }

    public TreeNode apply(TreeNode plan) {
      LogicalPlan target = null;
      if (plan instanceof MergeIntoTable) {
        target = ((MergeIntoTable) plan).targetTable();
      } else if (plan instanceof UpdateTable) {
        target = ((UpdateTable) plan).table();
      } else if (plan instanceof DeleteFromTable) {
        target = ((DeleteFromTable) plan).table();
      }
      if (target == null || !((LogicalPlan) plan).resolved()) {
        return plan;
      }
      Object leaf = EliminateSubqueryAliases.apply(target).collectLeaves().head();
      if (!(leaf instanceof DataSourceV2Relation)) {
        return plan;
      }
      Object table = ((DataSourceV2Relation) leaf).table();
      return Proxy.isProxyClass(table.getClass()) ? (TreeNode) this.rewrite.apply(plan) : plan;
    }
  }
}
"""

_lock = Lock()
_compiled: weakref.WeakKeyDictionary[Any, JavaClasses] = weakref.WeakKeyDictionary()
"""The classes of each Spark application."""


@dataclass(frozen=True, slots=True)
class JavaClasses:
    """The constructors of the compiled classes."""

    command: Any
    rule: Any
    reading: Any


def java_classes(bridge: Bridge) -> JavaClasses:
    """Compile the classes, once for each Spark application."""
    context = bridge.spark.sparkContext
    with _lock:
        if context not in _compiled:
            compiler = bridge.java_class("org.codehaus.janino.SimpleCompiler")()
            thread = bridge.jvm.java.lang.Thread.currentThread()
            compiler.setParentClassLoader(thread.getContextClassLoader())
            compiler.cook(_SOURCE)
            loader = compiler.getClassLoader()
            command, rule, reading = (
                loader.loadClass(f"{_PACKAGE}.RowLevel${name}").getConstructors()[0]
                for name in ("Command", "Rewriting", "Reading")
            )
            _compiled[context] = JavaClasses(command, rule, reading)
        return _compiled[context]


def install_rule(bridge: Bridge, rewrite: Proxy) -> None:
    """Let the session, its clones and sessions beside it ask ``rewrite`` about statements.

    Parameters
    ----------
    bridge
        The session.
    rewrite
        A ``scala.Function1`` from a resolved statement to the plan that runs it.
    """
    rules = java_classes(bridge).rule
    analyzer = bridge.session.sessionState().analyzer()
    field = analyzer.getClass().getDeclaredField("postHocResolutionRules")
    field.setAccessible(True)
    present = field.get(analyzer)
    if any("RowLevel$Rewriting" in rule.ruleName() for rule in _elements(bridge, present)):
        return
    rule = rules.newInstance(bridge.list([rewrite]).toArray())
    field.set(analyzer, present.appended(rule))
    bridge.session.extensions().injectPostHocResolutionRule(_RuleOfSession(bridge, rule))


def _elements(bridge: Bridge, items: Any) -> Any:
    return bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(items)


class _RuleOfSession(Proxy):
    """Gives the rule to the analyzer of a session that is built later."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, rule: Any) -> None:
        super().__init__(bridge)
        self._rule = rule

    def apply(self, session: Any) -> Any:
        """Return the rule."""
        del session
        return self._rule


class Work(Proxy):
    """What a command runs."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function0"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, run: Callable[[], str]) -> None:
        super().__init__(bridge)
        self._run = run

    def apply(self) -> str:
        """Run it; returns the numbers of its row, with commas between."""
        return self._run()
