"""The catalog panel: read and used by keyboard while a cell runs, whatever tables are called."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import paimonlab as pl
from tests.browser.conftest import Lab, watched_page
from tests.browser.contrast import LEAST, contrasts
from tests.browser.test_in_lab import SIZE, cell, write
from tests.notebook.hostile import strings

PATIENCE = 90_000
AUDIT = (Path(__file__).parent / "audit.js").read_text(encoding="utf-8")
HOSTILE = '<img src=x onerror="zqcanary=1">'


@pytest.fixture(scope="module")
def warehouse(lab: Lab) -> Path:
    """Make a warehouse with names and comments that somebody chose to do harm."""
    folder = lab.folder / "panel"
    catalog = pl.connect(folder)
    catalog.create_database("sales")
    columns = {"id": "BIGINT NOT NULL", **dict.fromkeys(_names(), "INT")}
    options = {"bucket": "1", "write-only": "true"}
    table = catalog.create_table(
        "sales.orders", columns, primary_keys=["id"], options=options, comment=HOSTILE
    )
    for number in range(3):
        table.write(
            pa.table({"id": [number], **{text: pa.array([1], "int32") for text in _names()}})
        )
    (folder / f"{HOSTILE}.db").mkdir()
    return folder


def _names() -> list[str]:
    short = [text for text in strings() if 0 < len(text) < 200 and text.strip() == text]
    return [HOSTILE, *dict.fromkeys(text for text in short[::25] if text.isprintable())]


@pytest.fixture(scope="module")
def page(browser: Browser, lab: Lab, warehouse: Path) -> Iterator[Page]:
    """Open a notebook, run a cell that takes long, and open the panel by its command."""
    write(lab.folder / "panel.ipynb", [cell("import time; time.sleep(600)"), cell("")])
    with watched_page(browser, viewport=SIZE) as page:
        page.goto(lab.address("panel.ipynb"))
        expect(page.get_by_text("| Idle")).to_be_visible(timeout=PATIENCE)
        page.locator(".jp-CodeCell .cm-content").first.click()
        page.keyboard.press("Shift+Enter")
        expect(page.get_by_text("| Busy")).to_be_visible(timeout=PATIENCE)
        page.keyboard.press("Control+Shift+C")
        page.keyboard.type("Paimon Catalog")
        page.keyboard.press("Enter")
        expect(item(page, "panel")).to_be_visible(timeout=PATIENCE)
        yield page


def item(page: Page, name: str) -> Locator:
    return page.locator(".jp-PaimonCatalog-line").filter(
        has=page.locator(".jp-PaimonCatalog-name").get_by_text(name, exact=True)
    )


def details(page: Page) -> Locator:
    return page.get_by_role("region", name="details")


def menu(page: Page) -> Locator:
    return page.locator(".lm-Menu .lm-Menu-itemLabel:not(:empty)")


def open_view(page: Page, kind: str) -> None:
    """Choose a view by keyboard."""
    page.get_by_role("button", name="Open view").press("Enter")
    expect(menu(page).first).to_be_visible()
    for _ in range(menu(page).all_inner_texts().index(kind) + 1):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


def test_the_command_leads_into_the_tree(page: Page) -> None:
    """JupyterLab focuses the notebook after a command, where letters are commands."""
    page.wait_for_timeout(300)
    expect(item(page, "panel")).to_be_focused()
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(2)


def test_the_tree_is_opened_and_walked_by_keyboard_while_a_cell_runs(page: Page) -> None:
    item(page, "panel").focus()
    page.keyboard.press("ArrowRight")
    expect(item(page, "sales")).to_be_visible(timeout=PATIENCE)
    page.keyboard.type("sa")
    page.keyboard.press("ArrowRight")
    expect(item(page, "orders")).to_be_visible(timeout=PATIENCE)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(item(page, "columns")).to_be_visible(timeout=PATIENCE)

    expect(item(page, "orders")).to_have_attribute("aria-selected", "true")
    expect(item(page, "orders")).to_have_attribute("aria-level", "3")
    expect(item(page, "orders")).to_be_focused()
    expect(details(page)).to_contain_text("Snapshot 3, append: +1 row")
    expect(details(page)).to_contain_text("3 before merging", timeout=PATIENCE)
    expect(page.get_by_text("| Busy")).to_be_visible()


def test_hostile_names_are_text(page: Page) -> None:
    item(page, "columns").locator(".jp-PaimonCatalog-fold").click()
    expect(page.locator("[data-kind=column]")).to_have_count(len(_names()) + 1, timeout=PATIENCE)

    shown = page.locator("[data-kind=column] .jp-PaimonCatalog-name").all_inner_texts()
    assert HOSTILE in shown
    assert item(page, HOSTILE).count() == 2  # a database and a column
    panel = page.locator(".jp-PaimonCatalog")
    assert panel.locator("img, script, iframe, a").count() == 0
    assert page.evaluate("String(globalThis.zqcanary)") == "undefined"
    item(page, "columns").locator(".jp-PaimonCatalog-fold").click()


def test_a_search_leads_to_a_column(page: Page) -> None:
    page.get_by_label("search tables and columns").fill("ONERROR")
    found = page.get_by_role("list", name="found").get_by_role("button")
    expect(found.filter(has_text="column")).to_have_count(1, timeout=PATIENCE)
    found.filter(has_text="column").click()

    expect(page.locator("[aria-selected=true][data-kind=column]")).to_contain_text("onerror")
    item(page, "columns").locator(".jp-PaimonCatalog-fold").click()


def test_a_search_is_made_and_left_by_keyboard(page: Page) -> None:
    search = page.get_by_label("search tables and columns")
    status = page.locator(".jp-PaimonCatalog-note")
    search.fill("no such name")
    expect(status).to_have_text("nothing has such a name", timeout=PATIENCE)
    search.press("Escape")
    expect(search).to_have_value("")
    expect(status).to_have_text("")

    search.fill("orders")
    found = page.get_by_role("list", name="found").get_by_role("button")
    expect(found.first).to_contain_text("sales.orders", timeout=PATIENCE)
    search.press("ArrowDown")
    expect(found.first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(search).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("[aria-selected=true][data-kind=table]")).to_contain_text("orders")


def test_names_and_queries_are_dragged_into_a_cell(page: Page) -> None:
    written = page.locator(".jp-CodeCell .cm-content").nth(1)
    item(page, "orders").click()
    item(page, "orders").drag_to(written)
    expect(written).to_have_text("sales.orders")
    written.click()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")

    details(page).get_by_role("button", name="Insert query").drag_to(written)
    expect(written).to_have_text("SELECT * FROM sales.orders LIMIT 100")
    written.click()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")


def test_a_view_opens_in_a_tab_and_a_name_goes_into_the_cell(page: Page) -> None:
    item(page, "orders").click()
    details(page).get_by_role("button", name="Insert query").click()
    inserted = page.locator(".jp-CodeCell .cm-content").nth(1)
    expect(inserted).to_contain_text("SELECT * FROM sales.orders LIMIT 100")

    details(page).get_by_role("button", name="Preview").click()
    explorer = page.locator(".jp-PaimonExplorer:visible")
    expect(explorer.locator(".frame")).to_contain_text("3 rows", timeout=PATIENCE)
    open_view(page, "timeline")
    expect(explorer.get_by_role("option", name=re.compile("snapshot 3"))).to_be_visible(
        timeout=PATIENCE
    )


def test_what_an_entry_can_do_is_in_its_menu(page: Page) -> None:
    for opened in ("mouse", "keyboard"):
        if opened == "mouse":
            item(page, "orders").click(button="right")
        else:
            item(page, "orders").press("Shift+F10")
        expect(menu(page).filter(has_text="Preview")).to_be_visible()
        assert menu(page).all_inner_texts()[-4:] == ["Compact …", "Tag …", "Roll back …", "Drop …"]
        page.keyboard.press("Escape")
        expect(page.locator(".lm-Menu")).to_have_count(0)
        expect(item(page, "orders")).to_be_focused()

    item(page, "orders").press("ContextMenu")
    expect(menu(page).first).to_be_visible()
    for key in ("ArrowUp", "ArrowUp", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    form = page.get_by_role("form", name="New tag: sales.orders")
    expect(form.locator("[name=tag]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(item(page, "orders")).to_be_focused()


def test_a_name_is_inserted_from_a_tab_of_a_view_where_it_is_seen(page: Page) -> None:
    written = page.locator(".jp-CodeCell .cm-content").nth(1)
    expect(written).not_to_be_visible()
    details(page).get_by_role("button", name="Insert name").press("Enter")
    expect(written).to_be_visible()
    expect(written).to_contain_text("sales.orders")
    page.get_by_role("tab", name="orders: timeline").click()


def test_views_of_one_table_in_two_tabs_follow_each_other(page: Page) -> None:
    open_view(page, "log")
    log = page.locator(".jp-PaimonExplorer:visible")
    row = log.locator("tbody tr").filter(has=page.locator("td:first-child", has_text="2"))
    row.first.click(timeout=PATIENCE)
    expect(log.get_by_role("status")).to_contain_text("version 2")

    page.get_by_role("tab", name="orders: timeline").click()

    timeline = page.locator(".jp-PaimonExplorer:visible")
    chosen = timeline.locator("svg [role=option][aria-selected=true]")
    expect(chosen).to_have_count(1)
    expect(chosen).to_have_attribute("aria-label", re.compile("snapshot 2"))
    timeline.get_by_role("option", name=re.compile("snapshot 3")).click()
    page.get_by_role("tab", name="orders: log").click()
    expect(page.locator(".jp-PaimonExplorer:visible tr[aria-selected=true]")).to_contain_text("3")


def test_a_plan_is_shown_before_anything_is_done(page: Page, warehouse: Path) -> None:
    details(page).get_by_role("button", name="Compact …").click()
    form = page.get_by_role("form", name="Compact: sales.orders")
    form.get_by_role("button", name="Plan").click()
    expect(form).to_contain_text("CALL sys.compact(table => 'sales.orders'", timeout=PATIENCE)
    expect(form).to_contain_text("full compaction to level 5")
    table = pl.connect(warehouse).table("sales.orders")
    assert isinstance(table, pl.Table)
    assert table.snapshot is not None
    assert table.snapshot.id == 3

    form.get_by_role("button", name="Compact").click()

    jobs = page.get_by_role("region", name="jobs")
    expect(jobs).to_contain_text("compact sales.orders: done", timeout=PATIENCE)
    assert table.snapshot.id == 4
    expect(details(page)).to_contain_text("Snapshot 4, compact", timeout=PATIENCE)


def planned_and_done(page: Page, form: str, *, plan: str, job: str, **fields: str) -> None:
    """Fill in a form, read its plan, and do it, all by keyboard."""
    shown = page.get_by_role("form", name=form, exact=True)
    for name, text in fields.items():
        shown.locator(f"[name={name}]").fill(text)
    if fields:
        shown.locator("input").last.press("Enter")
    expect(shown).to_contain_text(plan, timeout=PATIENCE)
    expect(shown.get_by_role("status").get_by_role("button")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="jobs")).to_contain_text(job, timeout=PATIENCE)
    expect(shown).to_have_count(0)


def test_tables_are_created_and_dropped_by_their_plans(page: Page, warehouse: Path) -> None:
    item(page, "panel").click()
    details(page).get_by_role("button", name="New database …").click()
    planned_and_done(
        page,
        "New database: panel",
        name="archive",
        plan="CREATE DATABASE archive",
        job="create database panel: done",
    )
    item(page, "archive").click(timeout=PATIENCE)
    details(page).get_by_role("button", name="New table …").click()
    planned_and_done(
        page,
        "New table: archive",
        columns="id BIGINT NOT NULL\nname STRING",
        primary_key="id",
        name="old",
        plan="CREATE TABLE archive.old",
        job="create table archive: done",
    )
    assert pl.connect(warehouse).table("archive.old").primary_keys == ("id",)

    item(page, "archive").press("ArrowRight")
    item(page, "old").click(timeout=PATIENCE)
    details(page).get_by_role("button", name="Drop …").click()
    planned_and_done(
        page,
        "Drop table: archive.old",
        plan="Deletes archive.old for good: 0 rows before merging",
        job="drop table archive.old: done",
    )
    expect(item(page, "old")).to_have_count(0, timeout=PATIENCE)
    assert not pl.connect(warehouse).has_table("archive.old")


def test_a_table_is_tagged_and_rolled_back_to_its_tag(page: Page, warehouse: Path) -> None:
    table = pl.connect(warehouse).table("sales.orders")
    item(page, "orders").click()
    details(page).get_by_role("button", name="Tag …").click()
    planned_and_done(
        page,
        "New tag: sales.orders",
        tag="before",
        snapshot="3",
        plan="CALL sys.create_tag(table => 'sales.orders', tag => 'before', snapshot => 3)",
        job="create tag sales.orders: done",
    )
    assert table.tags.get("before").id == 3

    details(page).get_by_role("button", name="Roll back …").click()
    planned_and_done(
        page,
        "Roll back: sales.orders",
        version="before",
        plan="CALL sys.rollback(table => 'sales.orders', version => 'before')",
        job="rollback sales.orders: done",
    )
    assert table.snapshot is not None
    assert table.snapshot.id == 3
    expect(details(page)).to_contain_text("Snapshot 3, append", timeout=PATIENCE)


def test_a_thousand_tables_are_walked_without_drawing_them_anew(
    page: Page, warehouse: Path
) -> None:
    """Names with a common beginning differ by what is seen of them; refreshing keeps the place."""
    database = warehouse / "many.db"
    catalog = pl.connect(warehouse)
    catalog.create_database("many")
    catalog.create_table("many.orders_of_customers_by_region_0000", {"id": "INT"})
    for number in range(1, 1_000):
        folder = database / f"orders_of_customers_by_region_{number:04d}"
        shutil.copytree(database / "orders_of_customers_by_region_0000", folder)
    page.get_by_role("button", name="refresh").click()
    item(page, "many").click(timeout=PATIENCE)
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="show more").click(timeout=PATIENCE)
    expect(item(page, "orders_of_customers_by_region_0200")).to_be_focused(timeout=PATIENCE)
    for part in item(page, "orders_of_customers_by_region_0200").locator("span span").all():
        assert part.evaluate("node => node.clientWidth > 20")
    last = item(page, "orders_of_customers_by_region_0200").locator("span span").last
    assert last.inner_text() == "_region_0200"
    assert last.evaluate("node => node.scrollWidth <= node.clientWidth")

    tree = page.get_by_role("tree")
    drawn = tree.evaluate("node => (node.made = [...node.children]).length")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    expect(item(page, "orders_of_customers_by_region_0203")).to_be_focused()
    assert drawn > 1_000
    assert tree.evaluate("node => node.made.every((line, at) => line === node.children[at])")

    page.get_by_role("button", name="refresh").click()
    expect(page.locator(".jp-PaimonCatalog-line[aria-busy]")).to_have_count(0)
    page.wait_for_timeout(500)
    expect(item(page, "orders_of_customers_by_region_0999")).to_have_count(1)
    expect(item(page, "orders_of_customers_by_region_0203")).to_be_in_viewport()
    item(page, "many").locator(".jp-PaimonCatalog-fold").click()


def test_the_panel_holds_to_what_views_hold_to(page: Page) -> None:
    """Names, roles, contrast, edges; also with forced colours, in a form and when narrow."""
    panel = page.locator(".jp-PaimonCatalog")
    item(page, "columns").locator(".jp-PaimonCatalog-fold").click()
    item(page, "orders").click()
    expect(details(page)).to_contain_text("health", timeout=PATIENCE)
    assert panel.evaluate(AUDIT) == []
    page.emulate_media(forced_colors="active")
    assert panel.evaluate(AUDIT) == [], "with forced colours"
    page.emulate_media(forced_colors="none")
    panel.evaluate("node => node.style.setProperty('max-width', '180px')")
    assert panel.evaluate(AUDIT) == [], "180 px"
    details(page).get_by_role("button", name="Tag …").click()
    assert panel.evaluate(AUDIT) == [], "a form"
    page.keyboard.press("Escape")
    item(page, "id").hover(timeout=PATIENCE)
    assert panel.evaluate(AUDIT) == [], "the line under the mouse"
    panel.evaluate("node => node.style.removeProperty('max-width')")


def test_texts_can_be_told_from_their_background_in_both_themes_and_three_widths(
    page: Page,
) -> None:
    panel = page.locator(".jp-PaimonCatalog")
    for theme in ("JupyterLab Dark", "JupyterLab Light"):
        page.locator(".lm-MenuBar-itemLabel", has_text="Settings").click()
        for label in ("Theme", theme):
            page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{label}$")).click()
        is_light = str("Light" in theme).lower()
        page.wait_for_selector(f"body[data-jp-theme-light={is_light}]", state="attached")
        for width in (700, 900, 1400):
            page.set_viewport_size({"width": width, "height": 900})
            assert panel.evaluate("node => node.scrollWidth <= node.clientWidth + 1")
        page.wait_for_timeout(300)
        poor = [one for one in contrasts(panel) if one.ratio < LEAST]
        assert poor == [], theme
    page.set_viewport_size({"width": SIZE["width"], "height": SIZE["height"]})


def test_what_was_open_is_open_again_in_the_next_session(page: Page, lab: Lab) -> None:
    page.locator(".lm-TabBar-tab", has_text="panel.ipynb").click()
    page.locator(".jp-CodeCell .cm-content").nth(1).click()
    page.keyboard.press("Control+S")
    expect(page.locator(".lm-TabBar-tab.jp-mod-current.jp-mod-dirty")).to_have_count(0)
    page.wait_for_timeout(1_000)  # JupyterLab saves its state a moment later
    page.goto(f"{lab.url}/lab?token={lab.token}")

    expect(item(page, "orders")).to_be_visible(timeout=PATIENCE)
    expect(item(page, "columns")).to_be_visible()
    expect(page.locator(".jp-PaimonExplorer .frame").first).to_be_attached(timeout=PATIENCE)
