"""Procedures that take over tables of others: ``migrate_table``, ``migrate_database``.

Java's take tables of a Hive metastore. ``migrate_table`` takes folders of files as well: the
parameter ``table`` is then the folder. The new table needs a name of its own: Java gives it that of
the old one if none is named.

Source: apache/paimon@1.4.2 ``org.apache.paimon.spark.procedure.MigrateTableProcedure``.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.errors import ArgumentError, UnsupportedError
from paimonlab.procedures.declare import DONE, RESULT, columns, optional, required
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row

_FORMATS = ("parquet", "orc")
_NO_DATABASE = (
    "tables are migrated one by one, each to a name of its own: sys.migrate_table('hive', …)"
)


def _migrate_table(call: Invocation) -> Sequence[Row]:
    source_type = call.required_text("source_type").strip().lower()
    if source_type not in (*_FORMATS, "hive"):
        raise ArgumentError(call.procedure, f"source_type must be hive, {' or '.join(_FORMATS)}")
    if call.number("parallelism") is not None:
        raise UnsupportedError(
            f"parallelism of sys.{call.procedure}", "files are moved one after the other"
        )
    if call.filled("target_table") is None:
        raise ArgumentError(call.procedure, "target_table must name the new table")
    options = {**call.options(), **(call.arguments["options_map"] or {})}  # type: ignore[dict-item]
    moves = call.flag("delete_origin", default=True)
    if source_type == "hive":
        done = call.catalog.migrate_hive_table(
            call.table_name("table"),
            call.table_name("target_table"),
            moves=moves,
            options=options,
            dry_run=call.is_dry_run,
            progress=call.progress,
        )
    else:
        done = call.catalog.migrate_folder(
            call.required_text("table"),
            call.table_name("target_table"),
            file_format=source_type,
            moves=moves,
            options=options,
            dry_run=call.is_dry_run,
            progress=call.progress,
        )
    call.note(done)
    return DONE


def _migrate_database(call: Invocation) -> Sequence[Row]:
    raise UnsupportedError(f"sys.{call.procedure}", _NO_DATABASE)


MIGRATE_PROCEDURES = (
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
        rows=_migrate_database,
    ),
    Procedure(
        name="migrate_table",
        parameters=(
            required("source_type", "STRING", "What is migrated: parquet or orc, a folder; hive."),
            required("table", "STRING", "The folder; of hive the table."),
            optional("options", "STRING", "Options of the new table: k=v,k2=v2."),
            optional(
                "delete_origin", "BOOLEAN", "Whether files are moved, not copied; none: true."
            ),
            optional("target_table", "STRING", "The new table, as database.table."),
            optional("options_map", "MAP<STRING, STRING>", "Options of the new table."),
            optional("parallelism", "INT", "How many files are moved at once."),
        ),
        result=RESULT,
        description="Turn a folder of Parquet or ORC files into a Paimon table.",
        rows=_migrate_table,
        has_plan=True,
    ),
)
