"""What a check of a table found."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from paimonlab.analysis.health.fsck_summary import Fsck
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Column, Grid, texts
from paimonlab.notebook.display.view import rows


def draw(report: Fsck, *, every: Sequence[msgspec.Struct] | None = None) -> Drawn[Fsck]:
    """Draw the findings, one per row.

    Parameters
    ----------
    report
        What is shown.
    every
        All findings; None: those of ``report``.
    """
    columns = tuple(
        Column(name, is_id=name == "file", rank=1 if name == "referred to by" else 0)
        for name in ("severity", "file", "referred to by", "problem", "advice")
    )
    body = [
        texts([finding.severity, finding.file, finding.referrer, finding.problem, finding.advice])
        for finding in report.findings
    ]
    said = report.summary.removeprefix(f"{report.table}: ")
    headline = f"{'' if report.findings else '✔ '}{said[:1].upper()}{said[1:]}"
    grid = Grid(columns, body, f"{report.table}: check of the files", headline=headline)
    found = rows(report.findings if every is None else every)
    return Drawn(report, grid, found, link=report.table)
