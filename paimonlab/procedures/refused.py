"""Procedures that Java Paimon has and this catalog cannot do; they say why."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paimonlab.errors import UnsupportedError
from paimonlab.procedures.declare import RESULT, columns, optional, required
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row

_NO_HIVE = "tables are migrated from a Hive metastore, and this catalog is one of files"
_NO_VIEWS = "a catalog of files has no views"
_NO_FUNCTIONS = "a catalog of files has no functions"


def _refused(reason: str) -> Callable[[Invocation], Sequence[Row]]:
    def refuse(call: Invocation) -> Sequence[Row]:
        raise UnsupportedError(f"sys.{call.procedure}", reason)

    return refuse


def _repair(call: Invocation) -> Sequence[Row]:
    call.catalog.repair(call.filled("database_or_table"))


_FUNCTION = required("function", "STRING", "The function, as database.function.")

REFUSED_PROCEDURES = (
    Procedure(
        name="migrate_database",
        parameters=(
            required("source_type", "STRING", "What the tables are of: hive."),
            required("database", "STRING", "The database."),
            optional("options", "STRING", "Options of the new tables: k=v,k2=v2."),
            optional("options_map", "MAP<STRING, STRING>", "Options of the new tables."),
            optional("parallelism", "INT", "How many files are moved at once."),
        ),
        result=columns(result="STRING"),
        description="Turn the Hive tables of a database into Paimon tables.",
        rows=_refused(_NO_HIVE),
    ),
    Procedure(
        name="migrate_table",
        parameters=(
            required("source_type", "STRING", "What the table is of: hive."),
            required("table", "STRING", "The table, as database.table."),
            optional("options", "STRING", "Options of the new table: k=v,k2=v2."),
            optional("delete_origin", "BOOLEAN", "Whether the old table is deleted; none: true."),
            optional("target_table", "STRING", "The name of the new table; none: the same."),
            optional("options_map", "MAP<STRING, STRING>", "Options of the new table."),
            optional("parallelism", "INT", "How many files are moved at once."),
        ),
        result=RESULT,
        description="Turn a Hive table into a Paimon table.",
        rows=_refused(_NO_HIVE),
    ),
    Procedure(
        name="repair",
        parameters=(
            required("database_or_table", "STRING", "Databases and tables, separated by commas."),
        ),
        result=RESULT,
        description="Make a metastore agree with the files.",
        rows=_repair,
    ),
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
        rows=_refused(_NO_VIEWS),
    ),
    Procedure(
        name="create_function",
        parameters=(
            _FUNCTION,
            required("inputParams", "STRING", "What it takes, as JSON."),
            required("returnParams", "STRING", "What it gives, as JSON."),
            optional("deterministic", "BOOLEAN", "Whether it always gives the same."),
            optional("comment", "STRING", "What it is for."),
            optional("options", "STRING", "Its options: k=v,k2=v2."),
        ),
        result=RESULT,
        description="Make a function.",
        rows=_refused(_NO_FUNCTIONS),
    ),
    Procedure(
        name="alter_function",
        parameters=(_FUNCTION, required("change", "STRING", "What changes, as JSON.")),
        result=RESULT,
        description="Change a function.",
        rows=_refused(_NO_FUNCTIONS),
    ),
    Procedure(
        name="drop_function",
        parameters=(_FUNCTION,),
        result=RESULT,
        description="Delete a function.",
        rows=_refused(_NO_FUNCTIONS),
    ),
)
