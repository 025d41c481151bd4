"""The stored tutorials as a web page, as GitHub and nbviewer show them: no script, no kernel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nbconvert import HTMLExporter

from tests.browser.conftest import ROOT, Pages

TUTORIALS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_stored_tutorial_can_be_read(path: Path, pages: Pages, tmp_path: Path) -> None:
    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        embed_images=True, mathjax_url="", mermaid_js_url="", require_js_url=""
    )
    body, _ = exporter.from_filename(str(path))
    page_file = tmp_path / "tutorial.html"
    page_file.write_text(body, encoding="utf-8")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    pictures = sum(
        "".join(output.get("data", {}).get("text/html", "")).count("<img ") for output in outputs
    )

    viewport = {"width": 1100, "height": 900}
    with pages.page(viewport=viewport, java_script_enabled=False) as page:
        page.goto(page_file.as_uri())
        assert "all checks passed" in page.inner_text("body")
        assert page.locator(".jp-OutputArea img").count() == pictures
        assert page.locator(".jp-OutputArea table").count() > 0
        for picture in page.locator(".jp-OutputArea img").all():
            assert picture.get_attribute("alt")
