"""Show the snapshots of a table."""

from __future__ import annotations

from paimonlab.notebook import views
from paimonlab.notebook.commands.opening import opened
from paimonlab.notebook.determinism import is_deterministic
from paimonlab.notebook.display.timeline import draw
from paimonlab.table.table import Table


def timeline(table: str | Table, *, last: int = 20) -> views.View:
    """Draw the newest snapshots of a table as a timeline.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    last
        How many snapshots, at least 1.
    """
    found = opened(table)
    tags = {name: tag.id for name, tag in found.tags.list().items()}
    drawn = views.timeline(found.name, found.snapshots.list(), tags, last=last)
    return draw(views.repeatable(drawn) if is_deterministic() else drawn)
