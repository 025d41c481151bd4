"""Show the history of a table."""

from __future__ import annotations

from paimonlab.analysis.row_words import rows_are
from paimonlab.analysis.snapshots import commit_log
from paimonlab.analysis.snapshots.reading_totals import read_totals
from paimonlab.notebook import views
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.log.drawing import draw
from paimonlab.notebook.views.opening import opened
from paimonlab.storage.together import both
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table


def log(table: str | Table, *, last: int = 20) -> views.View:
    """Show what the newest commits of a table did, as ``DESCRIBE HISTORY`` does elsewhere.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    last
        How many commits, at least 1.

    Raises
    ------
    ValueError
        If ``last`` is less than 1.
    """
    if last < 1:
        raise ValueError(f"last must be at least 1, got {last}")
    opened_table = opened(table)
    (snapshots, ids), tags = both(
        opened_table.path,
        lambda: opened_table.snapshots.newest(last),
        opened_table.tags.list,
    )
    totals = read_totals(
        reversed(snapshots), store_of(opened_table).manifests, with_live_bytes=False
    )
    history = commit_log.log(
        opened_table.name,
        snapshots,
        totals,
        {name: tag.id for name, tag in tags.items()},
        older_count=len(ids) - len(snapshots),
        rows_are=rows_are(opened_table.primary_keys, definition_of(opened_table).options),
    )
    return draw(views.repeatable_log(history) if is_deterministic() else history)
