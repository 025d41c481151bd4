"""The heat map in a browser, by keys and by mouse, and what it tells others."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.analysis.buckets.test_heatmap import golden_table
from tests.browser.conftest import PageOf

LISTEN = """() => {
  globalThis.heard = [];
  paimonlabSelections.addEventListener("select", ({ detail }) => heard.push(detail.selection));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chosen_cell_is_told(page_of: PageOf, scheme: str) -> None:
    page = page_of(golden_table("dyn_part").show.heatmap(), color_scheme=scheme)
    page.evaluate(LISTEN)

    page.get_by_role("gridcell").first.focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)

    expect(page.get_by_role("gridcell", selected=True)).to_have_text("1.4 kB")
    assert page.evaluate("heard")[0]["bucket"] == 1
    page.get_by_role("gridcell", name="dt=d0, bucket 0").click()
    assert page.evaluate("heard")[1] == {"partition": "dt=d0", "bucket": 0}


def test_another_measure_has_other_numbers(page_of: PageOf) -> None:
    page = page_of(golden_table("dyn_part").show.heatmap())

    page.get_by_role("combobox", name="measure").select_option("rows")

    expect(page.get_by_role("gridcell", name="dt=d0, bucket 0")).to_have_text("5")
    expect(page.get_by_role("status")).to_contain_text("Gini 0.21")
