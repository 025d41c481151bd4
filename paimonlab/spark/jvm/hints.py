"""Hints in Spark's errors about columns and tables, for clients in any language.

They see what the JVM says.

Where a plan is not resolved at the end of the analysis, Spark checks it next and says what is
missing. A rule of its analyzer does that check a moment before, and throws the error itself if
there is something to add to the message.

Source: apache/spark@v4.2.0 and v4.3.0 ``Analyzer.executeAndCheck``, ``AnalysisException``.
"""

from __future__ import annotations

from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.jvm.missing_names import with_hint
from paimonlab.spark.jvm.rules import add_analyzer_rule

_RULE = "HintsOfNames"
_SOURCE = """
package org.paimonlab.spark;

import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.ExtendedAnalysisException;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.unsafe.Platform;
import scala.Function3;
import scala.Option;

public final class HintsOfNames extends Rule {
  private final Function3 add;

  public HintsOfNames(Function3 add) { this.add = add; }

  public TreeNode apply(TreeNode plan) {
    LogicalPlan whole = (LogicalPlan) plan;
    if (whole.resolved() || isPart()) return plan;
    Option active = SparkSession.getActiveSession();
    if (!active.isDefined()) return plan;
    Exception told = null;
    try {
      ((SparkSession) active.get()).sessionState().analyzer().checkAnalysis(whole);
    } catch (Exception error) {
      told = this.hinted(error);
    }
    if (told != null) Platform.throwException(told);
    return plan;
  }

  /** Makes the same error with a hint; null: there is none. */
  private Exception hinted(Exception error) {
    if (!(error instanceof AnalysisException)) return null;
    AnalysisException said = (AnalysisException) error;
    String condition = said.getCondition();
    if (condition == null) return null;
    boolean isTable = condition.equals("TABLE_OR_VIEW_NOT_FOUND");
    if (!isTable && !condition.startsWith("UNRESOLVED_COLUMN")) return null;
    Object name = said.getMessageParameters().get(isTable ? "relationName" : "objectName");
    if (name == null) return null;
    String message = (String) this.add.apply(condition, said.message(), name);
    if (message.equals(said.message())) return null;
    AnalysisException told = said.copy(message, said.line(), said.startPosition(), said.cause(),
        said.errorClass(), said.messageParameters(), said.context());
    if (said instanceof ExtendedAnalysisException) {
      Option plan = ((ExtendedAnalysisException) said).plan();
      if (plan.isDefined()) told = new ExtendedAnalysisException(told, (LogicalPlan) plan.get());
    }
    return told;
  }

  /** Whether it is a part of a plan, of which others may know more: a subquery, a view. */
  private static boolean isPart() {
    StackTraceElement[] frames = new Throwable().getStackTrace();
    int runs = 0;
    for (int i = 0; i < frames.length; i++) {
      boolean isRun = frames[i].getMethodName().equals("execute")
          && frames[i].getClassName().endsWith(".RuleExecutor");
      if (isRun) runs++;
    }
    return runs > 1;
  }
}
"""


def add_hints(bridge: Bridge) -> None:
    """Let errors of the session, its clones and sessions beside it say which name is meant."""
    add_analyzer_rule(bridge, _RULE, lambda: new(bridge, _SOURCE, _RULE, _Adding(bridge)))


class _Adding(Proxy):
    """Adds to a message."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function3"]  # noqa: RUF012

    def apply(self, condition: str, message: str, name: str) -> str:
        """Return the message, with a hint if there is one."""
        return with_hint(message, condition, name)
