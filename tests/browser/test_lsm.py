"""Levels of buckets in a browser, step by step."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from playwright.sync_api import expect

from tests.analysis.levels.test_levels import catalog, golden
from tests.browser.conftest import PageOf
from tests.golden.expected import Case
from tests.notebook.display.test_drawing import EVIL
from tests.notebook.views.test_lsm import drawn


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_steps_are_walked_by_keys_and_buttons(page_of: PageOf, scheme: str) -> None:
    view = drawn(golden(Case("java-1.3.1", "lsm")))
    page = page_of(view, color_scheme=scheme, reduced_motion="reduce")
    status, files = page.locator("#view .status"), page.locator(".lsm-bar")
    slider = page.get_by_role("slider", name="step")
    expect(status).to_contain_text("a reader merges 2 sorted runs")
    expect(files).to_have_count(2)

    page.get_by_role("button", name="earlier").click()
    expect(files).to_have_count(1)
    expect(status).to_contain_text("3 files on level 0 and 3 became 1 file on level 3")

    slider.press("Home")
    expect(files).to_have_count(0)
    for _ in range(3):
        slider.press("ArrowRight")
    expect(files).to_have_count(3)
    expect(slider).to_have_attribute("aria-valuetext", "snapshot 3 append")
    expect(page.locator(".lsm-log li[aria-selected=true]")).to_contain_text("snapshot 3 append")


def test_a_file_has_a_card_that_keys_reach(page_of: PageOf) -> None:
    view = drawn(golden(Case("java-1.3.1", "lsm")))
    page = page_of(view)
    bars = page.locator(".lsm-bar")

    bars.first.press("Enter")
    expect(page.locator("dl")).to_contain_text("[70] to [369]")
    bars.first.press("ArrowRight")
    bars.nth(1).press("Enter")

    expect(page.locator("dl")).to_contain_text("[0] to [359]")
    expect(bars.nth(1)).to_have_attribute("aria-selected", "true")


def test_files_can_be_as_wide_as_they_are_large(page_of: PageOf) -> None:
    page = page_of(drawn(golden(Case("java-1.3.1", "lsm"))))

    page.get_by_label("place files").select_option("size")

    expect(page.locator("svg[role=listbox]")).to_contain_text("target-file-size 2.0 kB")


def test_a_bucket_is_chosen_and_names_are_text(page_of: PageOf, tmp_path: Path) -> None:
    table = catalog(tmp_path / "warehouse").create_table(
        "db.t",
        {"p": "STRING NOT NULL", "k": "STRING NOT NULL"},
        primary_keys=["p", "k"],
        partition_keys=["p"],
        options={"bucket": "1", "write-only": "true"},
    )
    for partition, keys in (("a", [EVIL, "x"]), ("a", ["y"]), (EVIL, [EVIL])):
        table.write(pa.table({"p": [partition] * len(keys), "k": keys}))
    page = page_of(drawn(table))

    page.locator("#view tbody tr").nth(1).click()

    expect(page.locator("h4")).to_contain_text("<script>alert(1)</script>")
    expect(page.locator(".lsm-bar")).to_have_count(1)


def test_an_append_table_shows_its_files_in_order(page_of: PageOf) -> None:
    page = page_of(drawn(golden(Case("java-1.3.1", "append_bucketed"))))

    expect(page.locator(".lsm-bar")).to_have_count(2)
    expect(page.locator("#view .body")).to_contain_text("An append table has no levels")
