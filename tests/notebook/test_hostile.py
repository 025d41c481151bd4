"""Whatever stands in names and values, views stay tables of text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pl
from paimonlab.notebook import views
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.table.table import Table
from tests.notebook.hostile import strings
from tests.notebook.hostile_views import VIEWS, hostiles, marked_table, shown_views
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


def test_secrets_are_never_shown(tmp_path: Path) -> None:
    table = marked_table(tmp_path)
    schema = max((tmp_path / "zqdatabase.db" / "zqtable" / "schema").iterdir())
    stored = json.loads(schema.read_text(encoding="utf-8"))
    stored["options"]["fs.s3a.secret.key"] = "zqsecret"
    schema.write_text(json.dumps(stored), encoding="utf-8")
    opened = pl.connect(str(tmp_path)).table("zqdatabase.zqtable")
    assert isinstance(opened, Table)
    table = opened
    table.write(table.scan().to_arrow(), properties={"access.password": "zqsecret"})

    for kind, show in VIEWS.items():
        view = show(table)
        told = view.to_html() + view.to_text() + view.to_markdown() + json.dumps(view.data())
        assert "zqsecret" not in told, kind
    assert "fs.s3a.secret.key" in table.show.schemas().to_text()
