"""What views look like where no script runs: on GitHub, in mails, in other notebooks."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from paimonlab.notebook.display.page import page as page_text
from tests.browser.conftest import watched_page
from tests.browser.test_every_view import LOOK, NARROW
from tools import looks


@pytest.mark.parametrize("made", [looks.small, looks.empty], ids=["small", "empty"])
def test_static_forms_follow_the_design_language(
    made: looks.MakeTable, browser: Browser, tmp_path: Path
) -> None:
    """No squeezed column, no tall row, no number at the left, no heads of nothing."""
    found = {}
    with watched_page(browser, viewport=NARROW) as page:
        for name, view in looks.shown(made(tmp_path), list(looks.VIEWS)):
            page.set_content(page_text(name, view.to_html(), None))
            found[name] = page.locator("body").evaluate(LOOK)

    found.pop("result", None)  # heads of an empty result say what its columns are
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
