"""The simulator in a browser, without kernel."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.analysis.simulation.test_histories import HISTORY
from tests.browser.conftest import PageOf
from tests.notebook.views.test_simulator import drawn


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_sliders_choose_what_was_computed(page_of: PageOf, scheme: str) -> None:
    view = drawn(**HISTORY)
    page = page_of(view, color_scheme=scheme)
    slider = page.get_by_role("slider", name="num-sorted-run.compaction-trigger")
    expect(slider).to_have_attribute("aria-valuetext", "5 (own)")
    heads, keys = page.get_by_role("columnheader"), page.locator(".row.legend")
    back = page.get_by_role("button", name="own options")
    expect(heads).to_have_text(["", "own options"])  # nothing to compare them with
    expect(keys).to_be_hidden()
    expect(back).to_be_disabled()
    expect(back).to_have_css("opacity", "0.5")

    slider.press("Home")

    expect(slider).to_have_attribute("aria-valuetext", "2")
    expect(heads).to_have_text(["", "chosen", "own options"])
    expect(keys).to_be_visible()
    first = next(one for one in view.to_arrow().to_pylist() if _is_own_but_trigger(one))
    words = f"write amplification {first['write_amplification']:.2f}"
    expect(page.locator("#view .status")).to_contain_text(words)
    back.click()
    expect(slider).to_have_attribute("aria-valuetext", "5 (own)")
    expect(slider).to_be_focused()


def _is_own_but_trigger(row: dict[str, float]) -> bool:
    return (
        row["num-sorted-run.compaction-trigger"] == 2
        and row["compaction.max-size-amplification-percent"] == 200
        and row["compaction.size-ratio"] == 1
    )


def test_without_kernel_nothing_can_be_asked(page_of: PageOf) -> None:
    page = page_of(drawn(**HISTORY))

    expect(page.get_by_role("textbox")).to_have_count(0)
    expect(
        page.locator("#view").get_by_text("with a kernel any values can be computed")
    ).to_be_visible()
