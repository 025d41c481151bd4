"""Tables as HTML: what is squeezed, shortened and left out."""

from __future__ import annotations

import re

import pytest

from paimonlab.notebook.display import fitting, html
from paimonlab.notebook.display.cells import Cell
from paimonlab.notebook.display.grid import Align, Column, Grid, texts

ID = "f4a4ccae-7910-41f2-93c9-8070195d5997"


def test_heads_of_nothing_are_left_out_but_those_of_a_query() -> None:
    found = html.table(Grid((Column("severity"),), (), "db.t <1>", "nothing to say"))
    result = html.table(Grid((Column("id", "bigint"),), (), "", "0 rows"))

    assert "<table" not in found
    assert "db.t &lt;1&gt;" in found
    assert "nothing to say" in found
    assert "<th" in result


@pytest.mark.parametrize("names", [3, 30])
def test_lines_of_wide_tables_do_not_end_in_the_middle_of_a_name(names: int) -> None:
    """What never fits is one line a row; a longest text of many words wraps there, too."""
    columns = tuple(Column(f"name{at}") for at in range(names))
    row = texts([*["x" * 20] * (names - 1), "y" * 60])

    found = html.table(Grid(columns, [row]))

    is_wide = names == 30
    assert found.count("margin:0;white-space:nowrap") == is_wide
    assert found.count("min-width:18em;white-space:normal") == (2 if is_wide else 0)
    assert found.count("overflow-wrap:anywhere") == 2


def test_where_there_is_little_room_details_go_and_the_first_cell_says_them() -> None:
    columns = (
        *(Column(name, align=Align.RIGHT) for name in ("snapshot", "rows")),
        *(Column(name, rank=1) for name in ("user", "tags")),
        Column("operation", rank=2),
        Column("what"),
    )
    long = "measured_value_of.the_sensor " * 3
    row = texts([12, "+16 -5", "spark " * 20, "t" * 20, "a" * 30, long])

    found = html.table(Grid(columns, [row]))

    assert found.count("<th ") == 4
    assert f'title="tags {"t" * 20}, operation {"a" * 30}">12</td>' in found
    assert "tags, operation: by the pointer, over the first column" in found
    assert ">measured_<wbr>value_<wbr>of.<wbr>the_<wbr>sensor measured_" in found
    assert html.table(Grid(columns[:3], [row[:3]])).count("<th ") == 3


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-11-26 23:35:10", ["2026-11-26", "23:35:10"]),
        ("-239000808.7123", ["-239000808.7123"]),
        ("dt=2026-01-01/hour=7", ["dt=2026-01-01/", "hour=7"]),
        ("data-41fef86b…-1.parquet", ["data-41fef86b…-1.parquet"]),
        ("num-sorted-run.compaction-trigger", ["num-sorted-run.", "compaction-trigger"]),
        ("parts-" * 6 + "all", [*["parts-"] * 6, "all"]),
        ("number_001_in_hall", ["number_", "001_", "in_", "hall"]),
        ("sys.compact", ["sys.compact"]),
    ],
)
def test_names_break_behind_marks_and_numbers_never(text: str, found: list[str]) -> None:
    assert [part for word in text.split() for part in fitting.parts(word)] == found
    assert fitting.code_parts(text[:32]) == [text[:32]]
    assert fitting.number_pieces("+6.2 kB -2.1 kB 34.6 %") == [
        "+6.2\xa0kB",
        "-2.1\xa0kB",
        "34.6\xa0%",
    ]


def test_a_time_is_one_line_and_a_date_is_not_broken() -> None:
    columns = (Column("time (UTC)"), Column("where"), Column("what"))
    row = texts(["2026-11-26 23:35:10", "bucket 1 of level 0", "a long sentence " * 20])

    found = html.table(Grid(columns, [row], "db.t", headline="newest 2026-11-26 23:35:10 UTC"))

    assert found.count("2026-11-26</span>\xa023:35:10") == 1
    assert 'white-space:nowrap">2026-11-26 23:35:10</td>' in found
    assert html.unbroken("dt=2026-01-02, 1-2") == (
        '<span style="white-space:nowrap">dt=2026-01-02,</span> 1-2'
    )


def test_an_amount_and_a_short_text_are_one_line() -> None:
    details = [Column(f"detail {at}", rank=1) for at in range(6)]
    row = texts(["15 files, 26.6 kB, 136 rows", "the only one", *["some detail"] * 6])

    found = html.table(Grid((Column("read"), Column("v"), *details), [row]))

    assert "26.6\xa0kB" in found
    assert (
        '<td style="text-align:left;padding:2px 8px;vertical-align:top;white-space:nowrap">the'
        in found
    )
    assert "min-width:130px" in found


def test_few_long_names_are_said_under_a_table() -> None:
    names = [f"measured_value_of_the_sensor_number_{at:03}" for at in range(20)]
    columns = (Column("id"), *(Column(name, rank=1) for name in names))

    found = html.table(Grid(columns, [texts(["x" * 14] * 21)]))

    said = re.search(r"<small>(.*) and (\d+) more: by the pointer", found)
    assert said is not None
    assert said[1].count(",") <= 2


def test_of_many_columns_without_room_some_are_named() -> None:
    columns = (Column("id"), *(Column(f"measured_{at}", rank=1) for at in range(30)))

    found = html.table(Grid(columns, [texts(["x" * 14] * 31)]))

    assert re.search("measured_\\d+ and \\d+ more: by the pointer", found)
    assert found.count("<th ") > 2


def test_ids_are_short_in_columns_of_ids_and_whole_in_rows_of_users() -> None:
    columns = (Column("user", is_id=True), Column("file", is_id=True), Column("value"))

    found = html.table(Grid(columns, [texts([ID, f"data-{ID}-0.parquet", ID])])).replace(
        "<wbr>", ""
    )

    assert f' title="{ID}">f4a4ccae</td>' in found
    assert f' title="data-{ID}-0.parquet">data-f4a4ccae…-0.parquet</td>' in found
    assert f">{ID}</td>" in found


def test_ids_that_are_hostile_stay_text() -> None:
    found = html.table(Grid((Column("user", is_id=True),), [texts([f'"><script>{ID}'])]))

    assert "<script" not in found
    assert "&quot;&gt;&lt;script&gt;" in found


def test_numbers_are_one_line_at_the_right() -> None:
    found = html.table(Grid((Column("rows", align=Align.RIGHT),), [texts(["1,000"])]))

    assert "text-align:right" in found
    assert "white-space:nowrap" in found


def test_names_with_hyphens_are_one_line() -> None:
    """Where browsers would end a line behind a hyphen, in cells and in the lines under a table."""
    text = "Compaction begins at 5 sorted runs, by num-sorted-run.compaction-trigger, of 8"
    kept = '<span style="white-space:nowrap">num-sorted-run.</span><wbr>'
    cells = [Cell(text), Cell("a sentence that is long enough for two lines of a narrow page")]

    found = html.table(Grid((Column("a", is_prose=True), Column("b", is_prose=True)), [cells]))

    assert kept in found
    assert kept in html.paragraph(text)


def test_a_table_of_many_rows_is_scrolled() -> None:
    def drawn(count: int) -> str:
        return html.table(Grid((Column("a"),), [[Cell(str(row))] for row in range(count)]))

    assert "max-height" not in drawn(40)
    assert "overflow-y:auto;max-height:480px" in drawn(41)
