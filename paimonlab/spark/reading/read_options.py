"""Read options in Spark 4.2, which does not tell a catalog of them: those that matter are refused.

A rule of the analyzer, which runs before tables are looked up, sees them: in SQL, of a data frame,
of a client of Spark Connect. Since 4.3 Spark hands them to ``loadTable``.

Source: apache/spark@v4.2.0 ``RelationResolution``, ``UnresolvedRelation``.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.jvm.named_tables import named_table
from paimonlab.spark.jvm.rules import add_analyzer_rule

_RULE = "ReadOptions$Looking"
_SOURCE = """
package org.paimonlab.spark;

import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import scala.Function1;
import scala.runtime.AbstractPartialFunction;

public final class ReadOptions {
  /** Shows Python the relations of a query that have one of some options. */
  public static final class Looking extends Rule {
    private final Function1 show;
    private final Set keys;

    public Looking(Function1 show, Set keys) {
      this.show = show;
      this.keys = keys;
    }

    public TreeNode apply(TreeNode plan) {
      return ((LogicalPlan) plan).transformUp(new Showing(this.show, this.keys));
    }
  }

  public static final class Showing extends AbstractPartialFunction {
    private final Function1 show;
    private final Set keys;

    public Showing(Function1 show, Set keys) {
      this.show = show;
      this.keys = keys;
    }

    public boolean isDefinedAt(Object plan) {
      if (!(plan instanceof UnresolvedRelation)) return false;
      UnresolvedRelation relation = (UnresolvedRelation) plan;
      if (relation.isStreaming() || relation.options().isEmpty()) return false;
      Object[] wanted = this.keys.toArray();
      for (int i = 0; i < wanted.length; i++) {
        if (relation.options().containsKey(wanted[i])) return true;
      }
      return false;
    }

    public Object applyOrElse(Object plan, Function1 otherwise) {
      return this.isDefinedAt(plan) ? this.show.apply(plan) : otherwise.apply(plan);
    }
  }
}
"""


def refuse_read_options(bridge: Bridge, keys: Collection[str]) -> None:
    """Let queries of the session, its clones and sessions beside it name none of these options.

    Parameters
    ----------
    bridge
        The session; nothing is refused if its Spark hands over the options of a read.
    keys
        The options.
    """
    if bridge.spark.version.startswith("4.2."):
        add_analyzer_rule(
            bridge,
            _RULE,
            lambda: new(bridge, _SOURCE, _RULE, _Refusal(bridge, keys), bridge.set(keys)),
            is_first=True,
        )


class _Refusal(Proxy):
    """Refuses relations that are tables of ours."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, keys: Collection[str]) -> None:
        super().__init__(bridge)
        self._keys = keys

    def apply(self, unresolved: Any) -> Any:
        """Return the relation of others."""
        named = named_table(self._bridge, unresolved)
        if named is None:
            return unresolved
        options = unresolved.options()
        key = next(key for key in self._keys if options.containsKey(key))
        raise UnsupportedError(
            f"{key} = {options.get(key)!r} as an option of a read of {'.'.join(named.namespace)}."
            f"{named.name} in Spark {self._bridge.spark.version}",
            "use VERSION AS OF, TIMESTAMP AS OF or paimon_incremental_query, "
            f'spark.read.format("paimon"), SET spark.paimon.{key}, or Spark 4.3',
        )
