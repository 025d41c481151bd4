"""What a check of a table found."""

from __future__ import annotations

from paimonlab.analysis.health.fsck_summary import Fsck
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Column, Grid, texts
from paimonlab.notebook.display.view import rows


def draw(found: Fsck) -> Drawn[Fsck]:
    """Draw the findings, one a row."""
    columns = tuple(
        Column(name) for name in ("severity", "file", "referred to by", "problem", "advice")
    )
    body = [
        texts([one.severity, one.file, one.referrer, one.problem, one.advice])
        for one in found.findings
    ]
    grid = Grid(columns, body, found.table, footer=found.summary)
    return Drawn(found, grid, rows(found.findings), link=found.table)
