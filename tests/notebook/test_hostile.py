"""Whatever stands in names and values, views stay tables of text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paimonlab.notebook import views
from paimonlab.notebook.display.drawn import Drawn
from tests.notebook.hostile import strings
from tests.notebook.hostile_views import VIEWS, hostiles, shown_views
from tests.notebook.test_drawing import KEPT_ATTRIBUTES, KEPT_TAGS, Page

OVERRIDES = "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\x00\x1b"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Drawn[Any]]:
    return shown_views(tmp_path_factory.mktemp("warehouse"))


def test_every_interactive_view_is_here() -> None:
    assert set(VIEWS) == {one.__struct_config__.tag for one in views.INTERACTIVE}


@pytest.mark.parametrize("kind", VIEWS)
def test_hostile_texts_are_texts_in_every_form(kind: str, shown: dict[str, Drawn[Any]]) -> None:
    for drawn in hostiles(shown[kind], strings()):
        page = Page(drawn.to_html())
        assert page.tags <= KEPT_TAGS
        assert page.attributes <= {*KEPT_ATTRIBUTES, "open"}
        assert not set(drawn.to_text()) & set(OVERRIDES)
        assert drawn.to_markdown()


def test_a_page_of_its_own_holds_them_as_data(shown: dict[str, Drawn[Any]], tmp_path: Path) -> None:
    for drawn in hostiles(shown["timeline"], strings()):
        page = drawn.save(tmp_path / "page.html").read_text(encoding="utf-8")
        begin = page.index('id="data">') + len('id="data">')
        data = page[begin : page.index("</script>", begin)]
        assert json.loads(data) == json.loads(json.dumps(drawn.data()))
