"""What other front ends than JupyterLab take of a view, and what they need for its widget."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import anywidget._util
import pytest

import paimonlab as pm
from paimonlab.notebook.display.drawn import MIME

VS_CODE = ("application/vnd.jupyter.widget-view+json", "image/svg+xml", "text/html", "text/plain")
"""The types of ours that VS Code draws, best first; it has no renderer for our own."""
GITHUB = ("image/svg+xml", "text/html", "text/plain")
WIDGET = VS_CODE[0]
MANAGER = "https://colab.example/manager.js"


@pytest.fixture
def table(tmp_path: Path) -> pm.Table:
    catalog = pm.connect(tmp_path)
    catalog.create_database("db")
    return catalog.write_table("db.t", [{"id": 1}])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what Colab is asked for: its module is there, and says what was called."""
    calls: list[str] = []
    output = ModuleType("google.colab.output")
    output.enable_custom_widget_manager = lambda: calls.append("widgets")  # type: ignore[attr-defined]
    output._widgets = SimpleNamespace(_installed_url=MANAGER)  # type: ignore[attr-defined]
    for name in ("google", "google.colab"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "google.colab.output", output)
    anywidget._util.enable_custom_widget_manager_once.cache_clear()
    return calls


def test_other_front_ends_draw_the_static_form(table: pm.Table) -> None:
    view = table.show.timeline()
    bundle = view._repr_mimebundle_()

    assert set(bundle) == {MIME, "text/html", "text/plain"}
    for order in (VS_CODE, GITHUB):
        assert next(kind for kind in order if kind in bundle) == "text/html"
    assert "<script" not in bundle["text/html"]


def test_a_widget_has_the_static_form_where_no_widget_is_drawn(
    table: pm.Table, asked: list[str]
) -> None:
    view = table.show.timeline()
    bundle, metadata = view.widget()._repr_mimebundle_()

    assert bundle["text/html"] == view.to_html()
    assert next(kind for kind in VS_CODE if kind in bundle) == WIDGET
    assert metadata[WIDGET] == {"colab": {"custom_widget_manager": {"url": MANAGER}}}
    assert next(kind for kind in GITHUB if kind in bundle) == "text/html"


def test_colab_is_asked_for_widgets(table: pm.Table, asked: list[str]) -> None:
    table.show.timeline().widget()

    assert asked == ["widgets"]
