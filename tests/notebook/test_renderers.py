"""Three hundred hostile texts through everything that shows something: they stay texts.

What a renderer makes of a harmless text tells which tags and attributes it uses; with a hostile one
it may use no other.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import mistune
import pytest

from paimonlab.notebook import views
from tests.notebook.hostile import payloads, strings
from tests.notebook.hostile_views import VIEWS
from tests.notebook.renderers import (
    CLASSES,
    DRAWING,
    RENDERERS,
    Shown,
    classes_that_show_themselves,
    drawing_functions,
)

_NAME = "a_harmless_name_of_a_column_that_is_long"
_FILE = "data-0f8fad5b-d9cb-469f-a165-70867728950e-0.parquet"
HARMLESS = ("harmless", "a harmless sentence " * 200, " leading", "", _NAME, _FILE, "two\nlines")
"""Long ones fold, long names break, ids are shortened, and some are put into quotes."""
CAPTION = {("caption", ""), ("caption", "style")}
"""Inside of a table that is as wide, else above it."""
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)
"""What commands a terminal, hides text or turns it round."""
_PICTURE = re.compile(r'src="data:image/svg\+xml;base64,([^"]*)"')
_MARKDOWN = mistune.create_markdown(
    escape=False, plugins=["table", "strikethrough", "footnotes", "task_lists", "math"]
)
_ASKS = re.compile(r"url\((?!#)|javascript:|expression\(", re.IGNORECASE)


class Parts(HTMLParser):
    """Tags with the names of their attributes, and what those are that ask for something."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.parts: set[tuple[str, str]] = set()
        self.asked: list[str] = []
        self.others: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts.add((tag, ""))
        for name, value in attrs:
            self.parts.add((tag, name))
            is_picture = name == "src" and (value or "").startswith("data:image/svg+xml;base64,")
            if name in {"src", "href", "style", "srcset"} and not is_picture:
                self.asked += _ASKS.findall(value or "")
                self.asked += [value or ""] * (name != "style")

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def handle_pi(self, data: str) -> None:
        self.others.append(data)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)


def parts(shown: Shown) -> dict[str, set[tuple[str, str]]]:
    """Return the tags and attributes of each kind of what is shown."""
    found: dict[str, set[tuple[str, str]]] = {}
    for kind, source in shown.items():
        if kind in {"html", "page", "markdown"}:
            text = str(_MARKDOWN(source)) if kind == "markdown" else source
            page = Parts(text)
            assert page.asked == []
            assert page.others == [] or kind == "page"
            found[kind] = page.parts
        for picture in _PICTURE.findall(source):
            svg = ET.fromstring(base64.b64decode(picture))
            pieces = found.setdefault("svg", set())
            for element in svg.iter():
                pieces |= {(element.tag, ""), *((element.tag, name) for name in element.attrib)}
                assert not any(_ASKS.search(value) for value in element.attrib.values())
    return found


def check_texts(shown: Shown) -> None:
    """Check what has no tags: nothing commands a terminal, nothing is markup of plotly."""
    for kind in ("text", "markdown"):
        assert not UNSEEN.search(shown.get(kind, "")), kind
    assert not re.search(r"[<>$]", shown.get("plotly", ""))


def merged(many: list[dict[str, set[tuple[str, str]]]]) -> Mapping[str, set[tuple[str, str]]]:
    """Return all parts of all of them."""
    found: dict[str, set[tuple[str, str]]] = {}
    for one in many:
        for kind, pieces in one.items():
            found.setdefault(kind, set()).update(pieces)
    return found


@pytest.mark.parametrize("name", RENDERERS)
def test_a_hostile_text_makes_no_tag_and_no_attribute(name: str) -> None:
    render = RENDERERS[name]
    allowed = merged([parts(render(text)) for text in HARMLESS])

    for text in strings():
        shown = render(text)
        found = parts(shown)
        check_texts(shown)
        for kind, pieces in found.items():
            assert pieces - CAPTION <= allowed[kind], (kind, text)


def test_there_are_three_hundred_texts_of_all_kinds() -> None:
    kinds = {kind for kind, _ in payloads()}

    assert len(strings()) == len(set(strings())) == 300
    assert kinds == {
        *("tag", "handler", "address", "vector", "template", "markdown", "break", "code"),
        *("entity", "style", "character", "formula", "terminal", "key", "long"),
    }


def test_no_renderer_is_left_out() -> None:
    interactive = {one.__struct_config__.tag for one in views.INTERACTIVE}
    drawn = {f"{kind}.draw" for kind in VIEWS} | {f"{kind}.draw_{kind}" for kind in VIEWS}

    assert set(VIEWS) == interactive
    assert set(drawing_functions()) - drawn == set(DRAWING)
    assert set(classes_that_show_themselves()) == set(CLASSES)
    assert {*DRAWING.values(), *CLASSES.values()} <= {*RENDERERS, "the views", "a protocol", "data"}
