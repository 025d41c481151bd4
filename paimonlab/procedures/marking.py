"""The procedure that marks partitions as complete for other systems.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.MarkPartitionDoneProcedure``.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.procedures.declare import DONE, RESULT, TABLE, required
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.partitions import partitions
from paimonlab.procedures.procedure import Procedure, Row


def _mark_partition_done(call: Invocation) -> Sequence[Row]:
    chosen = partitions(call.required_text("partitions"), procedure=call.procedure)
    table = call.table()
    folders = table.mark_partitions_done(chosen)
    call.note(f"{table.name}: marked {', '.join(folders)}")
    return DONE


MARK_PROCEDURES = (
    Procedure(
        name="mark_partition_done",
        parameters=(TABLE, required("partitions", "STRING", "Partitions: dt=1,hh=2;dt=3,hh=4.")),
        result=RESULT,
        description="Mark partitions as complete for readers of other systems.",
        rows=_mark_partition_done,
    ),
)
