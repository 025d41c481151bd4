"""Whatever stands in names and values, views stay tables of text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paimonlab.notebook.display.drawn import Drawn
from tests.notebook.display.test_drawing import KEPT_ATTRIBUTES, KEPT_TAGS, Page
from tests.notebook.hostile import strings
from tests.notebook.hostile_views import VIEWS, hostiles, shown_views
from tests.notebook.test_renderers import HARMLESS, check_texts, merged, parts

FOLDS = {("details", ""), ("summary", ""), ("wbr", ""), ("span", ""), ("span", "style")}
"""Values that are long, names that break, and pieces of them that stay on one line."""
OVERRIDES = "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\x00\x1b"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Drawn[Any]]:
    return shown_views(tmp_path_factory.mktemp("warehouse"))


@pytest.mark.parametrize("kind", VIEWS)
def test_hostile_texts_are_texts_in_every_form(kind: str, shown: dict[str, Drawn[Any]]) -> None:
    harmless = [shown[kind], *hostiles(shown[kind], list(HARMLESS))]
    allowed = merged([parts(_forms(drawn)) for drawn in harmless])

    for drawn in hostiles(shown[kind], strings()):
        forms = _forms(drawn)
        check_texts(forms)
        for form, pieces in parts(forms).items():
            assert pieces <= allowed[form] | FOLDS, form
        page = Page(forms["html"])
        assert page.tags <= KEPT_TAGS
        assert page.attributes <= {*KEPT_ATTRIBUTES, "open"}


def _forms(drawn: Drawn[Any]) -> dict[str, str]:
    return {"html": drawn.to_html(), "text": drawn.to_text(), "markdown": drawn.to_markdown()}


def test_a_page_of_its_own_holds_them_as_data(shown: dict[str, Drawn[Any]], tmp_path: Path) -> None:
    for drawn in hostiles(shown["timeline"], strings()):
        page = drawn.save(tmp_path / "page.html").read_text(encoding="utf-8")
        begin = page.index('id="data">') + len('id="data">')
        data = page[begin : page.index("</script>", begin)]
        assert json.loads(data) == json.loads(json.dumps(drawn.data()))
