"""Procedures that take over tables of others: ``migrate_table``, ``migrate_database``.

Java's take tables of a Hive metastore, which keep their names unless another one is given.
``migrate_table`` takes folders of files and tables of Iceberg and Delta Lake as well: the parameter
``table`` is then the folder, or the file of Iceberg's metadata, and the new table needs a name.

Source: apache/paimon@1.4.2 ``org.apache.paimon.spark.procedure.MigrateTableProcedure``,
``MigrateDatabaseProcedure``.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from paimonlab import catalog as catalogs
from paimonlab.errors import ArgumentError, PaimonError, UnsupportedError
from paimonlab.procedures.declare import DONE, RESULT, columns, optional, required
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row
from paimonlab.workers import Workers

logger = logging.getLogger(__name__)

_FILES = ("parquet", "orc")
_TEXTS = ("csv", "json")
_TABLES = ("iceberg", "delta")
_SOURCES = ("hive", *_FILES, *_TEXTS, *_TABLES)


def _migrate_table(call: Invocation) -> Sequence[Row]:
    source_type = call.required_text("source_type").strip().lower()
    if source_type not in _SOURCES:
        raise ArgumentError(call.procedure, f"source_type must be one of {', '.join(_SOURCES)}")
    workers = call.workers.at_most(call.parallelism())
    target = call.filled("target_table")
    if target is None and source_type != "hive":
        raise ArgumentError(call.procedure, "target_table must name the new table")
    options = _options(call)
    if source_type in (*_TEXTS, *_TABLES):
        return _written_anew(call, source_type, options, workers)
    moves = call.flag("delete_origin", default=True)
    if source_type == "hive":
        done = call.catalog.migrate_hive_table(
            call.table_name("table"),
            call.table_name("table" if target is None else "target_table"),
            moves=moves,
            options=options,
            dry_run=call.is_dry_run,
            progress=call.progress,
            workers=workers,
        )
    else:
        done = catalogs.migrating.migrate_folder(
            call.catalog,
            call.required_text("table"),
            call.table_name("target_table"),
            file_format=source_type,
            moves=moves,
            options=options,
            dry_run=call.is_dry_run,
            progress=call.progress,
            workers=workers,
        )
    call.note(done)
    return DONE


def _written_anew(
    call: Invocation, source_type: str, options: dict[str, str], workers: Workers
) -> Sequence[Row]:
    """Migrate what has no files that a table can have; it stays."""
    if call.flag("delete_origin"):
        raise UnsupportedError(
            f"delete_origin => true of {source_type}", "its rows are written anew, and it stays"
        )
    keys = {key: options.pop(key, None) for key in ("primary-key", "partition")}
    partition = keys["partition"]
    done = catalogs.migrating_tables.migrate_table(
        call.catalog,
        _source(call, source_type, call.required_text("table")),
        call.table_name("target_table"),
        primary_keys=_names(keys["primary-key"] or ""),
        partition_keys=None if partition is None else _names(partition),
        options=options,
        comment=None,
        verify=True,
        dry_run=call.is_dry_run,
        progress=call.progress,
        workers=workers,
    )
    call.note(done)
    return DONE


def _source(call: Invocation, source_type: str, place: str) -> Any:
    if source_type == "delta":
        return catalogs.foreign_tables.open_delta(place, call.catalog.file_io)
    if source_type == "iceberg":
        return catalogs.foreign_tables.open_iceberg(place, call.catalog.file_io)
    return catalogs.text_folders.TextFolder(place, io=call.catalog.file_io, kind=source_type)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _options(call: Invocation) -> dict[str, str]:
    return {**call.options(), **(call.arguments["options_map"] or {})}  # type: ignore[dict-item]


def _migrate_database(call: Invocation) -> Sequence[Row]:
    source_type = call.required_text("source_type").strip().lower()
    if source_type != "hive":
        raise ArgumentError(call.procedure, "source_type must be hive")
    workers = call.workers.at_most(call.parallelism())
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
                workers=workers,
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
            optional("parallelism", "INT", "How many work at once, at most."),
        ),
        result=columns(result="STRING"),
        description="Turn the Hive tables of a database into Paimon tables of the same names.",
        rows=_migrate_database,
        has_plan=True,
    ),
    Procedure(
        name="migrate_table",
        parameters=(
            required(
                "source_type",
                "STRING",
                "What it is: hive, parquet, orc, csv, json, iceberg, delta.",
            ),
            required("table", "STRING", "The folder or file of metadata; of hive the table."),
            optional("options", "STRING", "Options of the new table: k=v,k2=v2."),
            optional(
                "delete_origin",
                "BOOLEAN",
                "Whether files are moved, not copied; none: true where they can be.",
            ),
            optional(
                "target_table",
                "STRING",
                "The new table, as database.table; none: a table of Hive keeps its name.",
            ),
            optional("options_map", "MAP<STRING, STRING>", "Options of the new table."),
            optional("parallelism", "INT", "How many work at once, at most."),
        ),
        result=RESULT,
        description="Make a table of one of Hive, Iceberg or Delta, or of a folder of files.",
        rows=_migrate_table,
        has_plan=True,
    ),
)
