"""A parser in front of Spark's, for what Spark's grammar lacks or refuses.

What it takes is decided by Python: `_Statements` gets the text of a statement that may be ours, or
the plan of one that Spark refuses for tables of catalogs. All else goes to Spark's parser as it is.
EXPLAIN in front of a statement of ours works.

Source: apache/spark@v4.2.0 and v4.3.0, ``ParserInterface``,
``SparkSessionExtensions.injectParser``, ``ExplainCommand``.
"""

from __future__ import annotations

from typing import Any

from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.compiled import constructor
from paimonlab.spark.statements.dispatch import plan_of, replaced
from paimonlab.spark.statements.replace_using import let_spark_read_replacing_inserts

_SOURCE = """
package org.paimonlab.spark;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.plans.logical.AnalyzeColumn;
import org.apache.spark.sql.catalyst.plans.logical.AnalyzeTable;
import org.apache.spark.sql.catalyst.plans.logical.AnalyzeTables;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.DropPartitions;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedWith;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.execution.command.ExplainCommand;
import scala.Function1;
import scala.Option;

public final class Parsing implements InvocationHandler {
  private static final Pattern OURS = Pattern.compile(
      "^(?:\\\\s|--[^\\\\n]*\\\\n|/\\\\*.*?\\\\*/)*+"
          + "(EXPLAIN\\\\b(?:\\\\s+(?:EXTENDED|FORMATTED|CODEGEN|COST|LOGICAL))?\\\\s+)?"
          + "(ALTER\\\\b.*\\\\b(?:TAG|BRANCH|FIELDS?|WRITE)\\\\b.*"
          + "|SHOW\\\\s+(?:TAGS|SNAPSHOTS)\\\\b.*"
          + "|COPY\\\\s+INTO\\\\b.*|(?:OPTIMIZE|VACUUM|RESTORE|EXPIRE\\\\s+SNAPSHOTS)\\\\b.*"
          + "|(?:RE)?SET\\\\s+spark\\\\.paimon.*"
          + "|REORG\\\\s+TABLE\\\\b.*|CREATE\\\\b.*\\\\bCLONE\\\\b.*"
          + "|DESC(?:RIBE)?\\\\s+(?:HISTORY|DETAIL)\\\\b.*)$",
      Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
  private static final Pattern CHANGES = Pattern.compile(
      "^(?:\\\\s|--[^\\\\n]*\\\\n|/\\\\*.*?\\\\*/)*+"
          + "(?:EXPLAIN\\\\b(?:\\\\s+(?:EXTENDED|FORMATTED|CODEGEN|COST|LOGICAL))?\\\\s+)?"
          + "((?:UPDATE|DELETE|WITH)\\\\b.*)$",
      Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  private final Object parser;
  private final Function1 statements;

  public Parsing(Object parser, Function1 statements) {
    this.parser = parser;
    this.statements = statements;
  }

  public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    boolean isPlan = method.getName().startsWith("parsePlan");
    if (isPlan) {
      Matcher matcher = OURS.matcher((String) arguments[0]);
      if (matcher.matches()) {
        String explain = matcher.group(1) == null ? "" : matcher.group(1);
        Object made = this.statements.apply(matcher.group(2));
        if (made instanceof String) {
          arguments[0] = explain + made;
        } else if (made != null && explain.isEmpty()) {
          return made;
        } else if (made != null) {
          arguments[0] = explain + "SHOW CATALOGS";
          Object explained = this.delegated(method, arguments);
          return new ExplainCommand(
              (LogicalPlan) made, ((ExplainCommand) explained).mode());
        }
      }
    }
    Object parsed;
    try {
      parsed = this.delegated(method, arguments);
    } catch (ParseException error) {
      Matcher matcher = isPlan ? CHANGES.matcher((String) arguments[0]) : null;
      if (matcher != null && matcher.matches()) {
        this.statements.apply(matcher.group(1));  // fails if it knows what is meant
      }
      throw error;
    }
    return isPlan ? this.replaced((LogicalPlan) parsed) : parsed;
  }

  private LogicalPlan replaced(LogicalPlan plan) {
    if (plan instanceof ExplainCommand) {
      LogicalPlan explained = ((ExplainCommand) plan).logicalPlan();
      LogicalPlan made = this.replaced(explained);
      return made == explained
          ? plan : new ExplainCommand(made, ((ExplainCommand) plan).mode());
    }
    String kind = plan.getClass().getSimpleName();
    boolean isKept = kind.equals("CreateView") || kind.equals("AlterViewAs")
        || kind.equals("CreateUserDefinedFunction") || kind.equals("CreateFunction")
        || kind.equals("DropFunction") || kind.equals("DescribeFunction")
        || kind.equals("CreateTable") || kind.equals("CreateTableAsSelect")
        || kind.equals("CreateTableLike") || kind.equals("CreateTableLikeCommand")
        || kind.equals("RenameTable") || kind.equals("ShowTablesExtended")
        || kind.equals("RepairTable") || kind.equals("RecoverPartitions")
        || kind.equals("LoadData")
        || this.changesName(plan) || this.replacesRows(plan);
    if (isKept || plan instanceof DropPartitions || plan instanceof AnalyzeTable
        || plan instanceof AnalyzeTables || plan instanceof AnalyzeColumn) {
      Object made = this.statements.apply(plan);
      return made == null ? plan : (LogicalPlan) made;
    }
    return plan;
  }

  /** Whether it changes rows and has a WITH clause, whose names hide tables. */
  private boolean changesName(LogicalPlan plan) {
    LogicalPlan inner = plan instanceof UnresolvedWith ? ((UnresolvedWith) plan).child() : null;
    return inner instanceof DeleteFromTable || inner instanceof UpdateTable
        || inner instanceof MergeIntoTable;
  }

  /** Whether it is an INSERT with REPLACE USING or ON; Spark 4.2 has none. */
  private boolean replacesRows(LogicalPlan plan) {
    LogicalPlan inner = plan instanceof UnresolvedWith ? ((UnresolvedWith) plan).child() : plan;
    if (!(inner instanceof InsertIntoStatement)) {
      return false;
    }
    try {
      Option criteria = (Option) inner.getClass().getMethod("replaceCriteriaOpt").invoke(inner);
      return criteria.isDefined() && !criteria.get().getClass().getSimpleName().endsWith("Where");
    } catch (ReflectiveOperationException error) {
      return false;
    }
  }

  private Object delegated(Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(this.parser, arguments);
    } catch (InvocationTargetException error) {
      throw error.getCause();
    }
  }
}
"""
_INTERFACE = "org.apache.spark.sql.catalyst.parser.ParserInterface"


