"""Procedures that Java Paimon has and this catalog cannot do; they say why."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paimonlab.errors import UnsupportedError
from paimonlab.procedures.declare import RESULT, TABLE, columns, optional, required
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row


def _refused(reason: str) -> Callable[[Invocation], Sequence[Row]]:
    def refuse(call: Invocation) -> Sequence[Row]:
        raise UnsupportedError(f"sys.{call.procedure}", reason)

    return refuse


_NO_GLOBAL_INDEXES = "indexes over a whole table are not implemented"

REFUSED_PROCEDURES = (
    Procedure(
        name="create_global_index",
        parameters=(
            TABLE,
            required("index_column", "STRING", "The column."),
            required("index_type", "STRING", "What kind of index."),
            optional("partitions", "STRING", "Partitions: dt=1,hh=2;dt=3. None: all."),
            optional("options", "STRING", "Options of the index: k=v,k2=v2."),
        ),
        result=RESULT,
        description="Make an index over a whole table.",
        rows=_refused(_NO_GLOBAL_INDEXES),
    ),
    Procedure(
        name="drop_global_index",
        parameters=(
            TABLE,
            required("index_column", "STRING", "The column."),
            required("index_type", "STRING", "What kind of index."),
            optional("partitions", "STRING", "Partitions: dt=1,hh=2;dt=3. None: all."),
            optional("dry_run", "BOOLEAN", "Whether to only say what would be done."),
        ),
        result=columns(result="BOOLEAN", dropped_file_count="BIGINT"),
        description="Delete an index over a whole table.",
        rows=_refused(_NO_GLOBAL_INDEXES),
    ),
    Procedure(
        name="materialize_deletion_vectors",
        parameters=(
            TABLE,
            optional("partitions", "STRING", "Partitions: dt=1,hh=2;dt=3. None: all."),
            optional("options", "STRING", "Options of the table for this call: k=v,k2=v2."),
            optional("where", "STRING", "A condition on partition columns."),
        ),
        result=columns(result="BOOLEAN NOT NULL"),
        description="Rewrite files without the rows that deletion vectors mark.",
        rows=_refused(
            "it is for data evolution tables with deletion vectors, and no rows of these can be "
            "deleted here; use sys.compact with compact_strategy => 'full'"
        ),
    ),
    Procedure(
        name="compact_chain_table",
        parameters=(
            TABLE,
            required("partition", "STRING", "The partition."),
            optional("overwrite", "BOOLEAN", "Whether a snapshot that exists is replaced."),
        ),
        result=columns(result="BOOLEAN NOT NULL"),
        description="Merge the deltas of a chain table into its snapshot branch.",
        rows=_refused("chain tables are not implemented"),
    ),
    Procedure(
        name="repair_earliest_snapshot",
        parameters=(
            TABLE,
            required("snapshot_id", "BIGINT", "The snapshot that is to be the earliest."),
        ),
        result=columns(
            previous_earliest_snapshot_id="BIGINT NOT NULL",
            current_earliest_snapshot_id="BIGINT NOT NULL",
        ),
        description="Say which snapshot is the earliest.",
        rows=_refused("readers find the earliest snapshot themselves; use paimonlab fsck"),
    ),
    Procedure(
        name="reassign_row_id",
        parameters=(
            TABLE,
            optional("partitions", "STRING", "Partitions: dt=1,hh=2;dt=3. None: all."),
        ),
        result=columns(result="STRING"),
        description="Give rows new ids that follow each other.",
        rows=_refused("ids of rows stay what they are here"),
    ),
)
