"""One data file in a browser."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from playwright.sync_api import expect

from paimonlab.notebook.display.drawn import Drawn
from tests.analysis.buckets.test_heatmap import golden_table
from tests.browser.conftest import PageOf
from tests.notebook.views.test_file import live_names


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_row_group_can_be_looked_at(page_of: PageOf, scheme: str) -> None:
    table = golden_table("lsm")
    view = table.show.file(live_names(table)[0])
    assert isinstance(view, Drawn)
    parts = msgspec.structs.replace(view.value, parts=view.value.parts * 2, part_count=2)
    page = page_of(replace(view, value=parts), color_scheme=scheme)

    page.get_by_role("combobox", name="part of the file").select_option("1")

    expect(page.get_by_role("status")).to_contain_text("row group 0: rows from 0")
    expect(page.get_by_role("row", name="_KEY_a INT32 ZSTD")).to_be_visible()
    expect(page.get_by_role("row", name="0 0 0 0 round0-0")).to_be_visible()
    expect(page.get_by_role("button", name="next rows")).to_have_count(0)  # no kernel
