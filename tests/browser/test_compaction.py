"""Compactions in a browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.analysis.levels.test_levels import golden
from tests.browser.conftest import PageOf
from tests.golden.expected import Case
from tests.notebook.views.test_compaction import drawn


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_compaction_is_chosen_by_mouse_and_keys(page_of: PageOf, scheme: str) -> None:
    page = page_of(drawn(golden(Case("java-1.3.1", "lsm"))), color_scheme=scheme)
    rows = page.locator("#view tbody tr")
    expect(page.locator("#view .status")).to_contain_text("snapshot 10: 3 files")

    rows.nth(1).click()
    expect(page.locator("#view .status")).to_contain_text("snapshot 7: 3 files")
    rows.nth(1).press("ArrowDown")
    rows.nth(2).press("Enter")

    expect(page.locator("#view .status")).to_contain_text("snapshot 4: 3 files")
    expect(page.locator("#view").get_by_text("Write amplification 1.41")).to_be_visible()
    expect(page.locator("#view").get_by_text("2 sorted runs are fewer than")).to_be_visible()


def test_a_call_can_be_copied(page_of: PageOf) -> None:
    page = page_of(drawn(golden(Case("java-1.3.1", "lsm"))))

    page.get_by_role("button", name="SQL").first.click()

    expect(page.locator("#view .status")).to_contain_text("CALL sys.compact(table => 'db.lsm'")
