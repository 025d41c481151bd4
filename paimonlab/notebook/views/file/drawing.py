"""One data file as tables: its columns, its parts, some rows."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.analysis.files.data_file import DataFileView, FileColumn, checks, problems
from paimonlab.notebook.display.cells import NULL, Cell
from paimonlab.notebook.display.drawn import Answer, Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, number_align, texts
from paimonlab.notebook.display.html import short_id
from paimonlab.notebook.display.numbers import bytes_text, count, figure, many
from paimonlab.notebook.display.view import rows
from paimonlab.spec.visible_text import visible

_MOST_PARTS = 20
"""Parts that the static form has a row for."""
_MOST_COLUMNS = 12
_FEW_COLUMNS = 4
"""Of a wide file, columns that HTML shows also where the page has too little room."""
_SYSTEM_COLUMNS = ("_KEY_", "_SEQUENCE_NUMBER", "_VALUE_KIND")
"""Beginnings of names of columns that tables do not have; of rows these give way first."""
_FLOATS = {"FLOAT", "DOUBLE", "float", "double"}
"""Columns of rows that the static form has."""


def draw(file: DataFileView, *, answer: Answer | None = None) -> Drawn[DataFileView]:
    """Draw a data file."""
    facts = [line for line in (_entry_line(file), _file_line(file), checks(file)) if line]
    wrong = [f"WRONG: {problem}" for problem in problems(file)]
    more = [f"{name}: {value}" for name, value in file.properties]
    return Drawn(
        file,
        _columns(file),
        rows(file.columns),
        legend=[visible(line) for line in (*wrong, *facts, *more)],
        others=[_parts(file), _rows(file)],
        link=file.table,
        answer=answer,
    )


def _entry_line(file: DataFileView) -> str:
    place = f"{file.partition} " if file.partition else ""
    level = "" if file.level is None else f", level {file.level}"
    keys = "" if file.min_key is None else f", keys {_ends(file.min_key, file.max_key)}"
    numbers = f"sequence numbers {_ends(file.min_sequence_number, file.max_sequence_number)}"
    return (
        f"{file.file} in snapshot {file.snapshot_id}: {place}bucket {file.bucket}{level}{keys}, "
        f"{numbers}, schema {file.schema_id}"
    )


def _ends(low: object, high: object) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


def _file_line(file: DataFileView) -> str:
    parts = [f"{file.format} {file.version}".strip(), many(file.rows, "row")]
    if file.bytes is not None:
        parts.append(bytes_text(file.bytes))
    parts.append(many(file.part_count, file.part_name))
    if file.written_by:
        parts.append(f"written by {file.written_by}")
    return ", ".join(parts)


def _columns(file: DataFileView) -> Grid:
    columns = (
        Column("column"),
        Column("type"),
        Column("compression", rank=1),
        Column("encodings", rank=1),
        Column("size", align=Align.RIGHT),
        Column("before compression", align=Align.RIGHT, rank=1),
        Column("nulls", align=Align.RIGHT, rank=1),
        Column("min", align=number_align(column.low for column in file.columns)),
        Column("max", align=number_align(column.high for column in file.columns)),
        Column("pages", align=Align.RIGHT, rank=1),
        Column("with checksum", align=Align.RIGHT, rank=1),
    )
    body = [texts(_column_texts(column)) for column in file.columns]
    size = "" if file.bytes is None else f" in {bytes_text(file.bytes)}"
    level = "" if file.level is None else f", level {file.level}"
    where = f" of {file.partition}" if file.partition else ""
    headline = visible(f"{many(file.rows, 'row')}{size}{level}{where} bucket {file.bucket}")
    return Grid(columns, body, visible(f"{file.table}: {short_id(file.file)}"), headline=headline)


def _column_texts(column: FileColumn) -> Sequence[str]:
    return [
        visible(column.name),
        visible(column.type),
        column.compression,
        ", ".join(column.encodings),
        bytes_text(column.stored_bytes),
        bytes_text(column.plain_bytes),
        count(column.nulls),
        figure(visible(column.low or "")),
        figure(visible(column.high or "")),
        count(column.pages),
        f"{count(column.checksums)}{f', {column.wrong:,} WRONG' if column.wrong else ''}",
    ]


def _parts(file: DataFileView) -> Grid:
    columns = (
        Column(file.part_name, align=Align.RIGHT),
        Column("first row", align=Align.RIGHT),
        Column("rows", align=Align.RIGHT),
        Column("size", align=Align.RIGHT),
    )
    shown = file.parts[:_MOST_PARTS]
    body = [
        texts([number, count(part.first_row), count(part.rows), bytes_text(part.stored_bytes)])
        for number, part in enumerate(shown)
    ]
    hidden = file.part_count - len(shown)
    return Grid(columns, body, f"{file.part_name}s", f"{hidden:,} more" if hidden else "")


def _rows(file: DataFileView) -> Grid:
    first_rows = file.first_rows
    names = first_rows.columns[:_MOST_COLUMNS]
    is_wide = len(names) < len(first_rows.columns)
    floats = {column.name for column in file.columns if column.type in _FLOATS}
    columns = tuple(
        Column(
            visible(name),
            align=number_align(row[at] for row in first_rows.cells),
            rank=_rank(name, is_detail=is_wide and at >= _FEW_COLUMNS),
            is_float=name in floats,
        )
        for at, name in enumerate(names)
    )
    body = [
        [NULL if value is None else Cell(visible(value)) for value in row[:_MOST_COLUMNS]]
        for row in first_rows.cells
    ]
    hidden = file.rows - first_rows.offset - len(first_rows.cells)
    columns_hidden = len(first_rows.columns) - len(names)
    footer = ", ".join(
        many(number, what) + " more"
        for number, what in ((hidden, "row"), (columns_hidden, "column"))
        if number > 0
    )
    return Grid(columns, body, _rows_caption(file), visible(first_rows.problem) or footer)


def _rank(name: str, *, is_detail: bool) -> int:
    return 2 if name.startswith(_SYSTEM_COLUMNS) else int(is_detail)


def _rows_caption(file: DataFileView) -> str:
    first, shown = file.first_rows.offset, len(file.first_rows.cells)
    if not shown:
        return "no rows"
    if file.rows == shown:
        return f"{'the only row' if shown == 1 else f'all {shown:,} rows'}, as stored"
    return f"rows {first + 1:,} to {first + shown:,} of {file.rows:,}, as stored"
