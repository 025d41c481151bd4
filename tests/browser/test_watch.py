"""A watch in JupyterLab: drawn anew in place as commits arrive, and stopped by its button."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Lab, watched_page
from tests.browser.test_in_lab import SIZE, cell, run_cells, write

FRAME = ".jp-RenderedPaimonView .frame"
MAKE = """%load_ext paimonlab
import pyarrow as pa, paimonlab as pl
catalog = pl.connect("watched")
catalog.create_database("db")
table = catalog.create_table("db.t", {"id": "BIGINT NOT NULL"}, primary_keys=["id"])
table.write(pa.table({"id": [1, 2, 3]}))
%paimon_connect watched --engine native"""
COMMIT = "table.write(pa.table({'id': [7]})); print('written')"


def shown(page: Page, seen: str) -> None:
    expect(page.locator(f"{FRAME} .figures")).to_contain_text(seen, timeout=90_000)


def test_other_cells_run_and_what_is_chosen_stays(browser: Browser, lab: Lab) -> None:
    cells = [MAKE, "%paimon_watch db.t --background", COMMIT]
    write(lab.folder / "background.ipynb", [cell(source) for source in cells])

    with watched_page(browser, viewport=SIZE) as page:
        page.goto(lab.address("background.ipynb"))
        run_cells(page, 2)
        shown(page, "0 commits since the watch began")
        row = page.locator(f"{FRAME} tbody tr").first
        row.click()
        expect(row).to_have_attribute("aria-selected", "true")
        place = page.locator(".jp-RenderedPaimonView > div")
        place.evaluate("(element) => { element.dataset.mark = 'same'; }")
        page.locator(".jp-CodeCell .cm-content").nth(2).click()
        page.keyboard.press("Shift+Enter")
        shown(page, "1 commit since the watch began")

        chosen = page.locator(f"{FRAME} tbody tr[aria-selected=true]")
        expect(chosen.locator("td").first).to_have_text("1")
        assert page.locator("[data-mark=same]").count() == 1, "it was drawn in place"
        page.get_by_role("button", name="stop watching").click()
        expect(page.locator(f"{FRAME} .head")).to_contain_text("■ stopped", timeout=90_000)
        expect(page.get_by_role("button", name="stop watching")).to_be_hidden()


def test_a_cell_that_watches_ends_by_the_button_while_the_kernel_is_busy(
    browser: Browser, lab: Lab
) -> None:
    make = MAKE.replace("watched", "busy")
    write(lab.folder / "busy.ipynb", [cell(source) for source in (make, "%paimon_watch db.t")])

    with watched_page(browser, viewport=SIZE) as page:
        page.goto(lab.address("busy.ipynb"))
        run_cells(page, 2)
        shown(page, "0 commits since the watch began")
        prompt = page.locator(".jp-InputPrompt").nth(1)
        expect(prompt).to_have_text("[*]:")
        page.get_by_role("button", name="stop watching").click()
        expect(page.locator(f"{FRAME} .head")).to_contain_text("■ stopped", timeout=90_000)
        expect(prompt).to_have_text("[2]:", timeout=90_000)
