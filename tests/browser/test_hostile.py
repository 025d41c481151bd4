"""Three hundred hostile texts through every module that draws: nothing runs or is asked for."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser

from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel import browser_modules
from tests.browser.conftest import Pages, watched_page
from tests.notebook.hostile import strings
from tests.notebook.hostile_views import VIEWS, hostiles, shown_views
from tests.notebook.renderers import RENDERERS
from tests.notebook.test_renderers import HARMLESS

WIDTH = 800
FIGURES = {"plot", "chart"}
"""Each makes a figure of plotly, too, which takes long."""
DRAW = """
async ([source, all, width]) => {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { render, pageHost } = await import(address);
  const found = [];
  const parts = new Set();
  const handlers = [];
  for (const data of all) {
    const el = document.createElement("div");
    el.style.width = `${width}px`;
    document.body.replaceChildren(el);
    const stop = render({ data, el, host: pageHost(data, { el }) });
    const drawn = [...el.shadowRoot.querySelectorAll("*")];
    for (const one of drawn) {
      parts.add(one.localName);
      for (const { name } of one.attributes) if (/^on/i.test(name)) handlers.push(name);
    }
    const foreign = "script, iframe, img, link, object, embed, meta, base, a[href^=javascript]";
    found.push([el.shadowRoot.querySelectorAll(foreign).length, el.getBoundingClientRect().width]);
    stop?.();
  }
  return { found, handlers, parts: [...parts], canary: String(globalThis.zqcanary) };
}
"""
SHOWN = """
(all) => {
  const handlers = [];
  document.body.replaceChildren();
  for (const html of all) {
    const el = document.createElement("div");
    el.innerHTML = html;
    document.body.append(el);
    for (const one of el.querySelectorAll("*")) {
      for (const { name } of one.attributes) if (/^on|^(src)?doc$/i.test(name)) handlers.push(name);
      if (one.matches("script, iframe, object, embed, link, meta, base, a, form, svg, math")) {
        handlers.push(one.localName);
      }
    }
  }
  return { handlers, canary: String(globalThis.zqcanary) };
}
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Drawn[Any]]:
    return shown_views(tmp_path_factory.mktemp("warehouse"))


@pytest.mark.parametrize("kind", VIEWS)
def test_hostile_texts_do_nothing(kind: str, shown: dict[str, Drawn[Any]], pages: Pages) -> None:
    data = [drawn.data() for drawn in hostiles(shown[kind], strings())]
    harmless = [shown[kind].data(), *(one.data() for one in hostiles(shown[kind], [*HARMLESS]))]

    with pages.page() as page:
        allowed = page.evaluate(DRAW, [browser_modules.view_module(kind), harmless, WIDTH])
        drawn = page.evaluate(DRAW, [browser_modules.view_module(kind), data, WIDTH])

    assert drawn["found"] == [[0, WIDTH]] * len(data)
    assert drawn["handlers"] == []
    # Long names break where a name with dots does.
    assert set(drawn["parts"]) <= {*allowed["parts"], "wbr", "span"}
    assert drawn["canary"] == "undefined"


def test_what_needs_no_module_does_nothing_either(browser: Browser) -> None:
    with watched_page(browser) as page:
        for name, render in RENDERERS.items():
            texts = strings()[:: 6 if name in FIGURES else 1]
            sources = [render(text).get("html", "") for text in texts]
            shown = page.evaluate(SHOWN, sources)
            assert shown == {"handlers": [], "canary": "undefined"}, name
