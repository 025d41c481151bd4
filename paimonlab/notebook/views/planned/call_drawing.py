"""What a call would delete or rewrite, as a table."""

from __future__ import annotations

from paimonlab.analysis.planned_call import PlannedCall, PlannedChange
from paimonlab.notebook.display.characters import cut
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.numbers import bytes_text
from paimonlab.notebook.display.view import rows
from paimonlab.spec.visible_text import visible

_NAME_COLUMNS = 100
_REASON_COLUMNS = 120


def draw_planned_call(
    call: PlannedCall,
    *,
    is_repeatable: bool,
    headline: str = "",
    is_done: bool = False,
    way: str = "",
) -> Drawn[PlannedCall]:
    """Draw what a call would do.

    Parameters
    ----------
    call
        What is drawn.
    is_repeatable
        Whether bytes are left out.
    headline
        What the call says itself.
    is_done
        Whether it was done.
    way
        How to do it, where that is not obvious.
    """
    heads = [Column("did" if is_done else "would"), Column("what"), Column("name")]
    heads += [Column("files", align=Align.RIGHT)]
    if not is_repeatable:
        heads += [Column("size", align=Align.RIGHT)]
    heads += [Column("because", is_prose=True)]
    body = [texts(_row(change, is_repeatable=is_repeatable)) for change in call.changes]
    end = "done" if is_done else "; ".join(filter(None, ["nothing was done", way]))
    footer = f"{_total(call, is_repeatable=is_repeatable, is_done=is_done)}; {end}"
    columns = tuple(heads) if body or not headline else ()
    grid = Grid(columns, body, headline=headline, footer=footer)
    return Drawn(call, grid, rows(call.changes))


def _row(change: PlannedChange, *, is_repeatable: bool) -> list[object]:
    size = [] if is_repeatable else [bytes_text(change.size_bytes)]
    return [
        change.action,
        change.what,
        cut(visible(change.name), _NAME_COLUMNS),
        None if change.file_count is None else f"{change.file_count:,}",
        *size,
        cut(visible(change.reason), _REASON_COLUMNS),
    ]


def _total(call: PlannedCall, *, is_repeatable: bool, is_done: bool) -> str:
    head = f"sys.{call.procedure} {'changed' if is_done else 'would change'} nothing"
    if call.change_count:
        files = f"{call.file_count:,} file{'' if call.file_count == 1 else 's'}"
        head = f"sys.{call.procedure} {'touched' if is_done else 'would touch'} {files}"
        if not is_repeatable:
            head += f", {bytes_text(call.size_bytes)}"
            head += " and those of unknown size" * call.has_unknown_sizes
    if call.change_count > len(call.changes):
        head += f"; the first {len(call.changes):,} of {call.change_count:,} changes"
    return head
