"""The picture of one compaction: levels before, an arrow, levels after; SVG in an ``<img>``."""

from __future__ import annotations

from collections.abc import Iterator

from paimonlab.analysis.compactions.compaction_runs import CompactionRun, FileSum
from paimonlab.notebook.display import svg
from paimonlab.notebook.display.colours import GREEN, INK, ORANGE
from paimonlab.notebook.display.numbers import bytes_text, many
from paimonlab.spec.visible_text import visible

_WIDTH = 720
_SIDE = 250
_LEFT = 60
_ROW = 26
_TOP = 34


def picture(table: str, run: CompactionRun) -> str:
    """Return an ``<img>`` of a compaction."""
    height = _TOP + _ROW * max(len(run.levels), 1) + 8
    drawn = svg.document(_WIDTH, height, _shapes(run))
    return svg.image(drawn, alternative(table, run), _WIDTH, height)


def alternative(table: str, run: CompactionRun) -> str:
    """Say in words what the picture shows."""
    parts = [
        f"level {level.level}: {_said(level.before)} before, {_said(level.after)} after"
        for level in run.levels
    ]
    return visible(
        f"Compaction of {table} in snapshot {run.snapshot_id}: {'; '.join(parts)}; "
        f"{many(run.dropped_rows, 'row')} dropped"
    )


def _said(files: FileSum) -> str:
    size = "" if files.bytes is None else f", {bytes_text(files.bytes)}"
    return f"{many(files.files, 'file')}{size}, {many(files.rows, 'row')}"


def _shapes(run: CompactionRun) -> Iterator[str]:
    yield _text(10, 20, f"snapshot {run.snapshot_id}", "bold")
    weights = [_weight(files) for level in run.levels for files in (level.before, level.after)]
    largest = max(weights, default=0) or 1
    right = _WIDTH - _SIDE - 10
    for number, level in enumerate(run.levels):
        y = _TOP + _ROW * number
        yield _text(10, y + 14, f"level {level.level}")
        for x, files, colour in (
            (_LEFT, level.before, ORANGE),
            (right, level.after, GREEN),
        ):
            if not files.files:
                continue
            width = max((_SIDE - _LEFT) * _weight(files) / largest, 3)
            yield svg.rectangle(x, y, float(width), 8, rx=2, fill=colour)
            yield _text(x, y + 19, _said(files))
    middle = _TOP + _ROW * len(run.levels) / 2
    arrow = f"M{_SIDE + 70} {middle}H{right - 20}m-9 -6l9 6l-9 6"
    yield svg.path(arrow, stroke=INK, stroke_width=2, fill="none")
    yield _text(_SIDE + 70, middle - 8, f"{many(run.dropped_rows, 'row')} dropped")


def _weight(files: FileSum) -> int:
    return files.rows if files.bytes is None else files.bytes


def _text(x: float, y: float, text: str, weight: str = "normal") -> str:
    return svg.text(x, y, text, fill=INK, font_weight=weight)
