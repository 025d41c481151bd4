"""From a table that a query streams to its relation: ``readStream.table``, ``FROM STREAM db.t``.

Spark asks a catalog for a table without saying whether a stream is to read it. A rule of its
analyzer, which runs before tables are looked up, sees the relations that say so, with their
options, whoever made the query: SQL, a data frame, or a client of Spark Connect.

Source: apache/spark@v4.2.0 and v4.3.0, ``Analyzer.hintResolutionRules``,
``RelationResolution.createRelation``, ``StreamingRelationV2``.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any, Protocol

from paimonlab.errors import DatabaseNotFoundError, TableNotFoundError
from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.jvm.named_tables import named_table
from paimonlab.spark.jvm.rules import add_analyzer_rule

_RULE = "Streams$Resolving"
_SOURCE = """
package org.paimonlab.spark;

import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import scala.Function1;
import scala.runtime.AbstractPartialFunction;

public final class Streams {
  /** Asks Python about tables that are to be streamed. */
  public static final class Resolving extends Rule {
    private final Function1 resolve;

    public Resolving(Function1 resolve) { this.resolve = resolve; }

    public TreeNode apply(TreeNode plan) {
      LogicalPlan whole = (LogicalPlan) plan;
      return whole.isStreaming() ? whole.transformUp(new Replacing(this.resolve)) : plan;
    }
  }

  public static final class Replacing extends AbstractPartialFunction {
    private final Function1 resolve;

    public Replacing(Function1 resolve) { this.resolve = resolve; }

    public boolean isDefinedAt(Object plan) {
      return plan instanceof UnresolvedRelation && ((UnresolvedRelation) plan).isStreaming();
    }

    public Object applyOrElse(Object plan, Function1 otherwise) {
      return this.isDefinedAt(plan) ? this.resolve.apply(plan) : otherwise.apply(plan);
    }
  }
}
"""
_CATALYST = "org.apache.spark.sql.catalyst."
_ALIAS = _CATALYST + "plans.logical.SubqueryAlias"
_RELATION = _CATALYST + "streaming.StreamingRelationV2"
_TYPES = _CATALYST + "types.DataTypeUtils"
_UNNAMED = _CATALYST + "streaming.Unassigned"
_PARAMETERS_WITHOUT_NAME = 8
"""Of a relation before Spark 4.3, where a source of a query can have a name."""


class StreamedCatalog(Protocol):
    """A catalog with tables that can be streamed."""

    def hashCode(self) -> int:
        """Return the number that its Java side has as well."""

    def _streamed(self, identifier: Any, given: Mapping[str, str]) -> Proxy:
        """Return a table for a stream with these options; raise TableNotFoundError."""


_catalogs: weakref.WeakValueDictionary[int, StreamedCatalog] = weakref.WeakValueDictionary()
"""The catalogs of this process, by their hash codes."""


def remember(catalog: StreamedCatalog) -> None:
    """Let streams find the tables of a catalog."""
    _catalogs[catalog.hashCode()] = catalog


def resolve_streams(bridge: Bridge) -> None:
    """Let queries of the session, its clones and sessions beside it stream tables."""
    add_analyzer_rule(
        bridge, _RULE, lambda: new(bridge, _SOURCE, _RULE, _Relations(bridge)), is_first=True
    )


class _Relations(Proxy):
    """Makes the relations of streams."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def apply(self, unresolved: Any) -> Any:
        """Return the relation of a table of ours; another one as it is."""
        bridge = self._bridge
        named = named_table(bridge, unresolved)
        if named is None:
            return unresolved
        java_catalog = named.java_catalog
        catalog = _catalogs.get(int(java_catalog.hashCode()))
        if catalog is None:
            return unresolved
        identifier = bridge.identifier(named.namespace, named.name)
        options = unresolved.options()
        try:
            table = catalog._streamed(identifier, bridge.texts_of_map(options.asCaseSensitiveMap()))
        except (TableNotFoundError, DatabaseNotFoundError):
            return unresolved  # Spark looks for it, and says where it did
        relation = _relation(bridge, table, options, java_catalog, identifier)
        alias = [str(java_catalog.name()), *named.namespace, named.name]
        return bridge.module(_ALIAS).apply(bridge.seq(alias), relation)


def _relation(bridge: Bridge, table: Any, options: Any, java_catalog: Any, identifier: Any) -> Any:
    loader = bridge.jvm.java.lang.Thread.currentThread().getContextClassLoader()
    (constructor,) = loader.loadClass(_RELATION).getConstructors()
    attributes = bridge.java_class(_TYPES).toAttributes(table.schema())
    arguments = [
        bridge.none(),
        table.name(),
        table,
        options,
        attributes,
        bridge.some(java_catalog),
        bridge.some(identifier),
        bridge.none(),
    ]
    if constructor.getParameterCount() > _PARAMETERS_WITHOUT_NAME:
        arguments.append(bridge.module(_UNNAMED))
    return constructor.newInstance(bridge.list(arguments).toArray())
