"""The procedure that copies a table: ``copy``.

Source: apache/paimon@5dacde5 ``org.apache.paimon.spark.procedure.CopyFilesProcedure``.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.catalog.copying import copy_rows
from paimonlab.procedures.declare import DONE, RESULT, optional, required
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row


def _copy(call: Invocation) -> Sequence[Row]:
    copied = copy_rows(
        call.catalog,
        call.table_name("source_table"),
        call.catalog,
        call.table_name("target_table"),
        where=call.filled("where"),
        dry_run=call.is_dry_run,
        progress=call.progress,
        with_options=call.with_options_of_session,
        workers=call.workers,
    )
    call.note(copied)
    return DONE


COPY_PROCEDURES = (
    Procedure(
        name="copy",
        parameters=(
            required("source_table", "STRING", "The table, as database.table."),
            required("target_table", "STRING", "The table to make, or to replace partitions of."),
            optional("where", "STRING", "A condition on partition columns."),
        ),
        result=RESULT,
        description="Let a table have the rows of another one.",
        rows=_copy,
        has_plan=True,
    ),
)
