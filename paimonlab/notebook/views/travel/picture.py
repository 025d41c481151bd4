"""How many rows a table had, as a line in an ``<img>``."""

from __future__ import annotations

import math

from paimonlab.notebook.display import svg
from paimonlab.notebook.display.axes import Scale
from paimonlab.notebook.display.colours import BLUE
from paimonlab.notebook.views.travel.value import Travel

_WIDTH = 550
_HEIGHT = 110
_LETTER, _GAP = 6.5, 6
"""Pixels of a digit, and between labels."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 30, 30, 30, 80


def picture(travel: Travel) -> str:
    """Return an ``<img>``: a mark for each step at the height of its rows, a line between them."""
    counts = [step.row_count for step in travel.steps]
    along = Scale(0, len(counts) - 1, _LEFT, _WIDTH - _RIGHT)
    up = Scale(0, max(counts) or 1, _BOTTOM, _TOP)
    points = [(along.at(number), up.at(count)) for number, count in enumerate(counts)]
    shapes = [svg.polyline(points, fill="none", stroke=BLUE, stroke_width=2)]
    # Labels that would be over each other are left out, from the newest on.
    room = along.at(1) - along.at(0) if len(counts) > 1 else _WIDTH
    every = math.ceil((max(len(f"{count:,}") for count in counts) * _LETTER + _GAP) / room)
    for number, ((x, y), step) in enumerate(zip(points, travel.steps, strict=True)):
        shapes += [
            svg.circle(x, y, 4, fill=BLUE),
            *(
                []
                if (number - len(counts) + 1) % every
                else [svg.text(x, y - 8, f"{step.row_count:,}")]
            ),
            svg.text(x, _BOTTOM + 20, str(step.snapshot_id), font_weight="bold"),
        ]
    drawn = svg.document(_WIDTH, _HEIGHT, shapes, font_size=10, text_anchor="middle")
    return svg.image(drawn, alternative(travel), _WIDTH, _HEIGHT)


def alternative(travel: Travel) -> str:
    """Say in words what the picture shows."""
    counts = "; ".join(f"snapshot {step.snapshot_id} {step.row_count:,}" for step in travel.steps)
    return f"Rows of {travel.table} through time: {counts}"
