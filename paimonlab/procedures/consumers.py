"""Procedures about consumers: readers that record which snapshot they read next.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.ResetConsumerProcedure``,
``ClearConsumersProcedure``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from paimonlab.errors import ArgumentError, UnsupportedError
from paimonlab.procedures.declare import DONE, RESULT, TABLE, optional, required
from paimonlab.procedures.invocation import Invocation
from paimonlab.procedures.procedure import Procedure, Row

_OTHERWISE_IN_JAVA = re.compile(r"&&|\[[^\]]*\[|\\[QEpPhHRGXzZk]|\(\?[<idmsuxU-]")
"""What Java's regular expressions read in another way, or Python's do not know."""


def _reset_consumer(call: Invocation) -> Sequence[Row]:
    table, name = call.table(), call.required_text("consumerId")
    snapshot_id = call.number("nextSnapshotId")
    if snapshot_id is not None:
        table.snapshots.get(snapshot_id)
        table.consumers.reset(name, snapshot_id)
        call.note(f"{table.name}: {name} reads snapshot {snapshot_id:,} next")
    elif name in table.consumers.list():
        table.consumers.delete(name)
        call.note(f"{table.name}: deleted consumer {name}")
    else:
        call.note(f"{table.name}: there is no consumer {name}")
    return DONE


def _clear_consumers(call: Invocation) -> Sequence[Row]:
    including = call.filled("includingConsumers")
    excluding = call.filled("excludingConsumers")
    for argument, pattern in (
        ("includingConsumers", including),
        ("excludingConsumers", excluding),
    ):
        check_pattern(pattern or "", procedure=call.procedure, argument=argument)
    table = call.table()
    names = table.consumers.clear(including=including or ".*", excluding=excluding)
    deleted = f"{len(names):,} consumer{'' if len(names) == 1 else 's'}"
    call.note(f"{table.name}: deleted {deleted}{': ' if names else ''}{', '.join(names)}")
    return DONE


def check_pattern(pattern: str, *, procedure: str, argument: str) -> None:
    """Check that a regular expression means the same here as in Java.

    Raises
    ------
    ArgumentError
        If it is not a regular expression.
    UnsupportedError
        If it may mean something else.
    """
    if _OTHERWISE_IN_JAVA.search(pattern):
        raise UnsupportedError(
            f"{argument} => {pattern!r} of sys.{procedure}",
            "intersections of classes, named classes, flags and group names are not implemented",
        )
    try:
        re.compile(pattern, re.ASCII)
    except re.error as error:
        raise ArgumentError(
            procedure, f"{argument} => {pattern!r} is not a regular expression: {error}"
        ) from error


CONSUMER_PROCEDURES = (
    Procedure(
        name="reset_consumer",
        parameters=(
            TABLE,
            required("consumerId", "STRING", "The name of the consumer."),
            optional("nextSnapshotId", "BIGINT", "What it reads next; none: it is deleted."),
        ),
        result=RESULT,
        description="Let a consumer read on from another snapshot, or delete it.",
        rows=_reset_consumer,
    ),
    Procedure(
        name="clear_consumers",
        parameters=(
            TABLE,
            optional("includingConsumers", "STRING", "What whole names match; none: all."),
            optional("excludingConsumers", "STRING", "What names match that are kept."),
        ),
        result=RESULT,
        description="Delete consumers by regular expressions of their names.",
        rows=_clear_consumers,
    ),
)
