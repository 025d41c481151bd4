"""What a cell shows of a statement that returns no rows."""

from __future__ import annotations

import time

import pyarrow as pa

from paimonlab.notebook.cell.statements import Statement
from paimonlab.notebook.results.result import Result, Stats


def said_of(statement: Statement, said: str, *, begin: float) -> Result:
    """Make the result of a statement that changed something.

    Parameters
    ----------
    statement
        The statement.
    said
        What it did.
    begin
        When it began, by `time.monotonic`.
    """
    stats = Stats(
        0, has_more_rows=False, fetched_bytes=0, duration_seconds=time.monotonic() - begin
    )
    return Result(
        pa.table({}),
        types=[],
        sql=statement.text,
        title=statement.title,
        stats=stats,
        spark=None,
        said=said,
    )
