"""The rows of a query in a browser: sorted, filtered, searched, opened, by keys and by mouse."""

from __future__ import annotations

import pyarrow as pa
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PageOf
from tests.notebook.test_result import make

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


def column(page: Page, place: int) -> list[str]:
    return page.locator(f".result tbody td.c{place}").all_inner_texts()


def cell(page: Page, row: int, place: int) -> Locator:
    return page.locator(".result tbody tr").nth(row).locator(f"td.c{place}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_rows_are_sorted_by_their_values(page_of: PageOf, table: pa.Table, scheme: str) -> None:
    page = page_of(make(table).view, color_scheme=scheme)
    head = page.get_by_role("button", name="n", exact=True)

    head.click()
    assert column(page, 0) == ["9", "10", str(2**53), str(2**53 + 1), "NULL"]
    head.click()
    assert column(page, 0) == [str(2**53 + 1), str(2**53), "10", "9", "NULL"]
    expect(page.get_by_role("columnheader", name="n int64")).to_have_attribute(
        "aria-sort", "descending"
    )
    head.click()
    assert column(page, 0)[0] == str(2**53 + 1)


def test_rows_are_filtered_and_searched(page_of: PageOf, table: pa.Table) -> None:
    page = page_of(make(table).view)
    numbers = page.get_by_role("searchbox", name="filter n")

    for text, left in [("> 9", 3), ("= 9", 1), ("null", 1), ("not null", 4), ("10", 1), ("", 5)]:
        numbers.fill(text)
        assert len(column(page, 0)) == left, text
    page.get_by_role("searchbox", name="search all columns").fill("ONERROR")

    assert column(page, 1) == [EVIL]
    expect(page.get_by_text("1 of 5 rows")).to_be_visible()


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


def test_what_is_shown_can_be_copied(page_of: PageOf, table: pa.Table) -> None:
    page = page_of(make(table).view, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("searchbox", name="filter n").fill("<= 10")

    page.get_by_role("button", name="copy CSV").click()
    expect(page.get_by_text("copied: n,s,v")).to_be_visible()

    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines() == ["n,s,v", f"9,{EVIL},", f"10,{'x' * 300},"]
