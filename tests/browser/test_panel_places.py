"""Where the catalog panel is found: by a tile of JupyterLab's launcher, and in Notebook 7."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from playwright.sync_api import Browser, Page, expect

import paimonlab as pl
from tests.browser.conftest import Lab, watched_page
from tests.browser.test_in_lab import SIZE, cell, write
from tests.browser.test_panel import PATIENCE, item, open_view
from tests.browser.test_themes import KNOWN_OF_NOTEBOOK_7


def _make(folder: Path) -> None:
    catalog = pl.connect(folder)
    catalog.create_database("sales")
    catalog.write_table("sales.orders", pa.table({"id": [1, 2]}), primary_keys=["id"])


def _panel_is_open(page: Page) -> None:
    expect(page.get_by_role("region", name="Paimon catalog")).to_be_visible(timeout=PATIENCE)
    expect(item(page, "shop")).to_be_visible(timeout=PATIENCE)


def test_a_tile_of_the_launcher_opens_the_panel(browser: Browser, lab: Lab) -> None:
    _make(lab.folder / "shop")
    with watched_page(browser, viewport=SIZE) as page:
        page.goto(f"{lab.url}/lab?token={lab.token}&reset")
        page.locator(".jp-LauncherCard", has_text="Paimon Catalog").click(timeout=PATIENCE)

        _panel_is_open(page)


def test_notebook_7_has_the_panel_and_opens_views_below(browser: Browser, notebook_7: Lab) -> None:
    _make(notebook_7.folder / "shop")
    write(notebook_7.folder / "panel.ipynb", [cell("")])
    with watched_page(browser, viewport=SIZE, known=KNOWN_OF_NOTEBOOK_7) as page:
        page.goto(notebook_7.address("panel.ipynb"))
        page.locator(".jp-CodeCell .cm-content").first.click(timeout=PATIENCE)
        page.keyboard.press("Control+Shift+C")
        page.keyboard.type("Paimon Catalog")
        page.keyboard.press("Enter")
        _panel_is_open(page)
        for name in ("shop", "sales"):
            item(page, name).dblclick()
            page.keyboard.press("ArrowRight")
        item(page, "orders").click(timeout=PATIENCE)
        open_view(page, "timeline")

        expect(page.locator(".jp-PaimonExplorer .frame")).to_be_visible(timeout=PATIENCE)
        open_view(page, "log")
        shown = page.locator(".jp-PaimonExplorer:visible .frame")
        expect(shown.get_by_role("heading", name="sales.orders: history")).to_be_visible()
        open_view(page, "timeline")
        expect(shown.get_by_role("heading", name="sales.orders: snapshots")).to_be_visible()
