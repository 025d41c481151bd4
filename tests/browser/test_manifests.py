"""The tree of manifests in a browser, by keys and by mouse."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.analysis.manifests.test_manifests import golden_table
from tests.browser.conftest import PageOf


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_keys_walk_open_and_choose(page_of: PageOf, scheme: str) -> None:
    page = page_of(golden_table("cl_lookup").show.manifests(), color_scheme=scheme)
    rows = page.get_by_role("row")
    before = rows.count()

    rows.nth(1).focus()  # 0 is the head
    for key in ("ArrowDown", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)

    expect(rows).to_have_count(before + 1)
    expect(page.get_by_role("row", selected=True)).to_contain_text("data-5eb61915")
    expect(page.get_by_role("status")).to_contain_text("level 0, keys [1] to [2]")
    for key in ("ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
    expect(rows).to_have_count(before)


def test_the_search_shows_entries_and_what_they_are_in(page_of: PageOf) -> None:
    page = page_of(golden_table("cl_lookup").show.manifests())

    page.get_by_role("searchbox").fill("changelog-")

    expect(page.get_by_role("row")).to_have_count(4)  # head, list, manifest, entry
    expect(page.get_by_role("status")).to_have_text("1 of the 8 entries here match")


@pytest.mark.parametrize(("width", "has_column"), [(600, False), (900, True), (1400, True)])
def test_where_entries_are_is_seen_at_every_width(
    page_of: PageOf, width: int, has_column: bool
) -> None:
    page = page_of(
        golden_table("cl_lookup").show.manifests(), viewport={"width": width, "height": 900}
    )

    assert page.get_by_role("columnheader", name="where").is_visible() is has_column
    for row in page.locator("tbody tr").all():
        shown = row.locator("td:last-child, .under").filter(visible=True)
        assert shown.count() == 1
    tree = page.get_by_role("treegrid", name="manifests")
    assert tree.evaluate("node => node.scrollWidth <= node.clientWidth")
