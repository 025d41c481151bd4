"""JupyterLab shows how far a statement is, completes SQL meanwhile, and colours it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import Lab, watched_page
from tests.browser.test_in_lab import SIZE, cell, run_cells, write

SETUP = """\
import os, tempfile
os.environ["PAIMONLAB_DETERMINISTIC"] = "0"
%load_ext paimonlab
warehouse = tempfile.TemporaryDirectory()
%paimon_connect "{warehouse.name}"
%paimon CREATE DATABASE db
%paimon CREATE TABLE db.flights (carrier STRING, month INT)
"ready"
"""
NAPS = """\
%%paimon --limit 1
SELECT 1;
SELECT java_method('java.lang.Thread', 'sleep', 1000L) AS nap FROM range(0, {count}, 1, {count})
"""
QUERY = "%%paimon --limit 5\nSELECT * FROM db.flights$files WHERE level > :low AND "
SETUP_CELL, SHORT, LONG, SQL, HOSTILE = range(5)
CELLS = [
    SETUP,
    NAPS.format(count=6),
    NAPS.format(count=100).replace("--limit 1", "--limit 0"),
    QUERY,
    """\
import time
from paimonlab.notebook.kernel import front_ends
for ui in ["javascript:alert(1)", "http://127.0.0.1:4040/?<b>"]:
    message = {"label": "<b>", "done": 1, "total": 2, "text": ["<img src=x>"], "elapsed": 1}
    front_ends.current().tell({**message, "kind": "progress", "statement": [1, 1], "ui": ui})
    time.sleep(1)
