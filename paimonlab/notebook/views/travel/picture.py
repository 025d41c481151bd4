"""How many rows a table had, as a line in an ``<img>``."""

from __future__ import annotations

import base64

from paimonlab.notebook.display.characters import escaped
from paimonlab.notebook.views.travel.value import Travel

_WIDTH = 640
_HEIGHT = 110
_LEFT, _RIGHT, _TOP, _BOTTOM = 30, 30, 30, 80


def picture(travel: Travel) -> str:
    """Return an ``<img>`` whose text says the numbers."""
    data = base64.b64encode(svg(travel).encode()).decode()
    return (
        f'<img src="data:image/svg+xml;base64,{data}" alt="{escaped(alternative(travel))}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" style="max-width:100%">'
    )


def alternative(travel: Travel) -> str:
    """Say in words what the picture shows."""
    counts = "; ".join(f"snapshot {one.snapshot_id} {one.row_count:,}" for one in travel.steps)
    return f"Rows of {travel.table} through time: {counts}"


def svg(travel: Travel) -> str:
    """Draw a mark a step, at the height of its rows, and a line between them."""
    counts = [step.row_count for step in travel.steps]
    most = max(counts) or 1
    step = (_WIDTH - _LEFT - _RIGHT) / max(len(counts) - 1, 1)
    points = [
        (_LEFT + step * place, _BOTTOM - (_BOTTOM - _TOP) * count / most)
        for place, count in enumerate(counts)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    marks = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#0072B2"/>'
        f'<text x="{x:.1f}" y="{y - 8:.1f}">{count:,}</text>'
        f'<text x="{x:.1f}" y="{_BOTTOM + 20}" font-weight="bold">{one.snapshot_id}</text>'
        for (x, y), count, one in zip(points, counts, travel.steps, strict=True)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" font-family="sans-serif" font-size="10" '
        'text-anchor="middle" fill="#222">'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="#fff"/>'
        f'<polyline points="{line}" fill="none" stroke="#0072B2" stroke-width="2"/>{marks}</svg>'
    )
