"""What a query would read, as a table."""

from __future__ import annotations

from collections.abc import Callable

from paimonlab.notebook.display.characters import cut
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.numbers import bytes_text
from paimonlab.notebook.display.numbers import count as count_text
from paimonlab.notebook.display.view import rows
from paimonlab.notebook.views.planned.plan_tree import plan_html
from paimonlab.notebook.views.planned.value import PlannedQuery, PlannedRead
from paimonlab.spec.visible_text import visible

_FILTER_COLUMNS = 120


def draw_planned(query: PlannedQuery, *, is_repeatable: bool) -> Drawn[PlannedQuery]:
    """Draw the reads of a query; a repeatable drawing has no bytes and no plan."""
    heads = [Column("table"), Column("snapshot", align=Align.RIGHT)]
    heads += [Column("files", align=Align.RIGHT)]
    if not is_repeatable:
        heads += [Column("size", align=Align.RIGHT)]
    heads += [Column("to merge", align=Align.RIGHT), Column("on level 0", align=Align.RIGHT)]
    heads += [Column("filters")]
    has_columns = any(read.columns for read in query.reads)
    if has_columns:
        heads += [Column("columns"), Column("rows", align=Align.RIGHT)]
    body = [
        texts(_row(read, is_repeatable=is_repeatable, has_columns=has_columns))
        for read in query.reads
    ]
    sizes = [read.size_bytes for read in query.reads]
    known_sizes = [size for size in sizes if size is not None]
    total = "" if is_repeatable or not known_sizes else f"; {bytes_text(sum(known_sizes))} to read"
    if total and len(known_sizes) < len(sizes):
        total += " and what Python prunes when it runs"
    count = len(query.reads)
    footer = f"{count} read{'' if count == 1 else 's'}{total}; nothing was run"
    if query.change is not None:
        footer = f"{visible(query.change.said)}. Nothing was written"
    if query.engine:
        footer += f"; by {query.engine}"
    picture = ""
    if query.plan and not is_repeatable:
        plan = plan_html(query.plan)
        picture = f"<details><summary>{query.planner}'s plan</summary>{plan}</details>"
    grid = Grid(tuple(heads), body, footer=footer)
    return Drawn(query, grid, rows(query.reads), picture=picture)


def _row(read: PlannedRead, *, is_repeatable: bool, has_columns: bool) -> list[object]:
    size = [] if is_repeatable else [_of(read.size_bytes, read.all_size_bytes, bytes_text)]
    return [
        visible(read.table),
        read.snapshot_id,
        _of(read.file_count, read.all_file_count),
        *size,
        _of(read.merged_split_count, read.split_count),
        read.level_0_count,
        cut(visible(read.filters), _FILTER_COLUMNS),
        *([cut(visible(", ".join(read.columns)), _FILTER_COLUMNS)] if has_columns else []),
        *([read.row_count] if has_columns else []),
    ]


def _of(part: int | None, whole: int | None, text: Callable[[int], str] = count_text) -> str | None:
    if part is None:
        return None if whole is None else f"? of {text(whole)}"
    return text(part) if whole is None else f"{text(part)} of {text(whole)}"
