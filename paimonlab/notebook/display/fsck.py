"""What a check of a table found."""

from __future__ import annotations

from paimonlab.maintenance.fsck.report import FsckReport
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Column, Grid, texts
from paimonlab.notebook.views import rows


def draw(report: FsckReport) -> Drawn[FsckReport]:
    """Draw the findings, one a row."""
    columns = tuple(
        Column(name) for name in ("severity", "file", "referred to by", "problem", "advice")
    )
    body = [
        texts([one.severity, one.file, one.referrer, one.problem, one.advice])
        for one in report.findings
    ]
    grid = Grid(columns, body, report.table, footer=str(report).splitlines()[0])
    return Drawn(report, grid, rows(report.findings))
