"""JupyterLab runs every tutorial from its first cell to its last, and shows its views."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import ROOT, Lab, watched_page
from tests.browser.test_in_lab import run_cells

TUTORIALS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs(path: Path, browser: Browser, lab: Lab) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    (lab.folder / path.name).write_text(json.dumps(notebook), encoding="utf-8")

    with watched_page(browser, viewport={"width": 1200, "height": 900}) as page:
        page.goto(lab.address(path.name))
        run_cells(page, len(notebook["cells"]))
        passed = page.locator(".jp-OutputArea-output pre", has_text="all checks passed")
        expect(passed).to_be_visible(timeout=240_000)
        assert "model not found" not in page.inner_text("body")
