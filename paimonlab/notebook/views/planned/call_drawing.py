"""What a call would delete or rewrite, as a table."""

from __future__ import annotations

from paimonlab.analysis.planned_call import PlannedCall, PlannedChange
from paimonlab.notebook.display.characters import cut
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.view import rows
from paimonlab.spec.visible_text import visible

_NAME_COLUMNS = 100
_REASON_COLUMNS = 120


def draw_planned_call(call: PlannedCall, *, is_repeatable: bool) -> Drawn[PlannedCall]:
    """Draw what a call would do; a repeatable drawing has no bytes."""
    heads = [Column("would"), Column("what"), Column("name"), Column("files", align=Align.RIGHT)]
    if not is_repeatable:
        heads += [Column("bytes", align=Align.RIGHT)]
    heads += [Column("because")]
    body = [texts(_row(change, is_repeatable=is_repeatable)) for change in call.changes]
    grid = Grid(tuple(heads), body, footer=_footer(call, is_repeatable=is_repeatable))
    return Drawn(call, grid, rows(call.changes))


def _row(change: PlannedChange, *, is_repeatable: bool) -> list[object]:
    size = (
        [] if is_repeatable else [None if change.size_bytes is None else f"{change.size_bytes:,}"]
    )
    return [
        change.action,
        change.what,
        cut(visible(change.name), _NAME_COLUMNS),
        None if change.file_count is None else f"{change.file_count:,}",
        *size,
        cut(visible(change.reason), _REASON_COLUMNS),
    ]


def _footer(call: PlannedCall, *, is_repeatable: bool) -> str:
    head = f"sys.{call.procedure} would change nothing"
    if call.change_count:
        files = f"{call.file_count:,} file{'' if call.file_count == 1 else 's'}"
        head = f"sys.{call.procedure} would touch {files}"
        if not is_repeatable:
            head += f", {call.size_bytes:,} bytes"
            head += " and those of unknown size" * call.has_unknown_sizes
    if call.change_count > len(call.changes):
        head += f"; the first {len(call.changes):,} of {call.change_count:,} changes"
    return f"{head}; nothing was done"