def read_statements(bridge: Bridge) -> None:
    """Let the session, its clones and sessions beside it read statements of ours."""
    let_spark_read_replacing_inserts(bridge)
    state = bridge.session.sessionState()
    present = state.sqlParser()
    if _is_ours(bridge, present):
        return
    statements = _Statements(bridge)
    field = state.getClass().getDeclaredField("sqlParser")
    field.setAccessible(True)
    field.set(state, _in_front(bridge, present, statements))
    bridge.session.extensions().injectParser(_ParserOfSession(bridge, statements))


def _is_ours(bridge: Bridge, parser: Any) -> bool:
    proxies = bridge.jvm.java.lang.reflect.Proxy
    if not proxies.isProxyClass(parser.getClass()):
        return False
    return str(proxies.getInvocationHandler(parser).getClass().getSimpleName()) == "Parsing"


def _in_front(bridge: Bridge, parser: Any, statements: Proxy) -> Any:
    made = constructor(bridge, _SOURCE, "Parsing")
    handler = made.newInstance(bridge.list([parser, statements]).toArray())
    loader = parser.getClass().getClassLoader()
    interface = loader.loadClass(_INTERFACE)
    proxies = bridge.jvm.java.lang.reflect.Proxy
    interfaces = bridge.array("java.lang.Class", [interface])
    return proxies.newProxyInstance(loader, interfaces, handler)


class _ParserOfSession(Proxy):
    """Gives the parser to a session that is built later."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function2"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, statements: Proxy) -> None:
        super().__init__(bridge)
        self._statements = statements

    def apply(self, session: Any, parser: Any) -> Any:
        """Return the parser with ours in front."""
        del session
        return (
            parser
            if _is_ours(self._bridge, parser)
            else _in_front(self._bridge, parser, self._statements)
        )


class _Statements(Proxy):
    """Reads statements that may be ours."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def apply(self, statement: Any) -> Any:
        """Return other text for Spark, a plan, or None: the statement is not ours.

        ``statement`` is a text, or the plan that Spark made of one.
        """
        if isinstance(statement, str):
            return plan_of(self._bridge, statement)
        return replaced(self._bridge, statement)