""",
]
PATIENCE = 90_000


@pytest.fixture(scope="module")
def notebook(browser: Browser, lab: Lab) -> Iterator[Page]:
    """Open a notebook whose kernel has a table."""
    write(lab.folder / "plugin.ipynb", [cell(source) for source in CELLS])
    with watched_page(browser, viewport={**SIZE, "height": 1400}) as page:
        page.goto(lab.address("plugin.ipynb"))
        run_cells(page, 1)
        expect(output(page, SETUP_CELL).last).to_contain_text("'ready'", timeout=PATIENCE)
        yield page


def code_cell(page: Page, number: int) -> Locator:
    return page.locator(".jp-CodeCell").nth(number)


def output(page: Page, number: int) -> Locator:
    return code_cell(page, number).locator(".jp-OutputArea-output")


def editor(page: Page, number: int) -> Locator:
    return code_cell(page, number).locator(".cm-content")


def bar_of(page: Page, number: int) -> Locator:
    return code_cell(page, number).get_by_role("progressbar")


def run(page: Page, number: int) -> None:
    editor(page, number).click()
    page.keyboard.press("Control+Enter")


def ran(page: Page, number: int) -> None:
    prompt = code_cell(page, number).locator(".jp-InputPrompt")
    expect(prompt).to_contain_text(re.compile(r"\[\d+\]"), timeout=PATIENCE)


def stored_outputs(page: Page, lab: Lab, number: int) -> list[dict[str, Any]]:
    editor(page, number).click()
    page.keyboard.press("Control+S")
    expect(page.locator(".lm-TabBar-tab.jp-mod-current.jp-mod-dirty")).to_have_count(0)
    stored = json.loads((lab.folder / "plugin.ipynb").read_text())
    outputs: list[dict[str, Any]] = stored["cells"][number]["outputs"]
    return outputs


def test_a_bar_below_the_cell_shows_progress_and_is_not_stored(notebook: Page, lab: Lab) -> None:
    run(notebook, SHORT)

    bar = bar_of(notebook, SHORT)
    said = re.compile(r"^\d+/\d+ tasks · \d/\d stages · .* s · statement 2 of 2$")
    expect(bar).to_have_attribute("aria-valuetext", said, timeout=PATIENCE)
    expect(bar).to_have_attribute("aria-label", "Spark: statement 2 of 2")
    ran(notebook, SHORT)
    expect(bar).to_have_count(0)
    outputs = stored_outputs(notebook, lab, SHORT)
    assert {one["output_type"] for one in outputs} == {"display_data", "execute_result"}
    assert " tasks" not in json.dumps(outputs)


def test_sql_is_completed_while_a_cell_runs_and_its_bar_stops_it(notebook: Page) -> None:
    run(notebook, LONG)
    expect(bar_of(notebook, LONG)).to_be_visible(timeout=PATIENCE)

    editor(notebook, SQL).click()
    notebook.keyboard.press("Control+End")
    notebook.keyboard.type("file_pa")
    offered = notebook.locator(".jp-Completer-item", has_text="file_path")
    for _ in range(200):  # until the kernel has looked the columns up
        notebook.keyboard.press("Tab")
        notebook.wait_for_timeout(300)
        if offered.count():
            break
    expect(offered).to_have_count(1)
    expect(bar_of(notebook, LONG)).to_be_visible()
    notebook.keyboard.press("Enter")
    expect(editor(notebook, SQL)).to_contain_text("AND file_path")

    code_cell(notebook, LONG).get_by_role("button", name="Stop").press("Enter")
    expect(output(notebook, LONG).last).to_contain_text("Cancelled: cancelled", timeout=PATIENCE)
    expect(bar_of(notebook, LONG)).to_have_count(0)


def test_what_a_kernel_tells_is_text_and_a_link_only_if_it_is_to_the_web(notebook: Page) -> None:
    run(notebook, HOSTILE)

    bar = bar_of(notebook, HOSTILE)
    expect(bar).to_have_attribute("aria-valuetext", "<img src=x> · 1.0 s", timeout=PATIENCE)
    links = code_cell(notebook, HOSTILE).get_by_role("link", name="Spark UI")
    expect(links).to_have_attribute("href", "http://127.0.0.1:4040/?%3Cb%3E")
    assert links.get_attribute("target") == "_blank"
    ran(notebook, HOSTILE)
    expect(bar).to_have_count(0)


def test_sql_has_the_colours_of_the_theme(notebook: Page) -> None:
    words = editor(notebook, SQL)
    for kind, text in {
        "magic": "%%paimon",
        "option": "--limit",
        "string": "5",
        "keyword": "SELECT",
        "name": "db",
        "system": "$files",
        "param": ":low",
    }.items():
        spans = words.locator(f".cm-paimon-{kind}").all()
        assert text in "".join(one.inner_text() for one in spans)
        colour = spans[0].evaluate("e => getComputedStyle(e).color")
        assert colour != "rgb(0, 0, 0)" or kind == "name"
    assert editor(notebook, SETUP_CELL).locator(".cm-paimon-keyword").all_inner_texts()[:3] == [
        "CREATE",
        "DATABASE",
        "CREATE",
    ]


@contextmanager
def switched_off(page: Page, *names: str) -> Iterator[None]:
    """Uncheck settings in JupyterLab's editor of settings, then check them again."""

    def switch(*, on: bool) -> None:
        page.keyboard.press("Control+,")
        search = page.get_by_placeholder("Search settings").last
        search.fill("Paimon")
        for name in names:
            box = page.get_by_role("checkbox", name=name)
            box.set_checked(on)
        page.wait_for_load_state("networkidle")
        page.locator(".lm-TabBar-tab", has_text="plugin.ipynb").click()

    switch(on=False)
    yield
    switch(on=True)


def test_settings_take_effect_at_once(notebook: Page, lab: Lab) -> None:
    with switched_off(notebook, "Colour SQL", "Show progress"):
        expect(editor(notebook, SQL).locator(".cm-paimon-keyword")).to_have_count(0)
        run(notebook, SHORT)
        expect(output(notebook, SHORT).last).to_contain_text("Spark: ", timeout=PATIENCE)
        assert bar_of(notebook, SHORT).count() == 0
        ran(notebook, SHORT)
        assert " tasks" not in json.dumps(stored_outputs(notebook, lab, SHORT))

    expect(editor(notebook, SQL).locator(".cm-paimon-keyword").first).to_be_visible()
    run(notebook, SHORT)
    expect(bar_of(notebook, SHORT)).to_be_visible(timeout=PATIENCE)
    ran(notebook, SHORT)
