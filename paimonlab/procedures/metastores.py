"""Procedures about what a catalog knows beside the files of its warehouse.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.RepairProcedure``.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.procedures.declare import DONE, RESULT, required
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row


def _repair(call: Invocation) -> Sequence[Row]:
    named = call.filled("database_or_table")
    if named is None:
        call.catalog.repair()
        call.note("the metastore agrees with the files of all databases")
    else:
        for name in named.split(","):
            call.catalog.repair(name.strip())
            call.note(f"{name.strip()}: the metastore agrees with the files")
    return DONE


METASTORE_PROCEDURES = (
    Procedure(
        name="repair",
        parameters=(
            required(
                "database_or_table",
                "STRING",
                "Databases and tables, separated by commas; empty: all.",
            ),
        ),
        result=RESULT,
        description="Make a metastore agree with the files.",
        rows=_repair,
    ),
)
