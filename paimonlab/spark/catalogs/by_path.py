"""``format("paimon")`` with ``load``, ``save`` and ``start``: the table of a catalog that is meant.

Options (``catalog``, ``database``, ``table``) or a folder say which. Spark would hand reads and
writes to a Python data source, which has no catalog. A rule of its analyzer, which runs before
columns are looked at, names the table instead: the read is then that of ``spark.table(name)``,
the write that of ``df.writeTo(name)``, by the names of columns. A stream into a folder keeps a sink
that is told its options later (`FolderSink`).

Source: apache/spark@v4.2.0 and v4.3.0 ``DataFrameReader.load``, ``DataStreamReader.load``,
``UnresolvedDataSource``, ``DataFrameWriter.saveCommand``, ``PythonTable``; Java Paimon's
``SparkSource``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paimonlab.catalog.names import DATABASE_SUFFIX, is_name
from paimonlab.errors import NotFoundError, ReadOnlyError, SchemaError, UnsupportedError
from paimonlab.spark.catalogs.clones import catalogs_of
from paimonlab.spark.catalogs.namespaces import catalog_behind
from paimonlab.spark.catalogs.places import Place, active_state, place_of
from paimonlab.spark.catalogs.stream_columns import with_columns_of_rows
from paimonlab.spark.jvm.bridge import ANALYSIS, CONNECTOR, Bridge, Proxy
from paimonlab.spark.jvm.case_classes import copied
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.jvm.rules import add_analyzer_rule
from paimonlab.spark.reading.data_source import NAME
from paimonlab.spark.writing.write import write_builder
from paimonlab.spec.external_paths import folder_of, scheme_of
from paimonlab.storage import ReadOnlyFileIO
from paimonlab.table.inside import store_of
from paimonlab.table.table import Table

_PATH, _CATALOG, _DATABASE, _TABLE = "path", "catalog", "database", "table"
_CHOOSING = frozenset({_PATH, _CATALOG, _DATABASE, _TABLE})
"""Options that say which table is meant."""
_CHANGELOG = "read.changelog"
_OVERWRITE, _STREAM = "OverwriteByExpression", "WriteToStreamStatement"
PRIVILEGES = "__required_write_privileges__"
"""Where Spark notes what a statement may do to a relation."""
_RULE = "ByPath$Naming"
_SOURCE = (
    """
package org.paimonlab.spark;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedDataSource;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Function1;
import scala.runtime.AbstractPartialFunction;

public final class ByPath {
  /** Asks Python which table is read. */
  public static final class Reading extends AbstractPartialFunction {
    private final Function1 name;

    public Reading(Function1 name) { this.name = name; }

    public boolean isDefinedAt(Object plan) {
      return plan instanceof UnresolvedDataSource
          && ((String) ((UnresolvedDataSource) plan).productElement(0)).equalsIgnoreCase("""
    f'"{NAME}"'
    """);
    }

    public Object applyOrElse(Object plan, Function1 otherwise) {
      return this.isDefinedAt(plan) ? this.name.apply(plan) : otherwise.apply(plan);
    }
  }

  /** Asks Python which table a folder is. */
  public static final class Naming extends Rule {
    private final Function1 name;

    public Naming(Function1 name) { this.name = name; }

    public TreeNode apply(TreeNode plan) {
      if (plan instanceof WriteToStreamStatement) {
        Object sink = ((WriteToStreamStatement) plan).sink();
        return isOurs(sink) ? (TreeNode) this.name.apply(plan) : plan;
      }
      if (!(plan instanceof V2WriteCommand)) {
        return ((LogicalPlan) plan).transformUp(new Reading(this.name));
      }
      Object target = ((V2WriteCommand) plan).table();
      if (!(target instanceof DataSourceV2Relation)) return plan;
      boolean isOurs = isOurs(((DataSourceV2Relation) target).table());
      return isOurs ? (TreeNode) this.name.apply(plan) : plan;
    }

