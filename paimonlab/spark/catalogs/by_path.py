"""``df.write.format("paimon").save(path)``: a write to the table that a catalog has in a folder.

Spark would hand the rows to a Python data source, which has no catalog to commit through. A rule of
its analyzer, which runs before columns are looked at, names the table instead: the write is then
that of ``df.writeTo(name)``, by the names of columns.

Source: apache/spark@v4.2.0 and v4.3.0 ``DataFrameWriter.saveCommand``, ``PythonTable``.
"""

from __future__ import annotations

from typing import Any

from paimonlab.catalog.names import DATABASE_SUFFIX, is_name
from paimonlab.errors import NotFoundError, SchemaError, UnsupportedError
from paimonlab.spark.catalogs.clones import catalogs_of
from paimonlab.spark.catalogs.namespaces import catalog_behind
from paimonlab.spark.catalogs.places import Place, active_state
from paimonlab.spark.jvm.bridge import ANALYSIS, Bridge, Proxy
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.jvm.rules import add_analyzer_rule
from paimonlab.spark.reading.data_source import NAME
from paimonlab.spec.external_paths import folder_of, scheme_of

_PATH = "path"
_OVERWRITE = "OverwriteByExpression"
PRIVILEGES = "__required_write_privileges__"
"""Where Spark notes what a statement may do to a relation."""
_RULE = "ByPath$Naming"
_SOURCE = (
    """
package org.paimonlab.spark;

import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Function1;

public final class ByPath {
  /** Asks Python which table a folder is. */
  public static final class Naming extends Rule {
    private final Function1 name;

    public Naming(Function1 name) { this.name = name; }

    public TreeNode apply(TreeNode plan) {
      if (!(plan instanceof V2WriteCommand)) return plan;
      Object target = ((V2WriteCommand) plan).table();
      if (!(target instanceof DataSourceV2Relation)) return plan;
      Object table = ((DataSourceV2Relation) target).table();
      boolean isOurs = table.getClass().getName().endsWith(".PythonTable")
          && ((DataSourceV2Relation) target).table().name().equals("""
    f'"{NAME}"'
    """);
      return isOurs ? (TreeNode) this.name.apply(plan) : plan;
    }
  }
}
"""
)


def name_written_folders(bridge: Bridge) -> None:
    """Let writes of the session, its clones and sessions beside it name tables by folders."""
    add_analyzer_rule(
        bridge, _RULE, lambda: new(bridge, _SOURCE, _RULE, _Naming(bridge)), is_first=True
    )


class _Naming(Proxy):
    """Gives a write the name of its table."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def apply(self, plan: Any) -> Any:
        """Return the same write to a table that is to be looked up."""
        bridge = self._bridge
        given = bridge.texts_of_map(plan.table().options().asCaseSensitiveMap())
        options = {key: value for key, value in given.items() if key.lower() != _PATH}
        paths = [value for key, value in given.items() if key.lower() == _PATH]
        if not paths:
            raise UnsupportedError(
                f"write.format({NAME!r}).save() without a path", "name the table: saveAsTable"
            )
        place = table_in(bridge, paths[0])
        parts = bridge.seq([place.catalog_name, place.database, place.table])
        relation = bridge.java_class(ANALYSIS + "UnresolvedRelation")
        replaces = str(plan.getClass().getSimpleName()) == _OVERWRITE
        privileges = bridge.options({PRIVILEGES: "INSERT,DELETE" if replaces else "INSERT"})
        target = relation(parts, privileges, False)  # noqa: FBT003 - not a stream
        command = bridge.module(str(plan.getClass().getName()))
        more = [plan.deleteExpr()] if replaces else []
        return command.byName(target, plan.query(), *more, bridge.scala_map(options), False)  # noqa: FBT003


def table_in(bridge: Bridge, path: str) -> Place:
    """Return the table of a catalog of the session that is in a folder.

    Parameters
    ----------
    bridge
        The session.
    path
        The folder, with a scheme or without.

    Raises
    ------
    UnsupportedError
        If no catalog has such a table.
    """
    folder = _plain(path)
    parent, _, table = folder.rpartition("/")
    database = parent.rpartition("/")[2].removesuffix(DATABASE_SUFFIX)
    known = bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(
        catalogs_of(active_state(bridge))
    )
    names = [str(name) for name in known]
    for name in names if database and is_name(f"{database}.{table}") else ():
        ours = catalog_behind(known[name])
        if ours is None:
            continue
        try:
            found = ours._catalog.table(f"{database}.{table}")
        except (NotFoundError, SchemaError):
            continue
        if _plain(found.path) == folder:
            return Place(ours._catalog, name, database, table)
    raise UnsupportedError(
        f"writing to {path} with format({NAME!r})",
        "no catalog of the Spark session has a table there: connect its warehouse first "
        "(paimonlab.spark.connect), or create the table and name it",
    )


def _plain(path: str) -> str:
    path = path.rstrip("/")
    return folder_of(path) if scheme_of(path) in ("", "file") else path
