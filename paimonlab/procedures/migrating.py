"""Procedures that take over tables of others: ``migrate_table``, ``migrate_database``.

Java's take tables of a Hive metastore, which keep their names unless another one is given.
``migrate_table`` takes folders of files as well: the parameter ``table`` is then the folder, and
the new table needs a name.

Source: apache/paimon@1.4.2 ``org.apache.paimon.spark.procedure.MigrateTableProcedure``,
``MigrateDatabaseProcedure``.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from paimonlab.errors import ArgumentError, PaimonError
from paimonlab.procedures.declare import DONE, RESULT, columns, optional, required
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row

logger = logging.getLogger(__name__)

_FORMATS = ("parquet", "orc")


def _migrate_table(call: Invocation) -> Sequence[Row]:
    source_type = call.required_text("source_type").strip().lower()
    if source_type not in (*_FORMATS, "hive"):
        raise ArgumentError(call.procedure, f"source_type must be hive, {' or '.join(_FORMATS)}")
    _check_parallelism(call)
    target = call.filled("target_table")
    if target is None and source_type != "hive":
        raise ArgumentError(call.procedure, "target_table must name the new table")
    options = _options(call)
    moves = call.flag("delete_origin", default=True)
    if source_type == "hive":
        done = call.catalog.migrate_hive_table(
            call.table_name("table"),
            call.table_name("table" if target is None else "target_table"),
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


def _options(call: Invocation) -> dict[str, str]:
    return {**call.options(), **(call.arguments["options_map"] or {})}  # type: ignore[dict-item]


def _check_parallelism(call: Invocation) -> None:
    """Check how many files may be moved at once; one is, which is as many at most."""
    most = call.number("parallelism")
    if most is not None and most < 1:
        raise ArgumentError(call.procedure, f"parallelism => {most} must be at least 1")


def _migrate_database(call: Invocation) -> Sequence[Row]:
    source_type = call.required_text("source_type").strip().lower()
    if source_type != "hive":
        raise ArgumentError(call.procedure, "source_type must be hive")
    _check_parallelism(call)
    options, database = _options(call), call.required_text("database").strip()
    migrated, failed = 0, 0
    for table in call.catalog.hive_tables(database):
        name = f"{database}.{table}"
        try:
            done = call.catalog.migrate_hive_table(
                name,
                name,
                moves=True,
                options=options,
                dry_run=call.is_dry_run,
                progress=call.progress,
            )
        except PaimonError:
            logger.exception("migrating %s failed", name)
            failed += 1
        else:
            call.note(done)
            migrated += 1
    return ((f"migrate database is finished, success cnt: {migrated} , failed cnt: {failed}",),)


MIGRATE_PROCEDURES = (
    Procedure(
        name="migrate_database",
        parameters=(
            required("source_type", "STRING", "What the tables are of: hive."),
            required("database", "STRING", "The database."),
            optional("options", "STRING", "Options of the new tables: k=v,k2=v2."),
            optional("options_map", "MAP<STRING, STRING>", "Options of the new tables."),
            optional("parallelism", "INT", "How many files are moved at once, at most."),
        ),
        result=columns(result="STRING"),
        description="Turn the Hive tables of a database into Paimon tables of the same names.",
        rows=_migrate_database,
        has_plan=True,
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
            optional(
                "target_table",
                "STRING",
                "The new table, as database.table; none: a table of Hive keeps its name.",
            ),
            optional("options_map", "MAP<STRING, STRING>", "Options of the new table."),
            optional("parallelism", "INT", "How many files are moved at once, at most."),
        ),
        result=RESULT,
        description="Turn a Hive table, or a folder of Parquet or ORC files, into a Paimon table.",
        rows=_migrate_table,
        has_plan=True,
    ),
)
