"""A plot's figure, picture and numbers are the rows, and say so where they are not all of them."""

from __future__ import annotations

import base64
import collections
import datetime as dt
import math
import subprocess
import sys
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from paimonlab import notebook
from paimonlab.errors import ColumnNotFoundError, PaimonError, UnsupportedError
from paimonlab.notebook.cell import magic_line
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.display.axes import number_text, span, ticks, time_text, time_ticks
from paimonlab.notebook.display.drawn import PLOTLY_TYPE
from paimonlab.notebook.results.plotting.periods import in_periods
from paimonlab.notebook.results.plotting.picture import HEIGHT, WIDTH
from paimonlab.notebook.results.plotting.plot import Plot
from paimonlab.notebook.results.plotting.points import (
    KINDS,
    MOST_BARS,
    MOST_POINTS,
    MOST_SERIES,
    MOST_TIMES,
)
from paimonlab.notebook.results.plotting.thinning import thinned
from paimonlab.notebook.results.result import Result
from tests.notebook.display.test_drawing import KEPT_ATTRIBUTES, KEPT_TAGS, Page
from tests.notebook.hostile import strings
from tests.notebook.results.test_result import make

SVG = "{http://www.w3.org/2000/svg}"
DAYS = [dt.date(2026, 1, 1 + day) for day in (3, 1, 0, 2, 0, 1)]
ROWS = pa.table(
    {
        "day": DAYS,
        "n": pa.array([4, 2, 1, None, 10, 20], pa.int64()),
        "price": pa.array([Decimal(cents) / 4 for cents in range(6)], pa.decimal128(6, 2)),
        "c": ["a", "a", "a", "a", "b", "b"],
        "t": [dt.datetime(2026, 1, 1, hour, 30) for hour in range(6)],
        "f": [1.5, math.nan, math.inf, -2.0, None, 0.0],
        "nested": [[1]] * 6,
    }
)


def traces(plot: Plot) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = plot._repr_mimebundle_()[PLOTLY_TYPE]["data"]
    return found


def svg_of(plot: Plot) -> ET.Element:
    return ET.fromstring(base64.b64decode(plot.to_html().split("base64,")[1].split('"')[0]))


def test_a_line_has_the_rows_in_order_of_x_and_gaps_for_nulls() -> None:
    plot = make(ROWS).plot("line", "day", "n", by="c")

    first, second = traces(plot)
    assert (first["name"], second["name"]) == ("a", "b")
    assert first["x"] == ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]
    assert first["y"] == [1, 2, None, 4]
    assert (second["x"], second["y"]) == (["2026-01-01", "2026-01-02"], [10, 20])
    assert first["line"]["dash"] != second["line"]["dash"]
    assert first["marker"]["symbol"] != second["marker"]["symbol"]
    lines = plot.to_text().splitlines()
    assert lines[0] == "line: n by day, by c"
    assert lines[1].split() == ["day", "a", "b"]
    assert [line.split() for line in lines[3:7]] == [
        ["2026-01-01", "1", "10"],
        ["2026-01-02", "2", "20"],
        ["2026-01-03", "NULL"],
        ["2026-01-04", "4"],
    ]
    assert lines[-1] == "1 row without a finite n: gaps"


def test_a_line_in_the_picture_breaks_at_a_gap_and_stands_where_numbers_say() -> None:
    drawn = svg_of(make(ROWS).plot("line", "day", "n", by="c"))

    lines = [path.get("d", "") for path in drawn.iter(f"{SVG}path") if path.get("fill") == "none"]
    first = next(line for line in lines if line.count("M") == 2)
    points = [tuple(map(float, part.split())) for part in first.replace("M", "L").split("L")[1:]]
    assert len(points) == 3
    assert points[0][0] == 76
    assert points[0][1] == 322
    assert points[-1][0] == WIDTH - 16
    assert points[1][0] - points[0][0] == pytest.approx((WIDTH - 16 - 76) / 3, abs=0.1)


def test_a_scatter_leaves_out_what_has_no_place_and_says_so() -> None:
    plot = make(ROWS).plot("scatter", "price", "f")

    (trace,) = traces(plot)
    assert (trace["x"], trace["y"]) == ([0, 0.75, 1.25], [1.5, -2.0, 0.0])
    assert trace["mode"] == "markers"
    assert "3 rows without a finite f are left out" in plot.to_text()


