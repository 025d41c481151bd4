"""Views in JupyterLab follow its theme: chosen before, or changed after they were drawn."""

from __future__ import annotations

import json
import re
import shutil
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from paimonlab.notebook import demo
from paimonlab.notebook.connections import connection as connections
from paimonlab.table.table import Table
from tests.browser.conftest import Lab, watched_page
from tests.browser.contrast import LEAST, contrasts
from tests.browser.test_in_lab import cell, write

NAME = "themes.ipynb"
KINDS = ("timeline", "lsm", "heatmap", "files", "manifests", "compaction", "schemas", "log")
TALL = {"width": 1200, "height": 9000}
FRAMES = ".jp-RenderedPaimonView .frame"
KNOWN_OF_NOTEBOOK_7 = ["error: Cannot read properties of undefined (reading 'schema')"]
"""Its own, also without our extension (7.6.5)."""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Store a notebook with one output of each kind."""
    warehouse = tmp_path_factory.mktemp("themes")
    demo(warehouse)
    table = connections.current().catalog.table("demo.orders")
    assert isinstance(table, Table)
    views = [getattr(table.show, kind)() for kind in KINDS]
    outputs = [
        {"output_type": "display_data", "data": one._repr_mimebundle_(), "metadata": {}}
        for one in views
    ]
    connections.disconnect()
    path = tmp_path_factory.mktemp("stored") / NAME
    write(path, [cell(f"# {kind}", one) for kind, one in zip(KINDS, outputs, strict=True)])
    return path


@pytest.fixture(scope="module")
def notebook(lab: Lab, stored: Path) -> Lab:
    shutil.copy(stored, lab.folder)
    return lab


def choose_theme(lab: Lab, theme: str) -> None:
    """Write the user's setting, as the menu does."""
    url = f"{lab.url}/lab/api/settings/@jupyterlab/apputils-extension:themes?token={lab.token}"
    body = json.dumps({"raw": json.dumps({"theme": theme})}).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, method="PUT"), timeout=30):
        pass


@contextmanager
def themed(lab: Lab, theme: str) -> Iterator[None]:
    choose_theme(lab, theme)
    try:
        yield
    finally:
        choose_theme(lab, "JupyterLab Light")


def opened(page: Page, lab: Lab) -> None:
    page.goto(lab.address(NAME))
    expect(page.locator(FRAMES)).to_have_count(len(KINDS), timeout=60_000)


def check(page: Page, theme: str) -> None:
    for frame in page.locator(FRAMES).all():
        expect(frame).to_have_attribute("data-theme", theme)
    for place in page.locator(".jp-RenderedPaimonView > div").all():
        found = contrasts(place)
        assert len(found) > 5
        assert [one for one in found if one.ratio < LEAST] == []
    (dark,) = {
        one.evaluate("e => getComputedStyle(e).backgroundColor")
        for one in page.locator(FRAMES).all()
    }
    assert (max(map(int, dark[4:-1].split(","))) < 60) == (theme == "dark")


def test_views_are_read_easily_in_the_dark_theme(browser: Browser, notebook: Lab) -> None:
    with themed(notebook, "JupyterLab Dark"), watched_page(browser, viewport=TALL) as page:
        opened(page, notebook)
        check(page, "dark")


def test_views_follow_a_theme_that_changes_after_they_were_drawn(
    browser: Browser, notebook: Lab
) -> None:
    with watched_page(browser, viewport=TALL) as page:
        opened(page, notebook)
        check(page, "light")
        page.locator(".lm-MenuBar-itemLabel", has_text="Settings").click()
        for label in ("Theme", "JupyterLab Dark"):
            page.locator(".lm-Menu-itemLabel", has_text=re.compile(f"^{label}$")).click()
        page.wait_for_selector("body[data-jp-theme-light=false]", state="attached")
        for frame in page.locator(FRAMES).all():
            expect(frame).to_have_attribute("data-theme", "dark")
    choose_theme(notebook, "JupyterLab Light")


def test_notebook_7_draws_stored_views(browser: Browser, notebook_7: Lab, stored: Path) -> None:
    shutil.copy(stored, notebook_7.folder)

    with watched_page(browser, viewport=TALL, known=KNOWN_OF_NOTEBOOK_7) as page:
        opened(page, notebook_7)
        check(page, "light")
