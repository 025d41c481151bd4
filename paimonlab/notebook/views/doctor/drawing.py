"""What was checked on this machine, and what to do."""

from __future__ import annotations

from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Column, Grid, texts
from paimonlab.notebook.display.view import rows
from paimonlab.notebook.views.doctor.value import Doctor
from paimonlab.notebook.views.health.drawing import MARKS


def draw(doctor: Doctor) -> Drawn[Doctor]:
    """Draw a row for each check."""
    columns = (
        Column("what"),
        Column("verdict"),
        *(Column(name, is_prose=True) for name in ("found", "what to do")),
    )
    body = [
        texts([check.name, MARKS[check.status], check.found, check.fix]) for check in doctor.checks
    ]
    wrong = sum(check.status in {"error", "warning"} for check in doctor.checks)
    headline = f"{wrong} of {len(doctor.checks)} need help" if wrong else "✔ Everything is in order"
    grid = Grid(columns, body, "this machine", headline=headline)
    return Drawn(doctor, grid, rows(doctor.checks))
