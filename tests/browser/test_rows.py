"""Health, changes and time travel in a browser, by keys and by mouse, without a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import expect

from paimonlab import notebook
from paimonlab.analysis.health import health_summary
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.views.health.drawing import draw as draw_health
from paimonlab.notebook.views.profile.drawing import draw
from paimonlab.table.table import Table
from tests.browser.conftest import PageOf
from tests.notebook.views.test_empty_tables import EMPTY, new_table


@pytest.fixture(scope="module")
def orders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    table = notebook.demo(tmp_path_factory.mktemp("demo")).catalog.table("demo.orders")
    assert isinstance(table, Table)
    yield table
    connections.disconnect()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_change_shows_old_and_new(page_of: PageOf, orders: Table, scheme: str) -> None:
    page = page_of(orders.show.changes(4, 7), color_scheme=scheme)

    page.get_by_role("button", name="~ updated 31").click()
    page.get_by_role("button", name="- deleted 5").click()
    expect(page.get_by_role("row").filter(has=page.get_by_text("+", exact=True))).to_have_count(10)
    page.get_by_role("button", name="~ updated 31").click()
    page.get_by_role("searchbox").fill("60")

    heads = page.get_by_role("columnheader", name="kind")
    expect(heads).to_have_count(0)  # it would say what the sign says
    row = page.get_by_role("row").filter(has=page.get_by_text("~", exact=True))
    expect(row).to_have_count(1)
    expect(row).to_contain_text("new → shipped")
    row.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("updated: 2026-01-01, 60; amount, status")


@pytest.mark.parametrize("name", EMPTY)
def test_a_view_of_nothing_has_one_statement_to_copy(
    page_of: PageOf, tmp_path: Path, name: str
) -> None:
    page = page_of(EMPTY[name](new_table(tmp_path)))

    expect(page.locator("#view .empty code")).to_have_text("INSERT INTO db.t VALUES …")
    expect(page.locator("#view [aria-selected=true]")).to_have_count(0)


def test_a_row_that_is_there_from_the_beginning_is_not_inserted(
    page_of: PageOf, tmp_path: Path
) -> None:
    table = new_table(tmp_path)
    for _ in range(3):
        table.write([{"k": 1}])

    page = page_of(table.show.row("k = 1", last=1))

    frame = page.locator("#view .frame")
    why = "2 older snapshots were not read"
    expect(frame).to_contain_text(f"there since snapshot 3 or before; {why}")
    page.get_by_role("row").last.click()
    expect(page.get_by_role("status")).to_have_text("snapshot 3, present by then")
    expect(frame).to_contain_text(f"present by then: {why}")


def test_an_insert_has_no_columns_of_updates(page_of: PageOf, orders: Table) -> None:
    page = page_of(orders.show.changes(0, 3, mode="delta"))

    heads = page.get_by_role("grid", name="by place").get_by_role("columnheader")
    expect(heads).to_have_text(["where", "+ inserted"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_keys_travel_through_time(page_of: PageOf, orders: Table, scheme: str) -> None:
    page = page_of(orders.show.travel(sql="count(*) AS n"), color_scheme=scheme)
    slider = page.get_by_role("slider")

    slider.focus()
    page.keyboard.press("Home")
    expect(page.get_by_role("status")).to_have_text("snapshot 1: 60 rows")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("status")).to_have_text("snapshot 3: 90 rows")
    page.keyboard.press("End")
    expect(page.get_by_role("status")).to_have_text("snapshot 13: 107 rows")
    page.get_by_role("combobox").select_option("tags")
    slider.focus()
    page.keyboard.press("Home")
    expect(page.get_by_role("status")).to_have_text("snapshot 2: 60 rows")
    assert "tag first-day" in (slider.get_attribute("aria-valuetext") or "")
    expect(page.get_by_text("12 of 13 points are here; the other needs a kernel")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_finding_says_what_to_do(page_of: PageOf, orders: Table, scheme: str) -> None:
    page = page_of(orders.show.health(), color_scheme=scheme)

    page.get_by_role("row").filter(has_text="level-0-backlog").click()

    expect(page.locator("code").filter(has_text="CALL sys.compact(table => 'demo")).to_be_visible()
    expect(page.get_by_role("button", name="copy Python")).to_be_visible()


def test_the_size_of_each_table_is_seen_in_a_narrow_view(page_of: PageOf, orders: Table) -> None:
    (measured,) = orders.show.health().value.tables
    names = ["warehouse.orders_of_all_customers", "warehouse.order_lines_by_day"]
    tables = [
        msgspec.structs.replace(measured, table=name, record_count=10**8, total_bytes=10**9)
        for name in names
    ]
    drawn = draw_health(health_summary.health("warehouse: health", tables, orphans=False))

    page = page_of(drawn, viewport={"width": 840, "height": 700})

    over = "table => table.parentElement.scrollWidth - table.parentElement.clientWidth"
    for name in ("tables", "findings"):
        assert page.get_by_role("grid", name=name).evaluate(over) == 0, name
    assert "bytes" in page.get_by_role("grid", name="tables").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_columns_of_a_profile_sort_filter_and_open(
    page_of: PageOf, orders: Table, scheme: str
) -> None:
    page = page_of(orders.show.profile(), color_scheme=scheme)
    shown = page.locator(".profile tbody tr")

    page.get_by_role("button", name="distinct").click()
    expect(shown.first).to_contain_text("dt")
    page.get_by_role("button", name="distinct").click()
    expect(shown.first).to_contain_text("107")
    shown.nth(0).focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    chosen = page.get_by_role("region", name="the chosen column")
    expect(chosen).to_contain_text("channel")
    expect(chosen).to_contain_text("37, 34.6 %")
    expect(page.get_by_role("status").last).to_have_text("channel: 34.6 % null, 3 distinct")


def test_columns_of_a_wide_profile_are_searched(page_of: PageOf, orders: Table) -> None:
    profile = orders.show.profile().value
    page = page_of(draw(msgspec.structs.replace(profile, columns=profile.columns * 2)))

    page.get_by_role("searchbox").fill("string")

    expect(page.locator(".profile tbody tr")).to_have_count(8)
    expect(page.get_by_role("status").first).to_have_text("8 of 12 columns")
