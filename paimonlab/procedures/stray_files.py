"""Procedures about files that are too many or missing.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.RemoveOrphanFilesProcedure``,
``RemoveUnexistingFilesProcedure``, ``PurgeFilesProcedure``,
``org.apache.paimon.operation.OrphanFilesClean``.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.errors import ArgumentError, UnsupportedError
from paimonlab.maintenance.orphans import OrphanFilesRequest, remove_orphan_files
from paimonlab.procedures.declare import TABLE, columns, optional, required
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.reading.time_travel import epoch_millis
from paimonlab.table.table import Table
from paimonlab.table.upkeep.history import history_of
from paimonlab.workers import side_by_side

_ALL_TABLES = ".*"
_DRY_RUN = optional("dry_run", "BOOLEAN", "Whether to only say what would be done.")
_PARALLELISM = optional("parallelism", "INT", "How many tasks of Spark do the work.")


def _remove_orphan_files(call: Invocation) -> Sequence[Row]:
    _check_alone(call)
    mode = call.text("mode")
    if mode is not None and mode.upper() not in {"LOCAL", "DISTRIBUTED"}:
        raise ArgumentError(
            call.procedure, f"mode => {mode!r} is neither 'local' nor 'distributed'"
        )
    is_local = mode is not None and mode.upper() == "LOCAL"
    if mode is not None and not is_local and not call.workers.divides:
        raise UnsupportedError(
            f"mode => {mode!r} of sys.{call.procedure}",
            "this process has no executors; use 'local'",
        )
    older_than = call.time("older_than") if call.filled("older_than") else None
    request = OrphanFilesRequest(
        older_than_millis=epoch_millis(older_than),
        dry_run=call.is_dry_run or call.flag("dry_run"),
        force=older_than is not None,
        progress=call.progress,
        workers=side_by_side if is_local else call.workers,
    )
    count = size_bytes = 0
    for table in _tables(call):
        history = history_of(definition_of(table), store_of(table))
        orphans = call.note(remove_orphan_files(history, request))
        count += len(orphans.files)
        size_bytes += orphans.size_bytes
    return ((count, size_bytes),)


def _tables(call: Invocation) -> list[Table]:
    """Open the table, or with ``db.*`` all tables of a database."""
    name = call.required_text("table")
    if not name.endswith(_ALL_TABLES):
        return [call.table()]
    database = name.removesuffix(_ALL_TABLES)
    opened = [
        call.catalog.relation(f"{database}.{table_name}")
        for table_name in call.catalog.tables(database)
    ]
    return [call.with_options_of_session(table) for table in opened if isinstance(table, Table)]


def _remove_unexisting_files(call: Invocation) -> Sequence[Row]:
    _check_alone(call)
    is_dry_run = call.is_dry_run or call.flag("dry_run")
    lost_files = call.note(call.table().maintenance.remove_unexisting_files(dry_run=is_dry_run))
    return [(file.path,) for file in lost_files.files]


def _check_alone(call: Invocation) -> None:
    """Check that no number of tasks is asked for: one process does it, by threads."""
    number = call.number("parallelism")
    if number is not None:
        raise UnsupportedError(
            f"parallelism => {number} of sys.{call.procedure}",
            "the option 'file-operation.thread-num' of the table says how many files are "
            "deleted at once",
        )


def _purge_files(call: Invocation) -> Sequence[Row]:
    maintenance = call.table().maintenance
    call.note(maintenance.purge_files(dry_run=call.is_dry_run, progress=call.progress))
    return (("Success",),)


FILE_PROCEDURES = (
    Procedure(
        name="remove_orphan_files",
        parameters=(
            required("table", "STRING", "The table, as database.table, or all: database.*."),
            optional("older_than", "STRING", "Files newer than this local time are kept."),
            _DRY_RUN,
            _PARALLELISM,
            optional("mode", "STRING", "local: in this process; distributed: by executors."),
        ),
        result=columns(deletedFileCount="BIGINT", deletedFileTotalLenInBytes="BIGINT"),
        description="Delete files that nothing refers to, and that are a day old or more.",
        rows=_remove_orphan_files,
        has_plan=True,
    ),
    Procedure(
        name="remove_unexisting_files",
        parameters=(TABLE, _DRY_RUN, _PARALLELISM),
        result=columns(fileName="STRING NOT NULL"),
        description="Go on without the data files that are missing from the store.",
        rows=_remove_unexisting_files,
        has_plan=True,
    ),
    Procedure(
        name="purge_files",
        parameters=(TABLE,),
        result=columns(result="STRING"),
        description="Empty a table for good: rows, older snapshots, tags, branches, all files.",
        rows=_purge_files,
        has_plan=True,
    ),
)
