"""The procedure about views.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.AlterViewDialectProcedure``.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.catalog.views import ViewCatalog
from paimonlab.errors import ArgumentError, UnsupportedError
from paimonlab.procedures.declare import DONE, RESULT, optional, required
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row
from paimonlab.spec.view import AddDialect, DropDialect, UpdateDialect, ViewChange

_SPARK = "spark"


def _alter_view_dialect(call: Invocation) -> Sequence[Row]:
    kept = call.catalog
    if not isinstance(kept, ViewCatalog):
        raise UnsupportedError(f"sys.{call.procedure}", "a catalog of files has no views")
    kept.alter_view(call.table_name("view"), _change(call))
    return DONE


def _change(call: Invocation) -> ViewChange:
    dialect = call.filled("engine") or _SPARK
    match call.text("action"):
        case "add":
            return AddDialect(dialect, call.required_text("query"))
        case "update":
            return UpdateDialect(dialect, call.required_text("query"))
        case "drop":
            return DropDialect(dialect)
        case other:
            raise ArgumentError(call.procedure, f"action => {other!r} is not add, update or drop")


VIEW_PROCEDURES = (
    Procedure(
        name="alter_view_dialect",
        parameters=(
            required("view", "STRING", "The view, as database.view."),
            required("action", "STRING", "add, update or drop."),
            optional("engine", "STRING", "Whose dialect; none: spark."),
            optional("query", "STRING", "The view in that dialect."),
        ),
        result=RESULT,
        description="Say a view in the dialect of another engine.",
        rows=_alter_view_dialect,
    ),
)