def test_bars_add_up_equal_x_and_count_without_y() -> None:
    result = make(ROWS)

    (summed,) = traces(result.plot("bar", "day", "n"))
    (counted,) = traces(result.plot("bar", "c"))

    assert dict(zip(summed["x"], summed["y"], strict=True)) == {
        "2026-01-01": 11,
        "2026-01-02": 22,
        "2026-01-03": None,
        "2026-01-04": 4,
    }
    assert dict(zip(counted["x"], counted["y"], strict=True)) == {"a": 4, "b": 2}
    assert "n of rows with the same day is added up" in result.plot("bar", "day", "n").to_text()
    assert result.plot("bar", "day", "n").figure.layout.yaxis.title.text == "sum of n"


def test_bars_of_decimals_and_of_large_whole_numbers_are_exact() -> None:
    rows = pa.table(
        {
            "c": ["a"] * 10,
            "price": pa.array([Decimal("464.268")] * 10, pa.decimal128(38, 3)),
            "n": pa.array([2**62] * 9 + [1], pa.int64()),
        }
    )

    (prices,) = traces(make(rows).plot("bar", "c", "price"))
    (numbers,) = traces(make(rows).plot("bar", "c", "n"))

    assert list(prices["y"]) == [4642.68]
    assert list(numbers["y"]) == [float(9 * 2**62 + 1)]


def test_bars_of_numbers_that_are_one_as_floats_are_said_to_be_one() -> None:
    rows = pa.table({"k": pa.array([2**53, 2**53 + 1, 2**53, 1], pa.int64())})

    plot = make(rows).plot("bar", "k")

    (counted,) = traces(plot)
    assert list(counted["y"]) == [1, 3]
    assert "values of k that differ after the 15th digit are one bar" in plot.to_text()


def test_categories_stay_in_the_order_of_the_rows() -> None:
    rows = pa.table({"c": ["z", "a", "m"], "n": [1, 2, 3]})

    plot = make(rows).plot("bar", "c", "n")

    assert list(plot.figure.layout.xaxis.categoryarray) == ["z", "a", "m"]
    texts = [text.text for text in svg_of(plot).iter(f"{SVG}text")]
    assert [text for text in texts if text in {"z", "a", "m"}] == ["z", "a", "m"]


@pytest.mark.parametrize("name", ["number", "whole", "moment", "day", "cents"])
def test_a_histogram_counts_every_value_once(name: str, rng: np.random.Generator) -> None:
    values = rng.normal(scale=50, size=300)
    epoch = dt.datetime(2026, 1, 1)
    columns: dict[str, Any] = {
        "number": values,
        "whole": values.astype(int),
        "moment": [epoch + dt.timedelta(seconds=float(one)) for one in values],
        "day": [epoch.date() + dt.timedelta(days=int(one)) for one in values],
        "cents": pa.array([Decimal(int(one * 100)).scaleb(-2) for one in values]),
    }
    kinds = (["a", "b", "c"] * 100)[:300]
    plot = make(pa.table({"x": columns[name], "c": kinds})).plot("hist", "x", by="c")

    counted = {trace["name"]: sum(trace["y"]) for trace in traces(plot)}

    assert counted == collections.Counter(kinds)
    assert len({tuple(trace["x"]) for trace in traces(plot)}) == 1
    assert len(traces(plot)[0]["x"]) <= 32
    if name in {"number", "whole"}:
        width = traces(plot)[0]["width"]
        starts = traces(plot)[0]["x"]
        expected = np.histogram(columns[name], [*starts, starts[-1] + width])[0]
        total = np.sum([trace["y"] for trace in traces(plot)], axis=0)
        assert total.tolist() == expected.tolist()


def test_a_histogram_of_one_value_can_be_seen() -> None:
    for value in (5.0, 0.0, -1e300):
        (trace,) = traces(make(pa.table({"x": [value] * 3})).plot("hist", "x"))

        assert trace["y"] == [3]
        assert trace["x"][0] <= value < trace["x"][0] + trace["width"]
        assert trace["width"] >= abs(value) / 20


def test_a_histogram_of_texts_counts_them() -> None:
    (trace,) = traces(make(ROWS).plot("hist", "c"))

    assert (trace["x"], trace["y"]) == (["a", "b"], [4, 2])


