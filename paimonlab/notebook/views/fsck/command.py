"""Show what a check of a table finds."""

from __future__ import annotations

from paimonlab.analysis.health import fsck_summary
from paimonlab.notebook import views
from paimonlab.notebook.views.fsck.drawing import draw
from paimonlab.notebook.views.opening import opened
from paimonlab.table.table import Table


def fsck(table: str | Table, *, deep: bool = False) -> views.View:
    """Check every file of a table, and show what was found.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    deep
        Whether to read all rows as well.
    """
    report = opened(table).fsck(deep=deep)
    return draw(fsck_summary.fsck(report), every=report.findings)
