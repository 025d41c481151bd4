"""What a view hands to its interactive form, and what comes back."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paimonlab.analysis.snapshots import timeline_making
from paimonlab.notebook import views
from paimonlab.notebook.display.drawn import MIME, Drawn
from paimonlab.notebook.kernel import browser_modules
from paimonlab.notebook.kernel.selection import ANSWERS_KEPT, Selection, Selections
from paimonlab.notebook.views.timeline.drawing import draw
from tests.analysis.snapshots.made_snapshots import snapshot


@pytest.fixture
def view() -> Drawn[views.Timeline]:
    return draw(timeline_making.timeline("a.</script>", [snapshot(4), snapshot(7)], {}))


def test_a_bundle_is_data_html_and_text(view: Drawn[views.Timeline]) -> None:
    bundle = view._repr_mimebundle_()

    assert list(bundle) == [MIME, "text/html", "text/plain"]
    assert bundle[MIME]["kind"] == "timeline"
    assert [point["id"] for point in bundle[MIME]["view"]["points"]] == [4, 7]


def test_whole_numbers_that_a_browser_would_round_are_text() -> None:
    points = [snapshot(1, total_record_count=2**53 + 1)]

    data = draw(timeline_making.timeline("t", points, {})).data()

    assert data["view"]["points"][0]["totalRecordCount"] == "9007199254740993"


def test_a_page_of_its_own_ends_no_script_early(
    view: Drawn[views.Timeline], tmp_path: Path
) -> None:
    page = view.save(tmp_path / "view.html").read_text()

    assert page.count("</script>") == 2
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page


@pytest.mark.parametrize("kind", browser_modules.kinds())
def test_texts_of_a_module_keep_their_spaces(kind: str) -> None:
    module = browser_modules.view_module(kind)

    names = (*browser_modules.needed(kind), browser_modules.module_of(kind))
    code = re.sub(r"`\n[^`]*`", "", "\n".join(map(browser_modules.bare, names)))
    code = code.replace("; }", " }")  # of short style sheets
    assert [text for text in re.findall(r'"[^"\n]*"', code) if text not in module] == []


@pytest.mark.parametrize("kind", browser_modules.kinds())
def test_a_module_is_small_and_imports_nothing(kind: str) -> None:
    for module in (browser_modules.view_module(kind), browser_modules.widget_module(kind)):
        assert len(module.encode()) < 40_000
        assert "\nimport " not in module
        assert "innerHTML" not in module


@pytest.mark.parametrize("kind", browser_modules.kinds())
def test_modules_in_one_scope_use_no_name_twice(kind: str) -> None:
    widget = "display/browser/widget"
    everything = [*browser_modules.shared(), *browser_modules.needed(kind), browser_modules.PAGE]
    everything += [browser_modules.module_of(kind), widget]
    declared = re.compile(r"^(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)

    names = [
        name
        for module in dict.fromkeys(everything)
        for name in declared.findall(browser_modules.bare(module))
    ]

    assert sorted(names) == sorted(set(names))
    assert "render" in names


def test_a_module_stands_once_and_behind_those_it_imports() -> None:
    needed = browser_modules.needed("timeline")

    assert len(needed) == len(set(needed))
    assert needed.index(f"{browser_modules.SHARED}/elements") < needed.index(
        f"{browser_modules.SHARED}/marks"
    )
    assert f"{browser_modules.SHARED}/grid" not in needed
    assert browser_modules.view_module("timeline").count("function h(") == 1
    assert set(needed) <= set(browser_modules.shared())


def test_every_interactive_value_has_a_module() -> None:
    tags = {value.__struct_config__.tag for value in views.INTERACTIVE}

    assert tags == set(browser_modules.kinds())


def test_a_selection_is_known_in_python() -> None:
    chosen = Selections()

    chosen.hear({"id": "view-1", "selected": {"range": [3, 5]}})

    assert chosen.of("view-1") == Selection(range=(3, 5))
    assert not chosen.of("view-2")


def test_what_is_no_selection_is_refused() -> None:
    chosen = Selections()

    reply = chosen.hear({"id": "view-1", "selected": {"snapshot": "<b>"}})

    assert reply is not None
    assert "Expected `int | null`" in reply["error"]
    assert not chosen.of("view-1")


@pytest.mark.parametrize(
    ("request_", "reply"),
    [
        ({"page": 2}, {"number": 7, "reply": {"rows": [2]}}),
        ({}, {"number": 7, "error": "'page'"}),
    ],
)
def test_a_view_answers_or_says_why_not(request_: dict[str, Any], reply: dict[str, Any]) -> None:
    chosen = Selections()
    chosen.answer("view-1", lambda request: {"rows": [request["page"]]})

    assert chosen.hear({"id": "view-1", "number": 7, "request": request_}) == reply


def test_answers_are_not_kept_for_ever() -> None:
    chosen = Selections()
    for number in range(ANSWERS_KEPT + 1):
        chosen.answer(f"view-{number}", lambda _request: {})

    assert "error" in (chosen.hear({"id": "view-0", "number": 1, "request": {}}) or {})
    assert chosen.ask("view-1", {}) == {}


def test_a_view_of_another_kernel_says_so() -> None:
    reply = Selections().hear({"id": "view-9", "number": 1, "request": {}})

    assert reply == {
        "number": 1,
        "error": "this kernel does not know the view: run the cell again to ask for more",
    }


def test_a_widget_tells_its_view(view: Drawn[views.Timeline]) -> None:
    widget = view.widget()

    widget.selected = {"snapshot": 7}

    assert view.selection == Selection(snapshot=7)
    assert repr(widget) == "ViewWidget(timeline)"
    assert replace(view, id="other").selection == Selection()
