"""JupyterLab draws stored views, trusted or not, and tells a kernel what is chosen in them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from paimonlab.analysis.snapshots import timeline_making
from paimonlab.notebook.views.timeline.drawing import draw
from tests.analysis.snapshots.made_snapshots import snapshot
from tests.browser.conftest import Lab, watched_page

SIZE = {"width": 1200, "height": 900}
FRAME = ".jp-RenderedPaimonView .frame"

VIEW = """
from paimonlab.analysis.snapshots import timeline_making
from paimonlab.notebook.views.timeline.drawing import draw
from tests.analysis.snapshots.made_snapshots import snapshot
view = draw(timeline_making.timeline("a.b", [snapshot(1), snapshot(2)], {}))
view
"""
LIVE = ["%load_ext paimonlab", VIEW.strip(), "view.widget()", "print(view.selection)"]


def write(path: Path, cells: Sequence[Mapping[str, Any]]) -> None:
    """Write a notebook nobody ran here, so it is not trusted."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4}
    path.write_text(json.dumps({**notebook, "nbformat_minor": 4}), encoding="utf-8")


def cell(source: str, *outputs: Mapping[str, Any]) -> dict[str, Any]:
    shared = {"cell_type": "code", "metadata": {}, "source": source}
    return {**shared, "execution_count": 1 if outputs else None, "outputs": outputs}


def stored_cell(source: str) -> dict[str, Any]:
    view = draw(timeline_making.timeline("a.b", [snapshot(1), snapshot(2)], {"v1": 2}))
    data = view._repr_mimebundle_()
    return cell(source, {"output_type": "display_data", "data": data, "metadata": {}})


def snapshot_2(page: Page) -> None:
    page.locator(FRAME).first.get_by_role("option", name=re.compile("snapshot 2")).click()


def run_cells(page: Page, count: int) -> None:
    """Run the first cells of the open notebook, as soon as its kernel listens."""
    expect(page.get_by_text("| Idle")).to_be_visible(timeout=60_000)
    page.locator(".jp-CodeCell .cm-content").first.click()
    for _ in range(count):
        page.keyboard.press("Shift+Enter")


def test_a_stored_view_is_drawn_without_trust_and_followed(browser: Browser, lab: Lab) -> None:
    write(lab.folder / "stored.ipynb", [stored_cell("view"), stored_cell("again")])

    with watched_page(browser, viewport=SIZE) as page:
        page.goto(lab.address("stored.ipynb"))
        frames = page.locator(FRAME)
        expect(frames).to_have_count(2, timeout=60_000)
        snapshot_2(page)
        expect(frames.nth(1).get_by_role("status")).to_contain_text("snapshot 2")
        assert "model not found" not in page.inner_text("body")


def test_what_is_chosen_is_known_to_the_kernel(browser: Browser, lab: Lab) -> None:
    write(lab.folder / "live.ipynb", [cell(source) for source in LIVE])

    with watched_page(browser, viewport=SIZE) as page:
        page.goto(lab.address("live.ipynb"))
        run_cells(page, len(LIVE))
        expect(page.locator(".jp-OutputArea-output pre").last).to_contain_text(
            "Selection()", timeout=60_000
        )
        snapshot_2(page)
        widget = page.locator(".jp-OutputArea-output .frame").nth(1)
        expect(widget.get_by_role("status")).to_contain_text("snapshot 2")
        page.locator(".jp-CodeCell .cm-content").nth(len(LIVE) - 1).click()
        page.keyboard.press("Control+Enter")
        expect(page.locator(".jp-OutputArea-output pre").last).to_contain_text(
            "Selection(snapshot=2)", timeout=30_000
        )
