"""What views look like where no script runs: on GitHub, in mails, in other notebooks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paimonlab.notebook.display.page import page as page_text
from tests.browser.conftest import Pages
from tests.browser.test_every_view import LOOK, NARROW
from tools.looks.shown import VIEWS, shown
from tools.looks.tables import MakeTable, empty, small

WHEN = re.compile(r",? (\d+ \w+ ago|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC)")


@pytest.mark.parametrize("made", [small, empty], ids=["small", "empty"])
def test_static_forms_follow_the_design_language(
    made: MakeTable, pages: Pages, tmp_path: Path
) -> None:
    """No squeezed column, no tall row, no number at the left, no heads of nothing, no scrolling."""
    found = {}
    with pages.page(viewport=NARROW) as page:
        for name, view, _ in shown(made(tmp_path / "table"), list(VIEWS)):
            page.set_content(page_text(name, view.to_html(), None))
            found[name] = page.locator("body").evaluate(LOOK)

    found.pop("result", None)  # heads of an empty result say what its columns are
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_both_forms_say_the_same_headline(pages: Pages, tmp_path: Path) -> None:
    """But for how long ago it was, where the form that is kept says when."""
    found = {}
    with pages.page(viewport=NARROW) as page:
        for name, view, _ in shown(small(tmp_path), list(VIEWS)):
            if view.kind is None or not view.grid.headline:
                continue
            path = tmp_path / f"{name}.html"
            path.write_text(page_text(name, view.to_html(), view.data()), encoding="utf-8")
            page.goto(path.as_uri())
            found[name] = (page.locator(".headline").inner_text(), view.grid.headline)

    assert len(found) > 8
    for name, (drawn, kept) in found.items():
        assert WHEN.sub("", drawn) == WHEN.sub("", kept), name