    private static boolean isOurs(Object table) {
      return table.getClass().getName().endsWith(".PythonTable")
          && ((Table) table).name().equals("""
    f'"{NAME}"'
    """);
    }
  }
}
"""
)


def name_tables_of_format(bridge: Bridge) -> None:
    """Let the format in the session, its clones and sessions beside it mean tables of catalogs."""
    add_analyzer_rule(
        bridge, _RULE, lambda: new(bridge, _SOURCE, _RULE, _Naming(bridge)), is_first=True
    )


class _Naming(Proxy):
    """Gives a read or a write the name of its table."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def apply(self, plan: Any) -> Any:
        """Return the same read or write of a table that is to be looked up."""
        if str(plan.getClass().getSimpleName()) == "UnresolvedDataSource":
            return self._read(plan)
        bridge = self._bridge
        if str(plan.getClass().getSimpleName()) == _STREAM:
            return copied(bridge, plan, sink=FolderSink(bridge, plan.inputQuery().schema()))
        given = bridge.texts_of_map(plan.table().options().asCaseSensitiveMap())
        options, chosen = _parted(given)
        if not chosen:
            raise UnsupportedError(
                f"write.format({NAME!r}).save() without a path", "name the table: saveAsTable"
            )
        parts = _written_table(bridge, chosen)
        relation = bridge.java_class(ANALYSIS + "UnresolvedRelation")
        replaces = str(plan.getClass().getSimpleName()) == _OVERWRITE
        privileges = bridge.options({PRIVILEGES: "INSERT,DELETE" if replaces else "INSERT"})
        target = relation(bridge.seq(parts), privileges, False)  # noqa: FBT003 - not a stream
        command = bridge.module(str(plan.getClass().getName()))
        more = [plan.deleteExpr()] if replaces else []
        return command.byName(target, plan.query(), *more, bridge.scala_map(options), False)  # noqa: FBT003

    def _read(self, plan: Any) -> Any:
        """Return the relation that is read; what is in no catalog the data source reads."""
        bridge = self._bridge
        as_java = bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava
        given = bridge.texts_of_map(as_java(plan.options().originalMap()))
        options, chosen = _parted(given)
        paths = [str(path) for path in as_java(plan.paths())]
        if len(paths) == 1:
            chosen[_PATH] = paths[0]
        parts = _named_by_options(bridge, chosen)
        has_schema = bool(plan.userSpecifiedSchema().isDefined())
        if parts is not None and (has_schema or len(paths) > 1):
            raise UnsupportedError(
                f"format({NAME!r}) with the option catalog and "
                + ("a schema" if has_schema else "several paths"),
                "leave it out, and select columns",
            )
        is_streaming = bool(plan.isStreaming())
        changelog = [key for key in options if key.lower() == _CHANGELOG and not is_streaming]
        reads_changelog = any(options.pop(key).lower() == "true" for key in changelog)
        if parts is None:
            if has_schema or len(paths) > 1 or _PATH not in chosen:
                return plan  # with all of its options
            # Spark 4.2 tells a catalog no options of a read.
            if options and not is_streaming and bridge.spark.version.startswith("4.2."):
                return plan
            place = _found_in(bridge, chosen[_PATH])
            if place is None:
                return plan
            parts = [place.catalog_name, place.database, place.table]
        if reads_changelog:
            parts[-1] += "$audit_log"
        relation = bridge.java_class(ANALYSIS + "UnresolvedRelation")
        return relation(bridge.seq(parts), bridge.options(options), is_streaming)