def test_a_long_line_keeps_its_outline_and_says_so(rng: np.random.Generator) -> None:
    values = rng.normal(size=50_000).cumsum()
    values[25_000] = 1e6
    plot = make(pa.table({"x": np.arange(50_000), "y": values})).plot("line", "x", "y")

    points = plot.points

    assert points.num_rows <= MOST_POINTS
    drawn = points["y"].to_pylist()
    assert (max(drawn), min(drawn)) == (values.max(), values.min())
    assert (points["x"][0].as_py(), points["x"][-1].as_py()) == (0, 49_999)
    assert set(zip(points["x"].to_pylist(), drawn, strict=True)) <= set(enumerate(values.tolist()))
    assert " of 50,000 points: first, last, least and largest" in plot.to_text()
    assert len(str(plot._repr_mimebundle_())) < 400_000


def test_thinning_keeps_first_last_least_and_largest_of_each_range(
    rng: np.random.Generator,
) -> None:
    x = np.sort(rng.random(5_000))
    y = rng.normal(size=5_000)
    y[rng.integers(0, 5_000, 50)] = np.nan

    kept = thinned(x, y, 400)

    assert len(kept) <= 400
    ranges = np.minimum(((x - x[0]) / (x[-1] - x[0]) * 100).astype(int), 99)
    for number in range(100):
        inside = np.flatnonzero(ranges == number)
        mine = set(kept[ranges[kept] == number].tolist())
        assert {inside[0], inside[-1]} <= mine
        assert {inside[np.nanargmin(y[inside])], inside[np.nanargmax(y[inside])]} <= mine


def test_a_large_scatter_is_a_sample_that_is_the_same_every_time() -> None:
    rows = pa.table({"x": np.arange(30_000), "y": np.arange(30_000) % 7})

    plots = [make(rows).plot("scatter", "x", "y") for _ in range(2)]

    assert plots[0].points == plots[1].points
    assert plots[0].points.num_rows == MOST_POINTS
    assert "2,000 of 30,000 points, chosen evenly" in plots[0].to_text()


def test_many_bars_and_series_are_cut_and_say_so() -> None:
    rows = pa.table(
        {"x": [f"k{n}" for n in range(300)], "n": np.arange(300), "s": np.arange(300) % 20}
    )

    bars = make(rows).plot("bar", "x", "n")
    lines = make(rows).plot("line", "n", "n", by="s")

    (trace,) = traces(bars)
    assert sorted(trace["y"]) == list(range(300 - MOST_BARS, 300))
    assert "the 60 of 300 values of x with most n" in bars.to_text()
    assert len(traces(lines)) == MOST_SERIES
    assert "the 8 of 20 values of s with most rows" in lines.to_text()


def test_bars_of_days_are_all_drawn_in_order_of_time() -> None:
    days = [dt.date(2026, 1, 1) + dt.timedelta(day) for day in range(105)]
    turned = [days[(7 * number) % 105] for number in range(105)][::-1]

    plot = make(pa.table({"day": [*turned, *days], "n": range(210)})).plot("bar", "day", "n")

    (trace,) = traces(plot)
    expected = collections.Counter[str]()
    for day, n in zip([*turned, *days], range(210), strict=True):
        expected[str(day)] += n
    assert trace["x"] == [str(day) for day in days]
    assert trace["y"] == [expected[str(day)] for day in days]
    assert "most" not in plot.to_text()


def test_bars_of_many_times_are_of_weeks_months_or_the_like() -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(day) for day in range(900)]
    moments = [dt.datetime(2026, 1, 1) + dt.timedelta(minutes=7 * number) for number in range(900)]
    rows = pa.table({"day": days, "at": moments, "n": range(900), "odd": [0, 1, 2] * 300})

    weeks = make(rows).plot("bar", "day", "n")
    months = make(rows).plot("bar", "day", by="odd")
    hours = make(rows).plot("bar", "at")

    expected = collections.Counter[str]()
    for day, n in zip(days, range(900), strict=True):
        expected[str(day - dt.timedelta(day.weekday()))] += n
    (trace,) = traces(weeks)
    assert dict(zip(trace["x"], trace["y"], strict=True)) == expected
    assert trace["x"] == sorted(trace["x"])
    assert weeks.to_text().startswith("bar: sum of n by week of day")
    assert "day: a bar for each week, from Monday" in weeks.to_text()
    assert months.figure.layout.xaxis.title.text == "month of day"
    counted = collections.Counter(str(day.replace(day=1)) for day in days[::3])
    first = traces(months)[0]
    assert dict(zip(first["x"], first["y"], strict=True)) == counted
    assert hours.figure.layout.xaxis.title.text == "hour of at"
    assert sum(traces(hours)[0]["y"]) == 900


