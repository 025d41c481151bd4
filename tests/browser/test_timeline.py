"""The timeline in a browser, by keys and by mouse, and the views beside it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from paimonlab.analysis.snapshots import timeline_making
from paimonlab.notebook.views.timeline.drawing import draw
from tests.analysis.snapshots.made_snapshots import snapshot
from tests.browser.conftest import PageOf
from tests.notebook.views.test_timeline import READ, golden_table

MARKS = "svg [role=option]"
CHOSEN = f"{MARKS}[aria-selected=true]"


def focus_on_the_newest(page: Page) -> None:
    page.locator(f"{MARKS}[tabindex='0']").focus()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_keys_walk_choose_and_take_a_range(page_of: PageOf, scheme: str) -> None:
    line = timeline_making.timeline("a.b", [snapshot(number) for number in range(1, 9)], {"v": 3})
    page = page_of(draw(line), color_scheme=scheme)
    focus_on_the_newest(page)

    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="copy VERSION AS OF 7", exact=True)).to_be_visible()
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")

    expect(page.get_by_role("status")).to_have_text("snapshots 5 to 7")
    expect(page.locator(CHOSEN)).to_have_count(3)
    expect(page.get_by_role("button", name="copy %paimon_diff a.b 5 7")).to_be_visible()
    expect(page.get_by_role("button", name="copy %paimon_changes a.b 5 7")).to_be_visible()


def test_the_line_at_the_foot_takes_room_once_something_was_done(page_of: PageOf) -> None:
    line = timeline_making.timeline("a.b", [snapshot(number) for number in range(1, 9)], {})
    page = page_of(draw(line))
    foot = page.locator(".frame > .status")
    height = "node => node.getBoundingClientRect().height"
    expect(foot).to_contain_text("snapshot 8, append")  # what the card above it says
    assert foot.evaluate(height) <= 1

    page.locator(MARKS).first.click()

    expect(foot).to_contain_text("snapshot 1, append")
    assert foot.evaluate(height) > 10


def test_a_drag_takes_a_range_and_a_click_lets_it_go(page_of: PageOf) -> None:
    page = page_of(
        draw(timeline_making.timeline("a.b", [snapshot(number) for number in range(1, 9)], {}))
    )
    marks = page.locator(MARKS)
    boxes = [marks.nth(place).locator("circle").last.bounding_box() for place in (1, 4)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    y = boxes[0]["y"] + 2

    page.mouse.move(boxes[0]["x"] - 4, y)
    page.mouse.down()
    page.mouse.move(boxes[1]["x"] + 30, y, steps=5)
    page.mouse.up()
    expect(page.get_by_role("status")).to_have_text("snapshots 2 to 5")
    marks.nth(2).click()

    expect(page.locator(CHOSEN)).to_have_count(1)
    expect(page.get_by_role("status")).to_contain_text("snapshot 3")


def test_ten_thousand_snapshots_are_drawn(page_of: PageOf) -> None:
    snapshots = [snapshot(number, watermark=number) for number in range(1, 10_001)]
    page = page_of(draw(timeline_making.timeline("a.b", snapshots, {"old": 5})))
    focus_on_the_newest(page)

    page.get_by_label("axis").select_option("time")
    page.get_by_label("axis").select_option("id")
    focus_on_the_newest(page)
    page.keyboard.press("Home")

    expect(page.get_by_text("the newest 500 of 10,000 one by one")).to_be_visible()
    expect(page.locator(".minimap .tag")).to_have_count(1)
    expect(page.get_by_role("status")).to_contain_text("snapshots 1 to 48: 48 append")


@pytest.mark.parametrize("name", ["schemas", "log"])
def test_the_views_beside_it_walk_by_keys(page_of: PageOf, name: str) -> None:
    (case,) = [case for case in READ if case.table == "evo_nested_parquet"]
    page = page_of(getattr(golden_table(case).show, name)())
    page.locator("[tabindex='0']").first.focus()

    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    said = "schema 1: 1 type, 2 added, 1 renamed" if name == "schemas" else "version 2, append"
    expect(page.get_by_role("status")).to_have_text(said)


def test_a_diff_walks_its_tabs_by_keys(page_of: PageOf) -> None:
    (case,) = [case for case in READ if case.table == "evo_nested_parquet"]
    page = page_of(golden_table(case).show.diff(1, 3))
    page.get_by_role("tab", selected=True).focus()

    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tabpanel").get_by_role("row")).to_have_count(3)  # head, two files
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")

    expect(page.get_by_role("tab", selected=True)).to_have_text("schema (4)")
    expect(page.get_by_role("tabpanel")).to_contain_text("l.element.w")
