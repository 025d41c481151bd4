"""Procedures that rewrite what is stored: ``rescale``, ``rewrite_file_index``.

Source: apache/paimon@1868a38 ``org.apache.paimon.spark.procedure.RescaleProcedure``,
``RewriteFileIndexProcedure``.
"""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.errors import ArgumentError, UnsupportedError
from paimonlab.procedures.declare import DONE, RESULT, TABLE, columns, optional
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.partitions import partitions
from paimonlab.procedures.procedure import Procedure, Row
from paimonlab.table.inside import definition_of, writable
from paimonlab.table.rewriting.file_indexes import rewrite_file_index
from paimonlab.table.rewriting.rescaling import rescale

_WHERE = optional("where", "STRING", "A condition on partition columns.")


def _rescale(call: Invocation) -> Sequence[Row]:
    for name in ("scan_parallelism", "sink_parallelism"):
        number = call.number(name)
        if number is not None:
            raise UnsupportedError(
                f"{name} => {number} of sys.{call.procedure}",
                "there are at most two tasks for each core",
            )
    chosen, where = call.filled("partitions"), call.filled("where")
    if chosen is not None and where is not None:
        raise ArgumentError(call.procedure, "give partitions or where, not both")
    table = call.table()
    buckets = call.number("bucket_num")
    if buckets is None:
        buckets = definition_of(table).buckets
        if buckets < 1:
            raise ArgumentError(
                call.procedure, f"{table.name} has bucket = {buckets}; give bucket_num"
            )
    rescaled = rescale(
        *writable(table),
        buckets=buckets,
        partitions=None if chosen is None else partitions(chosen, procedure=call.procedure),
        where=where,
        dry_run=call.is_dry_run,
        progress=call.progress,
        workers=call.workers,
    )
    call.note(rescaled)
    return DONE


def _rewrite_file_index(call: Invocation) -> Sequence[Row]:
    rewritten = rewrite_file_index(
        *writable(call.table()),
        partitions=None,
        where=call.filled("where"),
        progress=call.progress,
        workers=call.workers,
    )
    return ((rewritten.partitions, rewritten.written),)


REWRITE_PROCEDURES = (
    Procedure(
        name="rescale",
        parameters=(
            TABLE,
            optional("bucket_num", "INT", "Buckets of a partition; none: as the table says."),
            optional("partitions", "STRING", "Partitions: dt=1,hh=2;dt=3. None: all."),
            _WHERE,
            optional("scan_parallelism", "INT", "How many tasks read."),
            optional("sink_parallelism", "INT", "How many tasks write."),
        ),
        result=RESULT,
        description="Give partitions another number of buckets; rows stay the same.",
        rows=_rescale,
        has_plan=True,
    ),
    Procedure(
        name="rewrite_file_index",
        parameters=(TABLE, _WHERE),
        result=columns(written_partitions="INT NOT NULL", written_indexes="INT NOT NULL"),
        description="Give data files the indexes that the table's options ask for now.",
        rows=_rewrite_file_index,
    ),
)
