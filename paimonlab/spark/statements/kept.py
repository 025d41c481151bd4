"""Statements that create views in a catalog of ours.

Spark looks at the query of a view before it asks the catalog, and finds there what our tables are
read by, which it refuses for reasons that nobody understands who has not read this. So a view is
created by a command of ours.

Source: apache/spark@v4.2.0 and v4.3.0 ``CreateView``, ``AlterViewAs``; apache/paimon@5dacde5
``CreatePaimonViewExec``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from paimonlab.catalog.views import ViewCatalog
from paimonlab.errors import SchemaError
from paimonlab.spark.catalogs.places import Place, active_state, place_of
from paimonlab.spark.catalogs.views import refuse_views, view_of_query
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.commands import command
from paimonlab.spark.rows.statements import as_list
from paimonlab.spark.statements.session_tables import check_session_view
from paimonlab.spark.statements.view_names import check_names
from paimonlab.spec.view import View

if TYPE_CHECKING:
    from pyspark.sql.types import StructField

CREATE_VIEW, ALTER_VIEW = "CreateView", "AlterViewAs"
"""The simple names of Spark's plans."""


def create_view_command(bridge: Bridge, plan: Any) -> Any:
    """Return the command that creates a view, or None: not in a catalog of ours.

    Parameters
    ----------
    bridge
        The session.
    plan
        A ``CreateView`` as the parser made it.

    Raises
    ------
    UnsupportedError
        If the catalog keeps no views.
    """
    parts = [str(part) for part in as_list(bridge, plan.child().nameParts())]
    place = place_of(bridge, parts, "CREATE VIEW")
    if place is None:
        check_session_view(bridge, parts, plan.query(), "CREATE VIEW")
        return None
    kept = _kept(place, "CREATE VIEW")

    def run(session: Any) -> list[list[int]]:
        exists = kept.has_view(place.name)
        if exists and plan.allowExisting():
            return []
        check_names(bridge, plan.query(), place, "CREATE VIEW")
        view = _view(bridge, session, plan, place.name)
        if exists and plan.replace():
            kept.replace_view(place.name, view)
        else:
            kept.create_view(place.name, view, exist_ok=bool(plan.allowExisting()))
        return []

    return command(bridge, run, f"CREATE VIEW {place.name}", StructType())


def alter_view_command(bridge: Bridge, plan: Any) -> Any:
    """Return the command that gives a view another query; None: Spark's own way is right."""
    parts = [str(part) for part in as_list(bridge, plan.child().multipartIdentifier())]
    if active_state(bridge).catalog().isTempView(bridge.seq(parts)):
        return None
    place = place_of(bridge, parts, "ALTER VIEW")
    if place is None:
        check_session_view(bridge, parts, plan.query(), "ALTER VIEW")
        return None
    kept = _kept(place, "ALTER VIEW")

    def run(session: Any) -> list[list[int]]:
        before = kept.view(place.name)
        check_names(bridge, plan.query(), place, "ALTER VIEW")
        columns = _columns(bridge, session, plan.query())
        view = view_of_query(columns, str(plan.originalText()))
        kept.replace_view(place.name, replace(view, comment=before.comment, options=before.options))
        return []

    return command(bridge, run, f"ALTER VIEW {place.name} AS", StructType())


def _kept(place: Place, statement: str) -> ViewCatalog:
    if not isinstance(place.catalog, ViewCatalog):
        refuse_views(statement, place.name, place.catalog_name)
    return place.catalog


def _view(bridge: Bridge, session: Any, plan: Any, name: str) -> View:
    columns = _columns(bridge, session, plan.query())
    named = [
        (str(one._1()), str(one._2().get()) if one._2().isDefined() else None)
        for one in as_list(bridge, plan.userSpecifiedColumns())
    ]
    if named and len(named) != len(columns):
        raise SchemaError(
            f"{name}: {len(named)} columns are named, and the query has {len(columns)}"
        )
    options = dict(bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(plan.properties()))
    return view_of_query(
        StructType(_renamed(columns.fields, named)),
        str(plan.originalText().get()),
        comment=str(plan.comment().get()) if plan.comment().isDefined() else None,
        options={str(key): str(value) for key, value in options.items()},
    )


def _columns(bridge: Bridge, session: Any, query: Any) -> StructType:
    """Let Spark look at the query; its errors are Spark's."""
    frame = bridge.module("org.apache.spark.sql.classic.Dataset").ofRows(session, query)
    return bridge.python_schema(frame.schema())


def _renamed(
    columns: Sequence[StructField], named: Sequence[tuple[str, str | None]]
) -> list[StructField]:
    for column, (name, comment) in zip(columns, named, strict=False):
        column.name = name
        if comment is not None:
            column.metadata = {**column.metadata, "comment": comment}
    return list(columns)
