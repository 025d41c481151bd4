"""Tables as HTML: what is squeezed, shortened and left out."""

from __future__ import annotations

import pytest

from paimonlab.notebook.display import html
from paimonlab.notebook.display.grid import Align, Column, Grid, texts

ID = "f4a4ccae-7910-41f2-93c9-8070195d5997"


def test_heads_of_nothing_are_left_out_but_those_of_a_query() -> None:
    found = html.table(Grid((Column("severity"),), (), "db.t <1>", "nothing to say"))
    result = html.table(Grid((Column("id", "bigint"),), (), "", "0 rows"))

    assert "<table" not in found
    assert "db.t &lt;1&gt;" in found
    assert "nothing to say" in found
    assert "<th" in result


@pytest.mark.parametrize("characters", [20, 60])
def test_lines_of_wide_tables_do_not_end_in_the_middle_of_a_name(characters: int) -> None:
    columns = tuple(map(Column, "abc"))
    row = texts(["x" * characters, "2026-11-24 00:23:21", "y" * 40])

    found = html.table(Grid(columns, [row]))

    is_wide = characters == 60
    assert found.count("margin:0;white-space:nowrap") == is_wide
    assert found.count("min-width:18em;white-space:normal") == (2 if is_wide else 0)


def test_ids_are_short_in_columns_of_ids_and_whole_in_rows_of_users() -> None:
    columns = (Column("user", is_id=True), Column("file", is_id=True), Column("value"))

    found = html.table(Grid(columns, [texts([ID, f"data-{ID}-0.parquet", ID])]))

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
