from __future__ import annotations

from html.parser import HTMLParser

import pytest

from paimonlab.notebook.display import html, plain
from paimonlab.notebook.display.cells import NULL, Cell
from paimonlab.notebook.display.characters import cut, text_width
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.spec.visible_text import visible

EVIL = "<script>alert(1)</script>\"'&\u202e"
# What JupyterLab leaves in the outputs of a notebook it does not trust.
KEPT_TAGS = {
    *("div", "table", "caption", "thead", "tbody", "tr", "th", "td", "b", "i", "br", "p"),
    *("small", "details", "summary", "img", "pre", "span", "wbr"),
}
KEPT_ATTRIBUTES = {"style", "src", "alt", "width", "height", "title"}


class Page(HTMLParser):
    """All tags, attributes and text of a piece of HTML; complains about what is not closed."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(source)
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in {"br", "img", "wbr"}:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture
def grid() -> Grid:
    columns = (Column("n", "bigint", Align.RIGHT), Column("name", "string"))
    rows = [texts([1, "eins"]), (Cell("10"), NULL), texts([200, "日本"])]
    return Grid(columns, rows, caption="three rows", footer="3 rows; 0.1 s")


def test_prose_is_shown_whole_in_lines() -> None:
    text = "Compact the buckets, whose files overlap. " * 5

    def drawn(*, is_prose: bool) -> str:
        return html.table(Grid((Column("what", is_prose=is_prose),), [texts([text])]))

    assert "<details>" in drawn(is_prose=False)
    assert "<details>" not in drawn(is_prose=True)
    assert "nowrap" not in drawn(is_prose=True)


def test_text_is_aligned_by_what_a_terminal_shows(grid: Grid) -> None:
    assert plain.text(grid).splitlines() == [
        "three rows",
        "     n  name",
        "bigint  string",
        "──────  ──────",
        "     1  eins",
        "    10  NULL",
        "   200  日本",
        "3 rows; 0.1 s",
    ]


def test_markdown_is_a_table(grid: Grid) -> None:
    assert plain.markdown(grid).splitlines() == [
        "**three rows**",
        "",
        "| n | name |",
        "| ---: | --- |",
        "| 1 | eins |",
        "| 10 | NULL |",
        "| 200 | 日本 |",
        "",
        "3 rows; 0.1 s",
    ]


def test_markdown_cells_cannot_break_out() -> None:
    grid = Grid((Column("a|b"),), [texts(["x|y\n<b>*z*"])])

    assert plain.markdown(grid).splitlines()[2] == r"| x\|y\\n\<b\>\*z\* |"


def test_html_shows_names_types_values_and_footer(grid: Grid) -> None:
    page = Page(html.table(grid))

    assert " ".join("".join(page.texts).split()) == (
        "three rowsnbigintnamestring 1eins 10NULL 200日本 3 rows; 0.1 s"
    )


def test_html_is_what_sanitisers_leave_alone(grid: Grid) -> None:
    page = Page(html.table(grid))

    assert page.tags <= KEPT_TAGS
    assert page.attributes <= KEPT_ATTRIBUTES


def test_null_does_not_look_like_the_text_null() -> None:
    as_null = html.table(Grid((Column("a"),), [[NULL]]))
    as_text = html.table(Grid((Column("a"),), [[Cell("NULL")]]))

    assert as_null != as_text
    assert ">NULL</i>" in as_null


def test_everything_is_escaped() -> None:
    grid = Grid((Column(EVIL, EVIL),), [[Cell(visible(EVIL))]], caption=EVIL, footer=EVIL)

    page = Page(html.table(grid))

    assert "script" not in page.tags
    assert "".join(page.texts).count("<script>alert(1)</script>\"'&") == 5


def test_a_big_cell_is_cut_and_can_be_opened() -> None:
    page = Page(html.table(Grid((Column("a"),), [[Cell("x" * 10_000)]])))

    assert {"details", "summary"} <= page.tags
    assert "".join(page.texts).count("x") == html.SHORT_CHARACTERS + html.LONG_CHARACTERS
    assert "6,000 more characters" in "".join(page.texts)


def test_text_cells_are_cut_to_a_width_in_columns() -> None:
    assert [cut("abcdef", 6), cut("abcdefg", 6), cut("日本語", 6), cut("日本語!", 6)] == [
        "abcdef",
        "abcde…",
        "日本語",
        "日本…",
    ]
    assert text_width(cut("日本語!", 6)) <= 6


def test_characters_that_hide_or_reorder_text_are_written_out() -> None:
    assert visible("a\u200bb\u2066c\x1b[0m\ud800\U000e0041") == (
        "a\\u200bb\\u2066c\\x1b[0m\\ud800\\ue0041"
    )
