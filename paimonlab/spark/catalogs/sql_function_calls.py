"""Calls of SQL functions that a catalog keeps.

Spark takes a function of a catalog for something to call row by row, and knows SQL functions of
its own only. So a rule of its analyzer, which runs before functions are looked up, puts a call of
such a function in the place of the name; Spark puts the body in the place of the call. The rule
sees calls in views as well, where names are those of the view's own database.

Source: apache/spark@v4.2.0 and v4.3.0 ``Analyzer.hintResolutionRules``, ``LookupFunctions``,
``AnalysisContext``, ``UnresolvedFunction``.
"""

from __future__ import annotations

from typing import Any

from paimonlab.errors import UnsupportedError
from paimonlab.spark.catalogs.places import named_place
from paimonlab.spark.catalogs.sql_functions import (
    called,
    is_of_session,
    kept_function,
    sql_function,
)
from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.jvm.rules import add_analyzer_rule

_RULE = "SqlFunctions$Resolving"
_SOURCE = """
package org.paimonlab.spark;

import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern;
import scala.Function1;
import scala.Option;
import scala.runtime.AbstractPartialFunction;

public final class SqlFunctions {
  /** Asks Python about functions that Spark does not have. */
  public static final class Resolving extends Rule {
    private final Function1 resolve;

    public Resolving(Function1 resolve) { this.resolve = resolve; }

    public TreeNode apply(TreeNode plan) {
      return plan.containsPattern(TreePattern.UNRESOLVED_FUNCTION())
          ? ((LogicalPlan) plan).transformAllExpressions(new Replacing(this.resolve)) : plan;
    }
  }

  public static final class Replacing extends AbstractPartialFunction {
    private final Function1 resolve;

    public Replacing(Function1 resolve) { this.resolve = resolve; }

    public boolean isDefinedAt(Object found) {
      if (!(found instanceof UnresolvedFunction)) return false;
      UnresolvedFunction function = (UnresolvedFunction) found;
      if (function.isInternal()) return false;
      if (function.nameParts().size() > 1) return true;
      FunctionIdentifier name =
          new FunctionIdentifier((String) function.nameParts().head(), Option.empty());
      return !FunctionRegistry.builtin().functionExists(name);
    }

    public Object applyOrElse(Object found, Function1 otherwise) {
      return this.isDefinedAt(found) ? this.resolve.apply(found) : otherwise.apply(found);
    }
  }
}
"""
_CONTEXT = "org.apache.spark.sql.catalyst.analysis.AnalysisContext"


def resolve_sql_functions(bridge: Bridge) -> None:
    """Let queries of the session, its clones and sessions beside it call kept functions."""
    add_analyzer_rule(
        bridge, _RULE, lambda: new(bridge, _SOURCE, _RULE, _Functions(bridge)), is_first=True
    )


class _Functions(Proxy):
    """Makes the calls."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def apply(self, unresolved: Any) -> Any:
        """Return a call of an SQL function of ours; another one as it is."""
        bridge = self._bridge
        as_java = bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava
        parts = [str(part) for part in as_java(unresolved.nameParts())]
        if len(parts) == 1 and is_of_session(bridge, parts[0]):
            return unresolved
        within = as_java(bridge.java_class(_CONTEXT).get().catalogAndNamespace())
        place = named_place(bridge, parts, [str(part) for part in within])
        function = kept_function(place)
        if place is None or function is None:
            return unresolved
        if (
            unresolved.isDistinct()
            or unresolved.filter().isDefined()
            or unresolved.ignoreNulls().isDefined()
            or not unresolved.orderingWithinGroup().isEmpty()
        ):
            raise UnsupportedError(
                f"{place.name} with DISTINCT, FILTER, WITHIN GROUP or NULLS",
                "it is a function of one row",
            )
        if any(_is_star(argument) for argument in as_java(unresolved.arguments())):
            raise UnsupportedError(f"{place.name}(*)", "name the columns")
        made = sql_function(bridge, place, function)
        return called(bridge, made, unresolved.arguments())


def _is_star(argument: Any) -> bool:
    return str(argument.getClass().getSimpleName()).startswith("UnresolvedStar")