def test_times_whose_period_begins_before_all_times_stay_as_they_are() -> None:
    first = -(2**63) + 1
    times = pa.chunked_array([pa.array([first, None, first + 10**9], pa.timestamp("ns"))])

    starts, period = in_periods(times, np.array([0, 2]), 1)

    assert period == "year"
    assert starts.equals(times)


def test_of_more_years_than_bars_the_newest_are_drawn() -> None:
    days = [dt.date(1000 + year, 1, 1) for year in range(400)]

    plot = make(pa.table({"day": days[::-1], "n": range(400)})).plot("bar", "day", "n")

    (trace,) = traces(plot)
    assert trace["x"] == [str(day) for day in days[-MOST_TIMES:]]
    assert f"the newest {MOST_TIMES} of 400 years" in plot.to_text()


def test_a_long_table_below_a_picture_is_opened_by_a_click() -> None:
    rows = pa.table({"x": [f"k{n}" for n in range(300)], "n": range(300)})

    long, short = (make(rows.slice(0, count)).plot("bar", "x", "n") for count in (300, 20))

    assert "<details><summary" in long.to_html()
    assert "values of x with most n" in long.to_html().split("<details>")[0].split("<img")[1]
    assert "<details>" not in short.to_html()


def test_rows_that_were_not_fetched_are_mentioned() -> None:
    plot = make(ROWS, has_more_rows=True).plot("bar", "c")

    assert "of the first 6 rows; --limit 0 for all" in plot.to_text()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("x", ["day", "price", "c", "t", "f"])
def test_the_code_makes_the_same_figure(kind: str, x: str) -> None:
    y = None if kind == "hist" else "n"
    result = make(ROWS)
    plot = result.plot(kind, x, y, by="c")

    names: dict[str, Any] = {"result": result}
    exec(plot.code, names)

    assert names["figure"].to_json() == plot.figure.to_json()


@pytest.mark.parametrize("text", strings()[::7])
def test_hostile_names_and_values_are_text(text: str) -> None:
    name, by = f"x{text}", f"by{text}"
    rows = pa.table({name: [text, "b", None], "y": [1, 2, 3], by: [text, text + "!", None]})
    for kind in KINDS:
        result = make(rows)
        plot = result.plot(kind, name, None if kind == "hist" else "y", by=by)

        page = Page(plot.to_html())
        assert page.tags <= KEPT_TAGS
        assert page.attributes <= {*KEPT_ATTRIBUTES, "open"}
        svg_of(plot)
        told = plot.figure.to_json()
        assert "<script" not in told.lower()
        for trace in plot.figure.data:
            assert not set(f"{trace.name}{''.join(map(str, trace.x))}") & set("<>$")
        assert not set("<>$") & set(
            plot.figure.layout.xaxis.title.text + plot.figure.layout.title.text
        )
        names: dict[str, Any] = {"result": result}
        exec(plot.code, names)
        assert names["figure"].to_json() == told
        assert not set(plot.to_text()) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\x00\x1b")


def test_equal_beginnings_of_long_texts_stay_apart() -> None:
    rows = pa.table({"x": ["k" * 500 + "a", "k" * 500 + "b"], "n": [1, 2]})

    (trace,) = traces(make(rows).plot("bar", "x", "n"))

    assert len(set(trace["x"])) == 2
    assert trace["y"] == [1, 2]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 1])
def test_few_rows_are_a_plot(kind: str, count: int) -> None:
    for x in ("day", "n", "c", "t", "price"):
        plot = make(ROWS.slice(0, count)).plot(kind, x, None if kind == "hist" else "price", by="c")

        drawn = svg_of(plot)
        assert (drawn.get("width"), drawn.get("height")) == (str(WIDTH), str(HEIGHT))
        assert plot.figure is not None
        assert plot.to_markdown()


