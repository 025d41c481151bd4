"""Buckets by what they contain: a table whose cells are darker where there is more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain

import pyarrow as pa

from paimonlab.analysis.buckets.heatmap import Heatmap, HeatmapColumn, HeatmapRow
from paimonlab.analysis.buckets.skew import Skew
from paimonlab.notebook.display.cells import Cell
from paimonlab.notebook.display.drawn import Answer, Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.headlines import next_rows
from paimonlab.notebook.display.numbers import bytes_text, count
from paimonlab.spec.visible_text import visible

MOST_COLUMNS = 16
"""Buckets that the static form has columns for; of more it shows only the sums."""
_STEPS = 10
_SHADE = "rgba(0, 114, 178, {:.2f})"

NAMES = {
    "bytes": "bytes",
    "files": "files",
    "rows": "rows",
    "file_size": "average bytes of a file",
    "level_0": "share of files on level 0",
    "age": "age of the newest file, compared with the newest of the table",
}
EVEN = 2.0
"""Below this ratio of the largest to the median, buckets are called even."""
_SUMMED = ("bytes", "files", "rows", "level_0")


def draw(heatmap: Heatmap, *, answer: Answer | None = None) -> Drawn[Heatmap]:
    """Draw the buckets of a table by one measure."""
    if not heatmap.rows:
        caption = f"{heatmap.table} has no data files"
        grid = Grid((), (), caption, next_rows(heatmap.table))
        return Drawn(heatmap, grid, partial(_arrow, heatmap), link=heatmap.table)
    return Drawn(
        heatmap,
        _grid(heatmap),
        partial(_arrow, heatmap),
        others=[_skew_grid(heatmap)] if heatmap.skews else [],
        link=heatmap.table,
        answer=answer,
    )


def _grid(heatmap: Heatmap) -> Grid:
    measure, newest = heatmap.measure, heatmap.newest_millis
    write = _WRITERS[measure]
    all_rows = [*heatmap.rows, *([heatmap.rest] if heatmap.rest else [])]
    shows_buckets = len(heatmap.columns) <= MOST_COLUMNS
    totals = [_total(row, measure, newest) for row in all_rows]
    cells = [_values(row, measure, newest) if shows_buckets else [] for row in all_rows]
    shown = len(heatmap.rows)
    of_cells = _shades(chain(*cells[:shown]), write)
    of_totals = _shades(totals[:shown], write) if not shows_buckets else _plain(write)
    buckets = heatmap.columns if shows_buckets else ()
    has_sums = len(buckets) != 1  # that of one bucket is the bucket
    columns = (
        Column("partition"),
        *(Column(_bucket_name(column), align=Align.RIGHT) for column in buckets),
        *([Column("all buckets", align=Align.RIGHT)] if has_sums else ()),
    )
    body = [
        [
            Cell(_row_name(row)),
            *map(of_cells, values),
            *([of_totals(total)] if has_sums else ()),
        ]
        for row, values, total in zip(all_rows, cells, totals, strict=True)
    ]
    footer = _footer(heatmap, shows_buckets=shows_buckets)
    return Grid(columns, body, _caption(heatmap), footer, _headline(heatmap))


def _caption(heatmap: Heatmap) -> str:
    return f"{heatmap.table}: {_name(heatmap, heatmap.measure)} of snapshot {heatmap.snapshot_id}"


def _headline(heatmap: Heatmap) -> str:
    found = next((skew for skew in heatmap.skews if skew.measure == heatmap.measure), None)
    found = found or next(iter(heatmap.skews), None)
    if found is None or found.ratio is None:
        return ""
    even = "Buckets are even: the" if found.ratio < EVEN else "The"
    return (
        f"{even} largest has {found.ratio:.1f} times the {_name(heatmap, found.measure)} of the "
        "median bucket"
    )


def _name(heatmap: Heatmap, measure: str) -> str:
    return heatmap.rows_are if measure == "rows" else NAMES[measure]


def _footer(heatmap: Heatmap, *, shows_buckets: bool) -> str:
    partitions = f" in {_many(heatmap.partition_count, 'partition')}"
    has_partitions = any(row.partition for row in heatmap.rows)
    parts = [f"{_many(heatmap.bucket_count, 'bucket')}{partitions * has_partitions}"]
    if heatmap.rest is not None:
        shown = len(heatmap.rows)
        most = _name(heatmap, heatmap.measure)
        parts.append(f"the {shown:,} with most {most}, and the rest; --top N for more")
    if not shows_buckets:
        parts.append(f"{len(heatmap.columns)} columns of buckets only in the interactive form")
    return "; ".join(parts)


def _row_name(row: HeatmapRow) -> str:
    if row.partition is None:
        return f"… {row.partition_count:,} more"
    return visible(row.partition) or "(not partitioned)"


def _bucket_name(column: HeatmapColumn) -> str:
    if column.first < 0:
        return "waiting"
    same = column.first == column.last
    return f"bucket {column.first}" if same else f"buckets {column.first}-{column.last}"


def _values(row: HeatmapRow, measure: str, newest: int | None) -> Sequence[float | None]:
    return [
        _value(
            {name: getattr(row, name)[number] for name in (*_SUMMED, "updated_millis")},
            measure,
            newest,
        )
        for number in range(len(row.files))
    ]


def _total(row: HeatmapRow, measure: str, newest: int | None) -> float | None:
    numbers: dict[str, int | None] = {
        name: sum(number or 0 for number in getattr(row, name)) for name in _SUMMED
    }
    times = [millis for millis in row.updated_millis if millis is not None]
    return _value({**numbers, "updated_millis": max(times, default=None)}, measure, newest)


def _value(numbers: Mapping[str, int | None], measure: str, newest: int | None) -> float | None:
    files, size, updated = numbers["files"], numbers["bytes"], numbers["updated_millis"]
    if not files:
        return None
    match measure:
        case "file_size":
            return None if size is None else size / files
        case "level_0":
            return (numbers["level_0"] or 0) / files
        case "age":
            return None if updated is None or newest is None else max(newest - updated, 0)
    return numbers[measure]


def _shades(
    values: Iterable[float | None], write: Callable[[float], str]
) -> Callable[[float | None], Cell]:
    """Return what writes a value in a shade from none, of zero, to the darkest, of the largest."""
    high = max((value for value in values if value), default=1)

    def shaded(value: float | None) -> Cell:
        if not value:
            return Cell("" if value is None else write(value))
        step = max(round(_STEPS * min(value / high, 1)), 1)
        return Cell(write(value), background=_SHADE.format(0.06 * step))

    return shaded


def _plain(write: Callable[[float], str]) -> Callable[[float | None], Cell]:
    """Return what writes sums, which the shades of what they are sums of do not measure."""
    return lambda value: Cell("" if value is None else write(value))


def _skew_grid(heatmap: Heatmap) -> Grid:
    names = ("max", "median", "max/median", "Gini")
    columns = (Column("by bucket"), *(Column(name, align=Align.RIGHT) for name in names))
    return Grid(columns, [texts(_skew_cells(heatmap, skew)) for skew in heatmap.skews])


def _skew_cells(heatmap: Heatmap, skew: Skew) -> list[object]:
    write = _WRITERS[skew.measure]
    return [
        _name(heatmap, skew.measure),
        write(skew.maximum),
        write(skew.median),
        "" if skew.ratio is None else f"{skew.ratio:.1f}",
        "" if skew.gini is None else f"{skew.gini:.2f}",
    ]


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def span_text(millis: float) -> str:
    """Write a span of time in the largest unit that it reaches.

    >>> span_text(90_000), span_text(3_000 * 86_400_000)
    ('1.5 min', '8.2 years')
    """
    for size, unit in _SPANS:
        if millis >= size:
            return f"{millis / size:,.1f} {unit}"
    return f"{millis:.0f} ms"


_SPANS = (
    *((31_557_600_000, "years"), (86_400_000, "d")),
    *((3_600_000, "h"), (60_000, "min"), (1000, "s")),
)
"""Milliseconds of the units that a span is written in, the largest first."""
_WRITERS: Mapping[str, Callable[[float], str]] = {
    "bytes": lambda value: bytes_text(round(value)),
    "files": lambda value: count(round(value)),
    "rows": lambda value: count(round(value)),
    "file_size": lambda value: bytes_text(round(value)),
    "level_0": lambda value: f"{100 * value:.0f} %",
    "age": span_text,
}


def _arrow(heatmap: Heatmap) -> pa.Table:
    """Return one row per cell that has files."""
    names: dict[str, list[object]] = {
        name: [] for name in ("partition", "first_bucket", "last_bucket")
    }
    numbers: dict[str, list[int | None]] = {name: [] for name in (*_SUMMED, "updated_millis")}
    for row in heatmap.rows:
        for number, column in enumerate(heatmap.columns):
            if row.files[number]:
                names["partition"].append(row.partition)
                names["first_bucket"].append(column.first)
                names["last_bucket"].append(column.last)
                for name, values in numbers.items():
                    values.append(getattr(row, name)[number])
    integers = {name: pa.array(values, pa.int64()) for name, values in numbers.items()}
    return pa.table(
        {
            "partition": pa.array(names["partition"], pa.string()),
            "first_bucket": pa.array(names["first_bucket"], pa.int32()),
            "last_bucket": pa.array(names["last_bucket"], pa.int32()),
            **integers,
        }
    )
