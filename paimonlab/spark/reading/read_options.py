"""Options of one read that Spark does not tell a catalog of: they are refused by name.

Spark 4.3 hands over those options that the catalog asks for, Spark 4.2 none. A rule of the
analyzer, which runs before tables are looked up, sees all of them: in SQL, of a data frame, of a
client of Spark Connect.

Source: apache/spark@v4.2.0 and v4.3.0 ``RelationResolution``, ``UnresolvedRelation``,
``TimeTravelSpec``.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.jvm.named_tables import named_table
from paimonlab.spark.jvm.rules import add_analyzer_rule
from paimonlab.spark.reading.time_travel import READ_OPTIONS, SKIP_OPTIONS
from paimonlab.spec.options.table_options import check_known

_RULE = "ReadOptions$Looking"
_SOURCE = """
package org.paimonlab.spark;

import java.util.HashSet;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.internal.SQLConf;
import scala.Function1;
import scala.Function2;
import scala.runtime.AbstractPartialFunction;

public final class ReadOptions {
  /** Shows Python the relations of a query that have options other than some. */
  public static final class Looking extends Rule {
    private final Function2 show;
    private final Set told = new HashSet();

    public Looking(Function2 show, Set told) {
      this.show = show;
      Object[] keys = told.toArray();
      for (int i = 0; i < keys.length; i++) this.told.add(((String) keys[i]).toLowerCase());
    }

    public TreeNode apply(TreeNode plan) {
      return ((LogicalPlan) plan).transformUp(new Showing(this.show, this.told));
    }
  }

  public static final class Showing extends AbstractPartialFunction {
    private static final String WRITTEN = "__required_write_privileges__";
    private static final String MOMENT = "spark.sql.timeTravelTimestampKey";
    private static final String VERSION = "spark.sql.timeTravelVersionKey";

    private final Function2 show;
    private final Set told;

    public Showing(Function2 show, Set told) {
      this.show = show;
      this.told = told;
    }

    private String untold(Object plan) {
      if (!(plan instanceof UnresolvedRelation)) return null;
      UnresolvedRelation relation = (UnresolvedRelation) plan;
      if (relation.isStreaming() || relation.options().isEmpty()) return null;
      SQLConf conf = SQLConf.get();
      Object[] given = relation.options().asCaseSensitiveMap().keySet().toArray();
      for (int i = 0; i < given.length; i++) {
        String key = (String) given[i];
        if (key.equals(WRITTEN)) continue;
        if (key.equalsIgnoreCase(conf.getConfString(MOMENT, "timestampAsOf"))) continue;
        if (key.equalsIgnoreCase(conf.getConfString(VERSION, "versionAsOf"))) continue;
        if (!this.told.contains(key.toLowerCase())) return key;
      }
      return null;
    }

    public boolean isDefinedAt(Object plan) { return this.untold(plan) != null; }

    public Object applyOrElse(Object plan, Function1 otherwise) {
      String key = this.untold(plan);
      return key == null ? otherwise.apply(plan) : this.show.apply(plan, key);
    }
  }
}
"""


def refuse_untold_options(bridge: Bridge, told: Collection[str]) -> None:
    """Let queries of the session, its clones and sessions beside it name no other option.

    Parameters
    ----------
    bridge
        The session.
    told
        The options that a catalog asks Spark for, and itself obeys or refuses. Spark 4.2 does not
        ask catalogs.
    """
    if bridge.spark.version.startswith("4.2."):
        told = ()
    add_analyzer_rule(
        bridge,
        _RULE,
        lambda: new(bridge, _SOURCE, _RULE, _Refusal(bridge), bridge.strings_once(*told)),
        is_first=True,
    )


class _Refusal(Proxy):
    """Refuses relations that are tables of ours."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function2"]  # noqa: RUF012

    def apply(self, unresolved: Any, key: str) -> Any:
        """Return the relation of others."""
        named = named_table(self._bridge, unresolved)
        if named is None:
            return unresolved
        check_known([key])
        options, table = unresolved.options(), ".".join((*named.namespace, named.name))
        what = (
            f"{key} = {options.get(key)!r} as an option of a read of {table} "
            f"in Spark {self._bridge.spark.version}"
        )
        if key.lower() not in READ_OPTIONS or key.lower() in SKIP_OPTIONS:
            raise UnsupportedError(what, f"SET spark.paimon.{key}, or set it on the table")
        raise UnsupportedError(
            what,
            "use VERSION AS OF, TIMESTAMP AS OF or paimon_incremental_query, "
            f'spark.read.format("paimon"), SET spark.paimon.{key}, or Spark 4.3',
        )
