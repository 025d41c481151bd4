"""The map of files in a browser, by keys and by mouse."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from playwright.sync_api import expect

import paimonlab as pl
from tests.analysis.buckets.test_heatmap import golden_table
from tests.browser.conftest import PageOf
from tests.browser.test_heatmap import LISTEN


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_keys_open_areas_down_to_a_file_and_go_back(page_of: PageOf, scheme: str) -> None:
    page = page_of(golden_table("dyn_part").show.files(), color_scheme=scheme)
    page.evaluate(LISTEN)
    areas = page.get_by_role("option")
    expect(areas).to_have_count(2)

    areas.first.focus()
    for key in ("Enter", "ArrowDown", "Enter", "Enter"):
        page.keyboard.press(key)

    expect(areas).to_have_count(1)
    expect(page.get_by_role("status")).to_contain_text("1 file, ")
    chosen = page.evaluate("heard.at(-1)")
    assert chosen["partition"] == "dt=d0"
    assert chosen["file"].startswith("data-")
    page.keyboard.press("Backspace")
    expect(areas).to_have_count(2)
    page.get_by_role("button", name="all partitions").click()
    expect(page.get_by_role("listbox", name="partitions")).to_be_visible()


def test_a_table_without_partitions_is_a_map_of_buckets(page_of: PageOf, tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    options = {"bucket": "2"}
    table = catalog.create_table("db.t", {"id": "BIGINT"}, primary_keys=["id"], options=options)
    table.write(pa.table({"id": list(range(40))}))
    page = page_of(table.show.files())
    areas = page.get_by_role("option")

    expect(page.get_by_role("listbox", name="buckets")).to_be_visible()
    expect(areas).to_have_count(2)
    assert {"a bucket 0", "a bucket 1"} < set(page.locator(".map text").all_text_contents())
    assert sum(text.endswith("B") for text in page.locator(".map text").all_text_contents()) == 2
    areas.first.focus()
    page.keyboard.press("Backspace")
    expect(areas).to_have_count(2)
    page.keyboard.press("Enter")
    expect(areas).to_have_count(1)
    page.get_by_role("button", name="all buckets").click()
    expect(areas).to_have_count(2)


def test_advice_and_histogram_are_there(page_of: PageOf) -> None:
    page = page_of(golden_table("dyn_part").show.files())

    expect(page.get_by_role("row", name="a 0-8 MiB 4 100 %")).to_be_visible()
    expect(page.locator(".advice")).to_have_text("4 files: too few to judge (fewer than 16)")
