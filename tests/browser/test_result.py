"""The rows of a query in a browser: sorted, filtered, searched, opened, by keys and by mouse."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from paimonlab.notebook.kernel import browser_modules
from paimonlab.notebook.kernel.selection import RowQuery, selections
from paimonlab.notebook.results.row_query import literals
from paimonlab.notebook.results.table.result_view import ResultView
from tests.browser.conftest import PageOf, Pages, watched_page
from tests.notebook.results import random_rows
from tests.notebook.results.test_result import make
from tests.notebook.results.test_row_query import WORDS

SEED = int(os.environ.get("PAIMONLAB_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture
def table() -> pa.Table:
    nested = pa.struct([("a", pa.list_(pa.int32()))])
    return pa.table(
        {
            "n": pa.array([2**53 + 1, 2**53, None, 9, 10]),
            "s": ["b", "", None, EVIL, "x" * 300],
            "v": pa.array([{"a": [1, None]}, None, {"a": []}, None, None], nested),
        }
    )


@pytest.fixture
def searched(table: pa.Table) -> pa.Table:
    """Return enough rows for tools: five more, of NULLs."""
    return with_nulls(table)


def with_nulls(table: pa.Table) -> pa.Table:
    more = 10 - table.num_rows
    empty = pa.table({field.name: pa.nulls(more, field.type) for field in table.schema})
    return pa.concat_tables([table, empty])


def column(page: Page, place: int) -> list[str]:
    return page.locator(f".result tbody td.c{place}").all_inner_texts()


def cell(page: Page, row: int, place: int) -> Locator:
    return page.locator(f".result tr[aria-rowindex='{row + 3}'] td.c{place}")


def test_tools_do_not_hide_the_heads_in_a_narrow_cell(page_of: PageOf, searched: pa.Table) -> None:
    page = page_of(make(searched).view)
    page.locator("#view").evaluate("(view) => { view.style.width = '520px'; }")

    cell(page, 0, 0).hover()
    tools, head = page.locator(".tools").bounding_box(), page.locator(".sort").first.bounding_box()

    assert tools is not None
    assert head is not None
    assert tools["y"] + tools["height"] <= head["y"] + 2


@pytest.mark.parametrize("width", [840, 600])
def test_tools_cover_neither_title_nor_note(
    page_of: PageOf, searched: pa.Table, width: int
) -> None:
    page = page_of(make(searched).view, viewport={"width": width, "height": 600})

    cell(page, 0, 0).hover()
    tools = page.locator(".tools").bounding_box()
    texts = ("h3", ".head > .faint")
    boxes = [page.locator("#view").locator(text).bounding_box() for text in texts]

    assert tools is not None
    for text, box in zip(texts, boxes, strict=True):
        assert box is not None
        beside = min(box["x"] + box["width"], tools["x"] + tools["width"]) - max(
            box["x"], tools["x"]
        )
        high = min(box["y"] + box["height"], tools["y"] + tools["height"]) - max(
            box["y"], tools["y"]
        )
        assert min(beside, high - 4) <= 0, text  # a button has room around it


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_rows_are_sorted_by_their_values(page_of: PageOf, table: pa.Table, scheme: str) -> None:
    page = page_of(make(table).view, color_scheme=scheme)
    head = page.get_by_role("button", name="n", exact=True)

    head.click()
    assert column(page, 0) == ["9", "10", f"{2**53:,}", f"{2**53 + 1:,}", "NULL"]
    head.click()
    assert column(page, 0) == [f"{2**53 + 1:,}", f"{2**53:,}", "10", "9", "NULL"]
    expect(page.get_by_role("columnheader", name="n int64")).to_have_attribute(
        "aria-sort", "descending"
    )
    head.click()
    assert column(page, 0)[0] == f"{2**53 + 1:,}"


def test_rows_are_filtered_and_searched(page_of: PageOf, searched: pa.Table) -> None:
    page = page_of(make(searched).view)
    numbers = page.get_by_role("searchbox", name="filter n")

    for text, left in [("> 9", 3), ("= 9", 1), ("null", 6), ("not null", 4), ("10", 1), ("", 10)]:
        numbers.fill(text)
        assert len(column(page, 0)) == left, text
    page.get_by_role("searchbox", name="search all columns").fill("ONERROR")

    assert column(page, 1) == [EVIL]
    expect(page.get_by_text("1 of 10 rows")).to_be_visible()


def test_few_rows_have_no_tools_and_many_show_them_when_pointed_at(
    page_of: PageOf, table: pa.Table, searched: pa.Table
) -> None:
    few = page_of(make(table).view)
    assert few.locator("input").count() == 0

    page = page_of(make(searched).view)
    tools = page.locator(".tools")
    shown = "tools => tools.checkVisibility({ opacityProperty: true })"
    page.mouse.move(1, 700)
    assert not tools.evaluate(shown)
    page.get_by_role("searchbox", name="search all columns").focus()
    assert tools.evaluate(shown)
    page.keyboard.press("Escape")
    assert not tools.evaluate(shown)
    page.locator(".result").hover()
    assert tools.evaluate(shown)


def test_keys_walk_over_cells_and_open_them(page_of: PageOf, table: pa.Table) -> None:
    page = page_of(make(table).view)
    opened = page.get_by_role("region", name="the whole cell")

    cell(page, 0, 0).focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(cell(page, 0, 2)).to_be_focused()
    expect(opened).to_contain_text("struct of 1")
    page.keyboard.press("Control+End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")

    expect(opened).to_contain_text("x" * 300)
    cell(page, 3, 1).click()
    page.keyboard.press("Enter")
    expect(opened).to_contain_text(EVIL)


def test_a_column_is_made_wider_by_keys_and_by_the_mouse(page_of: PageOf, table: pa.Table) -> None:
    page = page_of(make(table).view)
    head = page.locator(".result thead th.c0").first

    def width() -> float:
        box = head.bounding_box()
        assert box is not None
        return box["width"]

    before = width()
    page.get_by_role("button", name="n", exact=True).press("Alt+ArrowRight")
    keys = width()
    grip = head.locator(".grip").bounding_box()
    assert grip is not None
    page.mouse.move(grip["x"] + 3, grip["y"] + 5)
    page.mouse.down()
    page.mouse.move(grip["x"] + 63, grip["y"] + 5)
    page.mouse.up()

    assert keys == pytest.approx(before + 16, abs=2)
    assert width() == pytest.approx(keys + 60, abs=3)


def test_what_is_shown_can_be_copied(page_of: PageOf, searched: pa.Table) -> None:
    page = page_of(make(searched).view, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("searchbox", name="filter n").fill("<= 10")

    page.get_by_role("button", name="CSV").click()
    expect(page.get_by_text("copied: n,s,v")).to_be_visible()

    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines() == ["n,s,v", f"9,{EVIL},", f"10,{'x' * 300},"]


def test_rows_are_copied_as_a_statement(page_of: PageOf) -> None:
    table = pa.table({"n": [2**63 - 1, None], "s": ["it's \\ ${x}\n", ""], "d": [True, False]})
    view = make(with_nulls(table)).view
    page = page_of(view, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("searchbox", name="filter d").fill("not null")

    page.get_by_role("button", name="INSERT").click()
    expect(page.get_by_text("copied: INSERT")).to_be_visible()

    assert page.evaluate("navigator.clipboard.readText()") == (
        "INSERT INTO my_table (`n`, `s`, `d`) VALUES\n"
        "(9223372036854775807, 'it\\'s \\\\ \\u0024{x}\\u000a', true),\n"
        "(NULL, '', false);"
    )
    page.locator(".result tr[aria-rowindex='4'] th").click()
    expect(page.get_by_text("copied: NULL\t''\tfalse")).to_be_visible()
    cell(page, 0, 2).click()
    page.get_by_role("button", name="cell", exact=True).click()
    expect(page.get_by_text("copied: true")).to_be_visible()


def test_what_has_no_literal_is_not_copied_as_a_statement(
    page_of: PageOf, searched: pa.Table
) -> None:
    page = page_of(make(searched).view)

    page.get_by_role("button", name="INSERT").click()

    expect(page.get_by_text("v: there are no literals of type struct")).to_be_visible()


@pytest.fixture
def many() -> pa.Table:
    notes = [("lorem ipsum " * (place % 9)).strip() for place in range(8_000)]
    return pa.table({"n": range(8_000), **{f"c{at}": [at] * 8_000 for at in range(3)}, "s": notes})


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_keys_walk_over_rows_that_are_not_in_the_page(page_of: PageOf, scheme: str) -> None:
    count = 9_000
    page = page_of(make(pa.table({"n": range(count), "m": [1] * count})).view, color_scheme=scheme)
    grid, rows = page.get_by_role("grid"), page.locator(".result tbody tr[aria-rowindex]")

    expect(grid).to_have_attribute("aria-rowcount", str(count + 2))
    assert rows.count() < 60
    cell(page, 0, 0).focus()
    page.keyboard.press("Control+End")
    expect(cell(page, count - 1, 1)).to_be_focused()
    expect(cell(page, count - 1, 1)).to_be_in_viewport()
    page.keyboard.press("PageUp")
    page.keyboard.press("Home")
    focused = page.locator(".result td:focus")
    assert int(focused.inner_text()) < count - 5
    expect(focused).to_be_in_viewport(ratio=1)
    before = int(focused.inner_text())
    page.keyboard.press("PageDown")
    assert int(focused.inner_text()) == count - 1 > before
    page.keyboard.press("Control+Home")
    expect(cell(page, 0, 0)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("button", name="n", exact=True)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(cell(page, 0, 0)).to_be_focused()

    page.locator(".rows").evaluate("box => { box.scrollTop = 100 * 24; }")
    expect(cell(page, 101, 0)).to_be_in_viewport()
    assert rows.count() < 60
    page.keyboard.press("ArrowDown")
    expect(cell(page, 1, 0)).to_be_focused()


def test_columns_stay_and_texts_wrap(page_of: PageOf, many: pa.Table) -> None:
    page = page_of(make(many.slice(0, 300)).view, viewport={"width": 600, "height": 600})
    box = page.locator(".rows")

    page.get_by_role("spinbutton", name="frozen columns").fill("1")
    before = cell(page, 0, 0).bounding_box()
    cell(page, 0, 0).focus()
    page.keyboard.press("End")
    expect(cell(page, 0, 4)).to_be_focused()
    assert box.evaluate("box => box.scrollLeft") > 50
    assert cell(page, 0, 0).bounding_box() == before
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    left, fixed = cell(page, 0, 2).bounding_box(), cell(page, 0, 0).bounding_box()
    assert left is not None
    assert fixed is not None
    assert left["x"] >= fixed["x"] + fixed["width"] - 1

    page.get_by_role("button", name="wrap").click()
    high = cell(page, 8, 4).bounding_box()
    assert high is not None
    assert high["height"] > 40
    page.keyboard.press("Tab")
    cell(page, 0, 0).focus()
    for place in (299, 0):
        page.keyboard.press("Control+End" if place else "Control+Home")
        expect(cell(page, place, 4 if place else 0)).to_be_focused()
        expect(cell(page, place, 0)).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="wrap").click()
    low = cell(page, 0, 0).bounding_box()
    assert low is not None
    assert low["height"] == 24


@contextmanager
def with_kernel(browser: Browser, view: ResultView) -> Iterator[Page]:
    """Open a view whose questions and choices reach this process."""
    with watched_page(browser) as page:
        page.expose_function("askKernel", lambda request: selections().ask(view.id, request))
        page.expose_function(
            "tellKernel", lambda chosen: selections().choose(view.id, chosen) and None
        )
        page.evaluate("data => { window.DATA = data; }", view.data())
        page.evaluate("document.body.innerHTML = '<div id=view></div>'")
        script = browser_modules.view_module("result").replace("export { render, pageHost };", "")
        ask = "askKernel" if view.answer else "null"
        start = (
            "const el = document.getElementById('view');"
            f"const host = pageHost(DATA, {{ el, tell: tellKernel, ask: {ask} }});"
            "render({ data: DATA, el, host });"
        )
        page.add_script_tag(content=f"{script}{{{start}}}", type="module")
        yield page


def test_the_kernel_has_the_rows_that_the_page_has_not(browser: Browser, many: pa.Table) -> None:
    many = many.set_column(4, "s", pa.array([f"{place} " + "x" * 300 for place in range(8_000)]))
    view = make(many).view
    assert len(view.value.rows) < 2_000

    with with_kernel(browser, view) as page:
        cell(page, 0, 0).focus()
        page.keyboard.press("Control+End")
        expect(cell(page, 7_999, 0)).to_have_text("7999")
        expect(cell(page, 7_999, 4)).to_be_focused()
        page.get_by_role("button", name="n", exact=True).click()
        page.get_by_role("button", name="n", exact=True).click()
        expect(cell(page, 0, 0)).to_have_text("7999")
        page.get_by_role("searchbox", name="filter s").fill("77")
        expect(page.get_by_text("242 of 8,000 rows")).to_be_visible()
        expect(page.get_by_role("grid")).to_have_attribute("aria-rowcount", "244")

        assert view.query == RowQuery(by=0, descending=True, filters=((4, "77"),))
        assert view.to_arrow()["n"].to_pylist()[:2] == [7977, 7877]
        assert column(page, 0)[:2] == ["7977", "7877"]


def test_without_its_kernel_a_view_makes_do_with_its_rows(browser: Browser, many: pa.Table) -> None:
    view = make(many.set_column(4, "s", pa.array(["x" * 300] * 8_000))).view
    here = len(view.value.rows)
    kept = dict(selections()._answers)
    selections()._answers.clear()

    with with_kernel(browser, view) as page:
        page.get_by_role("button", name="n", exact=True).click()
        expect(page.get_by_text("this kernel does not know the view")).to_be_visible()
        page.get_by_role("searchbox", name="filter n").fill("> 0")
        expect(page.get_by_text(f"{here - 1:,} of {here:,} rows")).to_be_visible()
    selections()._answers.update(kept)


def test_what_is_chosen_is_known_in_python(browser: Browser, searched: pa.Table) -> None:
    made = make(searched)
    made.sql = "SELECT n, s, v FROM t"

    with with_kernel(browser, made.view) as page:
        page.get_by_role("button", name="n", exact=True).click()
        page.get_by_role("searchbox", name="filter n").fill("not null")
        expect(page.get_by_text("4 of 10 rows")).to_be_visible()
        for _ in range(3_000):
            if made.view.query.filters:
                break
            page.wait_for_timeout(20)

    assert made.view.sql == (
        "SELECT * FROM (\nSELECT n, s, v FROM t\n)\n"
        "WHERE `n` IS NOT NULL\nORDER BY `n` ASC NULLS LAST"
    )


def test_the_browser_sorts_and_filters_as_python_does(pages: Pages) -> None:
    print("PAIMONLAB_SEED", SEED)  # noqa: T201 - shown when the test fails
    random_ = random.Random(SEED)
    table = random_rows.rows(random_, 100)
    view = random_rows.result(table).view.data()["view"]
    asked = [random_rows.query(random_, table.num_columns) for _ in range(300)]
    states: list[dict[str, Any]] = []
    for one in asked:
        filters = dict(one.filters)
        states.append(
            {
                "by": -1 if one.by is None else one.by,
                "descending": one.descending,
                "search": one.search,
                "filters": [filters.get(place, "") for place in range(table.num_columns)],
            }
        )
    order = """([{columns, rows}, states]) => {
        const cell = (place, column) => rows[place][column];
        const exact = columns.map(({cells}) => new Map(cells.exact));
        const texts = {count: rows.length, cell, exact: (place, column) =>
            exact[column].get(place) ?? cell(place, column)};
        return states.map((state) => rowOrder(columns, texts, state));
    }"""

    with pages.page() as page:
        script = browser_modules.bare("results/table/filters")
        found = page.evaluate(
            f"(given) => {{ {script}; return ({order})(given); }}", [view, states]
        )

    for one, places in zip(asked, found, strict=True):
        assert places == random_rows.places(table, one), one


def test_copied_statements_have_literals_of_each_type(pages: Pages) -> None:
    names = list(random_rows.VALUES)
    table = random_rows.rows(random.Random(SEED), 200)
    view = random_rows.result(table).view.data()["view"]
    write = """([{columns, rows}]) => rows.map((row, place) => row.map((text, at) =>
        sqlLiteral(new Map(columns[at].cells.exact).get(place) ?? text, columns[at])))"""

    with pages.page() as page:
        script = browser_modules.bare("results/table/copies")
        found = page.evaluate(f"(given) => {{ {script}; return ({write})(given); }}", [view])
        words = page.evaluate(f"(given) => {{ {script}; return given.map(sqlText); }}", WORDS)

    for place, row in enumerate(table.to_pylist()):
        assert found[place] == [random_rows.insert_literal(row[name], name) for name in names]
    assert words == [literals.text(word) for word in WORDS]


def test_numbers_are_grouped_short_and_never_cut(page_of: PageOf) -> None:
    rows = pa.table(
        {
            "amount": [1345173.6599999997, -0.5],
            "id": pa.array([1234567890123, 2026]),
            "price": pa.array(["12345.60", "1.00"]).cast(pa.decimal128(10, 2)),
        }
    )
    page = page_of(make(rows).view)

    assert column(page, 0) == ["1,345,173.66", "-0.5"]
    assert column(page, 1) == ["1,234,567,890,123", "2026"]
    assert column(page, 2) == ["12,345.60", "1.00"]
    whole = page.locator(".result tbody td.c0 span").first
    expect(whole).to_have_attribute("title", "1345173.6599999997")
    cells = page.locator(".result tbody td")
    assert cells.evaluate_all("all => all.every((one) => one.scrollWidth <= one.clientWidth + 1)")
