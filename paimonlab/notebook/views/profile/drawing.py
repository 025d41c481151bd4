"""What is in each column, as a row per column."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pyarrow as pa
from msgspec.structs import replace

from paimonlab.notebook.display.cells import NULL, Cell
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, number_align
from paimonlab.notebook.display.headlines import next_rows
from paimonlab.notebook.display.numbers import many, short_fractions
from paimonlab.notebook.views.profile.picture import picture
from paimonlab.notebook.views.profile.value import SHARES, Profile, ProfileColumn
from paimonlab.spec.visible_text import visible

_FLOATS = ("float", "double")
_BLOCKS = " ▁▂▃▄▅▆▇█"
_SHORT = 40
_QUARTILES = tuple(SHARES.index(share) for share in (0.25, 0.5, 0.75))

_COLUMNS = (
    Column("column"),
    Column("type"),
    Column("nulls", align=Align.RIGHT, is_optional=True),
    Column("distinct", align=Align.RIGHT, is_optional=True),
    Column("min", is_optional=True),
    Column("max", is_optional=True),
    Column("mean", align=Align.RIGHT, is_optional=True, rank=1),
    Column("std", align=Align.RIGHT, is_optional=True, rank=2),
    Column("quarters", is_optional=True, rank=2),
    Column("most frequent", is_optional=True, rank=2),
    Column("length", is_optional=True, rank=2),
    Column("distribution", is_drawing=True),
)
_ROWS = pa.schema(
    [
        ("column", pa.string()),
        ("type", pa.string()),
        ("row_count", pa.int64()),
        ("null_count", pa.int64()),
        ("nan_count", pa.int64()),
        ("infinite_count", pa.int64()),
        ("distinct_count", pa.int64()),
        ("is_distinct_exact", pa.bool_()),
        ("low", pa.string()),
        ("high", pa.string()),
        ("mean", pa.float64()),
        ("standard_deviation", pa.float64()),
        ("quantiles", pa.list_(pa.string())),
        ("is_sampled", pa.bool_()),
        ("bins", pa.list_(pa.int64())),
        ("bin_starts", pa.list_(pa.string())),
        ("top", pa.list_(pa.struct([("value", pa.string()), ("count", pa.int64())]))),
        ("top_error", pa.int64()),
        ("shortest", pa.int64()),
        ("longest", pa.int64()),
        ("mean_length", pa.float64()),
        ("longest_text", pa.string()),
        ("all_nulls", pa.int64()),
        ("all_low", pa.string()),
        ("all_high", pa.string()),
    ]
)


def draw(value: Profile) -> Drawn[Profile]:
    """Draw a row per column, and above them the distributions of their values."""
    write = _row if value.row_count else _row_of_none
    rows = [write(value, column) for column in value.columns]
    footer = "; ".join([*([next_rows(value.table)] if value.is_empty else []), *value.notes])
    ends = {
        "min": number_align(column.all_low or column.low for column in value.columns),
        "max": number_align(column.all_high or column.high for column in value.columns),
    }
    columns = tuple(replace(head, align=ends.get(head.name, head.align)) for head in _COLUMNS)
    headline = _headline(value)
    grid = Grid(columns, rows, f"{value.title}: columns", footer, headline).without_empty()
    return Drawn(value, grid, partial(_arrow, value), picture(value), link=value.table)


def _headline(value: Profile) -> str:
    rows, columns = many(value.row_count, "row"), many(len(value.columns), "column")
    sample = value.sample
    if sample is None:
        return f"{rows}, {columns}"
    of_rows = rows if sample.of_rows is None else f"{value.row_count:,} of {sample.of_rows:,} rows"
    return f"{columns}, from {sample.file_count:,} of {sample.of_files:,} files ({of_rows})"


def _row(value: Profile, column: ProfileColumn) -> Sequence[Cell]:
    texts = (
        column.name,
        column.type,
        _nulls(column, *value.null_share(column)),
        _distinct(column, is_sample=value.sample is not None),
        _end(column, column.all_low or column.low),
        _end(column, column.all_high or column.high),
        _number(column.mean),
        _number(column.standard_deviation),
        _quarters(column),
        _top(column),
        _length(column),
        _bars(column.bins),
    )
    return [NULL if text is None else Cell(visible(text)) for text in _with_absent(column, texts)]


def _row_of_none(_value: Profile, column: ProfileColumn) -> Sequence[Cell]:
    """Write what is known of a column without rows: no share, no least value."""
    names = (column.name, column.type)
    return [Cell(visible(text)) for text in (*names, *[""] * (len(_COLUMNS) - len(names)))]


def _with_absent(column: ProfileColumn, texts: Sequence[str | None]) -> list[str | None]:
    """Write nothing where a column has no such fact; least and largest of no values are NULL."""
    is_empty = column.has_facts and column.low is None and column.all_low is None
    return [
        text if text is not None or (is_empty and number in {4, 5}) else ""
        for number, text in enumerate(texts)
    ]


def _end(column: ProfileColumn, text: str | None) -> str | None:
    """Write the least or largest value; of long fractions six digits, `to_arrow` has all."""
    return short_fractions(text) if text and column.type in _FLOATS else text


def _nulls(column: ProfileColumn, null_count: int, rows: int) -> str:
    nulls = share(null_count, rows)
    others = [(column.nan_count, "NaN"), (column.infinite_count, "infinite")]
    return ", ".join([nulls, *(f"{count:,} {name}" for count, name in others if count)])


def share(count: int, rows: int) -> str:
    """Write a share of the rows; only none of them is 0 %, only all of them are 100 %."""
    if not count:
        return "0 %"
    percent = 100 * count / rows
    if count == rows:
        return "100 %"
    return "<0.1 %" if percent < 0.1 else ">99.9 %" if percent > 99.9 else f"{percent:.1f} %"


def _distinct(column: ProfileColumn, *, is_sample: bool) -> str:
    if column.distinct_count is None:
        return ""
    about = "≥" if is_sample else "" if column.is_distinct_exact else "≈"
    return f"{about}{column.distinct_count:,}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _quarters(column: ProfileColumn) -> str:
    if not column.quantiles:
        return ""
    about = "≈" if column.is_sampled else ""
    return about + ", ".join(column.quantiles[number] for number in _QUARTILES)


def _top(column: ProfileColumn) -> str:
    sign = "≥" if column.top_error else ""
    return "; ".join(f"{_cut(text)} {sign}{count:,}" for text, count in column.top)


def _length(column: ProfileColumn) -> str:
    if column.longest is None:
        return ""
    return f"{column.shortest:,} to {column.longest:,}: {_cut(column.longest_text or '')}"


def _cut(text: str) -> str:
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"


def _bars(bins: Sequence[int]) -> str:
    most = max(bins, default=0)
    return "".join(_BLOCKS[-(-8 * count // most)] for count in bins) if most else ""


def _arrow(value: Profile) -> pa.Table:
    records = []
    for column in value.columns:
        row = {name: getattr(column, name, None) for name in _ROWS.names}
        row["column"], row["row_count"] = column.name, value.row_count
        row["top"] = [{"value": text, "count": count} for text, count in column.top]
        records.append(row)
    return pa.Table.from_pylist(records, schema=_ROWS)
