"""Take the pictures of `docs/gallery.md`: every view of the demo tables, drawn by Chromium.

``python -m tools.gallery [NAME…]`` writes ``docs/images/views``; look at them before keeping them.
``panel`` is the catalog panel, in JupyterLab, ``jupyterlab`` the picture of the README.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from paimonlab.notebook import demo, simulate, views
from paimonlab.notebook.connections import connection
from paimonlab.notebook.views.doctor.drawing import draw as draw_doctor
from paimonlab.spark.sessions.doctor import checks
from paimonlab.spark.sessions.environment import measured
from paimonlab.table.table import Table
from tests.browser import chromium
from tests.browser.conftest import started as jupyter
from tests.browser.test_in_lab import cell, write
from tests.notebook.results.test_result import make
from tools.looks.shown import a_result

TARGET = Path(__file__).parents[1] / "docs" / "images" / "views"
PANEL = TARGET.parent / "panel.png"
LAB = TARGET.parent / "jupyterlab.png"
CELLS = (
    "%load_ext paimonlab\n%paimon_connect shop --engine native",
    (
        "%%paimon\nSELECT status, count(*) AS orders, sum(amount) AS amount\n"
        "FROM demo.orders GROUP BY status ORDER BY orders DESC"
    ),
    "%paimon_timeline demo.orders",
)
WIDTH = 920

VIEWS: dict[str, Callable[[Table], Any]] = {
    "timeline": lambda table: table.show.timeline(),
    "lsm": lambda table: table.show.lsm(),
    "compaction": lambda table: table.show.compaction(),
    "simulator": lambda _table: simulate(flushes=60),
    "manifests": lambda table: table.show.manifests(),
    "heatmap": lambda table: table.show.heatmap(),
    "files": lambda table: table.show.files(),
    "changes": lambda table: table.show.changes(3, 7),
    "diff": lambda table: table.show.diff(3, 12),
    "schemas": lambda table: table.show.schemas(),
    "log": lambda table: table.show.log(),
    "travel": lambda table: table.show.travel(),
    "health": lambda table: table.show.health(),
    "profile": lambda table: table.show.profile(),
    "plot": lambda table: make(table.scan().to_arrow().sort_by("dt")).plot(
        "bar", "dt", "amount", by="status"
    ),
    "result": a_result,
    "doctor": lambda _table: draw_doctor(views.Doctor(checks=checks(measured(None)))),
    "watch": lambda table: table.show.watch(seconds=0.1).view,
    "row": lambda table: table.show.row("dt = '2026-01-03' AND order_id = 89"),
}


def take(browser: Browser, name: str, table: Table, folder: Path) -> Path:
    """Save one view as a page and take its picture; dark ones alternate with light ones."""
    page_file = VIEWS[name](table).save(folder / f"{name}.html")
    scheme: Any = "dark" if list(VIEWS).index(name) % 2 else "light"
    page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme=scheme)
    page.goto(page_file.as_uri())
    frame = page.locator("img" if name == "plot" else ".frame").first
    frame.wait_for()
    path = TARGET / f"{name}.png"
    frame.screenshot(path=path, animations="disabled")
    page.close()
    return path


def take_panel(browser: Browser, folder: Path) -> Path:
    """Take the picture of the catalog panel in a JupyterLab of its own."""
    with jupyter("jupyterlab", folder, is_deterministic=False) as lab:
        demo(lab.folder / "shop")
        page = browser.new_page(viewport={"width": 1200, "height": 800})
        page.goto(f"{lab.url}/lab?token={lab.token}&reset")
        page.locator(".lm-TabBar-tab[title='Paimon catalog']").click(timeout=60_000)
        for name in ("shop", "demo", "orders", "columns"):
            page.locator(".jp-PaimonCatalog-line", has_text=name).first.dblclick()
            page.keyboard.press("ArrowRight")
            page.wait_for_timeout(3_000)
        page.locator(".jp-PaimonCatalog-line", has_text="orders").first.click()
        page.get_by_role("button", name="Open view").click()
        page.locator(".lm-Menu-itemLabel", has_text="timeline").click()
        page.locator(".jp-PaimonExplorer .frame").wait_for()
        page.wait_for_timeout(2_000)
        page.screenshot(path=PANEL, animations="disabled")
        page.close()
    return PANEL


def take_lab(browser: Browser, folder: Path) -> Path:
    """Take the picture of a notebook beside the catalog panel."""
    with jupyter("jupyterlab", folder, is_deterministic=False) as lab:
        demo(lab.folder / "shop")
        write(lab.folder / "orders.ipynb", [cell(source) for source in CELLS])
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.goto(lab.address("orders.ipynb"))
        page.get_by_text("| Idle").wait_for(timeout=120_000)
        page.locator(".jp-CodeCell .cm-content").first.click()
        for _ in CELLS:
            page.keyboard.press("Shift+Enter")
        page.locator(".jp-OutputArea .frame").nth(1).wait_for(timeout=120_000)
        page.locator(".lm-TabBar-tab[title='Paimon catalog']").click()
        for name in ("shop", "demo", "orders"):
            page.locator(".jp-PaimonCatalog-line", has_text=name).first.dblclick()
            page.keyboard.press("ArrowRight")
            page.wait_for_timeout(3_000)
        page.locator(".jp-PaimonCatalog-line", has_text="orders").first.click()
        page.wait_for_timeout(4_000)
        page.screenshot(path=LAB, animations="disabled")
        page.close()
    return LAB


_IN_LAB = {"panel": take_panel, "jupyterlab": take_lab}


def main(names: Sequence[str]) -> None:
    """Take the pictures that are named, or all."""
    executable = chromium.executable()
    if executable is None:
        raise SystemExit("no Chromium here")
    TARGET.mkdir(parents=True, exist_ok=True)
    os.environ.pop("PYSPARK_PYTHON", None)  # else the doctor's picture shows a path of this machine
    demo()
    table = connection.current().catalog.table("demo.orders")
    assert isinstance(table, Table)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=chromium.FLAGS)
        for name in names or (*VIEWS, "panel", "jupyterlab"):
            if name in _IN_LAB:
                home = Path(folder) / name
                home.mkdir()
                path = _IN_LAB[name](browser, home)
            else:
                path = take(browser, name, table, Path(folder))
            print(path.relative_to(TARGET.parents[2]), path.stat().st_size)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