class FolderSink(Proxy):
    """The sink of a stream that starts with a folder, or options that name a table.

    Spark says which folder when the first batch is planned.
    """

    class Java:
        """py4j's list of interfaces."""

        implements = [CONNECTOR + "catalog.SupportsWrite"]  # noqa: RUF012

    def __init__(self, bridge: Bridge, schema: Any) -> None:
        super().__init__(bridge)
        self._schema = schema

    def schema(self) -> Any:
        """Return the columns of the stream: those of the table are not known yet."""
        return self._schema

    def columns(self) -> Any:
        """Return the columns of the stream."""
        return self._bridge.columns(self._bridge.python_schema(self._schema))

    def partitioning(self) -> Any:
        """Return nothing: the table says how it is divided."""
        return self._bridge.array(CONNECTOR + "expressions.Transform", [])

    def properties(self) -> Any:
        """Return nothing."""
        return self._bridge.map({})

    def name(self) -> str:
        """Return the name that plans show."""
        return NAME

    def toString(self) -> str:
        """Answer ``Object.toString``."""
        return NAME

    def id(self) -> None:
        """Return no identity."""

    def version(self) -> None:
        """Return no version."""

    def constraints(self) -> Any:
        """Return nothing."""
        return self._bridge.array(CONNECTOR + "catalog.constraints.Constraint", [])

    def capabilities(self) -> Any:
        """Return what streams need."""
        return self._bridge.capabilities("STREAMING_WRITE", "TRUNCATE")

    def newWriteBuilder(self, definition: Any) -> Proxy:
        """Start to write to the table that the options of the stream name."""
        bridge = self._bridge
        given = bridge.texts_of_map(definition.options().asCaseSensitiveMap())
        options, chosen = _parted(given)
        if not chosen:
            raise UnsupportedError(
                f"writeStream.format({NAME!r}).start() without a path",
                "name the table: toTable, or give the folder of one",
            )
        parts = _written_table(bridge, chosen)
        place = place_of(bridge, parts, "a stream into")
        table = None if place is None else place.catalog.table(place.name)
        if place is None or not isinstance(table, Table):
            raise UnsupportedError(f"a stream into {'.'.join(parts)}", "it has to be a table")
        if isinstance(store_of(table).file_io, ReadOnlyFileIO):
            raise ReadOnlyError(f"writing to {table.name}")
        return write_builder(
            bridge,
            table,
            definition,
            catalog=place.catalog_name,
            stream_options=options,
            with_columns=with_columns_of_rows,
        )


def _written_table(bridge: Bridge, chosen: Mapping[str, str]) -> list[str]:
    """Return catalog, database and table of a write, which options name."""
    parts = _named_by_options(bridge, chosen)
    if parts is None:
        place = table_in(bridge, chosen[_PATH])
        parts = [place.catalog_name, place.database, place.table]
    return parts


def _parted(given: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Part options in those of the read or write and those that say which table is meant."""
    chosen = {key.lower(): value for key, value in given.items() if key.lower() in _CHOOSING}
    return {key: value for key, value in given.items() if key.lower() not in _CHOOSING}, chosen


def _named_by_options(bridge: Bridge, chosen: Mapping[str, str]) -> list[str] | None:
    """Return catalog, database and table that options name; None: the path alone says it.

    What of database and table the options leave out is that of the path, as in Java.

    Raises
    ------
    UnsupportedError
        If they are incomplete, the catalog is not ours, or its table is in another folder.
    """
    given = {key: value for key, value in chosen.items() if key != _PATH}
    if not given:
        return None
    what = f"format({NAME!r}) with " + ", ".join(f"{key} = {v!r}" for key, v in given.items())
    if _CATALOG not in given:
        raise UnsupportedError(what, "name the catalog as well: option('catalog', …)")
    path = _plain(chosen[_PATH]) if _PATH in chosen else None
    before, _, last = (path or "").rpartition("/")
    database = given.get(_DATABASE) or before.rpartition("/")[2].removesuffix(DATABASE_SUFFIX)
    table = given.get(_TABLE) or last
    if not database or not table:
        raise UnsupportedError(what, "name database and table as well, or give a path")
    manager = active_state(bridge).catalogManager()
    known = manager.isCatalogRegistered(given[_CATALOG])
    ours = catalog_behind(manager.catalog(given[_CATALOG])) if known else None
    if ours is None:
        raise UnsupportedError(
            what, "Spark has no Paimon catalog of that name: see paimonlab.spark.connect"
        )
    if path is not None:
        _check_folder(ours, f"{database}.{table}", path, what)
    return [given[_CATALOG], database, table]


def _check_folder(ours: Any, name: str, path: str, what: str) -> None:
    """Refuse a path that is not the folder of the table; what does not exist Spark says."""
    try:
        found = _plain(ours._catalog.table(name.partition("$")[0]).path)
    except (NotFoundError, SchemaError):
        return
    if found != path:
        raise UnsupportedError(f"{what} and the path {path}", f"{name} is in {found}")


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
    place = _found_in(bridge, path)
    if place is None:
        raise UnsupportedError(
            f"writing to {path} with format({NAME!r})",
            "no catalog of the Spark session has a table there: connect its warehouse first "
            "(paimonlab.spark.connect), or create the table and name it",
        )
    return place


def _found_in(bridge: Bridge, path: str) -> Place | None:
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
    return None


def _plain(path: str) -> str:
    path = path.rstrip("/")
    return folder_of(path) if scheme_of(path) in ("", "file") else path
