"""Show what compactions did, and what would be compacted now."""

from __future__ import annotations

from paimonlab.analysis.compactions.compaction import repeatable_compaction
from paimonlab.analysis.compactions.reading_compactions import compactions_of
from paimonlab.notebook import views
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.compaction.drawing import draw
from paimonlab.notebook.views.opening import opened
from paimonlab.table.table import Table


def compaction(
    table: str | Table, snapshot: int | None = None, *, snapshots: int = 100
) -> views.View:
    """Show what compactions did and cost, and what would be compacted now.

    Metadata alone is read.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    snapshot
        The compaction to look at, where the window ends; None: the newest one.
    snapshots
        How many snapshots the window has, at least 1.

    Raises
    ------
    ValueError
        If ``snapshot`` is not a compaction.
    """
    value = compactions_of(opened(table), snapshot, snapshots=snapshots)
    return draw(repeatable_compaction(value) if is_deterministic() else value)
