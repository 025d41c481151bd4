"""Pages of help."""

from __future__ import annotations

from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Column, Grid, texts
from paimonlab.notebook.display.view import rows
from paimonlab.notebook.views.help.value import HelpPage


def draw_help(page: HelpPage) -> Drawn[HelpPage]:
    """Draw a page of help."""
    columns = (Column("type"), Column("what it does"))
    body = [texts([entry.syntax, entry.meaning]) for entry in page.entries]
    others = ", ".join(page.other_topics)
    grid = Grid(columns, body, page.topic, f"%paimon_help TOPIC for {others}")
    return Drawn(page, grid, rows(page.entries))
