"""JupyterLab runs tutorials from their first cells to their last, and shows their views.

One with most views, one that changes tables. nbval runs all of them and compares what they print;
``test_exported_tutorials.py`` looks at the views of all of them, ``test_plugin.py`` runs Spark.
"""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import ROOT, Lab, watched_page
from tests.browser.test_in_lab import run_cells

TUTORIALS = ("02_inside_a_bucket", "04_compaction")


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_runs(name: str, browser: Browser, lab: Lab) -> None:
    path = ROOT / "notebooks" / f"{name}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    (lab.folder / path.name).write_text(json.dumps(notebook), encoding="utf-8")

    with watched_page(browser, viewport={"width": 1200, "height": 900}) as page:
        page.goto(lab.address(path.name))
        run_cells(page, len(notebook["cells"]))
        passed = page.locator(".jp-OutputArea-output pre", has_text="all checks passed")
        expect(passed).to_be_visible(timeout=90_000)
        assert "model not found" not in page.inner_text("body")