def test_extreme_numbers_and_times_stay_in_the_picture() -> None:
    rows = pa.table(
        {
            "big": pa.array([2**53 + 1, -(2**63), 2**63 - 1]),
            "huge": [1.7e308, -1.7e308, 5e-324],
            "moment": pa.array(
                [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31), None], pa.timestamp("us")
            ),
        }
    )
    for kind in KINDS:
        for x in rows.column_names:
            plot = make(rows).plot(kind, x, None if kind == "hist" else "huge")
            for mark in svg_of(plot).iter(f"{SVG}rect"):
                assert -1 <= float(mark.get("y", "0")) <= HEIGHT
                assert 0 <= float(mark.get("width", "0")) <= WIDTH
    (trace,) = traces(make(rows).plot("scatter", "moment", "big"))
    assert trace["x"] == ["0001-01-01 00:00:00", "9999-12-31 00:00:00"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("pie", "c"), "a plot of the kind 'pie'"),
        (("line", "day"), "give x and y"),
        (("hist", "n", "n"), "give x only"),
        (("line", "day", "c"), "an axis of numbers for 'c'"),
        (("bar", "nested"), "an axis for 'nested'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        make(ROWS).plot(*arguments)


def test_a_column_that_is_not_there_is_named_with_those_close() -> None:
    with pytest.raises(ColumnNotFoundError, match="Did you mean 'price'"):
        make(ROWS).plot("bar", "prices")
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(UnsupportedError, match="of which the result has 2"):
        make(twice).plot("bar", "a")


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 47.0, [0, 10, 20, 30, 40]),
        (-1.0, 1.0, [-1, -0.5, 0, 0.5, 1]),
        (0.0, 0.003, [0, 0.0005, 0.001, 0.0015, 0.002, 0.0025, 0.003]),
    ],
)
def test_ticks_are_round(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


def test_texts_at_ticks_are_short() -> None:
    assert [number_text(value) for value in (0.0, -0.0, 1500.0, 2.5e9, 1e-7)] == [
        *("0", "0", "1,500"),
        *("2.5 G", "1e-07"),
    ]
    assert time_text(86_400.0, 86_400) == "1970-01-02"
    assert time_text(90.0, 60) == "1970-01-01 00:01"
    assert span(3.0, 3.0) == (1.5, 4.5)
    assert len(time_ticks(0.0, 86_400.0 * 365)) <= 6


def test_nothing_of_plotly_is_loaded_before_a_plot() -> None:
    code = (
        "import sys, paimonlab.notebook, pyarrow as pa\n"
        "from tests.notebook.results.test_result import make\n"
        "plot = make(pa.table({'a': [1]})).plot('bar', 'a')\n"
        "plot.to_html(), plot.to_text()\n"
        "assert not [name for name in sys.modules if name.startswith('plotly')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("line", "plot", "by", "sql"),
    [
        ("--plot line x y --by c", ("line", "x", "y"), "c", ""),
        ("--plot hist x SELECT 1", ("hist", "x"), None, "SELECT 1"),
        ("--plot=bar 'a b' \"SELECT\" (SELECT 1)", ("bar", "a b", "SELECT"), None, "(SELECT 1)"),
        ("--plot bar x kept << SELECT 1", ("bar", "x"), None, "SELECT 1"),
    ],
)
def test_options_of_a_plot(line: str, plot: tuple[str, ...], by: str | None, sql: str) -> None:
    asked = magic_line.parse(line)

    assert (asked.plot, asked.by) == (plot, by)
    assert asked.sql == sql


def test_without_columns_a_plot_has_the_first_ones() -> None:
    assert magic_line.parse("--plot bar SELECT 1").plot == ("bar",)
    result = make(pa.table({"day": ["a", "b"], "city": ["x", "y"], "n": [1, 2]}))

    assert result.plot("bar").code == result.plot("bar", "day", "n").code
    assert result.plot("line", by="day").code == result.plot("line", "city", "n", by="day").code
    assert result.plot("hist").code == result.plot("hist", "n").code


def test_a_cell_shows_the_plot_and_keeps_the_result(
    shell: InteractiveShell, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    catalog = notebook.demo(tmp_path).catalog
    connections.disconnect()
    connections.connect(catalog.path, engine="native")
    cell = "SELECT order_id, amount, status FROM demo.orders"

    plot = shell.run_cell_magic(
        "paimon", "kept << --limit 0 --plot scatter order_id amount --by status --show-code", cell
    )

    kept = shell.user_ns["kept"]
    assert isinstance(kept, Result)
    rows = kept.to_arrow()
    points = {(point["x"], point["y"]) for point in plot.points.to_pylist()}
    assert points == {(float(one["order_id"]), float(one["amount"])) for one in rows.to_pylist()}
    assert (
        "points = kept.plot('scatter', 'order_id', 'amount', by='status')"
        in capsys.readouterr().out
    )
    with pytest.raises((UsageError, PaimonError), match="amount"):
        shell.run_cell_magic("paimon", "--plot bar amont", cell)
    with pytest.raises(UsageError, match="give --plot"):
        shell.run_cell_magic("paimon", "--by status", cell)
    with pytest.raises(UsageError, match="--lazy fetches no rows"):
        shell.run_cell_magic("paimon", "--lazy --plot bar status", cell)
